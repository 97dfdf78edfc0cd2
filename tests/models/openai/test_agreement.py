"""A model behind a server, beside the same one in this process."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tokenizers import Tokenizer

from tests.models.conftest import FolderOf, Loaded
from tests.models.openai.conftest import Serve, load
from tests.models.openai.speaking import Refusal
from tests.models.prompts import CONTINUED, EVERYWHERE

TOLERANCE = 1e-4


class HuggingFace:
    """What is served: a model of transformers, and its tokenizer with its special tokens."""

    def __init__(self, folder: Path) -> None:
        from transformers import AutoModelForCausalLM, AutoTokenizer

        self.tokenizer: Tokenizer = AutoTokenizer.from_pretrained(folder).backend_tokenizer
        self._model = AutoModelForCausalLM.from_pretrained(folder, dtype="float32").eval()
        self._known: dict[tuple[int, ...], NDArray[np.float64]] = {}

    def following(self, ids: tuple[int, ...]) -> NDArray[np.float64]:
        import torch

        if len(ids) > self._model.config.max_position_embeddings:
            raise Refusal("the prompt is longer than the model's window")
        if ids not in self._known:
            with torch.inference_mode():
                logits = self._model(torch.tensor([ids])).logits[0, -1]
            self._known[ids] = torch.log_softmax(logits.double(), -1).numpy()
        return self._known[ids]


VLLM: dict[str, Any] = {"names": "vllm", "by_id": True, "most": 20}
SGLANG: dict[str, Any] = {"names": "sglang", "most": 20}


@pytest.mark.parametrize(
    ("name", "manners"),
    [
        ("gpt2", {}),
        ("opt", {}),
        ("llama", {"zero": "refused"}),
        *((name, names) for name in ("gpt2", "llama") for names in (VLLM, SGLANG)),
    ],
    ids=str,
)
def test_a_server_gives_what_the_model_gives_here(
    serve: Serve, loaded: Loaded, folder_of: FolderOf, name: str, manners: dict[str, object]
) -> None:
    """All the prompts of the contract, whatever the tokenizer; but what follows nothing is missing.

    gpt2 knows no BOS, and the server puts none before an empty text. A request names the tokens of
    many prompts.
    """
    local = loaded(name)
    prompts = [*EVERYWHERE, *CONTINUED]
    server = serve(HuggingFace(folder_of(name)), **manners)
    served = load(server, folder_of(name))
    before = len(server.requests)
    answered = served.answer(prompts)
    if "names" in manners:
        assert served.description["roads"] == ["named-tokens"]
        assert len(server.requests) - before <= len(prompts) / 2
    missing = 0
    for prompt, here, there in zip(prompts, local.answer(prompts), answered, strict=True):
        for one, other in zip(here.answers, there.answers, strict=True):
            if other.logprob is None:
                missing += one.logprob is not None
                assert one.logprob is None or prompt.text in {"", "___"}
                continue
            assert other.logprob == pytest.approx(one.logprob, abs=TOLERANCE)
            assert (other.tokens, other.spanned) == (one.tokens, one.spanned)
    assert missing == (10 if name == "gpt2" else 0)
