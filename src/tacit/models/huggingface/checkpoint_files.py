"""A model's files: where they lie, its config and tokenizer, and which kind of model they hold."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.errors import ModelError
from tacit.models.huggingface.hub import first_line, loading_error, where_from
from tacit.models.huggingface.trust import HOW_TO_TRUST
from tacit.models.registry import DEMOS, folder_of

if TYPE_CHECKING:
    from transformers import PreTrainedConfig, PreTrainedTokenizerBase

    from tacit.models.loading import LoadOptions


def load_part(what: str, name: str, options: LoadOptions) -> Any:  # noqa: ANN401 - config or tokenizer
    """The ``config`` or the ``tokenizer`` of a model.

    Raises:
        ModelError: It cannot be loaded.
        NetworkError: The hub cannot be reached.
    """
    from transformers import AutoConfig, AutoTokenizer

    loader = AutoConfig if what == "config" else AutoTokenizer
    where = source_of(name, options.revision)
    try:
        return loader.from_pretrained(
            location_of(name), **where, trust_remote_code=options.trust.remote_code
        )
    except Exception as error:  # the libraries below raise all kinds, bare Exceptions among them
        if "trust_remote_code" in str(error):
            raise ModelError(f"{name}: {HOW_TO_TRUST}") from error
        raise loading_error(name, f"its {what} cannot be loaded", error) from error


def check_tokenizer(
    name: str, tokenizer: PreTrainedTokenizerBase, config: PreTrainedConfig
) -> None:
    """Refuses a tokenizer that says of no token which characters it covers, is made up, or fails.

    An empty vocabulary is made up when a folder holds no tokenizer.

    Raises:
        ModelError: It is one of these.
    """
    if not tokenizer.is_fast:
        raise ModelError(
            f"{name}: its tokenizer {type(tokenizer).__name__} does not say which characters a "
            "token covers; a fast tokenizer (tokenizer.json) is needed"
        )
    # Its one or two entries are special tokens, where the model has embeddings for many.
    own = len(tokenizer) - len(tokenizer.get_added_vocab())
    made_up = 1
    if own <= made_up and getattr(config, "vocab_size", 0) > len(tokenizer):
        raise ModelError(f"{name}: there is no tokenizer beside the weights")
    try:
        tokenizer("a")
    except Exception as error:  # settings of another shape, each of which fails in its own way
        raise ModelError(
            f"{name}: its tokenizer takes no text ({first_line(error)}): mend its settings, "
            "or fetch the model again"
        ) from error


def named_folder(name: str) -> Path | None:
    """The folder of that name; None where there is none."""
    if name in DEMOS:
        return folder_of(name)
    try:
        folder = Path(name).expanduser()
        return folder if folder.is_dir() else None
    except (OSError, RuntimeError, ValueError):
        return None  # no name that a folder can have


def location_of(name: str) -> str:
    """What transformers takes for a model: its folder, or its name on the hub."""
    return str(named_folder(name) or name)


def files_of(name: str, options: LoadOptions) -> Path:
    """The folder of the model's files: the user's, or the hub's cached snapshot."""
    folder = named_folder(name)
    if folder:
        return folder
    from transformers.utils.hub import cached_file

    config = cached_file(name, "config.json", **source_of(name, options.revision))
    return Path(str(config)).parent


def source_of(name: str, revision: str | None) -> dict[str, Any]:
    """The revision of a model's files, and whether they may be fetched.

    Raises:
        ModelError: As ``tacit.models.huggingface.hub.where_from``; a folder is never
            looked for on the hub.
        NetworkError: Likewise.
    """
    return {"revision": revision or "main"} if named_folder(name) else where_from(name, revision)


_OTHER_HEADS = ("Classification", "QuestionAnswering", "MultipleChoice", "SentencePrediction")


def kind_of(name: str, config: PreTrainedConfig) -> str:
    """``causal``, ``masked`` or ``seq2seq``, as the config of the model of that name says.

    Raises:
        ModelError: The architecture has no head that scores text.
    """
    from transformers.models.auto import modeling_auto as auto

    heads = config.architectures or ()
    if not isinstance(heads, (list, tuple)) or not all(isinstance(head, str) for head in heads):
        raise ModelError(
            f"{name}: its config.json names {heads!r} as architectures, where names such as "
            "GPT2LMHeadModel are expected: mend that line, or fetch the model again"
        )
    named = " ".join(heads)
    if any(head in named for head in _OTHER_HEADS):
        raise ModelError(
            f"{name}: {named} was trained for something else than text; a causal, masked or "
            "seq2seq language model is needed"
        )
    if config.is_encoder_decoder:
        return "seq2seq"
    if "ForMaskedLM" in named:
        return "masked"
    if "ForCausalLM" in named or "LMHeadModel" in named:
        return "causal"
    # A config that names no head, or one without text: go by what the architecture can have.
    if config.model_type in auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES and not getattr(
        config, "is_decoder", False
    ):
        return "masked"
    if config.model_type in auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES:
        return "causal"
    raise ModelError(
        f"{name}: a model of the type {config.model_type!r} "
        f"({named or 'no architecture named'}) scores no text; a causal, masked or seq2seq "
        "language model is needed"
    )
