"""Load a model's config, tokenizer and weights from its files, and check that they are usable."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from tacit.english import several
from tacit.errors import ModelError, NetworkError
from tacit.models.huggingface.adapters import placing, quantised, with_adapter
from tacit.models.huggingface.gguf import as_plain, dequantising
from tacit.models.huggingface.source import Source, cached, first_line, loading_error, snapshot
from tacit.models.huggingface.trust import HOW_TO_PICKLE, HOW_TO_TRUST

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedConfig, PreTrainedModel, PreTrainedTokenizerBase

    from tacit.models.options import LoadOptions


def load_part(what: str, source: Source, *, trusted: bool) -> Any:  # noqa: ANN401 - config or tokenizer
    """Load the ``config`` or the ``tokenizer`` of a model."""
    from transformers import AutoConfig, AutoTokenizer

    loader = AutoConfig if what == "config" else AutoTokenizer
    try:
        return loader.from_pretrained(**source.given, trust_remote_code=trusted)
    except Exception as error:  # libraries raise many kinds of errors, also bare Exceptions
        if "trust_remote_code" in str(error):
            raise ModelError(f"{source.name}: {HOW_TO_TRUST}") from error
        raise loading_error(source.name, f"its {what} cannot be loaded", error) from error


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


_SAFE, _PICKLE = "model.safetensors", "pytorch_model.bin"


def weight_files(folder: Path, *, pickled: bool) -> tuple[Path, ...]:
    """Return the weight files in a folder; empty if the folder contains no usable weights."""
    for plain in (_SAFE, _PICKLE) if pickled else (_SAFE,):
        if (folder / plain).is_file():
            return (folder / plain,)
        index = folder / f"{plain}.index.json"
        if index.is_file():
            return tuple(folder / name for name in _shards(index, Path(plain).suffix))
    return ()


def check_weights(name: str, folder: Path, *, pickled: bool) -> None:
    """Raise if a folder contains an adapter, or contains no weights that may be loaded."""
    # transformers would load the adapter, but only if peft is installed.
    if (folder / "adapter_config.json").is_file():
        raise ModelError(
            f"{name}: the folder contains an adapter (adapter_config.json) as well as a model: "
            "move the adapter to a separate folder, and pass that folder as --adapter to use it"
        )
    if weight_files(folder, pickled=pickled):
        return
    pickles = weight_files(folder, pickled=True)
    if not pickles:
        raise ModelError(f"{name}: the folder contains no weights ({_SAFE} or {_PICKLE})")
    raise ModelError(f"{name}: its weights ({pickles[0].name}) are a pickle; {HOW_TO_PICKLE}")


def check_choice(name: str, config: PreTrainedConfig, files: tuple[Path, ...]) -> None:
    """Raise if a config makes transformers load files other than the folder's weight files."""
    for chosen in _all_of("transformers_weights", config.to_dict()):
        if [chosen] != [file.name for file in files]:
            raise ModelError(
                f"{name}: its config.json sets transformers_weights to {chosen!r}, which is not "
                "where models store their weights: remove that line"
            )


def fetch_weights(source: Source, options: LoadOptions) -> None:
    """Fetch the weights of a model on the hub; pickles only if there is nothing else."""
    for plain in (_SAFE, _PICKLE) if options.allow_pickle else (_SAFE,):
        stem, suffix = plain.split(".")
        snapshot(source.name, source.commit, (plain, f"{stem}-*.{suffix}"))
        if weight_files(source.folder, pickled=options.allow_pickle):
            break
    try:
        check_weights(source.name, source.folder, pickled=options.allow_pickle)
    except ModelError as error:
        raise ModelError(f"{error} (its weights cannot be loaded)") from error


def is_downloaded(name: str, options: LoadOptions) -> bool:
    """Return whether the hub's cache contains a model's config and all its weight files."""
    source = cached(name, options.revision)
    try:
        files = weight_files(source.folder, pickled=options.allow_pickle) if source else ()
    except ModelError:  # a damaged index
        return False
    return bool(files) and all(file.is_file() for file in files)


def _shards(index: Path, suffix: str) -> list[str]:
    """Return the names of the weight files that an index of shards lists."""
    try:
        names = sorted(set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values()))
        strange = [n for n in names if Path(n).name != n or Path(n).suffix != suffix]
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise ModelError(
            f"{index}: this is not a readable index of weight files: {error}"
        ) from error
    if strange or not names:
        raise ModelError(
            f"{index}: lists {strange[0]!r} as a weight file; expected names of {suffix} files in "
            "the same folder"
            if strange
            else f"{index}: lists no weight files"
        )
    return names


def _all_of(key: str, settings: Any) -> Iterator[Any]:  # noqa: ANN401 - any JSON value
    """Yield every value of a key in nested dictionaries, except None."""
    if not isinstance(settings, dict):
        return
    for each, value in settings.items():
        if each == key and value is not None:
            yield value
        yield from _all_of(key, value)


@contextmanager
def without_progress_bar() -> Iterator[None]:
    from transformers.utils import logging as advice

    enabled = advice.is_progress_bar_enabled()
    advice.disable_progress_bar()
    try:
        yield
    finally:
        if enabled:
            advice.enable_progress_bar()


def _attention(config: PreTrainedConfig) -> dict[str, str]:
    """Return the argument that selects eager attention for a model that caps attention scores."""
    capped = getattr(config.get_text_config(), "attn_logit_softcapping", None) is not None
    return {"attn_implementation": "eager"} if capped else {}


def load_weights(
    source: Source,
    kind: str,
    config: PreTrainedConfig,
    options: LoadOptions,
    device: torch.device,
) -> PreTrainedModel:
    """Load a model's weights and any adapter, and move the model to the given device."""
    import torch
    import transformers

    name = source.name
    classes = {
        "causal": transformers.AutoModelForCausalLM,
        "masked": transformers.AutoModelForMaskedLM,
        "seq2seq": transformers.AutoModelForSeq2SeqLM,
    }
    # With dtype auto, quantised weights are computed in the dtype that their config names.
    as_stored = device.type != "cpu" or quantised(config) is not None
    dtype = options.dtype if options.dtype != "auto" or as_stored else "float32"
    places = placing(name, config, options.device_map, device)
    try:
        with without_progress_bar():
            model, info = classes[kind].from_pretrained(
                **source.given,
                config=config,
                dtype="auto" if dtype == "auto" else getattr(torch, dtype),
                trust_remote_code=options.trust_remote_code,
                use_safetensors=None if options.allow_pickle else True,
                output_loading_info=True,
                ignore_mismatched_sizes=True,  # rejected below, with a clear message
                **_attention(config),
                **places,
                **(dequantising() if source.gguf else {}),
            )
        if not places:
            model.to(device)
    except Exception as error:  # libraries raise many kinds of errors, also bare Exceptions
        failure = loading_error(name, "its weights cannot be loaded", error)
        if isinstance(failure, NetworkError):
            raise failure from error
        message = first_line(error)
        if not options.allow_pickle and "safetensors" in message:
            message += f"; if they are a pickle: {HOW_TO_PICKLE}"
        how = f" (quantised: {quantised(config)})" if quantised(config) else ""
        raise ModelError(f"{name}: its weights{how} cannot be loaded: {message}") from error
    _check_keys(name, kind, info)
    if source.gguf:
        as_plain(model)
    if options.adapter is not None:
        return with_adapter(name, model, options.adapter)
    return cast("PreTrainedModel", model.eval())


def _check_keys(name: str, kind: str, info: Mapping[str, Any]) -> None:
    """Raise if a model's weights are not those that its config describes."""
    if info["mismatched_keys"]:
        raise ModelError(
            f"{name}: "
            f"{several(len(info['mismatched_keys']), 'weight tensor has', 'weight tensors have')} "
            "another shape than in its config.json: the weights and the config belong to "
            "different models"
        )
    missing = sorted(info["missing_keys"])
    if missing:
        raise ModelError(
            f"{name}: its weights lack {several(len(missing), 'tensor')} of a {kind} model "
            f"({', '.join(missing[:3])}, …): they belong to a model of another kind"
        )
