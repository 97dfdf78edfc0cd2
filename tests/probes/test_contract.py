"""What every probe keeps to: Tacit's own and those of other packages, a row for each."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import tacit
from tacit.errors import FindingsError
from tacit.findings.spec import selected
from tacit.options import build, names_of
from tacit.probes import registry as base
from tacit.probes.base import (
    Answered,
    Answers,
    ModelWords,
    declared_figures,
    declared_tables,
)
from tacit.runs.figures import shown_of
from tacit.runs.reading import Run
from tests.golden.models import scored
from tests.other_packages import installed

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tacit.findings.findings import Findings
    from tacit.probes.base import Requests
    from tacit.requests import Vocabulary

PAIRS = "word\tsynonym\tlabel\nbig\tlarge\tyes\nbig\tsmall\tno\nfast\tquick\tyes\ncat\tdog\tno\n"


def drawings(_: Path) -> dict[str, Any]:
    """Options of the parts probe."""
    return {"drawings": tacit.demo_data("drawings"), "limit": 3}


def questions(folder: Path) -> dict[str, Any]:
    """Options of the consistency probe."""
    kb = tacit.build_kb(tacit.demo_data("facts"), folder / "facts.kb")
    return {"questions": tacit.demo_data("questions"), "kb": kb, "limit": 12, "anchors": "both"}


def norms(_: Path) -> dict[str, Any]:
    """Options of the assumptions probe."""
    return {"norms": tacit.demo_data("norms"), "limit": 4, "orders": "main"}


def pairs(folder: Path) -> dict[str, Any]:
    """Options of the probe of another package."""
    (folder / "pairs.tsv").write_text(PAIRS, encoding="utf-8")
    return {"pairs": folder / "pairs.tsv"}


PROBES = {"parts": drawings, "consistency": questions, "assumptions": norms, "synonyms": pairs}


@dataclass(frozen=True)
class Case:
    """A probe whose options are read, and a model's answers to it."""

    kind: Any
    probe: Any
    requests: Mapping[str, Requests]
    answers: Answers

    @property
    def findings(self) -> Findings:
        """What it measures."""
        return self.probe.measure(self.answers)  # type: ignore[no-any-return]


@pytest.fixture(scope="module", params=PROBES)
def case(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Case:
    """Each probe."""
    with installed():
        kind = base.probe(request.param)
        options = PROBES[request.param](tmp_path_factory.mktemp(request.param))
        made: Any = kind.of(build(kind.Options, options))
        model = scored("contract")
        words: Vocabulary = model.whole_words()
        if made.ranks_vocabulary:
            made = made.for_models({"contract": ModelWords("masked", words)})["contract"]
    requests = made.requests()
    answers = {
        name: Answered(group.keys, answered(model, group)) for name, group in requests.items()
    }
    return Case(kind, made, requests, Answers(answers))


def answered(model: Any, group: Requests) -> list[Any]:  # noqa: ANN401 - a fake model
    """What a model answers to a group's requests."""
    found: list[Any] = model.answer(list(group.requests))
    return found


def test_it_names_itself_and_its_options(case: Case) -> None:
    """A name, a line of help, and a dataclass whose options have help of their own."""
    assert case.kind.name.isidentifier()
    assert case.kind.summary.endswith((".", "?"))
    assert names_of(case.kind.Options)


def test_every_request_has_a_key_of_its_own(case: Case) -> None:
    """As many keys as requests in every group, no two alike, and something is asked."""
    assert case.requests
    for group in case.requests.values():
        assert group.keys.height == len(group.requests) > 0
        assert not group.keys.is_duplicated().any()


def test_findings_are_as_declared(case: Case) -> None:
    """Tables, their columns and types; every declared table that is not optional."""
    tables = declared_tables(case.kind).values()
    findings = case.findings.check(tables)
    wanted = {spec.name for spec in tables if not spec.optional}
    assert wanted - {"questions"} <= set(findings.tables)
    json.dumps(dict(findings.summary), default=str)


def test_answers_are_joined_by_key(case: Case) -> None:
    """In another order they give the same findings."""
    order = random.Random(7)  # noqa: S311 - no secret
    groups = {}
    for name, group in case.answers.groups.items():
        places = list(range(len(group.answers)))
        order.shuffle(places)
        groups[name] = Answered(group.keys[places], [group.answers[at] for at in places])
    found = case.probe.measure(replace(case.answers, groups=groups))
    for name, table in case.findings.tables.items():
        assert_frame_equal(found.tables[name], table, check_row_order=case.kind.name != "synonyms")


def test_answers_to_other_keys_are_refused(case: Case) -> None:
    """Fewer than were asked, or a key twice."""
    name, group = next(iter(case.answers.groups.items()))
    for places in ([0] * len(group.answers), range(len(group.answers) - 1)):
        cut = Answered(group.keys[list(places)], [group.answers[at] for at in places])
        with pytest.raises(FindingsError, match=f"requests '{name}' differ from the keys"):
            Answers({**case.answers.groups, name: cut}).joined(case.requests)


def test_headlines_name_what_there_is(case: Case) -> None:
    """A declared table or a view, and one of its columns."""
    kind, tables = case.kind, declared_tables(case.kind)
    views = {view.spec.name: view.spec for view in kind.views(case.findings, {}, 1000)}
    for headline in kind.headlines:
        spec = {**tables, **views}[headline.table]
        assert headline.column in {name for column in spec.columns for name in column.names}


def test_it_says_what_came_out(case: Case) -> None:
    """In at most four lines."""
    block = case.kind.block(case.findings)
    assert block is None or 2 <= len(block.lines) <= 4


@pytest.mark.slow
def test_its_figures_are_drawn(case: Case) -> None:
    """Each from the findings of one model; None where they hold nothing for it."""
    findings = case.findings
    manifest = {"summary": dict(findings.summary)}
    run = Run(None, "m", {"probe": case.kind.name}, manifest, findings.tables, findings.questions)
    drawn = [figure(shown_of([run], _theme())) for figure in declared_figures(case.kind).values()]
    assert any(chart is not None for chart in drawn)


def _theme() -> Any:  # noqa: ANN401 - of the charts
    from tacit.charts.theme import Theme

    return Theme("house")


def test_what_was_not_answered_is_missing(case: Case) -> None:
    """No figure is made of answers that a model could not give: null, and not 0 or one half."""
    model = scored("contract")
    model._score = lambda *_: None
    groups = {
        name: Answered(group.keys, answered(model, group)) for name, group in case.requests.items()
    }
    findings = case.probe.measure(Answers(groups))
    tables = declared_tables(case.kind)
    for headline in case.kind.headlines:
        spec = tables.get(headline.table)
        table = findings.table(spec) if spec else None
        if table is not None and headline.column in table.columns:
            rows = selected(table, headline.where) if headline.where else table.head(1)
            assert rows[headline.column].drop_nulls().drop_nans().is_empty(), headline.label
    assert isinstance(findings.questions, pl.DataFrame)
