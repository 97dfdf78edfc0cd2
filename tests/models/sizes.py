"""Tiny models of three families in several sizes, with random weights and the demo's tokenizers."""

from importlib import resources
from pathlib import Path
from typing import Any

SIZES = {"opt": (16, 32, 64), "gpt_neo": (16, 32, 64), "bert": (16, 32)}
"""The widths of the models of each family; the family is the config's ``model_type``."""

WINDOW = 256


def save_sizes(folder: Path) -> dict[str, Path]:
    """Saves eight models, and returns their folders by name, such as ``opt-16``."""
    return {
        f"{family}-{width}": save(family, width, folder / f"{family}-{width}")
        for family, widths in SIZES.items()
        for width in widths
    }


def save(family: str, width: int, folder: Path) -> Path:
    """Saves one model; its weights are drawn by its width, so that no two are alike."""
    import torch
    import transformers

    demo = "masked" if family == "bert" else "causal"
    tokenizer = transformers.AutoTokenizer.from_pretrained(_demo(demo))
    torch.manual_seed(width)
    config = transformers.AutoConfig.for_model(
        family,
        vocab_size=len(tokenizer),
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        **_shape(family, width),
    )
    kind = "AutoModelForMaskedLM" if family == "bert" else "AutoModelForCausalLM"
    model = getattr(transformers, kind).from_config(config)
    with torch.no_grad():
        for weights in model.parameters():
            if weights.dim() > 1:
                weights.normal_(0, 0.35)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def _demo(kind: str) -> str:
    return str(resources.files("tacit") / "data" / "demo" / "models" / kind)


def _shape(family: str, width: int) -> dict[str, Any]:
    shape = {"hidden_size": width, "max_position_embeddings": WINDOW}
    if family == "gpt_neo":
        attention = [[["global", "local"], 1]]
        return shape | {"num_layers": 2, "num_heads": 4, "attention_types": attention}
    shape |= {"num_hidden_layers": 2, "num_attention_heads": 4}
    if family == "opt":
        return shape | {"word_embed_proj_dim": width, "ffn_dim": 2 * width}
    return shape | {"intermediate_size": 2 * width}
