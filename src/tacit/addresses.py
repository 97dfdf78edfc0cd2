"""Reject addresses that contain a password, before a message or a log can show the password."""

from __future__ import annotations

import re
from urllib.parse import unquote

from tacit.errors import RequestError

_WEB = r"(?i:\b(?:https?|s3a?|gs|gcs|oss|oci))"
# user:password@host without a scheme, and //user@host or a scheme with other marks, as in https;//
_BARE = re.compile(
    r"\W*[^\s/@:]+:[^\s/@]+@(?:[\w-]+\.)*(?:localhost|[a-z]{2,}|\d+|\[[\da-f:.]+\])(?::\d+)?(?:/|$)"
    r"|\w*(?!:)\W{0,3}//[^\s/@]+@",
    re.IGNORECASE,
)
_NAMES = ("key", "token", "secret", "passw", "pwd", "sig", "auth", "cred")


def holds_secret(text: str) -> bool:
    """Return whether a text is an address with a user, a password or a key, also a misspelt one."""
    return any(map(_holds_secret, {text, unquote(text)}))


def _holds_secret(text: str) -> bool:
    for before in text.split("@")[:-1]:
        # AWS passwords may contain a slash, so a colon before an @ in a path also counts as a
        # password.
        if ":" in before.partition(":/")[2]:
            return True
        # A user alone is no secret for SFTP, but it is for a web server or before a bucket.
        user = re.split(r"[/\s]", before)[-1]
        around = before.removesuffix(user)
        if re.search(f"{_WEB}:", user) or re.search(f"{_WEB}(?::/*|//)$", around):
            return True
    query = re.split(r"[?&;#\s]", text.partition(":/")[2])[1:]
    names = (part.partition("=") for part in query)
    return _BARE.match(text) is not None or any(
        equals and any(one in name.lower() for one in _NAMES) for name, equals, _ in names
    )


def check_holds_no_password(text: str, where: str) -> None:
    """Raise an error if an address contains a user, a password or a key."""
    if holds_secret(text):
        raise RequestError(
            f"{where} contains a user, a password or a key, which messages and logs would show: "
            "remove it. Set a server's key in the environment variable TACIT_API_KEY, and a "
            "store's credentials as its package expects them (s3fs: AWS_ACCESS_KEY_ID and "
            "AWS_SECRET_ACCESS_KEY, or ~/.aws/credentials)"
        )
