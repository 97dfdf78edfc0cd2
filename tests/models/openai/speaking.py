"""The chat of the server for tests: replies of known probability, well mannered or badly."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

FILLERS, RARE = 40, 4e-6
"""So many tokens that are never drawn, and their summed probability: no vocabulary is six words."""

WORDS = ("True", "False", "Perhaps", "Yes", "No", "Well,")


def opinions(text: str) -> dict[str, float]:
    """How probable each reply to a text is; every reply begins with another word.

    To a text that asks for a story or a description there are a thousand of them.
    """
    digest = hashlib.sha256(text.encode()).digest()
    if text.startswith(("Write", "Describe")):
        return {f"{digest[0]}-{number} is far away": 1e-3 for number in range(1000)}
    weights = np.array(list(digest[: len(WORDS)]), float) + 1
    weights[:2] *= 4
    tails = (".", "", " so it is", "!", ", never", " hm")
    shares = weights / weights.sum()
    return {
        word + tail: float(share) for word, tail, share in zip(WORDS, tails, shares, strict=True)
    }


@dataclass
class Speech:
    """How the server chats; it does so well unless told otherwise."""

    replies: Callable[[str], Mapping[str, float]] = opinions  # how probable each reply to a text is
    logprobs: bool = True
    most: int = 20  # asked for more of the most probable tokens than so many, it refuses
    noise: float = 0.0
    several: Literal["right", "ignored", "copies", "two", "refused"] = "right"
    seeds: Literal["heeded", "ignored", "refused"] = "heeded"
    limit: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    # Whether it thinks, and how its reply shows that; "begun" has the end tag alone.
    thinks: Literal["field", "tags", "begun", "counted", "hidden"] | None = None
    thought: Callable[[int], int] = lambda draw: 5 + draw % 10  # the number of its words
    stops: Literal["right", "ignored", "refused"] = "right"  # what it does if told not to think
    own_limit: int = 10**6  # the most words of a reply of which it was not told how long it may be
    greedy: bool = True  # whether it takes a temperature of 0
    trims: float = 0.0  # the share of the likeliest reply below which none is drawn
    all_tokens: int | None = 0  # the ``top_k`` that stands for all tokens, if any
    pads: bool = False  # whether it writes the space before a reply's first token


class Refusal(Exception):  # noqa: N818 - what the server answers
    """The server refuses such a request."""


def speak(speech: Speech, body: Mapping[str, Any], draw: int) -> dict[str, Any]:
    """Answer a request for replies, or raise ``Refusal``; ``draw`` is a seed for lack of one."""
    _refuse(speech, body)
    text = body["messages"][-1]["content"]
    asked = int(body.get("n", 1))
    given = {"right": asked, "ignored": 1, "copies": 1, "two": min(asked, 2), "refused": 1}
    seed = body.get("seed") if speech.seeds == "heeded" else None
    begun = 0 if body["temperature"] == 0 else 10**9 + draw if seed is None else seed
    random = np.random.default_rng([*text.encode(), begun])
    choices = [_choice(speech, body, text, random) for _ in range(given[speech.several])]
    if speech.several == "copies":
        choices *= asked
    return {
        "object": "chat.completion",
        "choices": [{**choice, "index": at} for at, choice in enumerate(choices)][::-1],
        "usage": {
            "completion_tokens_details": {"reasoning_tokens": 5 * (speech.thinks == "counted")}
        },
    }


def _refuse(speech: Speech, body: Mapping[str, Any]) -> None:
    limits = {"max_tokens", "max_completion_tokens"} - {speech.limit}
    if limits & set(body):
        raise Refusal(f"unknown parameter {limits.pop()}; use {speech.limit}")
    if body.get("n", 1) > 1 and speech.several == "refused":
        raise Refusal("n must be 1")
    if "seed" in body and speech.seeds == "refused":
        raise Refusal("unknown parameter seed")
    if body["temperature"] == 0 and not speech.greedy:
        raise Refusal("only temperature 1 is supported")
    if "top_k" in body and body["top_k"] != speech.all_tokens:
        raise Refusal("top_k is out of range, or unknown")
    if "chat_template_kwargs" in body and speech.stops == "refused":
        raise Refusal("unknown parameter chat_template_kwargs")
    if body.get("top_logprobs", 0) > speech.most:
        raise Refusal(f"top_logprobs is at most {speech.most}")
    if body.get("logprobs") and not speech.logprobs and speech.most == 0:
        raise Refusal("logprobs are not supported")


def _choice(
    speech: Speech, body: Mapping[str, Any], text: str, random: np.random.Generator
) -> dict[str, Any]:
    shares = speech.replies(text)
    values = np.array(list(shares.values()))
    at = int(values.argmax())
    if body.get("min_p") != 0:
        values = np.where(values < speech.trims * values.max(), 0, values)
    if body["temperature"] > 0:
        values = values ** (1 / body["temperature"])
        at = int(random.choice(len(values), p=values / values.sum()))
    told_not_to = "chat_template_kwargs" in body and speech.stops == "right"
    thinks = None if told_not_to else speech.thinks
    thought = (
        [f"hm{n}" for n in range(speech.thought(int(random.integers(1000))))] if thinks else []
    )
    words = list(shares)[at].split(" ")
    most = body.get(speech.limit, speech.own_limit)
    cut = most < len(thought) + len(words)
    ended = most >= len(thought)
    said = " ".join(words[: max(most - len(thought), 0)])
    if most == 1:
        said = said.rstrip(".,!")  # tokens of their own
    mused = " ".join(thought[:most])
    message: dict[str, Any] = {"role": "assistant", "content": said}
    if thinks == "field":
        message = {**message, "content": said or None, "reasoning_content": mused}
    elif thinks and thinks not in {"counted", "hidden"}:
        opened = "<think>\n" if thinks == "tags" else ""
        message["content"] = f"{opened}{mused}\n</think>\n\n{said}" if ended else opened + mused
    choice: dict[str, Any] = {"message": message, "finish_reason": "length" if cut else "stop"}
    if body.get("logprobs") and speech.logprobs:
        choice["logprobs"] = {"content": [_first(speech, body, shares, thinks, random)]}
    return choice


def _first(
    speech: Speech,
    body: Mapping[str, Any],
    shares: Mapping[str, float],
    thinks: str | None,
    random: np.random.Generator,
) -> dict[str, Any]:
    """The first token: the reply's first word without its marks, or the tag of a thought."""
    if thinks == "tags":
        one = {"token": "<think>", "logprob": 0.0}
        return {**one, "top_logprobs": [one]}
    values = np.log([*shares.values(), *[RARE / FILLERS] * FILLERS])
    values += random.normal(0, speech.noise, len(values)) if speech.noise else 0.0
    values -= float(np.logaddexp.reduce(values))
    names = [reply.split(" ")[0].rstrip(".,!") for reply in shares]
    names += [f"rare{number}" for number in range(FILLERS)]
    firsts = [
        {"token": " " * speech.pads + name, "logprob": float(value)}
        for name, value in zip(names, values, strict=True)
    ]
    firsts.sort(key=lambda one: -float(str(one["logprob"])))
    return {**firsts[0], "top_logprobs": firsts[: body.get("top_logprobs", 0)]}
