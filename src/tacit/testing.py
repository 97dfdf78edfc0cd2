"""Checks for probes and models of other packages; a failed check raises ``AssertionError``."""

from __future__ import annotations

import hashlib
import json
import re
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tacit.engine.ask import Engine
from tacit.engine.store import Store
from tacit.errors import ModelError
from tacit.findings.findings import Findings
from tacit.findings.spec import selected
from tacit.models.base import LanguageModel
from tacit.models.fake import FakeModel
from tacit.options import build, declarations
from tacit.probes.base import (
    Answered,
    Answers,
    ModelWords,
    Probe,
    Requests,
    declared_figures,
    declared_tables,
)
from tacit.probes.registry import register
from tacit.requests import (
    KINDS,
    Decision,
    Prompt,
    RankingPrompt,
    Sample,
    Samples,
    SamplingPrompt,
    Vocabulary,
)

_WORDS = Vocabulary(["bear", "bird", "tree"])
_ASKED: Mapping[type, Sequence[Any]] = {
    Prompt: [
        Prompt("Is a bear a bird?", ("True", "False")),
        Prompt("Is it?", ("False", "True"), "\n"),
        Prompt("Is a tree a bird, or is it a bear?", ("True",)),
    ],
    RankingPrompt: [
        RankingPrompt("It is a", _WORDS, ("bird", "tree")),
        RankingPrompt("It has fur, and is a", _WORDS, ("bear",), top=2),
    ],
    SamplingPrompt: [SamplingPrompt("Is it?", (0, 1, 2)), SamplingPrompt("Is a bird?", (4, 1))],
    Decision: [
        Decision("Is a bear a bird?", ("a bear", "a bird")),
        Decision("Is it?", ("No", "Yes")),
    ],
}


def check_probe(
    kind: type[Probe],
    *,
    words: Sequence[str] = ("bear", "bird", "tree"),
    **options: Any,  # noqa: ANN401 - options of the probe
) -> Findings:
    """Check that a probe keeps to its contract, with answers that a hash of each prompt decides.

    The probe is registered; its requests must have keys and texts of their own; its findings must
    be as declared; its figures must be drawn; and a result of which nothing was answered must be
    null.

    Args:
        kind: The class of the probe.
        words: The vocabulary of the model, for a probe that ranks words.
        options: The options of the probe.

    Returns:
        The findings, for checks of your own.

    Raises:
        AssertionError: If a check fails.
        RequestError: If the class is not a complete probe, or an option is wrong.

    Examples:
        >>> import tacit
        >>> from tacit.probes.parts.probe import PartsProbe
        >>> from tacit.testing import check_probe
        >>> drawings = tacit.demo_data("drawings")
        >>> check_probe(PartsProbe, drawings=drawings, limit=1).tables["accuracy"].height > 0
        True
    """
    register(kind)
    undescribed = [name for name, one in declarations(kind.Options).items() if not one.help]
    assert not undescribed, f"options without help: {', '.join(undescribed)}"
    made = kind.of(build(kind.Options, options))
    if made.ranks_vocabulary:
        made = made.for_models({"test": ModelWords("masked", Vocabulary(words))})["test"]
    groups = made.requests()
    _check_requests(groups)
    findings = made.measure(_answers(groups, _drawn, words))
    _check_findings(kind, findings)
    _check_figures(kind, findings)
    _check_missing(kind, made.measure(_answers(groups, lambda *_: None, words)))
    return findings


def _check_requests(groups: Mapping[str, Requests]) -> None:
    assert any(group.requests for group in groups.values()), "the probe asks nothing"
    for name, group in groups.items():
        assert group.keys.height == len(group.requests), f"{name}: not one key per request"
        assert not group.keys.is_duplicated().any(), f"{name}: two requests have the same key"
        distinct = len({json.dumps(repr(one)) for one in group.requests})
        assert group.repeats or distinct == len(group.requests), (
            f"{name}: requests with different keys are the same text"
        )


def _check_findings(kind: type[Probe], findings: Findings) -> None:
    tables = declared_tables(kind)
    findings.check(tables.values())
    json.dumps(dict(findings.summary), default=str)
    for headline in kind.headlines:
        spec = tables.get(headline.table)
        assert spec is not None, f"a headline names the table {headline.table}, which is missing"
        names = {name for column in spec.columns for name in column.names}
        assert headline.column in names, f"{headline.table} has no column {headline.column}"
    block = kind.block(findings)
    assert block is None or 1 <= len(block.lines) <= 4, "a block has one to four lines"  # noqa: PLR2004


def _check_figures(kind: type[Probe], findings: Findings) -> None:
    """Draw each figure; a figure without data is None."""
    from tacit.charts.theme import HOUSE
    from tacit.runs.figures import shown_of
    from tacit.runs.run import Run

    manifest = {"summary": dict(findings.summary)}
    run = Run(None, "m", {"probe": kind.name}, manifest, findings.tables, findings.questions)
    figures, shown = declared_figures(kind).values(), shown_of([run], HOUSE)
    drawn = [chart.to_dict() for each in figures if (chart := each(shown)) is not None]
    assert drawn or not figures, "no figure is drawn"


def _check_missing(kind: type[Probe], findings: Findings) -> None:
    """Check that results are null if nothing was answered, and not 0 or one half."""
    for headline in kind.headlines:
        table = findings.tables.get(headline.table)
        if table is not None and headline.column in table.columns:
            rows = selected(table, headline.where) if headline.where else table.head(1)
            values = rows[headline.column].drop_nulls()
            assert values.is_empty(), f"{headline.label} has a value, but nothing was answered"


def _drawn(prompt: Prompt, answer: str) -> float | None:
    """Return a log-probability that a hash decides; one answer in fifty has none."""
    text = f"{prompt.text}\x1f{prompt.separator}\x1f{answer}"
    drawn = int.from_bytes(hashlib.sha256(text.encode()).digest()[:6]) / 2**48
    return None if drawn < 1 / 50 else -8 * drawn - 1 / 8


def _answers(groups: Mapping[str, Requests], score: Any, words: Sequence[str]) -> Answers:  # noqa: ANN401 - a function
    model = FakeModel(score, "test", words)
    return Answers(
        {
            name: Answered(group.keys, [_answer(model, one) for one in group.requests])
            for name, group in groups.items()
        }
    )


def _answer(model: FakeModel, request: Any) -> Any:  # noqa: ANN401 - any request
    if not isinstance(request, SamplingPrompt):
        return model.answer([request])[0]
    known = model._score(Prompt(request.text, ("Yes",)), "Yes") is not None  # noqa: SLF001
    return Samples(tuple(Sample("Yes" if n % 2 else "No") for n in request.numbers if known))


def check_model(model: LanguageModel) -> None:
    """Check that a model keeps to the contract of back-ends, with a few small requests.

    The model must describe itself, answer the requests that it supports in their order, state their
    cost, and give the same answers to the engine, which asks it once.

    Args:
        model: The model.

    Raises:
        AssertionError: If a check fails.

    Examples:
        >>> from tacit import FakeModel
        >>> from tacit.testing import check_model
        >>> check_model(FakeModel(lambda prompt, answer: -float(len(answer))))
    """
    assert model.name, "the model has no name"
    assert re.fullmatch("[0-9a-f]{32,}", model.fingerprint), "the fingerprint is not hexadecimal"
    about = json.loads(json.dumps(dict(model.description)))
    for name, value in (("name", model.name), ("fingerprint", model.fingerprint)):
        assert about.get(name) == value, f"the description lacks the model's {name}"
    assert model.supports, "the model supports no kind of request"
    assert model.supports <= set(KINDS), f"unknown kinds of requests: {model.supports - set(KINDS)}"
    rows = [_ASKED[kind] for kind in _ASKED if kind in model.supports]
    asked = [row[at] for at in range(max(map(len, rows))) for row in rows if at < len(row)]
    _check_answers(model, asked)
    costs = model.cost(asked)
    assert len(costs) == len(asked) and sum(costs) > 0, "not one cost per request"  # noqa: PT018
    assert model.cost(asked) == costs, "the cost of a request changes"
    assert (model.cost([]), model.answer([])) == ([], []), "no requests have an answer"
    with tempfile.TemporaryDirectory() as folder:
        _check_engine(model, asked, Path(folder))


def _check_answers(model: LanguageModel, asked: Sequence[Any]) -> None:
    answers = model.answer(asked)
    assert len(answers) == len(asked), "not one answer per request"
    for request, answer in zip(asked, answers, strict=True):
        wrong = KINDS[type(request)].check(request, answer)
        assert wrong is None, f"the model {wrong}"


def _check_engine(model: LanguageModel, asked: Sequence[Any], folder: Path) -> None:
    engine = Engine(model, Store(folder / "store"))
    plan = engine.plan([*asked, *asked])
    assert plan.distinct == len(asked), "equal requests are asked twice"
    answers = engine.ask([*asked, *asked], plan)
    assert answers[: len(asked)] == answers[len(asked) :], "equal requests have different answers"
    again = engine.plan(asked)
    assert (again.prompts, again.stored) == (0, len(asked)), "stored answers are asked again"
    assert engine.ask(asked) == answers[: len(asked)], "a stored answer is another answer"
    for kind in set(_ASKED) - model.supports:
        if kind is Prompt and model.supports & {SamplingPrompt, Decision}:
            continue  # prompts are put to such a model as texts to reply to, or to decide about
        try:
            Engine(model, Store(folder / "other")).plan(_ASKED[kind])
        except ModelError as error:
            assert model.name in str(error)  # noqa: PT017 - no pytest
        else:
            raise AssertionError(f"a {kind.__name__} is not refused")
