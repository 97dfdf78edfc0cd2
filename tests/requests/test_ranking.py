import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.errors import PromptError
from tacit.requests import AnswerScore, Ranking, RankingPrompt, Scores, Standing, Vocabulary

VALUES = st.dictionaries(
    st.text(min_size=1, max_size=3),
    st.none() | st.floats(-50, -1e-3).map(lambda x: round(x, 1)),
    min_size=1,
)


def scores(values: dict[str, float | None]) -> Scores:
    return Scores(tuple(AnswerScore(answer, value, 1) for answer, value in values.items()))


@given(VALUES, st.data())
def test_a_ranking_by_hand(values: dict[str, float | None], data: st.DataObject) -> None:
    """The rank counts every other answer that is no worse; the normaliser sums probabilities."""
    targets = data.draw(st.lists(st.sampled_from(sorted(values)), max_size=3))
    ranking = Ranking.of(scores(dict(values)), targets, top=3)
    known = {answer: value for answer, value in values.items() if value is not None}
    for target, standing in zip(targets, ranking.targets, strict=True):
        own = values[target]
        others = [value for answer, value in known.items() if answer != target]
        no_worse = None if own is None else 1 + sum(value >= own for value in others)
        assert standing == Standing(target, no_worse, own, 1)
    best = sorted(known.items(), key=lambda item: (-item[1], item[0]))
    assert list(ranking.top) == best[:3]
    assert (ranking.missing, ranking.several) == (len(values) - len(known), 0)
    if known:
        total = math.log(sum(map(math.exp, known.values())))
        assert ranking.normaliser == pytest.approx(total, abs=1e-12)
    else:
        assert ranking.normaliser is None


def test_very_unlikely_answers() -> None:
    ranking = Ranking.of(scores({"a": -2000.0, "b": -2000.0}), ("a",))
    assert ranking.normaliser == pytest.approx(-2000 + math.log(2))
    assert ranking["a"].rank == 2


def test_tokens_are_counted() -> None:
    answers = (AnswerScore("a", -1.0, 2), AnswerScore("b", None, 3), AnswerScore("c", -2.0, 1))
    ranking = Ranking.of(Scores(answers), ("a", "b"))
    assert (ranking.several, ranking.missing) == (1, 1)
    assert ranking.targets == (Standing("a", 1, -1.0, 2), Standing("b", None, None, 3))


@given(st.lists(st.text(min_size=1, max_size=3), min_size=1))
def test_a_vocabulary_is_a_set(words: list[str]) -> None:
    vocabulary = Vocabulary(words)
    assert vocabulary == Vocabulary(reversed(words * 2))
    assert hash(vocabulary) == hash(Vocabulary(set(words)))
    assert list(vocabulary.words) == sorted(set(words))
    assert [vocabulary.index(word) for word in vocabulary.words] == list(range(len(vocabulary)))
    assert vocabulary != Vocabulary([*words, "another"])


@pytest.mark.parametrize(
    ("words", "message"),
    [([], "no answers"), (["a", ""], "empty answer"), (["a\ud83d"], "half of a surrogate pair")],
)
def test_what_is_no_vocabulary(words: list[str], message: str) -> None:
    with pytest.raises(PromptError, match=message):
        Vocabulary(words)


def test_what_is_no_ranking_prompt() -> None:
    vocabulary = Vocabulary(["a", "b"])
    with pytest.raises(PromptError, match="has 2 blanks"):
        RankingPrompt("A ___ is ___", vocabulary)
    with pytest.raises(PromptError, match="the target 'c', which is not among the 2 words"):
        RankingPrompt("A ___", vocabulary, ("a", "c"))
    with pytest.raises(PromptError, match="top = -1"):
        RankingPrompt("A ___", vocabulary, top=-1)
