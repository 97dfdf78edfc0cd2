"""The presets on whole probes: macaw with a small T5, gpt3 where answers are missing."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, cast

import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast, T5Config, T5ForConditionalGeneration

from tacit.engine.ask import Engine
from tacit.engine.store import Store
from tacit.models.fake import FakeModel
from tacit.models.loading import load_model
from tacit.models.options import LoadOptions
from tacit.probes.parts.probe import PartsProbe
from tacit.probes.parts.questions import Template
from tacit.requests import TOO_LONG, AnswerScore, Scores, ScoringKind
from tacit.sources.drawings import demo_drawings
from tests.probes.parts.measured import measured

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tacit.models.huggingface.seq2seq import Seq2SeqModel
    from tacit.requests import Prompt

PEACH = PartsProbe.read(demo_drawings(), ["peach"])


def small_t5(folder: Path, prompts: Sequence[Prompt]) -> Path:
    """A T5 of random weights whose tokenizer knows every character of the prompts."""
    specials = ["<pad>", "</s>", "<unk>"]
    backend = Tokenizer(models.Unigram())
    backend.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.UnigramTrainer(vocab_size=300, special_tokens=specials, unk_token="<unk>")
    backend.train_from_iterator([" ".join([p.text, *p.answers]) for p in prompts], trainer)
    backend.post_processor = processors.TemplateProcessing(
        single="$A </s>", special_tokens=[("</s>", 1)]
    )
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=backend, pad_token="<pad>", eos_token="</s>", unk_token="<unk>"
    )
    torch.manual_seed(5)
    config = T5Config(
        vocab_size=len(tokenizer), d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4
    )
    config.decoder_start_token_id = 0
    T5ForConditionalGeneration(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def test_macaw_is_the_share_of_two_whole_targets(tmp_path: Path) -> None:
    """Each with its end token, as a plain pass over encoder and decoder gives it."""
    probe = replace(PEACH, template=Template.load("macaw"))
    place = small_t5(tmp_path / "t5", probe.prompts)
    model = cast("Seq2SeqModel", load_model(str(place), LoadOptions(device="cpu")))
    answers = measured(probe, Engine(model, Store(tmp_path / "s")).ask(probe.prompts)).questions
    prompt = probe.prompts[3]
    logprobs = []
    for answer in prompt.answers:
        encoder, decoder = model.inputs(prompt, answer)
        assert (encoder.tokens[-1], decoder.tokens[-1]) == ("</s>", "</s>")
        assert decoder.tokens.count("</s>") == 1
        text, given = torch.tensor([encoder.ids]), torch.tensor([decoder.ids])
        with torch.inference_mode():
            logits = model._model(input_ids=text, decoder_input_ids=given).logits
        steps = logits[0, :-1].log_softmax(-1).gather(-1, given[0, 1:, None])
        logprobs.append(steps.sum().item())
    true, false = map(math.exp, logprobs)
    assert answers["p_true"][3] == pytest.approx(true / (true + false), abs=1e-4)
    assert answers["text"][3] == prompt.text
    assert answers["p_true"].null_count() == 0


def offering(prompt: Prompt, answer: str) -> float | None:
    """A model that offers an answer to half of the questions, and of these ``True`` or ``no``."""
    if "surround" in prompt.text:
        return None
    return {"True": math.log(0.4), "no": math.log(0.1)}.get(answer)


def test_gpt3_counts_what_was_not_offered_as_missing(tmp_path: Path) -> None:
    """It is left out of accuracy, and nothing is filled in."""
    probe = replace(PEACH, template=Template.load("gpt3"))
    findings = measured(probe, Engine(FakeModel(offering), Store(tmp_path)).ask(probe.prompts))
    unoffered = sum("surround" in prompt.text for prompt in probe.prompts)
    assert (findings.summary["missing"], findings.summary["filled"]) == (unoffered, 0)
    known = findings.questions["p_true"].drop_nulls().unique().to_list()
    assert known == [pytest.approx(0.8)]
    accuracy = findings.tables["accuracy"].row(0, named=True)
    assert accuracy["n"] + accuracy["missing"] == probe.gold.height
    assert accuracy["missing"] == sum("surround" in name for name in probe.gold["relation"])


def test_gpt3_paper_fills_in_and_says_so(tmp_path: Path) -> None:
    """With 0.5, which is judged false; nothing is missing then."""
    probe = replace(PEACH, template=Template.load("gpt3-paper"))
    findings = measured(probe, Engine(FakeModel(offering), Store(tmp_path)).ask(probe.prompts))
    unoffered = sum("surround" in prompt.text for prompt in probe.prompts)
    assert (findings.summary["missing"], findings.summary["filled"]) == (0, unoffered)
    filled = findings.questions.filter("filled")
    assert filled["p_true"].unique().to_list() == [0.5]
    accuracy = findings.tables["accuracy"].row(0, named=True)
    assert (accuracy["n"], accuracy["missing"]) == (probe.gold.height, 0)


@pytest.mark.parametrize("preset", ["plain", "macaw", "gpt3", "gpt3-paper"])
def test_a_skipped_prompt_has_no_belief_in_any_preset(preset: str) -> None:
    """It was not asked, so that nothing is filled in and no answer counts as improbable."""
    probe = replace(PEACH, template=Template.load(preset))
    scores = [ScoringKind().missing(prompt, TOO_LONG) for prompt in probe.prompts]
    scores[0] = Scores(tuple(AnswerScore(a, -1.0, 1) for a in probe.prompts[0].answers))
    findings = measured(probe, scores)
    beliefs = findings.questions["p_true"]
    assert beliefs.drop_nulls().len() == 1
    assert findings.summary["missing"] == len(probe.prompts) - 1
    assert findings.summary["filled"] == 0
