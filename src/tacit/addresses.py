"""Check for passwords in addresses, before a message, a log or a library shows them."""

from __future__ import annotations

import re

from tacit.errors import RequestError

# AWS passwords may contain a slash, so a colon before an @ in a path also counts as a password.
_PASSWORD = re.compile(r"://[^@]*:[^@]*@")
_BUCKET = re.compile(r"(?:^|:)(?:s3a?|gs|gcs|oss|oci)://[^/]*@", re.IGNORECASE)


def check_holds_no_password(text: str, where: str) -> None:
    """Raise if an address contains a user and a password, or any user before a bucket's name.

    Args:
        text: An address, or any text that may be one.
        where: Name of the argument, for the message, such as ``--store``.

    Raises:
        RequestError: The address contains a password or a bucket's user. The message repeats no
            part of the address.
    """
    if _PASSWORD.search(text) or _BUCKET.search(text):
        raise RequestError(
            f"{where} contains a user or a password before an @, which messages and logs would "
            "show: remove it. Set a server's key in the environment variable TACIT_API_KEY, and a "
            "store's credentials as its package expects them (s3fs: AWS_ACCESS_KEY_ID and "
            "AWS_SECRET_ACCESS_KEY, or ~/.aws/credentials)"
        )
