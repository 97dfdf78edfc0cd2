"""What ``scoring.py`` scores, and with which models: prompts of the probes, and random weights.

Without files of one's own, the facts, questions and things of Tacit's demo are asked about, in the
tokens of a tokenizer that is trained on wordfreq's words.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ranking_model import roberta_tokenizer  # type: ignore[import-not-found]  # beside this file
from tokenizers import Tokenizer
from transformers import PreTrainedConfig, PreTrainedTokenizerFast

import tacit
from tacit.probes.consistency.probe import ConsistencyProbe
from tacit.requests import Prompt

DEMO = Path(tacit.__file__).parent / "data" / "demo"
# Paths of two hops are many: this gives above 10,000 facts, where one hop gives 5,000.
_HOPS = 2
_FACTS_OF_A_QUESTION = 40


@dataclass(frozen=True)
class Sources:
    """Where the prompts come from.

    Args:
        dumps: Files that make one knowledge base.
        questions: The anchors.
        drawings: A folder of drawings.
        tokenizer: Holds ``vocab.json`` and ``merges.txt``; None trains one.
    """

    dumps: tuple[Path, ...] = (DEMO / "facts.tsv",)
    questions: Path = DEMO / "questions.jsonl"
    drawings: Path = DEMO / "things"
    tokenizer: Path | None = None


@dataclass(frozen=True)
class Sizes:
    """How much is asked: background facts, drawings, anchors."""

    facts: int
    drawings: int
    anchors: int


def prepare(folder: Path, sources: Sources, sizes: Sizes, model: str, dtype: str) -> None:
    """Writes the models, and the prompts of each work as ``facts.json``, ``parts.json``, …."""
    write_models(folder, sources.tokenizer, model, dtype)
    probe = consistency(folder, sources)
    write(folder / "facts.json", fact_prompts(probe, sizes.facts))
    begin = len(probe.asked.texts) * len(probe.variants)
    count = sizes.anchors * len(probe.choice_variants)
    write(folder / "anchors.json", probe.prompts[begin : begin + count])
    write(folder / "parts.json", part_prompts(sources.drawings, sizes.drawings))


def prepare_growth(folder: Path, sources: Sources, facts: int) -> None:
    """Writes a small model, and the prompts of so many facts, those of a fact in succession."""
    from transformers import GPT2Config, GPT2LMHeadModel

    own = causal_tokenizer(sources.tokenizer)
    small = GPT2Config(n_layer=2, n_embd=128, n_head=2, **_causal(own))
    GPT2LMHeadModel(small).save_pretrained(folder / "causal")
    own.save_pretrained(folder / "causal")
    probe = consistency(folder, sources, hops=_HOPS)
    write(folder / "facts.json", fact_prompts(probe, facts))


def consistency(folder: Path, sources: Sources, hops: int = 1) -> ConsistencyProbe:
    """The probe of all anchors, in an order of chance."""
    from tacit.knowledge.background import background
    from tacit.knowledge.base import KnowledgeBase
    from tacit.knowledge.build import KnowledgeSource, build
    from tacit.knowledge.options import BackgroundOptions
    from tacit.probes.consistency.options import ConsistencyOptions
    from tacit.probes.consistency.probe import ConsistencyProbe
    from tacit.sources.dumps import Dump
    from tacit.sources.questions import read_anchors

    build(KnowledgeSource([Dump(path) for path in sources.dumps]), folder / "base.kb")
    anchors = list(read_anchors(sources.questions))
    random.Random(0).shuffle(anchors)  # noqa: S311 - an order, no secret
    extracted = BackgroundOptions(length=hops, cap=0 if hops == 1 else _FACTS_OF_A_QUESTION)
    with KnowledgeBase(folder / "base.kb") as base:
        found = background(base, [(one.question, *one.choices) for one in anchors], extracted)
    options = ConsistencyOptions(sources.questions, folder / "base.kb")
    return ConsistencyProbe(options, anchors, found)


def fact_prompts(probe: ConsistencyProbe, facts: int) -> list[Prompt]:
    """The questions of the first facts, without negatives, each in every variant."""
    texts = dict.fromkeys(probe.asked.questions.filter(expected="yes")["question"][:facts])
    return [variant.prompt(text) for text in texts for variant in probe.variants]


def part_prompts(folder: Path, drawings: int) -> Sequence[Prompt]:
    """The distinct questions of some drawings, chosen by chance."""
    from dataclasses import replace

    from tacit.probes.parts.probe import PartsProbe

    probe = PartsProbe.read(folder)
    known = list(probe.drawings)
    some = random.Random(0).sample(known, min(drawings, len(known)))  # noqa: S311 - no secret
    return replace(probe, drawings=tuple(some)).prompts


def write(path: Path, prompts: Sequence[Prompt]) -> None:
    """Writes prompts."""
    path.write_text(json.dumps([(one.text, one.answers, one.separator) for one in prompts]))


def read(path: Path) -> list[Prompt]:
    """Reads them again."""
    from tacit.requests import Prompt

    told = json.loads(path.read_text())
    return [Prompt(text, tuple(answers), separator) for text, answers, separator in told]


# Models of random weights


def write_models(folder: Path, tokenizer: Path | None, model: str, dtype: str) -> None:
    """A causal model of the size asked for, and a seq2seq model of T5-small's; or a folder's."""
    if Path(model).is_dir():
        (folder / "causal").symlink_to(Path(model).resolve())
        return
    import torch
    from transformers import AutoModelForCausalLM, T5Config, T5ForConditionalGeneration

    torch.manual_seed(0)
    own = causal_tokenizer(tokenizer)
    made = AutoModelForCausalLM.from_config(_config(own, model), dtype=getattr(torch, dtype))
    made.save_pretrained(folder / "causal")
    own.save_pretrained(folder / "causal")
    own = seq2seq_tokenizer(tokenizer)
    pad = own.pad_token_id
    config = T5Config(
        vocab_size=len(own), pad_token_id=pad, eos_token_id=own.eos_token_id, num_layers=6,
        d_model=512, d_ff=2048, num_heads=8, d_kv=64,
    )  # fmt: skip
    config.decoder_start_token_id = pad
    T5ForConditionalGeneration(config).save_pretrained(folder / "t5")
    own.save_pretrained(folder / "t5")


def _config(own: PreTrainedTokenizerFast, model: str) -> PreTrainedConfig:
    from transformers import GPT2Config, OPTConfig

    if model == "gpt2":
        return GPT2Config(**_causal(own))
    return OPTConfig(
        hidden_size=2048, ffn_dim=8192, num_hidden_layers=24, num_attention_heads=32,
        word_embed_proj_dim=2048, pad_token_id=own.eos_token_id, **_causal(own),
    )  # fmt: skip


def _causal(own: PreTrainedTokenizerFast) -> dict[str, Any]:
    end = own.eos_token_id
    return {"vocab_size": len(own), "bos_token_id": end, "eos_token_id": end}


def causal_tokenizer(folder: Path | None) -> PreTrainedTokenizerFast:
    """Byte-level BPE that puts nothing around a text, as GPT-2's."""
    from transformers import PreTrainedTokenizerFast

    end = "<|endoftext|>"
    return PreTrainedTokenizerFast(
        tokenizer_object=_byte_level(folder, [end]), bos_token=end, eos_token=end
    )


def seq2seq_tokenizer(folder: Path | None) -> PreTrainedTokenizerFast:
    """The same tokens, and an end token behind every text, as T5's."""
    from tokenizers import processors
    from transformers import PreTrainedTokenizerFast

    pad, end = "<pad>", "</s>"
    backend = _byte_level(folder, [pad, end])
    backend.post_processor = processors.TemplateProcessing(
        single=f"$A {end}", special_tokens=[(end, backend.token_to_id(end))]
    )
    return PreTrainedTokenizerFast(tokenizer_object=backend, pad_token=pad, eos_token=end)


def _byte_level(folder: Path | None, specials: list[str]) -> Tokenizer:
    from tokenizers import Tokenizer, decoders, pre_tokenizers

    backend = Tokenizer(roberta_tokenizer(folder).backend_tokenizer.model)
    backend.add_special_tokens(specials)
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    return backend
