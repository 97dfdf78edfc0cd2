from typing import Any

import pytest

from tacit.errors import RequestError
from tacit.knowledge.options import CAP, BackgroundOptions


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"overlap": "some-words"}, "overlap is .* one of all-words, content-words"),
        ({"paper_version": "review"}, "requires --tagger"),
        ({"paper_version": "arxiv", "tagger": "en_core_web_sm"}, "accept no tagger"),
        ({"tagger": "en_core_web_sm"}, "accept no tagger"),
        ({"length": 0}, "length is 0"),
        ({"length": 4}, "length 4; expected 1, 2 or 3"),
        ({"frequent": 5, "negatives": "matched"}, "leave out --frequent"),
    ],
)
def test_invalid_options_are_an_error(given: dict[str, Any], problem: str) -> None:
    with pytest.raises(RequestError, match=problem):
        BackgroundOptions(**given)


@pytest.mark.parametrize(
    ("length", "cap", "most"),
    [(1, None, None), (2, None, CAP), (2, 0, None), (1, 0, None), (1, 7, 7)],
)
def test_only_several_hops_have_a_default_cap(
    length: int, cap: int | None, most: int | None
) -> None:
    assert BackgroundOptions(length=length, cap=cap).most_facts == most
