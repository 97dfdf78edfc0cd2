"""Reject addresses that contain a password, before a message or a log can show the password."""

from __future__ import annotations

import re

from tacit.errors import RequestError

_SECRET = re.compile(
    # AWS passwords may contain a slash, so a colon before an @ in a path also counts as a password.
    r":/[^@]*(?::|%3a)[^@]*(?:@|%40)"
    # A user alone is no secret for SFTP, but it is for a web server or before a bucket.
    r"|\b(?:https?|s3a?|gs|gcs|oss|oci)[:/]+[^/\s]*(?:@|%40)"
    r"|:/\S*[?&;#][\w.%-]*(?:key|token|secret|passw|pwd|sig|auth|cred)[\w.%-]*=",
    re.IGNORECASE,
)


def holds_secret(text: str) -> bool:
    """Return whether a text is an address with a user, a password or a key, also a misspelt one."""
    return _SECRET.search(text) is not None


def check_holds_no_password(text: str, where: str) -> None:
    """Raise an error if an address contains a user, a password or a key.

    Args:
        text: An address, or any other text that may be an address.
        where: The name of the argument that contains the address, such as ``--store``, for the
            error message.

    Raises:
        RequestError: If the address contains a user, a password or a key. The error message does
            not repeat any part of the address.
    """
    if holds_secret(text):
        raise RequestError(
            f"{where} contains a user, a password or a key, which messages and logs would show: "
            "remove it. Set a server's key in the environment variable TACIT_API_KEY, and a "
            "store's credentials as its package expects them (s3fs: AWS_ACCESS_KEY_ID and "
            "AWS_SECRET_ACCESS_KEY, or ~/.aws/credentials)"
        )
