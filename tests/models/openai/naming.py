"""Named tokens on the tests' server, as vLLM 0.33 and SGLang 0.5.23 document them.

Read in ``vllm/entrypoints/openai/completion`` (``protocol.py``, ``serving.py``) and
``vllm/sampling_params.py``, and in ``sglang/srt/managers/tokenizer_manager_score_mixin.py`` and
``sglang/srt/entrypoints/openai`` (``protocol.py``, ``serving_score.py``, ``serving_tokenize.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.models.openai.speaking import Refusal

if TYPE_CHECKING:
    from tests.models.openai.model import Answer, Model

MOST = 128
"""vLLM's ``MAX_LOGPROB_TOKEN_IDS``."""

IMPOSSIBLE = -9999.0
"""What vLLM writes for minus infinity; SGLang's JSON has null."""

Ids = tuple[int, ...]


def is_named(body: Mapping[str, Any]) -> bool:
    return "items" in body or isinstance(body.get("prompt"), list)


PATHS = {"vllm": ("/completions",), "sglang": ("/score", "/tokenize"), None: ()}
"""The paths of such requests."""


def answer(model: Model, body: Mapping[str, Any], time: int) -> Answer:
    if "items" in body:
        return _of("sglang", _scored, model, body, time)
    if "max_tokens" not in body:
        return _of("sglang", _tokenized, model, body, time)
    return _of("vllm", _completed, model, body, time)


Prompts = list[list[int]] | list[str]


def prompts_of(body: Mapping[str, Any]) -> Prompts:
    prompts: Prompts = body["items" if "items" in body else "prompt"]
    return prompts


def with_prompts(body: Mapping[str, Any], prompts: Prompts) -> Answer:
    return {**body, "items" if "items" in body else "prompt": prompts}


def _of(
    name: str,
    made: Callable[[Model, Mapping[str, Any], int], Answer],
    model: Model,
    body: Mapping[str, Any],
    time: int,
) -> Answer:
    if model.manners.names != name:
        raise Refusal("prompt must be a text" if "prompt" in body else "not found")
    return made(model, body, time)


def _read(model: Model, prompt: str | list[int], more: int) -> Ids:
    tokenizer = model.language.tokenizer
    ids = tuple(tokenizer.encode(prompt).ids if isinstance(prompt, str) else prompt)
    if not ids:
        raise Refusal("the prompt is empty")
    if len(ids) + more > model.manners.window:
        raise Refusal(f"the prompt has {len(ids)} tokens; at most {model.manners.window} fit")
    return ids


def _values(model: Model, ids: Ids, time: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    values = model.language.following(ids)
    if not model.manners.noise:
        return values
    drawn = np.random.default_rng([*ids, time]).normal(0, model.manners.noise, len(values))
    noisy = values + drawn
    return noisy - float(np.logaddexp.reduce(noisy))


def _check(model: Model, ids: list[int]) -> None:
    size = len(model.language.following((0,)))
    if any(not 0 <= one < size for one in ids):
        raise Refusal("a named token is out of the vocabulary")


def _writer(model: Model, *, by_id: bool) -> Callable[[int], str]:
    if by_id:
        return lambda number: f"token_id:{number}"
    return lambda number: str(model.language.tokenizer.decode([number]))


def _completed(model: Model, body: Mapping[str, Any], time: int) -> Answer:
    named = body.get("logprob_token_ids")
    if named and body.get("logprobs") is None:
        raise Refusal("when using `logprob_token_ids`, `logprobs` must be set")
    if len(named or ()) > MOST:
        raise Refusal(f"logprob_token_ids of length {len(named or ())}, at most {MOST}")
    _check(model, named or [])
    prompts = [_read(model, one, body["max_tokens"]) for one in body["prompt"]]
    write = _writer(model, by_id=bool(body.get("return_tokens_as_token_ids")))
    choices = []
    for at, ids in enumerate(prompts):
        values = _values(model, ids, time)
        random = np.random.default_rng([*ids, time])
        shares = np.exp(values) ** (1 / (body.get("temperature", 1.0) or 1e-9))
        drawn = int(random.choice(len(values), p=shares / shares.sum()))
        tops = [drawn, *(named or [])]
        keys = list(map(write, tops))
        listed = {
            key: max(float(values[one]), IMPOSSIBLE) for key, one in zip(keys, tops, strict=True)
        }
        logprobs = {
            "text_offset": [0],
            "tokens": keys[:1],
            "token_logprobs": [float(values[drawn])],
            "top_logprobs": [listed],
        }
        more = {"prompt_token_ids": list(ids)} if body.get("return_token_ids") else {}
        choices.append({"index": at, "text": "", "logprobs": logprobs if named else None, **more})
    usage = {"prompt_tokens": sum(map(len, prompts))}
    return {"choices": choices, "model": "toy", "usage": usage}


def _scored(model: Model, body: Mapping[str, Any], time: int) -> Answer:
    if body["query"]:
        raise Refusal("this server is asked about items alone")
    labels = body["label_token_ids"]
    rows = labels if isinstance(labels[0], list) else [labels] * len(body["items"])
    if len(rows) != len(body["items"]):
        raise Refusal("label_token_ids must have one list per item")
    if any(len(set(row)) < len(row) or not row for row in rows):
        raise Refusal("label_token_ids must not contain duplicate tokens")
    for row in rows:
        _check(model, row)
    prompts = [_read(model, item, 1) for item in body["items"]]
    values = [_values(model, ids, time) for ids in prompts]
    found = [[float(one[n]) for n in row] for one, row in zip(values, rows, strict=True)]
    return {
        "object": "scoring",
        "model": body["model"],
        "scores": [[float(np.exp(value)) for value in row] for row in found],
        "token_logprobs": [
            [value if np.isfinite(value) else None for value in row] for row in found
        ],
        "usage": {"prompt_tokens": sum(map(len, prompts))},
    }


def _tokenized(model: Model, body: Mapping[str, Any], _: int) -> Answer:
    ids = [list(model.language.tokenizer.encode(one).ids) for one in body["prompt"]]
    return {"tokens": ids, "count": [len(one) for one in ids], "max_model_len": 2048}
