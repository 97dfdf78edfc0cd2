"""A back-end of another package (``tests/plugins``) is asked as Tacit's own are."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path

import pytest

import tacit
from tacit.errors import ModelError
from tacit.models.loading import load_model
from tests.cli.conftest import Tacit, workplace
from tests.cli.conftest import tacit as command
from tests.other_packages import installed

__all__ = ["command", "workplace"]
NORMS = "concept,feature,pf\n" + "\n".join(
    f"{concept},{feature},{9 - at}"
    for concept in ("dog", "cat", "bear")
    for at, feature in enumerate(("has fur", "is big", "has teeth"))
)


@pytest.fixture(autouse=True)
def _installed() -> Iterator[None]:
    """The other package is on the path, as if it were installed."""
    with installed():
        yield


def test_it_scores_as_computed_by_hand() -> None:
    """Of "aab", the letter a has (2 + 1)/(3 + 256)."""
    model = load_model("letters:any")
    (scores,) = model.answer([tacit.Prompt("aab", ("a", "ab"))])
    a, b = math.log(3 / 259), math.log(2 / 259)
    assert [one.logprob for one in scores.answers] == pytest.approx([a, a + b], rel=1e-12)


def test_a_probe_asks_it_once(command: Tacit, workplace: Path) -> None:
    """A second run finds all in the store and the same."""
    (workplace / "annotations-0.tsv").write_text(
        "me\tpeach\t---\tstone\tinside\tflesh\n", encoding="utf-8"
    )
    given = ("run", "parts", "--drawings", "annotations-0.tsv", "--model", "letters:any", "--json")
    first = command(*given, "--out", "a")
    assert first.code == 0, first.err
    kept = sorted(path.name for path in (workplace / ".tacit").rglob("*.parquet"))
    second = command(*given, "--out", "b")
    assert sorted(path.name for path in (workplace / ".tacit").rglob("*.parquet")) == kept
    one, other = (json.loads(ran.out)["runs"][0] for ran in (first, second))
    assert one["model"] == "letters:any"
    for name in ("violation", "accuracy", "unscored"):
        assert one[name] == other[name]


def test_it_ranks(workplace: Path) -> None:
    """The assumptions probe has the ranks of its own words."""
    (workplace / "norms.csv").write_text(NORMS, encoding="utf-8")
    run = tacit.run(
        "assumptions", model="letters:any", norms="norms.csv", least=3, orders="main",
        vocabulary="own", progress=False,
    )  # fmt: skip
    ranks = run.tables["retrieval"]["rank"]
    assert ranks.null_count() == 0
    assert set(ranks) <= set(range(1, 11))


def test_an_option_that_it_does_not_take_is_refused() -> None:
    """By itself: it is given all options."""
    with pytest.raises(ModelError, match="neither chats nor adapters"):
        load_model("letters:any", tacit.LoadOptions(chat=True))


@pytest.mark.parametrize("name", ["lettres:any", "lettres:", "localhost:8000/v1"])
def test_a_scheme_that_nobody_registered_is_named(name: str) -> None:
    """With those that are installed."""
    with pytest.raises(ModelError, match=r"installed: inspect, letters, lm-eval"):
        load_model(name)
