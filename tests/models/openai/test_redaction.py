"""Secrets are found in texts and replies, and words are not taken for them."""

from __future__ import annotations

import json

import pytest

from tacit.models.openai.redaction import hider, reader

KEY = "sk-Ab/cd+EF~?>0987654321"


@pytest.mark.parametrize("key", [KEY, 'sk-"quoted"-key', "pässword-of-a-proxy"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32-be"])
def test_a_key_is_found_as_it_is_and_as_json_writes_it(key: str, encoding: str) -> None:
    """In a text, in strings and in names of members; all else stays as it is."""
    value = {key: [f"my {key}", {"a": f"{key}!", "b": [1.5, None, True]}], "n": 3}
    cleaned = {"[key]": ["my [key]", {"a": "[key]!", "b": [1.5, None, True]}], "n": 3}
    for ascii_only in (True, False):
        content = json.dumps(value, ensure_ascii=ascii_only)
        for written in (content, content.replace("/", "\\/")):
            assert reader(key)(written.encode(encoding)) == cleaned
            assert json.loads(hider(key)(written)) == cleaned


def test_a_short_key_is_redacted_in_messages_alone() -> None:
    """In an answer it could be a word, whose measurement would change."""
    assert hider("EMPTY")("wrong key EMPTY") == "wrong key [key]"
    assert reader("EMPTY")(b'"an empty box, EMPTY"') == "an empty box, EMPTY"
    assert reader("12345678")(b'"12345678"') == "[key]"
    assert reader(None, "")(b'"any"') == "any"


def test_several_secrets_are_redacted() -> None:
    """The longest first, so that none is left in part."""
    assert hider("one-secret", None, "one-secret-more")("a one-secret-more b one-secret c") == (
        "a [key] b [key] c"
    )


def test_a_key_of_digits_leaves_numbers() -> None:
    """It is replaced in texts, and no reply becomes invalid."""
    read = reader("12345678")
    assert read(b'{"created": 1712345678, "text": ["a 12345678"]}') == {
        "created": 1712345678,
        "text": ["a [key]"],
    }
    with pytest.raises(ValueError, match="Expecting"):
        read(b'{"created": }')
