"""The independent computation: one sequence per forward pass, no padding, no cache, float64 sums.

The scored tokens are those that reach beyond the text, by the characters that the tokenizer says
each covers or, of byte-level tokens, by their lengths, in the sequence as the tokenizer itself
encloses it in special tokens.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from tacit.requests import Prompt
from tests.models import tiny


@dataclass(frozen=True)
class Plain:
    kind: str
    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    one_at_a_time: bool = False
    _known: dict[tuple[tuple[int, ...], ...], torch.Tensor] = field(default_factory=dict)

    def score(self, prompt: Prompt, answer: str, shift: int = 0) -> tuple[float, int]:
        """Log-probability in nats and number of tokens; a ``shift`` reads at wrong positions."""
        scorers: dict[str, Callable[[Prompt, str, int], tuple[float, int]]] = {
            "causal": self._causal,
            "masked": self._masked,
            "seq2seq": self._seq2seq,
        }
        return scorers[self.kind](prompt, answer, shift)

    def _causal(self, prompt: Prompt, answer: str, shift: int) -> tuple[float, int]:
        text, before = prompt.text, prompt.text + prompt.separator
        if prompt.text.endswith("___"):
            before = prompt.text.removesuffix("___")
            text = before.rstrip()
        bos = self.tokenizer.bos_token
        doubled = bool(bos) and before.startswith(str(bos))
        ids, begin, end = self._placed((text, before, answer, ""), special=not doubled)
        nothing_before = not before.strip() or begin == 0
        if nothing_before and ids[0] != self.tokenizer.bos_token_id:
            ids = [self.tokenizer.bos_token_id, *ids]
            begin, end = begin + 1, end + 1
        # The whole string goes in, the answer's last token as well: what a token sees ends with it.
        return self._read(self._logits(ids), ids, range(begin, end), shift - 1), end - begin

    def _masked(self, prompt: Prompt, answer: str, shift: int) -> tuple[float, int]:
        text, before, after = prompt.text, prompt.text + prompt.separator, "."
        if "___" in prompt.text:
            before, after = prompt.text.split("___")
            text = before.rstrip()
        ids, begin, end = self._placed((text, before, answer, after))
        total = 0.0
        for at in range(begin, end):
            hidden = [at] if self.one_at_a_time else range(at, end)
            row = [self.tokenizer.mask_token_id if i in hidden else t for i, t in enumerate(ids)]
            total += self._read(self._logits(row), ids, [at], shift)
        return total, end - begin

    def _seq2seq(self, prompt: Prompt, answer: str, shift: int) -> tuple[float, int]:
        text = prompt.text.replace("___", "<extra_id_0>")
        start = [self.model.config.decoder_start_token_id]
        if self.tokenizer.cls_token_id is not None:
            start.append(self.tokenizer.cls_token_id)
        if "___" in prompt.text:
            start.append(self.tokenizer.convert_tokens_to_ids("<extra_id_0>"))
        ids = self.tokenizer(answer, add_special_tokens=False)["input_ids"]
        logits = self._logits(self.tokenizer(text)["input_ids"], decoder_input_ids=start + ids)
        places = range(len(start), len(start) + len(ids))
        return self._read(logits, start + ids, places, shift - 1), len(ids)

    def _placed(
        self, parts: tuple[str, str, str, str], *, special: bool = True
    ) -> tuple[list[int], int, int]:
        """The whole sequence, and where the scored tokens begin and end in it."""
        text, before, answer, after = parts
        encoded = self.tokenizer(before + answer + after, add_special_tokens=special)
        ids = list(encoded["input_ids"])
        own = [at for at, of in enumerate(encoded.sequence_ids()) if of is not None]
        if "ByteLevel" in str(self.tokenizer.backend_tokenizer.decoder):
            sizes = [len(piece) for piece in self.tokenizer.convert_ids_to_tokens(ids)]
            ends = {at: sum(sizes[own[0] : at + 1]) for at in own}
            spans = {at: (ends[at] - sizes[at], ends[at]) for at in own}
            last, until = len(text.encode()), len((before + answer).encode())
        else:
            spans = {at: tuple(encoded.token_to_chars(at)) for at in own}
            last, until = len(text), len(before + answer)
        scored = [at for at in own if spans[at][1] > last and spans[at][0] < until]
        return ids, scored[0], scored[-1] + 1

    def _logits(self, ids: Sequence[int], **rest: Sequence[int]) -> torch.Tensor:
        import torch

        asked = (tuple(ids), *(tuple(row) for row in rest.values()))
        if asked not in self._known:
            rows = {name: torch.tensor([list(row)]) for name, row in rest.items()}
            with torch.inference_mode():
                output = self.model(input_ids=torch.tensor([list(ids)]), **rows)
            self._known[asked] = output.logits[0].double().log_softmax(-1)
        return self._known[asked]

    def _read(
        self, values: torch.Tensor, ids: Sequence[int], places: Sequence[int], shift: int
    ) -> float:
        last = len(values) - 1
        return sum(float(values[min(max(at + shift, 0), last), ids[at]]) for at in places)


def load(
    name: str,
    folder: Path,
    *,
    one_at_a_time: bool = False,
    attention: str = "eager",
    **given: Any,  # noqa: ANN401 - of from_pretrained
) -> Plain:
    """A tiny model, loaded by transformers alone, with attention written out and what is given."""
    import transformers

    kind = tiny.ALL[name].kind
    model_class = {
        "causal": transformers.AutoModelForCausalLM,
        "masked": transformers.AutoModelForMaskedLM,
        "seq2seq": transformers.AutoModelForSeq2SeqLM,
    }[kind]
    model = model_class.from_pretrained(folder, attn_implementation=attention, **given).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    return Plain(kind, model, tokenizer, one_at_a_time)
