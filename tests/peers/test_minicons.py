"""minicons, version 0.3.39: MaskedLMScorer.token_score, original and within_word_l2r."""

import pytest
from minicons.scorer import MaskedLMScorer

from tacit.models.huggingface.masked import MaskedMode
from tacit.requests import Prompt
from tests.models import tiny
from tests.models.conftest import FolderOf

# What it imports, and how, is its own affair.
pytestmark = pytest.mark.filterwarnings("ignore")

TOLERANCE = 1e-3


WORDS = ("bird", "birdhouse", "trees", "eggs", "roots", "Falsehoods", "a")
PROMPTS = [
    Prompt("A ___ has fur and is big.", WORDS),
    Prompt("The trunk is above the ___, like the crown.", WORDS),
    Prompt("Is it a tree? True or", WORDS),
]
METRICS: dict[str, MaskedMode] = {
    "within_word_l2r": "left-to-right",
    "original": "one-at-a-time",
}


def theirs(scorer: MaskedLMScorer, prompt: Prompt, answer: str, metric: str) -> tuple[float, int]:
    """The sum over the answer's tokens of what minicons gives to each token of the sentence.

    The sentence is tokenized here: minicons' own call, batch_encode_plus, left transformers in 5.
    """
    before, after = prompt.around or (prompt.text + prompt.separator, ".")
    encoded = scorer.tokenizer([before + answer + after])
    (scored,) = scorer.token_score(encoded, PLL_metric=metric)
    count = [len(scorer.tokenizer.tokenize(part)) for part in (before.rstrip(), after)]
    end = len(scored) - count[1]
    return sum(value for _, value in scored[count[0] : end]), end - count[0]


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("name", ["bert", "electra", "roberta"])
def test_masked(name: str, metric: str, folder_of: FolderOf) -> None:
    """Words of one token and of several get the same, in both modes."""
    folder = folder_of(name)
    ours = tiny.load(folder, masked_mode=METRICS[metric])
    scorer = MaskedLMScorer(str(folder), "cpu")
    several = 0
    for prompt, score in zip(PROMPTS, ours.answer(PROMPTS), strict=True):
        for one in score.answers:
            expected, tokens = theirs(scorer, prompt, one.answer, metric)
            assert one.tokens == tokens
            assert one.logprob == pytest.approx(expected, abs=TOLERANCE), (prompt, one)
            several += one.tokens > 1
    assert several > 3


def test_words_of_two(folder_of: FolderOf) -> None:
    """Minicons masks within a word; Tacit masks the rest of the answer, whatever its words.

    An answer of two words therefore differs, by what the second word in sight tells of the first:
    its first word scores as when the second is part of the text.
    """
    folder = folder_of("bert")
    ours = tiny.load(folder)
    scorer = MaskedLMScorer(str(folder), "cpu")
    both = Prompt("A ___ has fur.", ("bird house",))
    value = ours.answer([both])[0].answers[0].logprob
    expected, _ = theirs(scorer, both, "bird house", "within_word_l2r")
    assert value is not None
    assert abs(value - expected) > 0.01
    first, second = (
        ours.answer([Prompt("A ___ house has fur.", ("bird",))])[0].answers[0].logprob,
        ours.answer([Prompt("A bird ___ has fur.", ("house",))])[0].answers[0].logprob,
    )
    assert first is not None
    assert second is not None
    assert first + second == pytest.approx(expected, abs=TOLERANCE)
