"""Servers that decide between options: what is asked, what is read, and what is refused."""

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import tacit
from tacit import Engine, Prompt, Scores, Store
from tacit.errors import ModelError, PromptError
from tacit.models.openai.contracts import INPUT
from tacit.models.openai.decisions import SAMPLE, DecidingModel
from tacit.models.registry import DEMO, folder_of
from tacit.requests import REFUSED, ZERO, Decided, Decision, missing_by_reason
from tacit.runs.notes import LARGEST
from tacit.testing import check_model
from tests.models.openai.conftest import Serve, load_as
from tests.models.openai.deciding import Deciding, Form, Question, Values
from tests.models.openai.model import Toy
from tests.models.openai.serving import Asked, Serving
from tests.models.openai.test_agreement import HuggingFace

FORMS: dict[Form, str] = {"openai": "decisions", "sglang": "decisions", "systemone": "systemone"}
EACH = pytest.mark.parametrize("form", FORMS)

PROMPTS = [
    *(Prompt(f"A {thing} has fur.", ("True", "False")) for thing in ("bear", "bird", "tree")),
    Prompt("Is the egg above the roots?", ("no", "Yes")),
    Prompt("What has whiskers?", ("a cat", "a bird's egg", "the roots")),
]


def deciding(server: Serving, store: Path | None = None, **options: Any) -> DecidingModel:  # noqa: ANN401 - its own fields
    api = FORMS[server.manners.deciding.form or "openai"]
    return load_as(DecidingModel, server, store, api=api, **options)


def truth(toy: Toy, prompt: Prompt) -> list[float]:
    """The share of each answer in the language; the server adds no words of its own."""
    words = {"true": "True", "yes": "True", "false": "False", "no": "False"}
    answers = [words.get(one.casefold(), one) for one in prompt.answers]
    begin = tuple(toy.tokenizer.encode(f"{prompt.text}\n").ids)
    behind = [toy.tokenizer.encode(f"{prompt.text}\n{answer}").ids for answer in answers]
    shares = np.exp([toy.logprob(tuple(ids), len(begin)) for ids in behind])
    return [float(share) for share in shares / shares.sum()]


def asked_of(server: Serving, start: int) -> list[dict[str, Any]]:
    return [body for body in server.requests[start:] if "questions" in body]


@EACH
def test_probabilities_of_options_are_read_in_each_contract(
    serve: Serve, toy: Toy, tmp_path: Path, form: Form
) -> None:
    """Statements, questions between yes and no in either order, and options of several words."""
    server = serve(deciding=Deciding(form))
    model = deciding(server)
    start = len(server.requests)
    found = Engine(model, Store(tmp_path)).ask(PROMPTS)
    for prompt, scores in zip(PROMPTS, found, strict=True):
        assert isinstance(scores, Decided)
        given = [math.exp(one.logprob or math.inf) for one in scores.answers]
        assert given == pytest.approx(truth(toy, prompt), abs=1e-9)
        assert scores.label_mass == (None if form == "openai" else 0.75)
    assert found[3].belief("Yes", "no") == pytest.approx(truth(toy, PROMPTS[3])[1])
    first = asked_of(server, start)[0]
    kinds = {"openai": "predicate", "sglang": "yes_no", "systemone": "noul"}
    sent = first["questions"].values() if form == "systemone" else first["questions"]
    assert sorted(one["type"] for one in sent) == sorted(["choice", *[kinds[form]] * 4])
    assert INPUT in first.values()
    check_model(model)


@pytest.fixture(scope="module")
def demo() -> HuggingFace:
    return HuggingFace(folder_of(DEMO))


def test_beliefs_of_parts_are_those_of_the_local_model(
    serve: Serve, demo: HuggingFace, tmp_path: Path
) -> None:
    options: dict[str, Any] = {"drawings": tacit.demo_data("drawings"), "limit": 1, "fast": True}
    options |= {"progress": False, "store": tmp_path}
    local = tacit.run("parts", model="demo", **options)
    server = serve(demo, deciding=Deciding("systemone"))
    served = tacit.run("parts", model=server.address, api="systemone", **options)
    here, there = (run.questions.sort("text") for run in (local, served))
    assert here["text"].equals(there["text"])
    assert np.abs((here["p_true"] - there["p_true"]).to_numpy()).max() < 1e-6
    assert served.elicitation.startswith("probabilities of options")
    assert served.summary["dependence"]["alone"]["largest"] < 1e-9
    assert served.summary["answer_probability"] == 0.75


def test_anchor_questions_become_one_choice_each(
    serve: Serve, demo: HuggingFace, tmp_path: Path
) -> None:
    """The likeliest option is the answer, however long it is; nothing is counted by byte."""
    server = serve(demo, deciding=Deciding("openai"))
    run = tacit.run(
        "consistency",
        model=server.address,
        api="decisions",
        questions=tacit.demo_data("questions"),
        kb=tacit.build_kb(tacit.demo_data("facts"), tmp_path / "demo.kb"),
        limit=1,
        fast=True,
        anchors="choice",
        store=tmp_path,
        progress=False,
    )
    local = tacit.load_model("demo")
    choices = run.tables["choices"]
    assert choices["per_byte"].equals(choices["logprob"], check_names=False)
    sent = {
        one["instructions"]: [option["value"] for option in one["choices"]]
        for body in server.requests
        for one in body["questions"]
        if one["type"] == "choice"
    }
    texts = [text for text in sent if run.tables["anchors"]["question"][0].rstrip("?") in text]
    scores = local.answer([Prompt(text, tuple(sent[text]), "\n") for text in texts])
    values = np.array([[one.logprob for one in each.answers] for each in scores])
    best = (values - np.logaddexp.reduce(values, axis=1, keepdims=True)).max(axis=0)
    anchor = run.tables["anchors"].row(0, named=True)
    assert anchor["choice"] == sent[texts[0]][int(best.argmax())]
    given = choices.filter(anchor=anchor["anchor"]).group_by("choice").agg(pl.col("logprob").max())
    by_choice = dict(given.iter_rows())
    assert [by_choice[one] for one in sent[texts[0]]] == pytest.approx(best, abs=1e-5)


def test_the_same_text_with_other_options_is_another_decision(
    serve: Serve, toy: Toy, tmp_path: Path
) -> None:
    """Probabilities of options depend on one another, so that none is taken from the store."""
    model = deciding(serve(deciding=Deciding("openai")))
    engine = Engine(model, Store(tmp_path))
    text = "What has whiskers?"
    for answers in (("cat", "bird"), ("cat", "bird", "tree"), ("bird", "cat")):
        prompt = Prompt(text, answers)
        (found,) = engine.ask([prompt])
        given = [math.exp(one.logprob) for one in found.answers]
        assert given == pytest.approx(truth(toy, prompt), abs=1e-9)
    assert engine.plan([Prompt(text, ("cat", "bird"))]).prompts == 0


def test_batches_are_as_large_as_the_server_allows_and_recorded(
    serve: Serve, tmp_path: Path
) -> None:
    """The composition follows from the seed; the store says which questions were sent together."""
    prompts = [Prompt(f"The number {n} is odd.", ("True", "False")) for n in range(100)]
    orders: list[list[list[str]]] = []
    for seed in (0, 0, 1):
        server = serve(deciding=Deciding("openai", most=64, options=26))
        model = deciding(server, seed=seed, concurrency=1)
        about = model.description["decisions"]
        assert (about["questions_per_request"], about["options_per_question"]) == (64, 26)
        assert model.calls(100) == 2
        start = len(server.requests)
        folder = tmp_path / str(len(orders))
        Engine(model, Store(folder)).ask(prompts)
        batches = [body["questions"] for body in asked_of(server, start)][:2]
        assert [len(batch) for batch in batches] == [64, 36]
        orders.append([[one["instructions"] for one in batch] for batch in batches])
        rows = Store(folder).read(model.fingerprint, Decision).unique("text")
        by_batch = rows.sort("position").group_by("batch").agg("text")["text"].to_list()
        assert sorted(map(list, by_batch)) == sorted(orders[-1])
    assert orders[0] == orders[1] != orders[2]


Changes = Callable[[Values, int, Sequence[Question]], Values]


@pytest.mark.parametrize(
    ("changes", "alone", "order", "options"),
    [
        # In a batch, 0.05 more for true.
        (lambda _, __, asked: [0.5, 0.5] if len(asked) > 1 else [0.45, 0.55], 0.05, 0.0, None),
        # The first of ten has 0.3 for true, the others 0.4; two are first in one of the orders.
        (lambda _, n, __: [0.4, 0.6] if n else [0.3, 0.7], 0.1 * 9 / 10, 0.1 * 2 / 10, None),
        # The first option has 0.1 more than the last.
        (lambda v, _, __: [0.5, *[0.1 / (len(v) - 2)] * (len(v) - 2), 0.4], 0.0, 0.0, 0.1),
    ],
    ids=("batch", "order", "options"),
)
def test_what_decisions_depend_on_is_measured(
    serve: Serve, changes: Changes, alone: float, order: float, options: float | None
) -> None:
    server = serve(deciding=Deciding("systemone"))
    model = deciding(server)
    server.manners.deciding.changes = changes
    answers = ("True", "False") if options is None else ("a cat", "a bird", "a tree")
    found = model.dependence([Decision(f"The number {n} is odd.", answers) for n in range(10)])
    assert found["questions"] == 10
    assert found["alone"]["mean"] == pytest.approx(alone)
    assert found["order"]["mean"] == pytest.approx(order)
    turned = found["options"]
    assert turned is None if options is None else turned["mean"] == pytest.approx(options)


def test_answers_that_are_exchanged_only_in_large_batches_are_seen(serve: Serve) -> None:
    server = serve(deciding=Deciding("openai"))
    model = deciding(server)

    def exchanged(asked: Asked, server: Serving) -> dict[str, Any]:
        answer = server.answer(asked.body)
        given = [one["probability"] for one in answer["answers"]]
        for one, p in zip(answer["answers"], given[:20] + given[21:] + given[20:21], strict=True):
            one["probability"] = p
        return answer

    server.respond = exchanged
    asked = [Decision(f"The number {n} is odd.", ("True", "False")) for n in range(100)]
    found = model.dependence(asked)
    assert found["alone"]["mean"] > LARGEST
    assert found["alone"]["questions"] == SAMPLE


@EACH
def test_fields_that_are_null_are_those_that_are_absent(
    serve: Serve, tmp_path: Path, form: Form
) -> None:
    server = serve(deciding=Deciding(form))

    def nulls(asked: Asked, server: Serving) -> dict[str, Any]:
        answer = server.answer(asked.body)
        each = answer["answers"] if form == "openai" else answer["answers"].values()
        for one in each:
            for name in ("probabilities", "probability", "noul", "label_mass", "prompt_token_ids"):
                one.setdefault(name, None)
        return answer

    server.respond = nulls
    assert not missing_by_reason(Engine(deciding(server), Store(tmp_path)).ask(PROMPTS))


@EACH
def test_a_refusal_is_one_missing_answer(serve: Serve, tmp_path: Path, form: Form) -> None:
    server = serve(deciding=Deciding(form, refuses=lambda text: "bird" in text))
    engine = Engine(deciding(server), Store(tmp_path))
    found = engine.ask(PROMPTS)
    assert missing_by_reason(found) == {REFUSED: 1}
    assert [one.belief("True", "False") is None for one in found[:3]] == [False, True, False]
    assert engine.plan(PROMPTS).prompts == 0


def test_a_probability_of_zero_is_a_belief_of_zero(serve: Serve, tmp_path: Path) -> None:
    """Its logarithm is missing, and never above that of another option."""

    def changes(values: Values, _: int, asked: Sequence[Question]) -> Values:
        return [0.0, 1.0] if asked[0].text.startswith("A ") and len(values) == 2 else values

    server = serve(deciding=Deciding("openai", changes=changes))
    (found,) = Engine(deciding(server), Store(tmp_path)).ask(PROMPTS[:1])
    assert isinstance(found, Scores)
    assert found.belief("True", "False") == pytest.approx(0, abs=1e-300)
    assert found.belief("False", "True") == 1
    assert missing_by_reason([found]) == {ZERO: 1}
    assert found.most() == [0.0, 0.0]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (lambda v: [p / 2 for p in v], "sum to 0.5"),
        (lambda v: [0.4, *[0.6 / (len(v) - 1)] * (len(v) - 1)], "same probabilities for all texts"),
    ],
    ids=("among all tokens", "the same"),
)
def test_impossible_probabilities_are_refused_in_the_preflight(
    serve: Serve, changes: Callable[[Values], Values], message: str
) -> None:
    server = serve(deciding=Deciding("openai", changes=lambda values, *_: changes(values)))
    with pytest.raises(ModelError, match=message):
        deciding(server)


@pytest.mark.parametrize(
    ("prompt", "message"),
    [
        (Prompt("Is it?", ("True",)), "at least two options"),
        (Prompt(" \n", ("True", "False")), "empty"),
        (Prompt("Is it?", ("true", "True", "false")), "only in case"),
        (Prompt("Is it?", ("true", "false\nno")), "several lines"),
        (Prompt("Which?", tuple(map(str, range(27)))), "at most 26 options"),
    ],
    ids=lambda one: one if isinstance(one, str) else "",
)
def test_prompts_that_are_no_decisions_are_refused_before_any_is_asked(
    serve: Serve, tmp_path: Path, prompt: Prompt, message: str
) -> None:
    server = serve(deciding=Deciding("openai", options=26))
    engine = Engine(deciding(server), Store(tmp_path))
    asked = len(server.requests)
    with pytest.raises(PromptError, match=message):
        engine.ask([*PROMPTS, prompt])
    assert len(server.requests) == asked


def test_a_vocabulary_is_not_ranked_by_decisions(tmp_path: Path) -> None:
    given = {"norms": tacit.demo_data("norms"), "out": tmp_path / "run"}
    with pytest.raises(ModelError, match="roads: decisions"):
        tacit.run("assumptions", model="http://127.0.0.1:9/v1", api="decisions", **given)
