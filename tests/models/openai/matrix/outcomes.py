"""What comes of a fault: the public road from an address to stored scores, beside the true ones."""

from __future__ import annotations

import atexit
import logging
import math
import re
import shutil
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import Any, Literal

from tacit.engine.ask import Engine
from tacit.engine.store import Store
from tacit.errors import TacitError
from tacit.models.openai.completions import ServerModel, load_server
from tacit.models.openai.first_tokens import FirstTokensModel
from tacit.models.openai.loading import load_first_tokens, load_sampled
from tacit.models.openai.options import Backoff, ServerOptions
from tacit.models.openai.sampling import SampledModel
from tacit.requests import Sample, SamplingPrompt
from tacit.requests.answer_parsing import votes_of
from tests.models.openai.matrix.faults import PATIENCE, Fault, Road, Start
from tests.models.openai.matrix.honest import Honest
from tests.models.openai.matrix.language import (
    ANSWERS,
    opinions,
    prompts,
    questions,
    reply,
    tokenizer,
    true_opinions,
    true_scores,
)
from tests.models.openai.matrix.server import NEVER, Server, running

Model = ServerModel | FirstTokensModel | SampledModel

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

SAMPLES = 8
CLOSE = 1e-3
"""Nats by which a score may be off."""

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
    """What came of a run.

    Args:
        kind: In a word.
        detail: The error, what was told, or how much is wrong.
        wrong: How many scores or replies are wrong, and in how many places.
        missing: How many are missing that an honest server gives.
        requests: How many there were in all, and before the first prompt.
    """

    kind: Kind
    detail: str = ""
    wrong: int = 0
    missing: int = 0
    requests: tuple[int, int] = (0, 0)


@dataclass
class _Run:
    """What a run left behind."""

    description: dict[str, Any] = field(default_factory=dict)
    read: dict[tuple[str, str, str], tuple[float | None, str | None]] = field(default_factory=dict)
    replies: dict[tuple[str, int], Sample] = field(default_factory=dict)
    loading: BaseException | None = None
    asking: BaseException | None = None
    warned: list[str] = field(default_factory=list)
    requests: tuple[int, int] = (0, 0)
    faulty: int = 0

    @property
    def error(self) -> BaseException | None:
        return self.loading or self.asking


def outcome(fault: Fault, road: Road, start: Start) -> Outcome:
    """What comes of a fault, on a road, from a start on."""
    run = _run(road, fault, start)
    wrong, missing, how = _compared(road, run)
    counts = {"wrong": wrong, "missing": missing, "requests": run.requests}
    error = run.error
    if error is not None and not isinstance(error, TacitError):
        return Outcome("crashed", f"{type(error).__name__}: {error}", **counts)  # type: ignore[arg-type]
    if error is not None:
        kind: Kind = "refused"
        if wrong:
            kind = "told" if _explained(road, run) else "wrong stored"
        return Outcome(kind, str(error), **counts)  # type: ignore[arg-type]
    if not run.faulty:
        return Outcome("not reached", **counts)  # type: ignore[arg-type]
    told = _explained(road, run)
    kind = "missing" if missing else "right"
    if wrong:
        kind = "told" if told else "silent wrong"
    return Outcome(kind, f"{how} {told}".strip(), **counts)  # type: ignore[arg-type]


@cache
def honest(road: Road) -> Outcome:
    """What comes of an honest server."""
    run = _baseline(road)
    wrong, missing, how = _compared(road, run)
    kind: Kind = "right" if run.error is None and not wrong else "silent wrong"
    return Outcome(kind, how or str(run.error or ""), wrong, missing, run.requests)


def given(road: Road) -> int:
    """How many scores or replies an honest server gives."""
    run = _baseline(road)
    return len(run.replies) or sum(value is not None for value, _ in run.read.values())


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
    """Keeps what is logged, without where the server is."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keeps a line."""
        self.lines.append(record.getMessage().partition("/v1: ")[2] or record.getMessage())


@contextmanager
def _logged() -> Iterator[list[str]]:
    """What Tacit logs meanwhile."""
    handler, logger = _Lines(), logging.getLogger("tacit")
    before, logger.propagate = logger.propagate, False
    logger.addHandler(handler)
    try:
        yield handler.lines
    finally:
        logger.removeHandler(handler)
        logger.propagate = before


def _run(road: Road, fault: Fault | None, start: Start) -> _Run:
    model = Honest("llama.cpp" if road == "next+tokenizer" else "vllm")
    begins = {"first": 0, "midway": NEVER}[start]
    server = Server(model, fault.make() if fault else None, begins)
    run = _Run()
    with (
        TemporaryDirectory() as folder,
        warnings.catch_warnings(record=True) as caught,
        _logged() as logged,
        running(server),
    ):
        warnings.simplefilter("always")
        _carry_out(run, server, road, Store(Path(folder) / "store"), midway=start == "midway")
        run.requests, run.faulty = (server.requests, run.requests[1]), server.faulty
    run.warned = [str(one.message) for one in caught if issubclass(one.category, UserWarning)]
    # Some prompts double the white space, to show whether a server collapses it.
    run.warned += [line for line in logged if "the white space around an answer" not in line]
    return run


def _carry_out(run: _Run, server: Server, road: Road, store: Store, *, midway: bool) -> None:
    try:
        model = loaded(road, server.address, store)
    except Exception as error:  # noqa: BLE001 - whatever it is, the outcome says it
        run.loading = error
        return
    run.requests = (0, server.requests)
    if midway:
        server.begin_after(AFTER)
    try:
        _ask(road, model, store, 1 if server.respond is None else _TURNS)
    except Exception as error:  # noqa: BLE001 - as above
        run.asking = error
    run.description = dict(model.description)
    _read(run, road, model, store)


def loaded(road: Road, address: str, store: Store) -> Model:
    """The model behind a server, with its preflight passed."""
    chat = road in {"chat", "votes"}
    options = ServerOptions(
        tokenizer=_tokenizer_file() if road.endswith("+tokenizer") else None,
        timeout=PATIENCE,
        backoff=Backoff(first=0.0, most=0.0),
        api="chat" if chat else "completions",
        samples=SAMPLES if road == "votes" else None,
    )
    kept = Path(str(store.root))
    if road == "votes":
        return load_sampled(address, options, kept)
    return (load_first_tokens if chat else load_server)(address, options, kept)


def _ask(road: Road, model: Any, store: Store, turns: int) -> None:  # noqa: ANN401 - of three kinds
    """Asks in several turns: in each, an engine asks the longest texts first."""
    asked = questions() if road in {"chat", "votes"} else prompts()
    for turn in range(turns):
        if road == "votes":
            Engine(model, store).ask(asked[turn::turns])
        else:
            Engine(model, store, block_tokens=_BLOCK).ask(asked[turn::turns])


def _read(run: _Run, road: Road, model: Model, store: Store) -> None:
    """What is in the store, and so what the next run would be given."""
    if road == "votes":
        rows = store.read(model.fingerprint, SamplingPrompt).iter_rows(named=True)
        run.replies = {
            (row["text"], row["number"]): Sample(row["reply"], row["state"]) for row in rows
        }
        return
    for row in store.read(model.fingerprint).iter_rows(named=True):
        key = (row["text"], row["separator"], row["answer"])
        run.read[key] = (row["logprob"], row["reason"])


# Beside the truth


def _compared(road: Road, run: _Run) -> tuple[int, int, str]:
    """How much is wrong and how much is missing, and in which way."""
    if road == "votes":
        return _compared_replies(run.replies)
    truth = true_opinions() if road == "chat" else true_scores()
    base = run if run.faulty == 0 and not run.error else _baseline(road)
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
    """Whether a reply is one to the text, perhaps cut."""
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


# What was told


def _explained(road: Road, run: _Run) -> str:
    """What the description says, or a warning, that it does not say of an honest server.

    What the server is not used for, such as an echo that is not right, is told of nothing else.
    """
    base = set(_sentences(_baseline(road).description))
    told = [one for one in _sentences(run.description) if one not in base]
    told += [one for one in run.warned if one not in _baseline(road).warned]
    return "; ".join(one for one in told if not _ABILITIES.match(one))


def _sentences(description: Mapping[str, Any]) -> list[str]:
    """Each thing that a description says, as a line."""
    lines: list[str] = []
    for name, value in description.items():
        if name in _PRIVATE:
            continue
        each = value if isinstance(value, list | tuple) else [value]
        lines += [f"{name}: {one}" for one in each]
    return lines
