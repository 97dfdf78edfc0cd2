"""A back-end of another package (``tests/plugins``) is asked as Tacit's own are."""

import math
from collections.abc import Iterator

import pytest

import tacit
from tacit.errors import ModelError
from tacit.models.loading import load_model
from tests.other_packages import installed


@pytest.fixture(autouse=True)
def _installed() -> Iterator[None]:
    with installed():
        yield


def test_it_scores_as_computed_by_hand() -> None:
    """Of "aab", the letter a has (2 + 1)/(3 + 256)."""
    model = load_model("letters:any")
    (scores,) = model.answer([tacit.Prompt("aab", ("a", "ab"))])
    a, b = math.log(3 / 259), math.log(2 / 259)
    assert [one.logprob for one in scores.answers] == pytest.approx([a, a + b], rel=1e-12)


def test_an_option_that_it_does_not_take_is_refused() -> None:
    with pytest.raises(ModelError, match="neither chats nor adapters"):
        load_model("letters:any", tacit.LoadOptions(chat=True))


@pytest.mark.parametrize("name", ["lettres:any", "localhost:8000/v1"])
def test_a_scheme_that_nobody_registered_is_named(name: str) -> None:
    with pytest.raises(ModelError, match=r"installed: inspect, letters, lm-eval"):
        load_model(name)
