"""A model's weights, refused where they are not whole or of something else."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from tacit.errors import ModelError, NetworkError
from tacit.models.huggingface.adapters import placing, quantised, with_adapter
from tacit.models.huggingface.checkpoint_files import place_of, source_of
from tacit.models.huggingface.hub import first_line, loading_error
from tacit.models.huggingface.trust import HOW_TO_PICKLE

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedConfig, PreTrainedModel

    from tacit.models.loading import LoadOptions


def load_weights(
    name: str, kind: str, config: PreTrainedConfig, options: LoadOptions, device: torch.device
) -> PreTrainedModel:
    """The model with its weights, and its adapter, on its device.

    Raises:
        ModelError: They cannot be loaded, are another model's, or lack a part.
        NetworkError: The hub cannot be reached.
    """
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
            place_of(name),
            **source_of(name, options.revision),
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
        failure = loading_error(name, "its weights cannot be loaded", error)
        if isinstance(failure, NetworkError):
            raise failure from error
        said = first_line(error)
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
