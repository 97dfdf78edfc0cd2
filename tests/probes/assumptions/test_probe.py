"""The assumptions probe against a model whose scores follow from the letters of the words."""

import math
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tacit.errors import RequestError
from tacit.findings.findings import Findings
from tacit.models.fake import FakeModel
from tacit.probes.assumptions.options import AssumptionsOptions
from tacit.probes.assumptions.probe import Assumptions, AssumptionsProbe
from tacit.probes.assumptions.vocabulary import Vocabularies
from tacit.probes.base import ModelWords
from tacit.requests import Prompt, Vocabulary
from tacit.sources.norms import Norms, Property
from tests.golden.models import share
from tests.probes.assumptions.made_up import measured

WORDS = ("bear", "seal", "fox", "fur", "hair", "legs", "animal", "unicorn", "person", "parents")


def value(prompt: Prompt, answer: str) -> float:
    return -1 - 8 * share(prompt.text, answer)


MODEL = FakeModel(value, words=WORDS)


def probe_of(
    norms: Norms,
    kind: str = "masked",
    model: FakeModel = MODEL,
    **options: Any,  # noqa: ANN401 - any option
) -> AssumptionsProbe:
    made = AssumptionsOptions(norms.path, **{"orders": "main", **options})
    models = {"fake": ModelWords(kind, model.whole_words())}
    return Assumptions(norms, made).for_models(models)["fake"]


def run(probe: AssumptionsProbe) -> Findings:
    """What the model shows; each request has a key of its own."""
    for group in probe.requests().values():
        assert group.keys.n_unique() == group.keys.height == len(group.requests)
    return measured(probe, MODEL)


def requests(probe: AssumptionsProbe, *names: str) -> list[Any]:
    groups = probe.requests()
    return [one for name in names if name in groups for one in groups[name].requests]


def test_a_concept_stands_where_a_count_by_hand_puts_it(norms: Norms) -> None:
    """Rank, log-probability and renormalised one, over the words that the model has."""
    rows = run(probe_of(norms)).tables["retrieval"].filter(pl.col("category").is_null())
    assert rows["concept"].unique(maintain_order=True).to_list() == ["bear", "unicorn"]
    for row in rows.iter_rows(named=True):
        prompt = Prompt(row["text"], WORDS)
        all_values = [value(prompt, word) for word in WORDS]
        own = value(prompt, row["word"])
        assert row["rank"] == sum(one >= own for one in all_values)
        assert row["logprob"] == own
        total = math.log(math.fsum(map(math.exp, all_values)))
        assert row["renormalised"] == pytest.approx(own - total, abs=1e-12)
        assert row["candidates"] == len(WORDS)


def test_a_causal_model_is_asked_with_the_blank_last(norms: Norms) -> None:
    probe = probe_of(norms, "causal")
    assert probe.wordings == ("blank-last",)
    assert not requests(probe, "retrieval_words")
    ranked = requests(probe, "retrieval", "elicitation", "prince")
    assert all(prompt.text.endswith("___") for prompt in ranked)
    assert requests(probe, "prince")[0].text == (
        "Something that has parents, siblings, relatives, a home, a pet, a car, a spouse, a job "
        "is called a ___"
    )


def test_sentences_are_scored_whole_with_each_concept_in_place(norms: Norms) -> None:
    """The word behind its article, and all that follows behind the word, added up."""
    probe = probe_of(norms, "causal", wording="sentence", concepts="tagged")
    assert probe.wordings == ("sentence",)
    texts = {prompt.text for prompt in requests(probe, "retrieval_words")}
    assert texts == {"A", "A bear", "A seal", "A unicorn"}
    rows = run(probe).tables["retrieval"].filter(pl.col("category").is_null())
    row = rows.filter(pl.col("concept") == "bear", pl.col("n") == 2).row(0, named=True)
    assert row["text"] == "A ___ has fur and has claws."
    sums = {
        word: value(Prompt("A", ("x",)), word)
        + value(Prompt(f"A {word}", ("x",)), "has fur and has claws.")
        for word in ("bear", "seal", "unicorn")
    }
    assert row["logprob"] == pytest.approx(sums["bear"], abs=1e-12)
    assert row["rank"] == sum(one >= sums["bear"] for one in sums.values())
    assert row["candidates"] == 3


@pytest.mark.parametrize(
    ("kind", "wording"),
    [
        ("masked", "blank-last"),
        ("seq2seq", "blank-last"),
        ("causal", "sentence"),
        ("causal", "blank-last"),
    ],
)
def test_each_candidate_may_have_its_own_article(norms: Norms, kind: str, wording: Any) -> None:  # noqa: ANN401 - a choice
    """Then concepts with a vowel stay, and the article is scored with the word."""
    probe = probe_of(norms, kind, articles="candidate", vocabulary="concepts", wording=wording)
    rows = run(probe).tables["retrieval"]
    words = set(rows["word"])
    assert words == {"bear", "owl", "unicorn", "hour"}
    row = rows.filter(pl.col("concept") == "owl", pl.col("n") == 1).row(0, named=True)
    last = (kind, wording) == ("causal", "blank-last")
    article = "an" if last else "An"
    named = {w: f"{article if w in {'owl', 'hour'} else article[0]} {w}" for w in words}
    text = "Something that has legs is called ___" if last else "___ has legs."
    if (kind, wording) == ("causal", "sentence"):
        values = {w: value(Prompt("", ("x",)), f"{a} has legs.") for w, a in named.items()}
    else:
        values = {w: value(Prompt(text, ("x",)), a) for w, a in named.items()}
    assert row["text"] == text
    assert row["logprob"] == pytest.approx(values["owl"], abs=1e-12)
    assert row["rank"] == sum(one >= values["owl"] for one in values.values())


def test_the_better_spelling_counts_and_the_other_is_no_rival() -> None:
    """Of colour and color the more probable one stands, and the other takes no place."""
    given = {"color": -1.0, "colour": -2.0, "fur": -3.0, "legs": -2.5}
    model = FakeModel(lambda _, answer: given.get(answer, -9.0), words=[*given, "bear", "person"])
    properties = [
        Property("bear", f"has {word}", frequency)
        for word, frequency in (("colour", 9), ("fur", 5), ("tail", 3))
    ]
    properties += [Property("bear", f"is p{n}", 2) for n in range(10)]
    norms = Norms(Path("norms.csv"), tuple(properties))
    found = measured(probe_of(norms, model=model), model)
    ranks, means = (
        found.tables[name].filter(relation="has", over="vocabulary", preface=True)
        for name in ("elicitation", "elicitation_by_relation")
    )
    told = ranks.select("word", "spelling", "rank", "candidates").rows()
    assert told == [("colour", "color", 1, 5), ("fur", "fur", 3, 5), ("tail", None, None, 5)]
    assert means["map"][0] == pytest.approx((1 / 1 + 2 / 3) / 2, abs=1e-12)
    assert means["absent"][0] == 1


def test_no_more_than_the_best_is_kept_of_a_ranking(norms: Norms) -> None:
    """So many candidates of each, in questions as in the tables."""
    found = run(probe_of(norms, top=3))
    assert found.tables["retrieval_top"]["place"].max() == 3
    assert found.questions["top"].list.len().max() == 3


def test_words_are_shared_by_all_models_and_have_letters_only() -> None:
    """Models without a common word cannot be compared over a vocabulary."""
    one, other = Vocabulary(["bear", "12", "!", "Fox"]), Vocabulary(["bear", "fox", "U.S."])
    words = Vocabularies.of({"a": one, "b": other})
    assert words.shared.words == ("bear",)
    assert words.own["a"].words == ("Fox", "bear")
    with pytest.raises(RequestError, match="in all of these models: a, b"):
        Vocabularies.of({"a": one, "b": Vocabulary(["fox"])})


def test_the_candidates_of_each_part_are_told(norms: Norms) -> None:
    """A digest by which two runs know that they rank the same words; none if one has no score."""
    probe = probe_of(norms, "causal", wording="both", concepts="tagged")
    found = run(probe).summary["candidates"]
    every = Vocabulary(WORDS).digest
    assert found["retrieval"] == {
        "blank-last": every,
        "sentence": Vocabulary(["bear", "seal", "unicorn"]).digest,
    }
    assert set(found["vocabulary"].values()) == {every}
    assert found["sensible"]["has"] == Vocabulary(["fur", "hair", "legs"]).digest
    gone = FakeModel(lambda *asked: None if asked[1] == "fox" else value(*asked), words=WORDS)
    found = measured(probe_of(norms, model=gone), gone).summary["candidates"]
    assert found["retrieval"] == {"sentence": None}
