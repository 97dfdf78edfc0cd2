from __future__ import annotations

from pathlib import Path

import pytest

from tacit.errors import ModelError, PromptError
from tacit.requests import Prompt
from tests.models import tiny
from tests.models.conftest import Loaded
from tests.models.passes import passes

SEQ2SEQ = tiny.names("seq2seq")
ANSWERS = ("True", "False", "a birdhouse", "a bird", "unbelievable, 12 345 words")


@pytest.mark.parametrize("name", SEQ2SEQ)
def test_the_encoder_runs_once_per_text(name: str, loaded: Loaded) -> None:
    """The encoder reads each text once, however many answers and decoder passes there are."""
    prompts = [Prompt("Is it a tree?", ANSWERS), Prompt("It is", ANSWERS)]
    texts = [len(tiny.tokenizer_of(name)(prompt.text)["input_ids"]) for prompt in prompts]
    for batch_tokens, passes_made in ((100_000, 1), (1, 2)):
        with passes(loaded(name, batch_tokens)) as seen:
            loaded(name, batch_tokens).answer(prompts)
        encoded = [one for one in seen if one.part == "encoder"]
        assert len(encoded) == passes_made
        assert sum(one.tokens for one in encoded) == sum(texts)
        decoded = [one for one in seen if one.part == "model"]
        assert len(decoded) == (1 if batch_tokens > 1 else sum(one.rows for one in decoded))


def test_a_blank_without_sentinels_is_refused(loaded: Loaded) -> None:
    with pytest.raises(PromptError, match=r"'A ___ has fur' has a blank, but .* has no sentinel"):
        loaded("bart").answer([Prompt("A ___ has fur", ("bear",))])


def test_no_decoder_start(tmp_path: Path) -> None:
    model = tiny.make("t5")
    model.config.decoder_start_token_id = None
    model.save_pretrained(tmp_path)
    tiny.tokenizer_of("t5").save_pretrained(tmp_path)
    with pytest.raises(ModelError, match="has no decoder_start_token_id"):
        tiny.load(tmp_path)
