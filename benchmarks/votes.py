"""How fast sampled beliefs come to those of log-probabilities, and how often intervals hold them.

A tiny model with random weights and a chat template is scored in this process (``--chat``), and a
server on this machine replies as the model would in one word: with its probabilities, renormalised
over words.
Prints the table of docs/reference/chat.md and draws its figure. Run it from the repository:

    python -m benchmarks.votes docs/images/votes.svg
"""

from __future__ import annotations

import math
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import altair as alt
import numpy as np
import polars as pl
from scipy.stats import binomtest

from tacit.engine.ask import Engine
from tacit.engine.store import Store
from tacit.models.base import LanguageModel
from tacit.models.loading import load_model
from tacit.models.openai.loading import load_server
from tacit.models.openai.options import ServerOptions
from tacit.models.options import LoadOptions
from tacit.requests import Prompt, Sample, SamplingPrompt, Scores
from tacit.requests.answer_parsing import votes_of
from tests.models import chatting, tiny
from tests.models.openai.model import Manners, Toy
from tests.models.openai.serving import Serving, serving
from tests.models.openai.speaking import Speech, opinions

SAMPLES = (1, 2, 5, 10, 20, 50, 100, 200, 500)
PARTS = (
    "stone",
    "flesh",
    "skin",
    "stalk",
    "leaf",
    "root",
    "trunk",
    "crown",
    "egg",
    "yolk",
    "shell",
)
WHERE = ("above", "inside")
TEXTS = [f"Is the {a} {w} the {b}?" for w in WHERE for a in PARTS for b in PARTS if a != b]
MOST = 100
LEAST = 0.1
"""A text takes part where its less probable answer has this probability."""


@dataclass(frozen=True)
class Asked:
    """Prompts with two answers each, and what the model itself thinks.

    Args:
        prompts: The prompts.
        beliefs: Of the first answer against the second, by log-probabilities.
        replies: How probable each word is as the reply to each text.
    """

    prompts: list[Prompt]
    beliefs: list[float]
    replies: dict[str, dict[str, float]]


def asked_of(model: LanguageModel, words: list[str]) -> Asked:
    """Texts with the two most probable words as their answers, in an order drawn by a seed.

    Words that differ in case alone are one answer to whoever counts replies, and two to a model:
    they are left out.
    """
    random = np.random.default_rng(0)
    folded = [word.casefold() for word in words]
    alone = [word for word in words if folded.count(word.casefold()) == 1]
    prompts, beliefs, replies = [], [], {}
    scores = model.answer([Prompt(text, tuple(alone)) for text in TEXTS])
    for text, score in zip(TEXTS, scores, strict=True):
        raw = {one.answer: math.exp(_baseline(one.logprob)) for one in score.answers}
        shares = {word: value / sum(raw.values()) for word, value in raw.items()}
        best = sorted(alone, key=lambda word: -shares[word])[:2]
        if shares[best[1]] < LEAST:
            continue
        first, second = (best[at] for at in random.permutation(2))
        prompts.append(Prompt(text, (first, second)))
        beliefs.append(shares[first] / (shares[first] + shares[second]))
        replies[text] = shares
    return Asked(prompts[:MOST], beliefs[:MOST], replies)


def _baseline(value: float | None) -> float:
    return -math.inf if value is None else value


def belief(scores: Scores) -> float:
    """Of the first answer against the second."""
    first, second = (math.exp(_baseline(one.logprob)) for one in scores.answers)
    return first / (first + second)


def sampled(server: Serving, asked: Asked, samples: int, **options: object) -> list[list[Sample]]:
    """So many replies to each prompt."""
    given = ServerOptions(api="chat", samples=samples, **options)  # type: ignore[arg-type]
    with tempfile.TemporaryDirectory() as folder:
        store = Store(folder)
        model = load_server(server.address, given)
        Engine(model, store).ask(asked.prompts)
        rows = store.read(model.fingerprint, SamplingPrompt)
        engine = {(text, number): (reply, state) for text, number, reply, state in rows.iter_rows()}
    return [
        [Sample(*engine[prompt.text, number]) for number in range(samples)]
        for prompt in asked.prompts
    ]


def converging(asked: Asked, samples: list[list[Sample]]) -> pl.DataFrame:
    """For each number of samples, how far shares are from beliefs, and what intervals hold."""
    rows = []
    for n in SAMPLES:
        votes = [
            votes_of(some[:n], prompt.answers)
            for prompt, some in zip(asked.prompts, samples, strict=True)
        ]
        read = [
            (each.count(prompt.answers[0]), each.parsed, p)
            for each, prompt, p in zip(votes, asked.prompts, asked.beliefs, strict=True)
            if each.parsed
        ]
        apart = np.array([yes / parsed - p for yes, parsed, p in read])
        expected = np.array([p * (1 - p) / parsed for _, parsed, p in read])
        ends = [
            (binomtest(yes, parsed).proportion_ci(method="wilson"), p) for yes, parsed, p in read
        ]
        held = [one.low <= p <= one.high for one, p in ends]
        rows.append(
            {
                "samples": n,
                "questions": len(read),
                "parsed": sum(each.parsed for each in votes) / (n * len(votes)),
                "apart": float(np.sqrt((apart**2).mean())),
                "expected": float(np.sqrt(expected.mean())),
                "mean": float(apart.mean()),
                "covered": float(np.mean(held)),
            }
        )
    return pl.DataFrame(rows)


def figure(table: pl.DataFrame) -> alt.HConcatChart:
    """How far shares are from beliefs, and how many intervals hold them, by samples."""
    import altair as alt

    x = alt.X("samples:Q", scale=alt.Scale(type="log"), title="samples per question, N")
    base = alt.Chart(table).encode(x=x)
    y = alt.Y("apart:Q", scale=alt.Scale(type="log"), title="distance to the belief (RMS)")
    far = base.mark_point(filled=True, size=60, color="#0072b2").encode(y=y)
    line = base.mark_line(color="#888").encode(y="expected:Q")
    scale = alt.Scale(domain=[0.8, 1], zero=False)
    covered = alt.Y("covered:Q", scale=scale, title="intervals that hold the belief")
    covered = covered.axis(format=".0%")
    held = base.mark_point(filled=True, size=60, color="#0072b2").encode(y=covered)
    rule = alt.Chart(pl.DataFrame({"at": [0.95]})).mark_rule(color="#888")
    rule = rule.encode(y=alt.Y("at:Q", scale=scale))
    titles = (
        "a) shares come to the beliefs; line: √(p(1-p)/n) of independent replies",
        "b) 95 % intervals (Wilson); line: 95 %",
    )
    panels = (
        alt.layer(line, far).properties(width=360, height=260, title=titles[0]),
        alt.layer(rule, held).properties(width=360, height=260, title=titles[1]),
    )
    both: alt.HConcatChart = alt.hconcat(*panels)
    drawn: alt.HConcatChart = both.configure_axis(grid=False).configure_title(anchor="start")
    return drawn


def printed(table: pl.DataFrame) -> str:
    """A table as Markdown."""
    lines = [" | ".join(table.columns), " | ".join("---" for _ in table.columns)]
    lines += [
        " | ".join(f"{value:,}" if isinstance(value, int) else f"{value:.4f}" for value in row)
        for row in table.iter_rows()
    ]
    return "\n".join(f"| {line} |" for line in lines)


def main(path: Path) -> None:
    """Measures, prints, draws."""
    with tempfile.TemporaryDirectory() as place:
        folder = chatting.save("gemma", Path(place))
        model = load_model(str(folder), LoadOptions(chat=True, device="cpu"))
    tokens = chatting.tokenizer_of(chatting.STYLES["gemma"]).get_vocab()
    words = sorted(token for token in tokens if token.isascii() and token.isalpha())
    asked = asked_of(model, words)
    speech = Speech(replies=lambda text: asked.replies.get(text) or opinions(text))
    with serving(Toy(tiny.gpt2_like().backend_tokenizer), Manners(speech=speech)) as server:
        first = load_server(server.address, ServerOptions(api="chat"))
        found = [belief(scores) for scores in first.answer(asked.prompts)]
        off = max(abs(a - b) for a, b in zip(found, asked.beliefs, strict=True))
        print(f"questions: {len(asked.prompts)}; first tokens of the server against the model in")
        print(f"this process: at most {off:.1e} apart\n")
        table = converging(asked, sampled(server, asked, max(SAMPLES)))
        print(printed(table), "\n")
        speech.thinks, speech.thought = "tags", lambda draw: draw % 60
        for thinking in ("all", 40):
            samples = sampled(server, asked, 100, thinking=thinking)
            votes = [
                votes_of(some, prompt.answers)
                for some, prompt in zip(samples, asked.prompts, strict=True)
            ]
            pairs = zip(votes, asked.prompts, asked.beliefs, strict=True)
            apart = [v.count(q.answers[0]) / v.parsed - p for v, q, p in pairs if v.parsed]
            cut = sum(v.truncated for v in votes) / (100 * len(votes))
            rms = float(np.sqrt(np.mean(np.square(apart))))
            print(f"thoughts, {thinking} tokens at most: {cut:.1%} cut, {rms:.4f} apart (RMS)")

    figure(table).save(str(path))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
