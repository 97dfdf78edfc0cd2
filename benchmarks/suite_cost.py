"""The estimated cost of the papers' suite: prompts, tokens, memory and operations of each run.

    python benchmarks/suite_cost.py --data ../shared/data

No model of the suite is loaded. For each kind of model (causal, seq2seq, masked), a stand-in with
one layer of random weights and GPT-2's tokenizer is planned exactly as a model would be, with
shared prefixes computed once. The tokens of other tokenizers differ by some per cent. Memory is
that of the weights. Operations are 2 x parameters x tokens.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any

import yaml

from tacit.engine.store import Store
from tacit.options import build
from tacit.probes.registry import probe
from tacit.runs.asking import requests_of, ungrouped
from tacit.runs.suite.file import SHIPPED
from tacit.runs.workflow import RunRequest

UNITS = {"M": 1e6, "B": 1e9}
BYTES = {"auto": 4, "bfloat16": 2}
SEQ2SEQ, MASKED = ("t0", "macaw"), ("bert", "roberta")


def tokenizer(data: Path, kind: str) -> Any:  # noqa: ANN401 - a fast tokenizer
    """Return GPT-2's tokenizer, with the special tokens that a kind of model adds."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    folder = data / "tokenizers" / "gpt2"
    merges = str(folder / "merges.txt")
    backend = Tokenizer(models.BPE.from_file(str(folder / "vocab.json"), merges))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    end = "<|endoftext|>"
    special: dict[str, Any] = {"bos_token": end, "eos_token": end}
    if kind == "causal":
        backend.post_processor = processors.ByteLevel(trim_offsets=False)
    elif kind == "seq2seq":
        backend.add_special_tokens(["</s>", "<pad>"])
        number = backend.token_to_id("</s>")
        backend.post_processor = processors.TemplateProcessing(
            single="$A </s>", pair="$A </s> $B </s>", special_tokens=[("</s>", number)]
        )
        special = {"eos_token": "</s>", "pad_token": "<pad>", "unk_token": end}
    else:
        special = as_roberta(backend)
    return PreTrainedTokenizerFast(tokenizer_object=backend, **special)


def as_roberta(backend: Any) -> dict[str, Any]:  # noqa: ANN401 - tokenizers
    """Add RoBERTa's special tokens to GPT-2's, which has the same merges; return their names."""
    from tokenizers import AddedToken, processors

    mask = AddedToken("<mask>", lstrip=True, special=True)
    backend.add_special_tokens(["<s>", "</s>", "<pad>", "<unk>", mask])
    end, start = (("</s>", backend.token_to_id("</s>")), ("<s>", backend.token_to_id("<s>")))
    backend.post_processor = processors.RobertaProcessing(
        end, start, trim_offsets=True, add_prefix_space=False
    )
    names = ("bos", "eos", "cls", "sep", "pad", "unk")
    tokens = ("<s>", "</s>", "<s>", "</s>", "<pad>", "<unk>")
    return {f"{name}_token": token for name, token in zip(names, tokens, strict=True)} | {
        "mask_token": mask
    }


def stand_in(data: Path, kind: str, folder: Path) -> Path:
    """Write a model of one layer with random weights."""
    from transformers import (
        GPT2Config,
        GPT2LMHeadModel,
        RobertaConfig,
        RobertaForMaskedLM,
        T5Config,
        T5ForConditionalGeneration,
    )

    tokens = tokenizer(data, kind)
    size = len(tokens)
    model: Any
    if kind == "causal":
        config: Any = GPT2Config(vocab_size=size, n_positions=2048, n_embd=8, n_layer=1, n_head=1)
        model = GPT2LMHeadModel(config)
    elif kind == "seq2seq":
        sizes: dict[str, Any] = {
            "d_model": 8,
            "d_kv": 8,
            "d_ff": 8,
            "num_layers": 1,
            "num_heads": 1,
        }
        ids: dict[str, Any] = {
            "pad_token_id": tokens.pad_token_id,
            "eos_token_id": tokens.eos_token_id,
        }
        start: dict[str, Any] = {"decoder_start_token_id": tokens.pad_token_id}
        model = T5ForConditionalGeneration(T5Config(vocab_size=size, **sizes, **ids, **start))
    else:
        config = RobertaConfig(
            vocab_size=size,
            hidden_size=8,
            num_hidden_layers=1,
            num_attention_heads=1,
            intermediate_size=8,
            max_position_embeddings=516 + tokens.pad_token_id,
            pad_token_id=tokens.pad_token_id,
        )
        model = RobertaForMaskedLM(config)
    model.save_pretrained(folder)
    tokens.save_pretrained(folder)
    return folder


def options(data: Path, work: Path) -> dict[str, dict[str, Any]]:
    """Return the data of each probe."""
    from tacit.knowledge.build import KnowledgeSource
    from tacit.knowledge.build import build as build_base
    from tacit.sources.dumps import Dump

    base = work / "cn100k.kb"
    if not base.is_file():
        names = [f"cn100k-{split}.tsv" for split in ("train", "valid", "test")]
        build_base(KnowledgeSource([Dump(data / "conceptnet" / name) for name in names]), base)
    return {
        "consistency": {"questions": data / "csqa" / "dev.jsonl", "kb": base},
        "parts": {"drawings": data / "parrot", "preset": "macaw"},
        "assumptions": {"norms": data / "norms" / "buchanan-features.tsv"},
    }


def planned(run: str, kind: str, data: Path, work: Path) -> tuple[int, int]:
    """Return the numbers of prompts and tokens of a probe for a kind of model."""
    folder = work / kind
    if not folder.is_dir():
        stand_in(data, kind, folder)
    made = build(probe(run).Options, options(data, work)[run])
    request = RunRequest(run, made, (str(folder),), store=Store(work / "store"))
    plan = (
        request.model(str(folder)).start().plan(ungrouped(requests_of(request.probes[str(folder)])))
    )
    return plan.distinct, plan.tokens


def main() -> None:
    """Print the table."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--data", type=Path, required=True)
    data = asked.parse_args().data
    suite = yaml.safe_load((SHIPPED / "papers.yaml").read_text(encoding="utf-8"))
    found: dict[tuple[str, str], tuple[int, int]] = {}
    print("| run | model | prompts | tokens | weights, GB | operations |")
    print("|---|---|--:|--:|--:|--:|")
    with tempfile.TemporaryDirectory() as folder:
        for run in suite["runs"]:
            for name in run["models"]:
                (model,) = (one for one in suite["models"] if one["model"] == name)
                family = model["family"]
                kind = (
                    "seq2seq" if family in SEQ2SEQ else "masked" if family in MASKED else "causal"
                )
                key = (run["probe"], kind)
                found[key] = found.get(key) or planned(*key, data, Path(folder))
                prompts, tokens = found[key]
                parameters = float(model["parameters"][:-1]) * UNITS[model["parameters"][-1]]
                memory = parameters * BYTES[model.get("dtype", "auto")] / 1e9
                print(
                    f"| {key[0]} | {name} | {prompts:,} | {tokens:,} | {memory:,.1f} "
                    f"| {2 * parameters * tokens:.1e} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
