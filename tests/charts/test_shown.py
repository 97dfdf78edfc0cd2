"""How figures call the models, and what makes an axis of sizes."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from tacit.charts.shown import Shown
from tacit.charts.theme import HOUSE
from tacit.findings.findings import Findings

OPT = {"x/opt-125m": 125_000_000, "x/opt-1.3b": 1_300_000_000}
SIZES: dict[str, int | None] = {"y/gpt2": 124_000_000, "server": None, **OPT}


def shown(*names: str, sizes: Mapping[str, int | None] | None = None) -> Shown:
    """Models of these names without findings."""
    return Shown({name: Findings(pl.DataFrame(), {}) for name in names}, sizes or {}, HOUSE)


def test_a_model_is_called_by_the_end_of_its_name() -> None:
    """When that tells all apart; where sizes are known, the smallest comes first."""
    assert list(shown("a/two", "b/one/").labels.values()) == ["two", "one"]
    assert list(shown("a/one", "b/one").labels.values()) == ["a/one", "b/one"]
    assert list(shown("http://host/v1").labels.values()) == ["http://host/v1"]
    by_size = shown(*reversed(OPT), "y/gpt2", sizes=SIZES)
    assert list(by_size.labels.values()) == ["gpt2", "opt-125m", "opt-1.3b"]


def test_two_sizes_make_an_axis() -> None:
    """Not one, nor the same twice, nor where one is not known."""
    assert shown(*OPT, sizes=OPT).by_size
    assert not shown("a", "b").by_size
    assert not shown("a", "b", sizes={"a": 5}).by_size
    assert not shown("a", "b", sizes={"a": 5, "b": 5}).by_size
    assert not shown("a", "b", sizes={"a": 5, "b": 0}).by_size
    assert not shown("server", *OPT, sizes=SIZES).by_size


def test_a_model_of_an_unknown_family_has_its_own() -> None:
    models = Shown(shown(*OPT, "y/gpt2").found, {}, HOUSE, {"x/opt-125m": "opt", "y/gpt2": "opt"})
    assert models.families == {"opt-125m": "opt", "opt-1.3b": "opt-1.3b", "gpt2": "opt"}
