"""Checkpoints that are quantised, extended with an adapter, or distributed over devices."""

from __future__ import annotations

import json
import warnings
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from tacit.errors import ModelError
from tacit.models.huggingface.source import first_line
from tacit.models.huggingface.trust import HOW_TO_PICKLE

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedConfig, PreTrainedModel

# Adapters that change a model's layers and are read from one file. XLORA is not one: it reads any
# file that its config names.
_OF_LAYERS = """
    ADALORA BOFT C3A DELORA FOURIERFT HRA IA3 LN_TUNING LOHA LOKR LORA MISS OFT RANDLORA ROAD SHIRA
    TRAINABLE_TOKENS VBLORA VERA
"""
_OF_TOKENS = "CPT MULTITASK_PROMPT_TUNING PREFIX_TUNING PROMPT_TUNING P_TUNING"


def quantised(config: PreTrainedConfig) -> str | None:
    """Return the quantisation method in a checkpoint's config, or None without quantisation."""
    found = getattr(config, "quantization_config", None)
    if found is None:
        return None
    method = found.get("quant_method") if isinstance(found, dict) else found.quant_method
    return str(getattr(method, "value", method) or "unknown")


def parameters_of(model: PreTrainedModel) -> int | None:
    """Return a model's number of parameters, or None if quantisation prevents counting."""
    counted = quantised(model.config) in {None, "bitsandbytes", "torchao", "quanto"}
    return model.num_parameters() if counted else None


def check_adapter(folder: Path, *, pickled: bool) -> None:
    """Check, before loading, that a folder contains an adapter of a supported type."""
    if not (folder / "adapter_config.json").is_file():
        raise ModelError(
            f"--adapter {folder}: the folder contains no adapter_config.json, so it is not a PEFT "
            "adapter"
        )
    _check_kind(folder)
    if (folder / "adapter_model.safetensors").is_file():
        return
    if not (folder / "adapter_model.bin").is_file():
        raise ModelError(
            f"--adapter {folder}: the folder contains no weights (adapter_model.safetensors)"
        )
    if not pickled:
        raise ModelError(f"--adapter {folder}: its weights are a pickle; {HOW_TO_PICKLE}")


def _check_kind(folder: Path) -> None:
    """Check that an adapter has a supported type and names no module to import."""
    file = folder / "adapter_config.json"
    try:
        config = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ModelError(f"--adapter {folder}: {file.name} cannot be read: {error}") from error
    if not isinstance(config, dict):
        raise ModelError(f"--adapter {folder}: {file.name} is not a JSON object")
    kind = config.get("peft_type")
    if kind in _OF_TOKENS.split():
        raise ModelError(
            f"--adapter {folder}: the adapter adds virtual tokens before the text ({kind}), which "
            "is not supported; use an adapter that changes layers, such as LoRA"
        )
    if kind not in _OF_LAYERS.split():
        raise ModelError(
            f"--adapter {folder}: adapters of type {kind!r} are not supported; supported types: "
            f"{', '.join(_OF_LAYERS.split())}"
        )
    if config.get("megatron_config") is not None:
        raise ModelError(
            f"--adapter {folder}: {file.name} sets megatron_config, which makes peft import "
            f"{config.get('megatron_core')!r}; Megatron models are not supported: remove this "
            "setting"
        )


def placing(
    name: str, config: PreTrainedConfig, device_map: str | None, device: torch.device
) -> dict[str, Any]:
    """Return ``from_pretrained``'s device arguments; ``{}`` if the model is moved later."""
    if device_map is None and quantised(config) is None:
        return {}
    if find_spec("accelerate") is None:
        needed = f"quantised weights ({quantised(config)}) need"
        needed = "--device-map needs" if device_map else needed
        raise ModelError(
            f"{name}: {needed} accelerate, which is not installed; install it with: pip install "
            "accelerate"
        )
    # Quantised weights cannot be moved later.
    return {"device_map": device_map or {"": str(device)}}


def with_adapter(name: str, model: PreTrainedModel, folder: Path) -> PreTrainedModel:
    """Return a model to which an adapter is added; the model's own weights do not change."""
    if find_spec("peft") is None:
        raise ModelError(
            f"{name}: --adapter needs peft, which is not installed; install it with: pip install "
            "peft"
        )
    peft: Any = import_module("peft")
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            both = peft.PeftModel.from_pretrained(model, str(folder))
        except Exception as error:  # peft raises many kinds of errors
            raise ModelError(
                f"{name}: the adapter {folder} cannot be loaded: {first_line(error)}"
            ) from error
    lacking = [str(one.message) for one in warned if "missing adapter keys" in str(one.message)]
    if lacking:
        raise ModelError(
            f"{name}: the adapter {folder} lacks weights that its config names; it was made for "
            "another model"
        )
    return cast("PreTrainedModel", both.get_base_model().eval())


def adapter_files(folder: Path) -> dict[str, Path]:
    """Return the paths of an adapter's config and weights, keyed by ``adapter/FILENAME``."""
    weights = folder / "adapter_model.safetensors"
    files = (
        folder / "adapter_config.json",
        weights if weights.is_file() else folder / "adapter_model.bin",
    )
    return {f"adapter/{file.name}": file for file in files}
