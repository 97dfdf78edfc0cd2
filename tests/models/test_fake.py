import pytest

from tacit.errors import PromptError
from tacit.models.fake import FakeModel
from tacit.requests import Prompt, RankingPrompt, Vocabulary

SCORES = {"A bear has": {"fur": -1.0, "wings": -5.0, "xyzzy": None}}


def test_a_ranking() -> None:
    model = FakeModel(SCORES, words=("wings", "fur"))
    prompt = RankingPrompt("A bear has", Vocabulary(SCORES["A bear has"]), ("wings", "xyzzy"))
    (ranking,) = model.answer([prompt])
    assert [standing.rank for standing in ranking.targets] == [2, None]
    assert (ranking.top, ranking.missing) == ((("fur", -1.0), ("wings", -5.0)), 1)
    assert model.ranked == [prompt]
    assert model.cost([prompt]) == [4]
    assert model.whole_words() == Vocabulary(["fur", "wings"])
    assert model.supports == {Prompt, RankingPrompt}


@pytest.mark.parametrize("prompt", [Prompt("A cat has", ("fur",)), Prompt("A bear has", ("tail",))])
def test_what_the_dict_lacks(prompt: Prompt) -> None:
    with pytest.raises(PromptError, match=rf"{prompt.text}.*{prompt.answers[0]}"):
        FakeModel(SCORES).answer([prompt])


def test_fingerprints() -> None:
    base = FakeModel(SCORES).fingerprint
    assert FakeModel(dict(SCORES)).fingerprint == base
    assert FakeModel(SCORES, "other").fingerprint != base
    changed = {"A bear has": {**SCORES["A bear has"], "fur": -1.1}}
    assert FakeModel(changed).fingerprint != base
    assert FakeModel(SCORES).description == {"name": "fake", "kind": "fake", "fingerprint": base}
