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


@pytest.mark.parametrize("name", ["t5", "flan-t5"])
def test_a_blank_is_a_sentinel(name: str, loaded: Loaded) -> None:
    """The encoder reads the first sentinel at the blank, and the decoder writes it first."""
    model = loaded(name)
    sentinel = tiny.tokenizer_of(name).convert_tokens_to_ids("<extra_id_0>")
    with passes(model) as seen:
        model.answer([Prompt("A ___ has fur", ("bear", "bird"))])
    encoder = next(one for one in seen if one.part == "encoder").arguments["input_ids"].tolist()
    decoder = next(one for one in seen if one.part == "model").arguments["decoder_input_ids"]
    assert [row.count(sentinel) for row in encoder] == [1]
    assert all(row[:2] == [0, sentinel] for row in decoder.tolist())


def test_a_blank_without_sentinels_is_refused(loaded: Loaded) -> None:
    """A model without sentinels cannot fill a blank, and the error names the prompt."""
    with pytest.raises(PromptError, match=r"'A ___ has fur' has a blank, but .* has no sentinel"):
        loaded("bart").answer([Prompt("A ___ has fur", ("bear",))])


@pytest.mark.parametrize("name", SEQ2SEQ)
def test_the_separator_plays_no_part(name: str, loaded: Loaded) -> None:
    """No separator stands between what is read and what is written."""
    model = loaded(name)
    with passes(model) as seen:
        one, other = model.answer([Prompt("Is it?", ANSWERS, s) for s in (" ", "\n\n")])
    assert [one.rows for one in seen if one.part == "encoder"] == [1]
    assert [a.logprob for a in one.answers] == pytest.approx(
        [a.logprob for a in other.answers], abs=1e-5
    )


def test_no_decoder_start(tmp_path: Path) -> None:
    """A config that names no start of the decoder is refused."""
    model = tiny.make("t5")
    model.config.decoder_start_token_id = None
    model.save_pretrained(tmp_path)
    tiny.tokenizer_of("t5").save_pretrained(tmp_path)
    with pytest.raises(ModelError, match="has no decoder_start_token_id"):
        tiny.load(tmp_path)


def test_an_empty_text(loaded: Loaded) -> None:
    """An encoder that puts an end behind a text reads that alone."""
    scores = loaded("t5").answer([Prompt("", ("True", "False"))])[0]
    assert all(one.logprob is not None for one in scores.answers)
