"""What a run says before it asks a model, the next tokens of a model, and what is read of a run."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tacit.engine.ask import Engine
from tacit.engine.store import Store
from tacit.models.fake import FakeModel
from tacit.probes.base import Requests
from tacit.requests import Prompt
from tacit.runs.asking import _warn_of_repeated, answers_to
from tacit.runs.comparison import unsized
from tacit.runs.notes import PROMPTS as SAMPLED
from tacit.runs.notes import TOKENS, missing, next_tokens
from tacit.runs.reading import read_runs
from tacit.runs.reporter import Reporter, resumable
from tests.report.conftest import assumptions_run, consistency_run, parts_run


class Chatty(FakeModel):
    def __init__(self, chat: dict[str, str] | None) -> None:
        super().__init__(lambda _prompt, _answer: -1.0)
        self.chat = chat

    @property
    def description(self) -> dict[str, Any]:
        return {**super().description, "has_chat_template": True, "chat": self.chat}


@pytest.mark.parametrize("chat", [None, {"template": "a"}])
def test_an_unused_chat_template_is_named(
    chat: dict[str, str] | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one line with the option that uses it, and only where it is unused."""
    notes: list[str] = []
    reporter, engine = Reporter(), Engine(Chatty(chat), Store(tmp_path))
    monkeypatch.setattr(reporter, "note", notes.append)
    asked = [Prompt("Is it?", ("Yes",))]
    answers_to(asked, engine, engine.plan(asked), reporter)
    assert ["--chat" in note for note in notes] == [True] * (chat is None)


PROMPTS = [Prompt(f"Is it {at}?", ("Yes", "No")) for at in range(1200)]


class Interrupted(FakeModel):
    blocks = 0

    def answer(self, requests: Sequence[Any]) -> list[Any]:
        self.blocks += 1
        if self.blocks == 3:
            raise KeyboardInterrupt
        return super().answer(requests)


class Streaming(Interrupted):
    """A model whose stream is interrupted behind its second part."""

    def stream(self, requests: Sequence[Any], seconds: float) -> Iterator[list[tuple[Any, Any]]]:
        del seconds
        for at in range(0, len(requests), 100):
            part = requests[at : at + 100]
            yield list(zip(part, self.answer(part), strict=True))


def counted(engine: Engine, asked: Sequence[Prompt], reporter: Reporter) -> tuple[int, int]:
    """Return the number of stored answers and of all answers from the message of an interrupt."""
    with pytest.raises(KeyboardInterrupt, match="run the same command again") as interrupted:
        answers_to(asked, engine, engine.plan(asked), reporter)
    stored, _, total, *_ = str(interrupted.value).replace(",", "").split()
    return int(stored), int(total)


@pytest.mark.parametrize("kind", [Interrupted, Streaming])
@pytest.mark.parametrize("seconds", [0, 60])
def test_who_interrupts_is_told_how_many_answers_are_stored(
    kind: type[Interrupted], seconds: float, tmp_path: Path
) -> None:
    """Also what was stored before, or while it ended: as many as the next run reuses."""
    store = Store(tmp_path)

    def engine(kind: type[FakeModel]) -> Engine:
        return Engine(kind(lambda _, __: -1.0), store, block_tokens=64, seconds=seconds)

    engine(FakeModel).ask([*PROMPTS[:10], Prompt(PROMPTS[10].text, ("Yes",))])
    stored, total = counted(engine(kind), PROMPTS, Reporter())
    assert total == len(PROMPTS)
    assert stored == engine(kind).plan(PROMPTS).stored > 10


def test_the_innermost_says_what_is_kept() -> None:
    with (
        pytest.raises(KeyboardInterrupt, match=r"^all answers are stored; run the same command"),
        resumable(),
        resumable("all answers are stored"),
    ):
        raise KeyboardInterrupt


@pytest.mark.parametrize("repeats", [False, True])
def test_prompts_of_different_keys_that_are_the_same_are_counted(
    repeats: bool,  # noqa: FBT001 - a parameter of the test
    caplog: pytest.LogCaptureFixture,
) -> None:
    """In one line with an example, unless the probe means it; other answers are another prompt."""
    prompts = [Prompt("A?", ("Yes",)), Prompt("B?", ("Yes",)), Prompt("A?", ("Yes",))]
    prompts.append(Prompt("A?", ("No",)))
    group = Requests(pl.DataFrame({"word": list("abcd")}), prompts, repeats)
    _warn_of_repeated({"pairs": group}, Reporter())
    said = ["2 of 4 prompts (pairs) are the same text as another" in one for one in caplog.messages]
    assert said == [True] * (not repeats)
    assert repeats or "'A?'" in caplog.text


ASKED = PROMPTS[:100]


class Writing(FakeModel):
    def __init__(self) -> None:
        super().__init__(lambda _prompt, _answer: -1.0)
        self.given: list[Sequence[Prompt]] = []

    def next_tokens(self, prompts: Sequence[Prompt], most: int) -> list[tuple[str, float]]:
        self.given.append(prompts)
        return [(f" {number}", 0.1) for number in range(most)]


def found(model: FakeModel, store: Store, requests: Sequence[Any] = ASKED) -> dict[str, Any] | None:
    engine = Engine(model, store)
    return next_tokens(engine, engine.plan(requests))


def test_they_are_computed_once_over_a_sample_of_texts(tmp_path: Path) -> None:
    """The sample depends on the requests alone, and a second run reads the stored value."""
    model, store = Writing(), Store(tmp_path)
    told = found(model, store)
    assert told is not None
    assert (told["prompts"], len(told["tokens"])) == (SAMPLED, TOKENS)
    assert len({one.text for one in model.given[0]}) == SAMPLED
    Engine(model, store).ask(ASKED)
    assert found(model, Store(tmp_path)) == told
    other = Writing()
    found(other, Store(tmp_path / "other"))
    assert len(model.given) == 1
    assert other.given == model.given


def test_cached_answers_without_tokens_need_no_model(tmp_path: Path) -> None:
    """Then the tokens are missing, as they are for a model that predicts none."""
    model, store = Writing(), Store(tmp_path)
    Engine(model, store).ask(ASKED)
    assert found(model, store) is None
    assert not model.given
    assert found(FakeModel({}), Store(tmp_path / "other")) is None


def test_a_damaged_value_is_computed_again(tmp_path: Path) -> None:
    """A changed byte makes it missing, and the next computation restores it."""
    model, store = Writing(), Store(tmp_path)
    told = found(model, store)
    (file,) = tmp_path.glob("notes/*/*-*.json")
    file.write_bytes(file.read_bytes().replace(b"0.1", b"0.2", 1))
    assert found(model, store) == told
    assert len(model.given) == 2
    assert found(model, store) == told
    assert len(model.given) == 2


def test_metrics_are_the_values_of_the_headlines(tmp_path: Path) -> None:
    """By the labels of the headlines, which have the values of the rows that they show."""
    (run,) = read_runs([consistency_run(tmp_path / "run")])
    row = run.tables["consistency"].row(0, named=True)
    assert json.loads((tmp_path / "run" / "metrics.json").read_text()) == run.metrics
    for end in ("", "_low", "_high"):
        assert run.metrics[f"consistency/auroc{end}"] == row[f"auroc{end}"]
    assert (run.metrics["consistency/auroc_n"], run.metrics["consistency/auroc_chance"]) == (
        12,
        0.5,
    )
    assert run.block is not None
    assert run.verdict == run.block.verdict
    (other,) = read_runs([assumptions_run(tmp_path / "other")])
    table = other.tables["elicitation_by_relation"].filter(preface=True, over="vocabulary")
    for relation, value in table.select("relation", "map").rows():
        label = f"mean_average_precision_{relation}".replace(" ", "_")
        assert other.metrics[f"assumptions/{label}"] == pytest.approx(value)


def test_runs_of_parts(tmp_path: Path) -> None:
    """The size of a computed sample is a metric; of an unknown size there is no slope."""
    (run,) = read_runs([parts_run(tmp_path / "run")])
    rate = run.tables["violation"].row(
        by_predicate=(pl.col("constraint") == "micro") & (pl.col("stage") == "before"), named=True
    )
    n = run.metrics["parts/constraint_violations_n"]
    assert n == rate["applicable"] - rate["undecided"] > 0
    (line,) = unsized([run])
    assert line.endswith("are unknown; repeat the run with --family and --parameters")
    manifest = {**run.manifest, "model": {"family": "opt", "parameters": 1}}
    assert not list(unsized([replace(run, manifest=manifest)]))


def test_runs_have_the_order_that_is_given_or_that_of_their_starts(tmp_path: Path) -> None:
    first, second = tmp_path / "runs" / "b", tmp_path / "runs" / "a"
    for folder in (first, second):
        parts_run(folder)
    assert [run.folder for run in read_runs([tmp_path / "runs"])] == [first, second]
    assert [run.folder for run in read_runs([second, first])] == [second, first]


def test_what_is_missing_is_counted() -> None:
    """Skipped prompts, answers without a score, unparsed replies."""
    votes = {"replies": 10, "unparsed": 4, "truncated": 1}
    lines = missing({"skipped": 2, "unscored": {"outside": 3}, "votes": votes})
    assert [line.split()[0] for line in lines] == ["2", "3", "4"]
    votes["unparsed"] = 0
    assert not list(missing({"skipped": 0, "votes": votes}))
