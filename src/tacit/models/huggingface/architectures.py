"""Which kind of model a config tells of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.errors import ModelError

if TYPE_CHECKING:
    from transformers import PreTrainedConfig

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
