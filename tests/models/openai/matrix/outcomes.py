"""What comes of a fault: the public road from an address to stored scores, beside the true ones."""

import atexit
import logging
import math
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import Any, Literal

from tacit.engine.ask import Engine
from tacit.engine.store import Store
from tacit.errors import TacitError
from tacit.models.base import LanguageModel
from tacit.models.openai.decisions import SAMPLE, DecidingModel
from tacit.models.openai.loading import load_server
from tacit.models.openai.options import Backoff, ServerOptions
from tacit.models.openai.roads import Api
from tacit.requests import Decision, Prompt, Sample, SamplingPrompt
from tacit.requests.answer_parsing import votes_of
from tacit.runs.notes import caution
from tests.models.openai.matrix.faults import NAMED, PATIENCE, Fault, Road, Start
from tests.models.openai.matrix.honest import Form, Server
from tests.models.openai.matrix.language import (
    ANSWERS,
    decisions,
    opinions,
    prompts,
    questions,
    reply,
    tokenizer,
    true_decisions,
    true_opinions,
    true_scores,
)
from tests.models.openai.serving import NEVER, running

Kind = Literal[
    "right",  # all that an honest server gives is there, and true
    "told",  # something is wrong, and the description or a warning says what
    "missing",  # what would be wrong is missing, with a reason
    "refused",  # an error, before anything wrong was stored
    "wrong stored",  # an error, when something wrong was in the store
    "silent wrong",  # nothing is said, and something is wrong
    "crashed",  # an error of Python's
    "not reached",  # the run ended before the fault began
]

ACCEPTED: tuple[Kind, ...] = ("right", "told", "missing", "refused")

AFTER = 60
"""Requests after which a late fault begins."""

AFTER_BATCHES = 20 + 2 * SAMPLE
"""As ``AFTER``, where a request has several questions; the first ask about dependence."""

_AFTER: Mapping[Road, int] = {"decisions": AFTER_BATCHES, **dict.fromkeys(NAMED, 4)}
"""As ``AFTER``, where a request is about several prompts."""

SAMPLES = 8
CLOSE = 1e-3
"""Nats by which a score may be off."""

FORMS: Mapping[Road, Form] = {
    "next+tokenizer": "llama.cpp",
    "ollama+tokenizer": "ollama",
    "vllm's named+tokenizer": "vllm that names",
    "sglang's named+tokenizer": "sglang",
}
"""The servers of the roads without an echo, and of named tokens."""

_APIS: Mapping[Road, Api] = {"chat": "chat", "votes": "chat", "decisions": "decisions"}
_ASKED: Mapping[Road, Callable[[], Sequence[Prompt]]] = {
    **dict.fromkeys(("chat", "votes"), questions),
    "decisions": decisions,
}
_BLOCK = 1500
_TURNS = 3
_SIGMAS = 4.5
_WORD = re.compile("[A-Za-z]+")
_ABILITIES = re.compile(
    r"several_at_once|.*(returns no echo|returns no tokens of the prompt|tokens of its echo differ"
    r"|generates tokens although|one reply per request|copies of one reply|accepts no seed"
    r"|accepts neither top_k|no replies at temperature 0)",
    re.DOTALL,
)
_PRIVATE = {"name", "fingerprint", "identity", "canaries", "preflight", "temperature_seen"}


@dataclass(frozen=True)
class Outcome:
    """The kind of an outcome; the error, what was reported or how much is wrong; the wrong ones."""

    kind: Kind
    detail: str = ""
    wrong: int = 0


@dataclass
class _Run:
    road: Road
    description: Mapping[str, Any] = field(default_factory=dict)
    read: dict[tuple[str, str, str], tuple[float | None, str | None]] = field(default_factory=dict)
    replies: dict[tuple[str, int], Sample] = field(default_factory=dict)
    error: BaseException | None = None
    warned: list[str] = field(default_factory=list)
    before: int = 0
    faulty: int = 0


def outcome(fault: Fault, road: Road, start: Start) -> Outcome:
    run = _run(road, fault, start)
    wrong, missing, how = _compared(run)
    explained = _explained(run)
    if run.error is None:
        detail = f"{how} {explained}".strip()
        kind: Kind = "missing" if missing else "right"
        if wrong:
            kind = "told" if explained else "silent wrong"
        return Outcome(kind if run.faulty else "not reached", detail, wrong)
    if not isinstance(run.error, TacitError):
        return Outcome("crashed", repr(run.error), wrong)
    kind = "refused"
    if wrong:
        kind = "told" if explained else "wrong stored"
    return Outcome(kind, str(run.error), wrong)


def honest(road: Road) -> tuple[Outcome, int, int]:
    run = _baseline(road)
    wrong, _, how = _compared(run)
    kind: Kind = "right" if run.error is None and not wrong else "silent wrong"
    given = len(run.replies) or sum(value is not None for value, _ in run.read.values())
    return Outcome(kind, how or str(run.error or ""), wrong), given, run.before


@cache
def _baseline(road: Road) -> _Run:
    return _run(road, None, "first")


@cache
def _tokenizer_file() -> Path:
    folder = mkdtemp(prefix="tacit-matrix-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = Path(folder) / "tokenizer.json"
    tokenizer().save(str(path))
    return path


# A run


class _Lines(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage().partition("/v1: ")[2] or record.getMessage())


@contextmanager
def _logged() -> Iterator[list[str]]:
    handler, logger = _Lines(), logging.getLogger("tacit")
    before, logger.propagate = logger.propagate, False
    logger.addHandler(handler)
    try:
        yield handler.lines
    finally:
        logger.removeHandler(handler)
        logger.propagate = before


def _run(road: Road, fault: Fault | None, start: Start) -> _Run:
    run = _Run(road)
    server = Server.of(
        FORMS.get(road, "vllm"),
        respond=fault.make() if fault else None,
        begins={"first": 0, "midway": NEVER}[start],
    )
    with TemporaryDirectory() as folder, _logged() as logged, running(server):
        try:
            _carry_out(run, server, Store(Path(folder) / "store"), midway=start == "midway")
        except Exception as error:  # noqa: BLE001 - whatever it is, the outcome names it
            # Without its frames, which would keep the client's connections open.
            run.error, error.__context__ = error.with_traceback(None), None
    run.faulty = server.faulty
    # Some prompts double the white space, to show whether a server collapses it.
    run.warned += [line for line in logged if "the white space around an answer" not in line]
    return run


def _carry_out(run: _Run, server: Server, store: Store, *, midway: bool) -> None:
    model = loaded(run.road, server.address, store)
    run.before = len(server.requests)
    if midway:
        server.begin_after(_AFTER.get(run.road, AFTER))
    asked = _ASKED.get(run.road, prompts)()
    if isinstance(model, DecidingModel):
        depends = model.dependence([Decision.of(one) for one in asked[:SAMPLE]])
        run.warned = [one for one in [caution({"dependence": depends})] if one]
    turns = 1 if server.respond is None else _TURNS
    engine = Engine(model, store, block_tokens=None if run.road == "votes" else _BLOCK)
    try:
        # In each turn, an engine asks the longest texts first.
        for turn in range(turns):
            engine.ask(asked[turn::turns])
    finally:
        run.description = model.description
        _read(run, model, store)


def loaded(road: Road, address: str, store: Store) -> LanguageModel:
    options = ServerOptions(
        tokenizer=_tokenizer_file() if road.endswith("+tokenizer") else None,
        timeout=PATIENCE,
        backoff=Backoff(first=0.0, most=0.0),
        api=_APIS.get(road, "completions"),
        samples=SAMPLES if road == "votes" else None,
    )
    return load_server(address, options, Path(str(store.root)))


def _read(run: _Run, model: LanguageModel, store: Store) -> None:
    if run.road == "votes":
        for row in store.read(model.fingerprint, SamplingPrompt).iter_rows(named=True):
            run.replies[row["text"], row["number"]] = Sample(row["reply"], row["state"])
        return
    if run.road == "decisions":
        for row in store.read(model.fingerprint, Decision).iter_rows(named=True):
            run.read[row["text"], "", row["option"]] = (row["logprob"], row["reason"])
        return
    for row in store.read(model.fingerprint).iter_rows(named=True):
        key = (row["text"], row["separator"], row["answer"])
        run.read[key] = (row["logprob"], row["reason"])


# Compared with the truth


def _compared(run: _Run) -> tuple[int, int, str]:
    if run.road == "votes":
        return _compared_replies(run.replies)
    truth = {"chat": true_opinions, "decisions": true_decisions}.get(run.road, true_scores)()
    base = run if run.faulty == 0 and not run.error else _baseline(run.road)
    lost = [key for key, (value, _) in run.read.items() if value is None]
    lost = [key for key in lost if base.read.get(key, (None, None))[0] is not None]
    unsaid = sum(run.read[key][1] is None for key in lost)
    off = [
        (abs(value - truth[key]), key)
        for key, (value, _) in run.read.items()
        if value is not None and not abs(value - truth[key]) <= CLOSE
    ]
    how = f"by up to {max(off)[0]:.3g} nats, in {max(off)[1]!r};" if off else ""
    return len(off) + unsaid, len(lost), how + (f" {unsaid} without a reason;" if unsaid else "")


def _compared_replies(replies: Mapping[tuple[str, int], Sample]) -> tuple[int, int, str]:
    """How many replies are to another text, or how far the shares are from what they should be."""
    answers: dict[str, list[str]] = {}
    words: dict[str, list[str]] = {}
    foreign, lost = 0, 0
    for (text, _), sample in sorted(replies.items()):
        answer, word = _answer(sample), _WORD.match(sample.reply)
        lost += answer is None
        if answer is not None:
            answers.setdefault(text, []).append(answer)
            foreign += not _may_be(sample.reply, text, answer)
        if word and word[0] in opinions(text):
            words.setdefault(text, []).append(word[0])
    if foreign:
        return foreign, 0, f"{foreign} of {len(replies)} replies are none to their text;"
    tests = {"words": _sigmas(_likelihoods(words)), "pairs alike": _sigmas(_pairs(answers))}
    off = {name: value for name, value in tests.items() if abs(value) > _SIGMAS}
    unread = [1 - sum(opinions(text)[one] for one in ANSWERS) for text, _ in replies]
    deviation = math.sqrt(sum(share * (1 - share) for share in unread))
    more = round(lost - sum(unread))
    how = ", ".join(f"{name} off by {value:.1f} sigma" for name, value in off.items())
    missing = more if more > _SIGMAS * deviation else 0
    return len(replies) if off else 0, missing, f"{how};" if off else ""


def _answer(sample: Sample) -> str | None:
    counts = votes_of([sample], ANSWERS).counts
    return next((answer for answer, count in counts.items() if count), None)


def _may_be(said: str, text: str, answer: str) -> bool:
    return bool(said) and reply(text, answer, 0).startswith(said)


_Term = tuple[float, float, float]
"""What was seen, its expectation and its variance."""


def _sigmas(terms: Iterable[_Term]) -> float:
    """How many standard deviations a sum is away from its expectation."""
    found = list(terms)
    seen, expected, variance = (sum(term[at] for term in found) for at in range(3))
    return (seen - expected) / math.sqrt(variance) if variance else 0.0


def _likelihoods(by_text: Mapping[str, Sequence[str]]) -> Iterator[_Term]:
    """The log-probability of each reply's first word."""
    for text, words in by_text.items():
        shares = opinions(text)
        mean = sum(share * math.log(share) for share in shares.values())
        variance = sum(share * math.log(share) ** 2 for share in shares.values()) - mean**2
        for word in words:
            yield math.log(shares[word]), mean, variance


def _pairs(by_text: Mapping[str, Sequence[str]]) -> Iterator[_Term]:
    """Whether two answers to a text that follow each other are the same."""
    for text, answers in by_text.items():
        shares = [opinions(text)[answer] for answer in ANSWERS]
        alike = sum((share / sum(shares)) ** 2 for share in shares)
        for one, other in zip(answers[::2], answers[1::2], strict=False):
            yield float(one == other), alike, alike * (1 - alike)


# What was reported


def _explained(run: _Run) -> str:
    """Return what the description or a warning reports, but not of an honest server.

    What the server is not used for, such as an incorrect echo, explains nothing else.
    """
    base = _baseline(run.road)
    known = {*_sentences(base.description), *base.warned}
    new = [one for one in (*_sentences(run.description), *run.warned) if one not in known]
    return "; ".join(one for one in new if not _ABILITIES.match(one))


def _sentences(description: Mapping[str, Any]) -> list[str]:
    lines: list[str] = []
    for name, value in description.items():
        if name in _PRIVATE:
            continue
        each = value if isinstance(value, list | tuple) else [value]
        lines += [f"{name}: {one}" for one in each]
    return lines
