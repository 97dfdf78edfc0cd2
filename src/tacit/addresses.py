"""Reject addresses that contain a password, before a message or a log can show the password."""

from __future__ import annotations

import re

from tacit.errors import RequestError

# AWS passwords may contain a slash, so a colon before an @ in a path also counts as a password.
_PASSWORD = re.compile(r"://[^@]*:[^@]*@")
_BUCKET = re.compile(r"(?:^|:)(?:s3a?|gs|gcs|oss|oci)://[^/]*@", re.IGNORECASE)


def check_holds_no_password(text: str, where: str) -> None:
    """Raise an error if an address contains a password, or a user name before a bucket.

    Args:
        text: An address, or any other text that may be an address.
        where: The name of the argument that contains the address, such as ``--store``, for the
            error message.

    Raises:
        RequestError: If the address contains a password, or a user name before the name of a
            bucket. The error message does not repeat any part of the address.
    """
    if _PASSWORD.search(text) or _BUCKET.search(text):
        raise RequestError(
            f"{where} contains a user or a password before an @, which messages and logs would "
            "show: remove it. Set a server's key in the environment variable TACIT_API_KEY, and a "
            "store's credentials as its package expects them (s3fs: AWS_ACCESS_KEY_ID and "
            "AWS_SECRET_ACCESS_KEY, or ~/.aws/credentials)"
        )
