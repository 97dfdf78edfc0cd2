"""Locate a model's files, load its config and tokenizer, and determine the kind of model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.errors import ModelError
from tacit.models.huggingface import gguf
from tacit.models.huggingface.hub import first_line, loading_error, where_from
from tacit.models.huggingface.trust import HOW_TO_TRUST
from tacit.models.registry import DEMOS, folder_of

if TYPE_CHECKING:
    from transformers import PreTrainedConfig, PreTrainedTokenizerBase

    from tacit.models.options import LoadOptions


def load_part(what: str, name: str, options: LoadOptions) -> Any:  # noqa: ANN401 - config or tokenizer
    """Load the ``config`` or the ``tokenizer`` of a model."""
    from transformers import AutoConfig, AutoTokenizer

    loader = AutoConfig if what == "config" else AutoTokenizer
    where = source_of(name, options.revision)
    try:
        return loader.from_pretrained(
            location_of(name), **where, trust_remote_code=options.trust_remote_code
        )
    except Exception as error:  # libraries raise many kinds of errors, also bare Exceptions
        if "trust_remote_code" in str(error):
            raise ModelError(f"{name}: {HOW_TO_TRUST}") from error
        raise loading_error(name, f"its {what} cannot be loaded", error) from error


def check_tokenizer(
    name: str, tokenizer: PreTrainedTokenizerBase, config: PreTrainedConfig
) -> None:
    """Raise if a tokenizer has no character offsets, has no vocabulary, or cannot tokenize."""
    if not tokenizer.is_fast:
        raise ModelError(
            f"{name}: its tokenizer {type(tokenizer).__name__} does not report character offsets; "
            "a fast tokenizer (tokenizer.json) is required"
        )
    # A made-up vocabulary has at most one entry besides added tokens, while the model has
    # embeddings for many tokens.
    own = len(tokenizer) - len(tokenizer.get_added_vocab())
    made_up = 1
    if own <= made_up and getattr(config, "vocab_size", 0) > len(tokenizer):
        raise ModelError(f"{name}: the model has weights but no tokenizer")
    try:
        tokenizer("a")
    except Exception as error:  # malformed settings fail in many different forms
        raise ModelError(
            f"{name}: its tokenizer cannot tokenize text ({first_line(error)}): fix its settings, "
            "or download the model again"
        ) from error


def named_folder(name: str) -> Path | None:
    """Return the local folder of a model's files, or None if there is no such folder."""
    if name in DEMOS:
        return folder_of(name)
    file, path = named_gguf(name), named_path(name)
    if file:
        return gguf.folder_of(file)
    return path if path and path.is_dir() else None


def named_gguf(name: str) -> Path | None:
    """Return the GGUF file with the given path, or None if there is no such file."""
    path = named_path(name) if name.lower().endswith(gguf.SUFFIX) else None
    return path if path and path.is_file() else None


def named_path(name: str) -> Path | None:
    """Return the local file or folder with the given path, or None if there is none."""
    try:
        path = Path(name).expanduser()
        return path if path.exists() else None
    except (OSError, RuntimeError, ValueError):
        return None  # not a valid path


def location_of(name: str) -> str:
    """Return the model's location for transformers: its folder, or its name on the hub."""
    return str(named_folder(name) or name)


def files_of(name: str, options: LoadOptions) -> Path:
    """Return the folder of the model's files: a local folder, or the hub's cached snapshot."""
    folder = named_folder(name)
    if folder:
        return folder
    from transformers.utils.hub import cached_file

    config = cached_file(name, "config.json", **source_of(name, options.revision))
    return Path(str(config)).parent


def source_of(name: str, revision: str | None) -> dict[str, Any]:
    """Return the revision of a model's files, and whether the files may be downloaded."""
    if not named_folder(name):
        return where_from(name, revision)
    file = named_gguf(name)
    return {"revision": revision or "main"} | ({"gguf_file": file.name} if file else {})


_OTHER_HEADS = ("Classification", "QuestionAnswering", "MultipleChoice", "SentencePrediction")


def kind_of(name: str, config: PreTrainedConfig) -> str:
    """Return ``causal``, ``masked`` or ``seq2seq``, according to the model's config."""
    from transformers.models.auto import modeling_auto as auto

    heads = config.architectures or ()
    if not isinstance(heads, (list, tuple)) or not all(isinstance(head, str) for head in heads):
        raise ModelError(
            f"{name}: its config.json has the architectures {heads!r}; expected a list of names "
            "such as GPT2LMHeadModel: fix this line, or download the model again"
        )
    named = " ".join(heads)
    if any(head in named for head in _OTHER_HEADS):
        raise ModelError(
            f"{name}: {named} was not trained to predict text; a causal, masked or seq2seq "
            "language model is required"
        )
    if config.is_encoder_decoder:
        return "seq2seq"
    if "ForMaskedLM" in named:
        return "masked"
    if "ForCausalLM" in named or "LMHeadModel" in named:
        return "causal"
    # The config names no head for text: decide by the heads that the architecture can have.
    if config.model_type in auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES and not getattr(
        config, "is_decoder", False
    ):
        return "masked"
    if config.model_type in auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES:
        return "causal"
    raise ModelError(
        f"{name}: a model of type {config.model_type!r} ({named or 'no architecture named'}) does "
        "not predict text; a causal, masked or seq2seq language model is required"
    )
