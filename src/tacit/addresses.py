"""Addresses that hold a password: refused before a message, a log or a library shows it."""

from __future__ import annotations

import re

from tacit.errors import RequestError

# A password may hold a slash, as those of AWS do: a colon before an @ of a path is taken for one.
_PASSWORD = re.compile(r"://[^@]*:[^@]*@")
_BUCKET = re.compile(r"(?:^|:)(?:s3a?|gs|gcs|oss|oci)://[^/]*@", re.IGNORECASE)


def check_holds_no_password(text: str, where: str) -> None:
    """Refuses an address with a user and a password, or with any user before a bucket's name.

    Args:
        text: An address, or what may be one.
        where: What it was given as, such as ``--store``.

    Raises:
        RequestError: It holds one. The message repeats nothing of it.
    """
    if _PASSWORD.search(text) or _BUCKET.search(text):
        raise RequestError(
            f"{where} holds a user or a password before an @, which messages and logs would show: "
            "leave it out. A server takes the key in the variable TACIT_API_KEY; a store's "
            "package finds its own (s3fs: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or "
            "~/.aws/credentials)"
        )
