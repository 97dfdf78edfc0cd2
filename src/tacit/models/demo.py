"""The model called ``demo``: a small GPT-2 built on the spot, its weights random and seeded.

It shows how the tool works; what it answers means nothing.
"""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from tacit.errors import MissingPackage
from tacit.models.loading import DEMO, LoadOptions, load_model

if TYPE_CHECKING:
    from tacit.models.base import LanguageModel

SEED = 2023

_LINES = (
    "Judge whether this statement is true or false: In a tree, trunk is above the roots.",
    "Judge whether this statement is true or false: In an egg, yolk is inside the shell.",
    "leaves are part of the crown, twigs have the leaves as their part, wheel has the hub",
    "is contains surrounds surrounded by next to directly connected to requires required by",
    "in front of behind below handle lid spout base light glass skin stone water",
    "True False Yes No",
)


def demo_model(options: LoadOptions | None = None) -> LanguageModel:
    """Builds the demo model; always the same one.

    Raises:
        MissingPackage: The extra ``local`` is not installed.
    """
    with tempfile.TemporaryDirectory(prefix="tacit-demo-") as folder:
        build(Path(folder) / DEMO)
        options = replace(options or LoadOptions(), revision=None)
        return load_model(str(Path(folder) / DEMO), options, called=DEMO)


def build(folder: Path) -> None:
    """Writes the demo model's folder: config, seeded random weights, a byte-level tokenizer.

    Raises:
        MissingPackage: The extra ``local`` is not installed.
    """
    try:
        import torch
        from tokenizers import ByteLevelBPETokenizer
        from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast
    except ImportError as error:
        raise MissingPackage(error.name or "torch", "local") from error
    end = "<|endoftext|>"
    trained = ByteLevelBPETokenizer()
    trained.train_from_iterator(
        _LINES, vocab_size=512, min_frequency=1, special_tokens=[end], show_progress=False
    )
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=trained._tokenizer,  # noqa: SLF001 - the library offers no other way
        bos_token=end,
        eos_token=end,
    )
    config = GPT2Config(
        vocab_size=512,
        n_positions=128,
        n_embd=64,
        n_layer=2,
        n_head=4,
        # Wide enough that answers differ; the usual 0.02 makes a model that is always undecided.
        initializer_range=0.3,
        bos_token_id=0,
        eos_token_id=0,
    )
    with torch.random.fork_rng():
        torch.manual_seed(SEED)
        model = GPT2LMHeadModel(config)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
