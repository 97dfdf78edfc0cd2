"""Tiny models with chat templates in the styles that are about, and the independent computation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from transformers import PreTrainedModel, PreTrainedTokenizerBase

from tacit.requests import Prompt
from tests.models import tiny

CHATML = (
    "{% for m in messages %}{{ '<|im_start|>' + m.role + '\\n' + m.content + '<|im_end|>\\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)
LLAMA_2 = (
    "{{ bos_token }}{% for m in messages %}{% if m.role == 'user' %}"
    "{{ '[INST] ' + m.content | trim + ' [/INST]' }}{% else %}"
    "{{ ' ' + m.content | trim + ' ' + eos_token }}{% endif %}{% endfor %}"
)
LLAMA_3 = (
    "{{ bos_token }}{{ '<|header|>system<|end_header|>\\n\\nToday is ' + date_string }}"
    "{% for m in messages %}"
    "{{ '<|header|>' + m.role + '<|end_header|>\\n\\n' + m.content | trim + '<|eot|>' }}"
    "{% endfor %}{% if add_generation_prompt %}"
    "{{ '<|header|>assistant<|end_header|>\\n\\n' }}{% endif %}"
)
GEMMA = (
    "{{ bos_token }}{% for m in messages %}"
    "{% set role = 'model' if m.role == 'assistant' else m.role %}"
    "{{ '<start_of_turn>' + role + '\\n' + m.content | trim + '<end_of_turn>\\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<start_of_turn>model\\n' }}{% endif %}"
)
PHI_3 = (
    "{% for m in messages %}{{ '<|' + m.role + '|>\\n' + m.content + '<|end|>\\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|assistant|>\\n' }}{% else %}{{ eos_token }}{% endif %}"
)
MUTE = (
    "{% for m in messages %}{{ '<|im_start|>' + m.role + '\\n' + m.content + '<|im_end|>\\n' }}"
    "{% endfor %}"
)
QWEN_3 = (
    "{% for m in messages %}{% if m.role == 'assistant' %}"
    "{{ '<|im_start|>assistant\\n<think>\\n\\n</think>\\n\\n' + m.content + '<|im_end|>\\n' }}"
    "{% else %}{{ '<|im_start|>' + m.role + '\\n' + m.content + '<|im_end|>\\n' }}{% endif %}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}"
    "{% if enable_thinking is defined and enable_thinking is false %}"
    "{{ '<think>\\n\\n</think>\\n\\n' }}{% endif %}{% endif %}"
)
THINKER = (
    "{% for m in messages %}{{ '<|' + m.role + '|>' + m.content }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|assistant|><think>\\n' }}{% endif %}"
)

_IM = ("<|im_start|>", "<|im_end|>")
_ROLES = ("<|user|>", "<|assistant|>")


@dataclass(frozen=True)
class Style:
    template: str
    tokens: tuple[str, ...]
    tokenizer: Callable[[], PreTrainedTokenizerBase]
    model: str = "LlamaForCausalLM"


STYLES: dict[str, Style] = {
    "chatml": Style(CHATML, _IM, tiny.gpt2_like, "Qwen2ForCausalLM"),
    "llama-2": Style(LLAMA_2, (), tiny.llama_like),
    "llama-3": Style(
        LLAMA_3, ("<|header|>", "<|end_header|>", "<|eot|>"), tiny.byte_level_with_bos
    ),
    "gemma": Style(
        GEMMA, ("<start_of_turn>", "<end_of_turn>"), tiny.byte_level_with_bos, "GemmaForCausalLM"
    ),
    "phi-3": Style(PHI_3, (*_ROLES, "<|end|>"), tiny.llama_like, "Phi3ForCausalLM"),
    "mute": Style(MUTE, _IM, tiny.gpt2_like, "Qwen2ForCausalLM"),
    "qwen-3": Style(QWEN_3, (*_IM, "<think>", "</think>"), tiny.gpt2_like, "Qwen3ForCausalLM"),
    "bloom": Style(CHATML, _IM, tiny.gpt2_like, "BloomForCausalLM"),
}
"""``mute`` knows no prompt for a reply; ``bloom`` is a model whose prompts are not packed."""

_SIZE = {**tiny._LLAMA, "head_dim": 8, "max_position_embeddings": 256}


def tokenizer_of(style: Style) -> PreTrainedTokenizerBase:
    tokenizer = style.tokenizer()
    tokenizer.add_special_tokens({"additional_special_tokens": list(style.tokens)})
    tokenizer.chat_template = style.template
    return tokenizer


def save(name: str, folder: Path) -> Path:
    style = STYLES[name]
    tokenizer = tokenizer_of(style)
    settings = tiny._BLOOM if name == "bloom" else _SIZE
    made = tiny.Tiny("causal", style.tokenizer, style.model, settings)
    tiny.drawn(made, tokenizer, seed=len(name)).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@dataclass(frozen=True)
class Talk:
    """The independent computation: a whole chat, written with its reply, cut behind the answer."""

    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase

    @classmethod
    def load(cls, folder: Path) -> Talk:
        import transformers

        load = transformers.AutoModelForCausalLM.from_pretrained
        model = load(folder, attn_implementation="eager").eval()
        return cls(model, transformers.AutoTokenizer.from_pretrained(folder))

    def ids(self, text: str, answer: str) -> tuple[list[int], range]:
        """The tokens up to the answer's end, and the places of those that are scored."""
        said = [{"role": "user", "content": text}, {"role": "assistant", "content": answer}]
        whole = self.tokenizer.apply_chat_template(
            said, tokenize=False, date_string="26 Jul 2024", enable_thinking=False
        )
        begin = str(whole).rindex(answer)
        cut = str(whole)[: begin + len(answer)]
        bos = self.tokenizer.bos_token
        encoded = self.tokenizer(cut, add_special_tokens=not cut.startswith(str(bos)))
        text_end = len(cut[:begin].rstrip(" "))
        held = {encoded.char_to_token(at) for at in range(text_end, len(cut))} - {None}
        # A character of several tokens: the tokenizer names the first one, and it is the last.
        return list(encoded["input_ids"]), range(min(held), len(encoded["input_ids"]))

    def score(self, prompt: Prompt, answer: str) -> tuple[float, int]:
        """Log-probability in nats and number of tokens: one pass, float64."""
        import torch

        ids, own = self.ids(prompt.text, answer)
        with torch.inference_mode():
            logits = self.model(input_ids=torch.tensor([ids])).logits[0].double().log_softmax(-1)
        return sum(float(logits[at - 1, ids[at]]) for at in own), len(own)
