"""Rankings of a vocabulary against minicons 0.3.39: MaskedLMScorer.cloze_distribution."""

from pathlib import Path

import numpy as np
import pytest

from tacit.requests import RankingPrompt
from tests.models import tiny

# Minicons needs a blank with text on either side, and one that the tokenizer gives back as it was.
BLANK = "shell"
TEXTS = (
    "A ___ has fur.",
    "A ___ has fur, is big, and has claws.",
    "In a tree, the ___ is above the roots.",
    "Something that has wings and a beak is called a ___ , a bird or a birdbath.",
)


@pytest.mark.filterwarnings("ignore")  # what minicons imports, and how, is its own affair
@pytest.mark.parametrize("name", ["bert", "electra", "roberta"])
def test_equal_to_the_distribution_of_minicons(name: str, tmp_path: Path) -> None:
    """Every whole word has the rank and the log-probability that minicons' distribution gives."""
    scorer_module = pytest.importorskip("minicons.scorer", reason="minicons is not installed")
    model = tiny.load(tiny.save(name, tmp_path))
    vocabulary = model.whole_words()
    prompts = [RankingPrompt(text, vocabulary, vocabulary.words) for text in TEXTS]
    scorer = scorer_module.MaskedLMScorer(str(tmp_path), "cpu")
    before = "" if name != "roberta" else " "
    encoded = scorer.tokenizer([before + w for w in vocabulary.words], add_special_tokens=False)
    ids = [one for (one,) in encoded["input_ids"]]
    asked = [(text.replace("___", BLANK), BLANK) for text in TEXTS]
    theirs = scorer.cloze_distribution(asked)[:, ids].double().numpy()
    for ours, values in zip(model.answer(prompts), theirs, strict=True):
        for standing, value in zip(ours.targets, values, strict=True):
            assert standing.logprob == pytest.approx(value, abs=1e-4)
            # What lies within rounding of the target may stand on either side of it.
            least, most = (values > value + 1e-4).sum() + 1, (values > value - 1e-4).sum()
            assert standing.rank is not None
            assert least <= standing.rank <= most
        assert np.exp(values).sum() < 1.0
