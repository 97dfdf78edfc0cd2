"""Secrets are found in texts however they are written, and words are not taken for them."""

from __future__ import annotations

import base64
import json
import math
import time
from urllib.parse import quote

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tacit.models.openai.redaction import SHORTEST, hider, reader

KEY = "sk-Ab/cd+EF~?>0987654321"
PRINTABLE = st.characters(min_codepoint=33, max_codepoint=126)


def written(key: str) -> dict[str, str]:
    """A key as servers may repeat it."""
    plain = base64.b64encode(key.encode()).decode()
    safe = base64.urlsafe_b64encode(key.encode()).decode()
    return {
        "as it is": key,
        "upper case": key.upper(),
        "lower case": key.lower(),
        "reversed": key[::-1],
        "base64": plain,
        "base64 in a URL": safe,
        "base64 without an end": safe.rstrip("="),
        "base64 in JSON": plain.replace("/", "\\/"),
        "base64 as a parameter": quote(plain, safe=""),
        "hexadecimal": key.encode().hex(),
        "hexadecimal, upper case": key.encode().hex().upper(),
        "percent": "".join(f"%{ord(one):02X}" for one in key),
        "HTML": "".join(f"&#x{ord(one):X};" for one in key),
        "JSON": "".join(f"\\u{ord(one):04x}" for one in key),
        "upper case as a parameter": quote(key.upper(), safe=""),
    }


@pytest.mark.parametrize("way", written(KEY))
def test_a_key_is_found_however_it_is_written(way: str) -> None:
    """What stands around it stays; of base64, what it ends with may."""
    text = written(KEY)[way]
    shown = hider(KEY)(f"it is {text}, you see")
    assert shown.startswith("it is [key]")
    assert shown.endswith(", you see")
    assert len(shown) <= len("it is [key], you see") + 4
    assert hider(KEY)(text[: len(text) // 2]) == text[: len(text) // 2]


@given(
    st.lists(PRINTABLE, min_size=SHORTEST, max_size=40, unique=True).map("".join),
    st.text(PRINTABLE, max_size=7),
)
@pytest.mark.slow
def test_base64_is_found_wherever_the_key_stands_in_it(key: str, before: str) -> None:
    """As in ``Bearer KEY`` and ``user:KEY``; what is left is no longer than what was around it."""
    behind = " and more"
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        shown = hider(key)(encode(f"{before}{key}{behind}".encode()).decode())
        begin, found, rest = shown.partition("[key]")
        assert found
        # Six bits to a letter; one letter may hold the end of one and the beginning of the other.
        assert len(begin) <= math.ceil(len(before) * 8 / 6)
        assert len(rest.rstrip("=")) <= math.ceil(len(behind) * 8 / 6) + 1


@given(st.text(PRINTABLE, min_size=SHORTEST, max_size=30), st.text(max_size=20))
@pytest.mark.slow
def test_a_json_value_is_cleaned_everywhere(key: str, other: str) -> None:
    """Names of members as well; all but texts stays as it is."""
    # Where the two together hold the key earlier, its end is left over behind that.
    assume(f"{other}{key}".casefold().find(key.casefold()) == len(other))
    value = {key: [f"{other}{key}", {"a": key.upper(), "b": [1.5, None, True]}], "n": 3}
    for content in (json.dumps(value), json.dumps(value, ensure_ascii=False)):
        for encoding in ("utf-8", "utf-16", "utf-32-be"):
            check_cleaned(reader(key)(content.encode(encoding, "surrogatepass")))


def check_cleaned(cleaned: object) -> None:
    """Checks that of a value the key alone was hidden."""
    assert isinstance(cleaned, dict)
    assert list(cleaned) == ["[key]", "n"]
    text, inner = cleaned["[key]"]
    assert text.endswith("[key]")
    assert inner == {"a": "[key]", "b": [1.5, None, True]}


def test_a_short_key_is_redacted_in_messages_alone() -> None:
    """In an answer it could be a word, whose measurement would change."""
    assert hider("EMPTY")("wrong key EMPTY") == "wrong key [key]"
    assert reader("EMPTY")(b'"an empty box, EMPTY"') == "an empty box, EMPTY"
    assert reader("12345678")(b'"12345678"') == "[key]"
    assert reader(None, "")(b'"any"') == "any"


@pytest.mark.parametrize("way", written(KEY))
def test_a_key_in_json_is_found_however_it_is_written(way: str) -> None:
    """Escaped as it is, and once more by JSON, by any of its escapes."""
    text = written(KEY)[way]
    begin = json.dumps(text)
    for content in (
        *(begin, begin.replace("/", "\\/"), begin.replace("%", "\\u0025")),
        *(f'"{text}"', '"' + "".join(f"\\u{ord(one):04X}" for one in text) + '"'),
    ):
        assert str(reader(KEY)(content.encode())).startswith("[key]")


def test_several_secrets_are_redacted() -> None:
    """The longest first, so that none is left in part."""
    assert hider("one-secret", None, "one-secret-more")("a one-secret-more b ONE-SECRET c") == (
        "a [key] b [key] c"
    )


def test_ordinary_text_stays() -> None:
    """Its case, its escapes and its encodings."""
    for text in (
        "What is \\u00e9 100%? &amp; sk-Ab/cd\\n" * 20,
        base64.b64encode(b"some other text of any length").decode(),
        "SK-AB and 09876 54321",
    ):
        assert hider(KEY)(text) == text


@pytest.mark.parametrize("piece", ["\\", "%25", "&amp;", "sk-Ab/", "c2stQWIv", "\\u0073"])
def test_long_texts_are_searched_quickly(piece: str) -> None:
    """Whatever a server repeats."""
    text = piece * (1_000_000 // len(piece))
    begun = time.monotonic()
    assert hider(KEY)(text) == text
    assert time.monotonic() - begun < 20
