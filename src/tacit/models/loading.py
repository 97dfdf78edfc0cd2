"""From the name of a model to a model that scores: its kind is read off its own config."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from tacit.errors import MissingPackage, ModelError
from tacit.models.checkpoints import (
    adapter_hashes,
    check_adapter,
    check_device_map,
    placing,
    quantised,
    with_adapter,
)
from tacit.models.demo import DEMOS, folder_of
from tacit.models.fingerprint import (
    FileHashes,
    Identity,
    config_digest,
    tokenizer_digest,
    weight_hashes,
)
from tacit.models.server.address import check_address, is_address
from tacit.models.trust import (
    HOW_TO_PICKLE,
    HOW_TO_TRUST,
    NO_TRUST,
    Trust,
    check_weights,
    code_hashes,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    import torch
    from transformers import PreTrainedConfig, PreTrainedModel, PreTrainedTokenizerBase

    from tacit.models.base import LanguageModel
    from tacit.models.chat import Chat
    from tacit.models.masked import MaskedMode
    from tacit.models.server.address import ServerOptions
    from tacit.rankings import Vocabulary

DTYPES = ("auto", "float32", "bfloat16", "float16")

_OTHER_HEADS = ("Classification", "QuestionAnswering", "MultipleChoice", "SentencePrediction")


@dataclass(frozen=True)
class LoadOptions:
    """How a model is loaded.

    Args:
        revision: A branch, tag or commit of a model on a hub.
        dtype: ``auto`` is float32 on a processor, and as stored on an accelerator.
        device: ``auto`` (CUDA when there is one), ``cpu``, ``cuda``, ``cuda:1``, …
        batch_tokens: Tokens in one forward pass, padding included; None chooses by the device.
        masked_mode: How masked models score answers of several tokens.
        packing: Whether a causal model computes what prompts begin with alike once, where that is
            measured to give the same; it then changes the time alone.
        server: How a server is asked, where the model's name is an address.
        chat: Whether prompts are put as a chat, by the tokenizer's own template.
        adapter: A folder with a PEFT adapter that goes into the model; None for none.
        device_map: How accelerate spreads the model over devices, such as ``auto``; None puts all
            of it on ``device``.
        trust: What the model's files may do beside being read.
    """

    revision: str | None = None
    dtype: str = "auto"
    device: str = "auto"
    batch_tokens: int | None = None
    masked_mode: MaskedMode = "left-to-right"
    packing: bool = True
    server: ServerOptions | None = None
    chat: bool = False
    adapter: Path | None = None
    device_map: str | None = None
    trust: Trust = NO_TRUST


def load_model(
    name: str,
    options: LoadOptions | None = None,
    hashes: FileHashes | None = None,
    called: str | None = None,
) -> LanguageModel:
    """Loads a causal, masked or seq2seq model from a folder or a Hugging Face name, or a server's.

    Args:
        name: A folder that holds a model, a model's name on the hub, ``demo`` or ``demo-masked``,
            or a server's address.
        options: Revision, number format, device, batch size.
        hashes: Remembers the hashes of weight files.
        called: What messages and manifests call it; its name when None.

    Raises:
        ModelError: No such model, no weights, a kind that cannot be scored with, or weights that
            lack a part of the model.
        MissingPackage: The extra ``local`` is not installed, or for a server ``server``.
        ScoringError: A server fails each time.
    """
    options = options or LoadOptions()
    check_place(name, options)
    if is_address(name):
        # The store, beside whose hashes the descriptions of servers lie.
        kept = hashes.path.parent if hashes and hashes.path else None
        return _served(name, options.server, kept)
    try:
        import torch  # noqa: F401
        import transformers  # noqa: F401
    except ImportError as error:
        raise MissingPackage(error.name or "torch", "local") from error
    device = _device(options.device)
    config = _load("config", name, options)
    kind = kind_of(called or name, config)
    tokenizer = _load("tokenizer", name, options)
    _check_tokenizer(name, tokenizer, config)
    chat = _chat_of(called or name, kind, tokenizer) if options.chat else None
    model = _load_weights(name, kind, config, options, device)
    folder = _folder(name, options)
    weights = weight_hashes(folder, hashes or FileHashes())
    weights |= code_hashes((model, tokenizer, config))
    if options.adapter is not None:
        weights |= adapter_hashes(options.adapter, hashes or FileHashes())
    # A hub's cache names a snapshot's folder by its commit.
    revision = folder.name if folder.parent.name == "snapshots" else options.revision
    parts = Parts(kind, model, tokenizer, config, chat)
    return _assemble(called or name, parts, replace(options, revision=revision), weights)


def _served(name: str, options: ServerOptions | None, kept: Path | None) -> LanguageModel:
    from tacit.models.server.chatting import load_first_tokens
    from tacit.models.server.model import load_server

    if options is None or options.api == "completions":
        return load_server(name, options, kept)
    if options.samples is not None:
        raise ModelError(
            f"{name}: sampled replies give votes and no scores: load it with "
            "tacit.models.server.chatting.load_sampled, and ask it with tacit.engine.voting"
        )
    return load_first_tokens(name, options, kept)


@dataclass(frozen=True)
class Parts:
    """What was loaded of a model.

    Args:
        kind: causal, masked or seq2seq.
        model: The model itself.
        tokenizer: Its tokenizer.
        config: Its config.
        chat: How prompts are put as a chat; None to put them as plain text.
    """

    kind: str
    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    config: PreTrainedConfig
    chat: Chat | None = None


def words_of(name: str, options: LoadOptions | None = None) -> tuple[str, Vocabulary]:
    """The kind of a model and its whole words, without loading its weights.

    Raises:
        ModelError: As ``load_model``, or the model writes no word as a single token.
        MissingPackage: The extra ``local`` is not installed.
    """
    from tacit.models.boundary import bare
    from tacit.models.words import whole_words

    options = options or LoadOptions()
    check_place(name, options)
    try:
        import transformers  # noqa: F401
    except ImportError as error:
        raise MissingPackage(error.name or "transformers", "local") from error
    config, tokenizer = _load("config", name, options), _load("tokenizer", name, options)
    _check_tokenizer(name, tokenizer, config)
    return kind_of(name, config), whole_words(bare(tokenizer))


def kind_of(name: str, config: PreTrainedConfig) -> str:
    """``causal``, ``masked`` or ``seq2seq``, as the config of the model of that name says.

    Raises:
        ModelError: The architecture has no head that scores text.
    """
    from transformers.models.auto import modeling_auto as auto

    named = " ".join(config.architectures or ())
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


def check_place(name: str, options: LoadOptions) -> None:
    """Says early, before anything heavy is imported, that a path or an option leads nowhere.

    Raises:
        ModelError: The path is no model's folder, or an option is malformed.
    """
    if not name.strip():
        raise ModelError("the model's name is empty; give a folder or a name on the hub")
    if is_address(name):
        check_address(name, options.server)
        if options.chat or options.adapter or options.device_map:
            raise ModelError(
                f"{name}: --chat, --adapter and --device-map are for models in this process; a "
                "server takes none of them"
            )
        return
    folder = _named_folder(name)
    looks_like_path = name.startswith((".", "/", "~")) or name.count("/") > 1
    if looks_like_path and not folder:
        raise ModelError(f"{name}: there is no such model folder")
    if folder:
        if not (folder / "config.json").is_file():
            raise ModelError(f"{name}: the folder holds no config.json, so it is no model folder")
        check_weights(name, folder, options.trust)
    _check_options(options)


def _check_options(options: LoadOptions) -> None:
    """Refuses an option that is malformed, before anything is loaded."""
    if options.adapter is not None:
        check_adapter(options.adapter, options.trust)
    if options.device_map is not None:
        check_device_map(options.device_map)
    if options.dtype not in DTYPES:
        raise ModelError(f"the dtype {options.dtype!r} is none of {', '.join(DTYPES)}")
    if options.batch_tokens is not None and options.batch_tokens < 1:
        raise ModelError(f"--batch-tokens is {options.batch_tokens}; it must be at least 1")


def _device(asked: str) -> torch.device:
    import torch

    if asked == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(asked)
        torch.zeros(1, device=device).item()
    except (RuntimeError, AssertionError) as error:
        raise ModelError(
            f"the device {asked!r} cannot be used here ({str(error).splitlines()[0]}); "
            "use auto, cpu, cuda or cuda:N"
        ) from error
    return device


def _load(what: str, name: str, options: LoadOptions) -> Any:  # noqa: ANN401 - config or tokenizer
    from transformers import AutoConfig, AutoTokenizer

    loader = AutoConfig if what == "config" else AutoTokenizer
    try:
        return loader.from_pretrained(
            _place(name),
            revision=options.revision or "main",
            trust_remote_code=options.trust.remote_code,
        )
    except Exception as error:  # the libraries below raise all kinds, bare Exceptions among them
        if "trust_remote_code" in str(error):
            raise ModelError(f"{name}: {HOW_TO_TRUST}") from error
        raise ModelError(
            f"{name}: its {what} cannot be loaded, from a folder of that name or from the hub: "
            f"{_first_line(error)}"
        ) from error


def _check_tokenizer(
    name: str, tokenizer: PreTrainedTokenizerBase, config: PreTrainedConfig
) -> None:
    """Refuses a tokenizer that does not say which characters a token covers.

    And the empty vocabulary that is made up when a folder holds no tokenizer.
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


def _chat_of(name: str, kind: str, tokenizer: PreTrainedTokenizerBase) -> Chat:
    """How a model's chats are written.

    Raises:
        ModelError: The model fills blanks, or its tokenizer has no chat template.
    """
    from tacit.models.chat import Chat

    if kind == "masked":
        raise ModelError(
            f"{name}: a masked model fills blanks and has no turn to speak: leave --chat away"
        )
    return Chat.of(name, tokenizer)


def _load_weights(
    name: str, kind: str, config: PreTrainedConfig, options: LoadOptions, device: torch.device
) -> PreTrainedModel:
    import torch
    import transformers

    classes = {
        "causal": transformers.AutoModelForCausalLM,
        "masked": transformers.AutoModelForMaskedLM,
        "seq2seq": transformers.AutoModelForSeq2SeqLM,
    }
    # Quantised weights are computed with as their config says.
    as_stored = device.type != "cpu" or quantised(config) is not None
    dtype = options.dtype if options.dtype != "auto" or as_stored else "float32"
    places = placing(name, config, options.device_map, device)
    try:
        model, info = classes[kind].from_pretrained(
            _place(name),
            revision=options.revision or "main",
            config=config,
            dtype="auto" if dtype == "auto" else getattr(torch, dtype),
            trust_remote_code=options.trust.remote_code,
            use_safetensors=None if options.trust.pickle else True,
            output_loading_info=True,
            ignore_mismatched_sizes=True,  # refused below, in words of our own
            **places,
        )
        if not places:
            model.to(device)
    except Exception as error:  # the libraries below raise all kinds, bare Exceptions among them
        said = _first_line(error)
        if not options.trust.pickle and "safetensors" in said:
            said += f"; where they are a pickle, {HOW_TO_PICKLE}"
        how = f" (quantised: {quantised(config)})" if quantised(config) else ""
        raise ModelError(f"{name}: its weights{how} cannot be loaded: {said}") from error
    if info["mismatched_keys"]:
        raise ModelError(
            f"{name}: {len(info['mismatched_keys'])} parts of its weights have another shape than "
            "its config.json says: the two belong to different models"
        )
    missing = sorted(info["missing_keys"])
    if missing:
        raise ModelError(
            f"{name}: its weights lack {len(missing)} parts of a {kind} model "
            f"({', '.join(missing[:3])}, …): they were trained for something else"
        )
    if options.adapter is not None:
        return with_adapter(name, model, options.adapter)
    return cast("PreTrainedModel", model.eval())


def _assemble(
    name: str, parts: Parts, options: LoadOptions, weights: Mapping[str, str]
) -> LanguageModel:
    from tacit.models import causal, masked, seq2seq
    from tacit.models.boundary import Specials
    from tacit.models.local import Checkpoint, window_of

    kind, model, tokenizer = parts.kind, parts.model, parts.tokenizer
    specials = Specials.of(tokenizer)
    scorers = {"causal": causal.SCORER, "masked": masked.SCORER, "seq2seq": seq2seq.SCORER}
    scorer = scorers[kind] + (f" {options.masked_mode}" if kind == "masked" else "")
    identity = Identity(
        weights=weights,
        config=config_digest(parts.config),
        tokenizer=tokenizer_digest(tokenizer),
        revision=options.revision,
        dtype=str(model.dtype).removeprefix("torch."),
        specials=f"as configured: {list(specials.before)} before, {list(specials.after)} after",
        scorer=f"{scorer} {parts.chat.scorer}" if parts.chat else scorer,
    )
    settings = {
        "architecture": type(model).__name__,
        "parameters": model.num_parameters(),
        "device": str(model.device),
        "quantised": quantised(parts.config),
        "adapter": options.adapter and str(options.adapter),
        "device_map": options.device_map,
    }
    window = window_of(model)
    checkpoint = Checkpoint(name, model, tokenizer, window, identity, settings, parts.chat)
    batch_tokens = options.batch_tokens or (2048 if model.device.type == "cpu" else 16384)
    if kind == "masked":
        return masked.MaskedModel(checkpoint, batch_tokens, options.masked_mode)
    if kind == "seq2seq":
        return seq2seq.Seq2SeqModel(checkpoint, batch_tokens)
    return causal.CausalModel(checkpoint, batch_tokens, packing=options.packing)


def _named_folder(name: str) -> Path | None:
    """The folder of that name; None where there is none."""
    if name in DEMOS:
        return folder_of(name)
    try:
        folder = Path(name).expanduser()
        return folder if folder.is_dir() else None
    except (OSError, RuntimeError, ValueError):
        return None  # no name that a folder can have


def _place(name: str) -> str:
    return str(_named_folder(name) or name)


def _folder(name: str, options: LoadOptions) -> Path:
    """The folder of the model's files: the user's, or the hub's cached snapshot."""
    folder = _named_folder(name)
    if folder:
        return folder
    from transformers.utils.hub import cached_file

    config = cached_file(name, "config.json", revision=options.revision or "main")
    return Path(str(config)).parent


def _first_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__
