"""Load a model by name; the model's config determines the kind of model."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from tacit.errors import MissingPackage, ModelError
from tacit.models.base import HasWords, LanguageModel
from tacit.models.huggingface import causal, gguf, masked, seq2seq
from tacit.models.huggingface.adapters import (
    adapter_files,
    check_adapter,
    parameters_of,
    quantised,
)
from tacit.models.huggingface.alignment import Specials, bare, locate
from tacit.models.huggingface.chat_template import Chat
from tacit.models.huggingface.checkpoint import (
    check_choice,
    check_tokenizer,
    check_weights,
    fetch_weights,
    is_downloaded,
    kind_of,
    load_part,
    load_weights,
    weight_files,
)
from tacit.models.huggingface.fingerprint import (
    FileHashes,
    Identity,
    LoadedFiles,
    config_digest,
    tokenizer_digest,
)
from tacit.models.huggingface.local import Checkpoint, keep_freed
from tacit.models.huggingface.source import Source, local_source, named_path, source_of
from tacit.models.huggingface.trust import check_kernels, code_hashes, keep_kernels_away
from tacit.models.huggingface.vocabulary import whole_words
from tacit.models.openai.options import check_address, check_holds_no_key, is_address
from tacit.models.options import LoadOptions
from tacit.models.recorded import Record, RecordedModel
from tacit.models.registry import backend_of
from tacit.options import validated
from tacit.requests import Vocabulary

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedConfig, PreTrainedModel, PreTrainedTokenizerBase

    from tacit.models.registry import Backend


def load_model(
    name: str,
    options: LoadOptions | None = None,
    hashes: FileHashes | None = None,
    called: str | None = None,
) -> LanguageModel:
    """Load a model, as ``tacit.load_model`` does; ``called`` is its name in messages and manifests.

    ``hashes`` caches the SHA-256 hashes of weight files; None to compute all hashes.
    """
    options = options or LoadOptions()
    check_name(name, options)
    if is_address(name):
        from tacit.models.openai.loading import load_server

        # The store's folder, which holds the file of hashes and the descriptions of servers.
        store = hashes.path.parent if hashes and hashes.path else None
        return load_server(name, options.server, store)
    other = _other_backend(name)
    if other is not None:
        return other(name, options)
    hashes = hashes or FileHashes()
    record = Record.of(name, options, hashes)
    source, kind, config, tokenizer = _read_settings(name, options, called or name)
    chat = _chat_of(called or name, kind, tokenizer) if options.chat else None
    device = _device(options.device)
    if source.commit is not None:
        fetch_weights(source, options)
    plain = (
        (source.gguf,) if source.gguf else weight_files(source.folder, pickled=options.allow_pickle)
    )
    check_choice(name, config, plain)
    if device.type == "cpu":
        keep_freed()
    files = {file.name: file for file in plain}
    files |= adapter_files(options.adapter) if options.adapter else {}
    loaded = LoadedFiles.of(called or name, files.values())
    model = load_weights(source, kind, config, options, device)
    weights = {part: hashes.sha256(file) for part, file in files.items()}
    loaded.seal({file: weights[part] for part, file in files.items()})
    weights |= code_hashes((model, tokenizer, config))
    identity = Identity(
        weights=weights,
        config=config_digest(config),
        tokenizer=tokenizer_digest(tokenizer),
        revision=source.commit or options.revision,
        dtype=str(model.dtype).removeprefix("torch."),
        specials=_shown(Specials.of(tokenizer)),
        scorer=_scorer(kind, options, chat),
    )
    settings = _settings(model, config, source, options)
    checks = record.checks
    made = _made(
        kind,
        Checkpoint(called or name, model, tokenizer, identity, settings, loaded, chat, checks),
        options,
    )
    record.save(checks, made)
    return made


def _read_settings(
    name: str, options: LoadOptions, called: str
) -> tuple[Source, str, PreTrainedConfig, PreTrainedTokenizerBase]:
    """Find a model's files; return where they are, its kind, its config and its tokenizer."""
    trusted = options.trust_remote_code
    keep_kernels_away(trusted=trusted)
    try:
        source = source_of(name, options.revision)  # before torch is imported, which takes seconds
        import transformers  # noqa: F401
    except ImportError as error:
        raise MissingPackage(error.name or "transformers", "local") from error
    config = load_part("config", source, trusted=trusted)
    check_kernels(name, config, trusted=trusted)
    kind = kind_of(called, config)
    tokenizer = load_part("tokenizer", source, trusted=trusted)
    check_tokenizer(name, tokenizer, config)
    return source, kind, config, tokenizer


def recorded_model(
    name: str, options: LoadOptions, hashes: FileHashes, load: Callable[[], LanguageModel]
) -> LanguageModel:
    """Return a model that is loaded when it is first asked, if its record is valid."""
    check_name(name, options)
    if is_address(name) or _other_backend(name) is not None:
        return load()
    record = Record.of(name, options, hashes)
    return RecordedModel(name, record, load) if record.content else load()


def words_of(name: str, options: LoadOptions | None = None) -> tuple[str, Vocabulary]:
    """Return a model's kind, and the words that its tokenizer encodes as a single token."""
    options = options or LoadOptions()
    check_name(name, options)
    if is_address(name) and options.server.tokenizer:
        from tacit.models.openai.tokenizer import TokenizerFile

        return "causal", TokenizerFile(options.server.tokenizer).whole_words()
    if _other_backend(name) is not None:
        return words_of_model(load_model(name, options))
    _, kind, _, tokenizer = _read_settings(name, options, name)
    plain = bare(tokenizer)
    return kind, whole_words(plain.backend_tokenizer, partial(locate, plain))


def words_of_model(model: LanguageModel) -> tuple[str, Vocabulary]:
    """Return the kind and the whole words of a model that is loaded."""
    if not isinstance(model, HasWords):
        raise ModelError(f"{model.name}: its back-end does not support ranking words")
    kind = str(model.description.get("kind", "causal"))
    return "causal" if kind == "server" else kind, model.whole_words()


def _other_backend(name: str) -> Backend | None:
    """Return the loader of a plug-in back-end; None for a folder or a hub model."""
    return None if local_source(name) else backend_of(name)


def is_here(name: str, options: LoadOptions) -> bool:
    return bool(
        is_address(name)
        or _other_backend(name) is not None
        or local_source(name)
        or is_downloaded(name, options)
    )


def find(name: str, options: LoadOptions) -> None:
    """Raise an error if there is no such model; of one on the hub, the settings are fetched."""
    if not is_address(name) and _other_backend(name) is None:
        source_of(name, options.revision)


def check_name(name: str, options: LoadOptions) -> None:
    """Check a model's name and options before any large package is imported."""
    if not name.strip():
        raise ModelError("the model's name is empty; give a folder or a name on the hub")
    check_holds_no_key(name)
    validated(options)
    if is_address(name):
        check_address(name, options.server)
        if options.chat or options.adapter or options.device_map or options.revision:
            raise ModelError(
                f"{name}: --revision, --chat, --adapter and --device-map apply only to models in "
                "this process, not to a server: remove them"
            )
        return
    if _other_backend(name) is not None:
        return
    _check_files(name, options)
    if options.adapter is not None:
        check_adapter(options.adapter, pickled=options.allow_pickle)


def _check_files(name: str, options: LoadOptions) -> None:
    source = local_source(name)
    if source is None and named_path(name):
        raise ModelError(
            f"{name}: this is a file; expected a GGUF file, or the folder that contains the model"
        )
    looks_like_path = name.startswith((".", "/", "~")) or name.count("/") > 1
    if source is None and (looks_like_path or name.lower().endswith(gguf.SUFFIX)):
        raise ModelError(f"{name}: there is no such model folder or GGUF file")
    if source is None:
        return
    if options.revision is not None:
        raise ModelError(
            f"{name} is on this machine, and --revision chooses a version of a model on the hub: "
            "remove it"
        )
    if source.gguf:
        gguf.check_packages()
        return
    if not (source.folder / "config.json").is_file():
        raise ModelError(f"{name}: the folder contains no config.json, so it is not a model folder")
    check_weights(name, source.folder, pickled=options.allow_pickle)


def _device(asked: str) -> torch.device:
    try:
        import torch
    except ImportError as error:
        raise MissingPackage("torch", "local") from error
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


def _chat_of(name: str, kind: str, tokenizer: PreTrainedTokenizerBase) -> Chat:
    if kind == "masked":
        raise ModelError(f"{name}: a masked model fills blanks and cannot chat: omit --chat")
    return Chat.of(name, tokenizer)


def _scorer(kind: str, options: LoadOptions, chat: Chat | None) -> str:
    """Return the version of the code that scores, with the settings on which scores depend."""
    modules = {"causal": causal, "masked": masked, "seq2seq": seq2seq}
    scorer = modules[kind].SCORER + (f" {options.masked_mode}" if kind == "masked" else "")
    return f"{scorer} {chat.scorer}" if chat else scorer


def _shown(specials: Specials) -> str:
    return f"as configured: {list(specials.before)} before, {list(specials.after)} after"


def _settings(
    model: PreTrainedModel, config: PreTrainedConfig, source: Source, options: LoadOptions
) -> dict[str, Any]:
    """Return what a model's description contains besides its identity."""
    return {
        "architecture": type(model).__name__,
        "family": config.model_type or None,
        "parameters": parameters_of(model),
        "device": str(model.device),
        "quantised": quantised(config),
        "gguf": source.gguf and gguf.description(source.gguf),
        "adapter": options.adapter and str(options.adapter),
        "device_map": options.device_map,
    }


def _made(kind: str, checkpoint: Checkpoint, options: LoadOptions) -> LanguageModel:
    on_cpu = checkpoint.model.device.type == "cpu"
    batch_tokens = options.batch_tokens or (2048 if on_cpu else 16384)
    if kind == "masked":
        return masked.MaskedModel(checkpoint, batch_tokens, options.masked_mode)
    if kind == "seq2seq":
        return seq2seq.Seq2SeqModel(checkpoint, batch_tokens)
    return causal.CausalModel(checkpoint, batch_tokens, packing=options.packing)
