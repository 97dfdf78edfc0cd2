from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest
import yaml

from tacit.probes.assumptions.corrections import Correction
from tacit.probes.assumptions.elicitation import CONCEPTS, Elicited, elicit, elicitation_text
from tacit.probes.assumptions.responses import SINGULAR, Response, completion
from tacit.probes.assumptions.wording import american, is_plural, spellings
from tacit.requests import Prompt
from tacit.sources.norms import Norms, read_norms
from tests.probes.assumptions.made_up import options

DATA = Path(os.environ.get("TACIT_TEST_DATA", Path(__file__).parents[3] / "../shared/data"))
BUCHANAN = DATA / "norms" / "buchanan-features.tsv"
needs_buchanan = pytest.mark.skipif(not BUCHANAN.is_file(), reason="the real norms are not here")


def small(folder: Path, *rows: str) -> Norms:
    """Norms of rows of concept, feature, frequency and alternatives."""
    path = folder / "small.dat"
    header = "concept\tfeature\tpf\tfeature alternatives"
    path.write_text("\n".join((header, *rows)) + "\n", encoding="utf-8")
    return read_norms(path)


def words(prompt: Elicited) -> dict[str, int]:
    """The responses of a prompt with their frequencies."""
    return {one.word: one.frequency for one in prompt.responses}


def test_the_prompts_of_a_concept(norms: Norms) -> None:
    """One for each relation that people completed in one word, all alternatives counted."""
    asked = elicit(norms, options(norms, responses="feature")).prompts
    found = {one.relation: one for one in asked if one.concept == "bear"}
    assert {name: words(one) for name, one in found.items()} == {
        "is": {"big": 15, "large": 15, "brown": 9},
        "is a": {"bear": 20, "animal": 11},
        "has": {"fur": 27, "hair": 27, "claws": 15, "paws": 7},
        "made of": {"fluff": 2, "down": 2},
    }


@pytest.mark.parametrize(
    ("relation", "concept", "text"),
    [
        ("is", "bear", "a bear is ___."),
        ("is a", "owl", "an owl is a ___."),
        ("has", "polar_bear", "a polar bear has ___."),
        ("has a", "seal_(animal)", "a seal has a ___."),
        ("made of", "hour", "an hour is made of ___."),
    ],
)
def test_texts_have_the_concepts_article_and_no_sense_tag(
    relation: str, concept: str, text: str
) -> None:
    """By its sound; phrases keep their words."""
    assert elicitation_text(relation, concept, "sentence") == f"Everyone knows that {text}"


def test_the_ablation_and_the_last_blank() -> None:
    """Without the preface the sentence begins with a capital; the last blank has no full stop."""
    assert elicitation_text("is", "bear", "sentence", preface=False) == "A bear is ___."
    last = elicitation_text("is", "bear", "blank-last")
    assert last == "Everyone knows that a bear is ___"
    assert Prompt(last, ("big",)).around == ("Everyone knows that a bear is ", "")


def test_plurals_are_left_out_and_counted(norms: Norms) -> None:
    """And every other concept has a prompt or is counted as without, for each relation."""
    found = elicit(norms, options(norms, concepts="all"))
    steps = {(step.of, step.name): step for step in found.steps}
    assert steps["concepts for elicitation", "plural"].removed == ("tongs",)
    asked = Counter(one.relation for one in found.prompts)
    for relation, count in {"is": 1, "is a": 1, "has": 7, "has a": 0, "made of": 1}.items():
        without = steps[f"concepts for “{relation}”", "no response"]
        assert (asked[relation], without.left, len(without.removed)) == (count, count, 7 - count)


def test_alternatives_of_every_kind_count(tmp_path: Path) -> None:
    """Underscored ones, those of their column, and those that fit another relation."""
    norms = small(tmp_path, "pan\tmade of wood_timber\t4\tmade of oak; wooden; is wooden_brown")
    asked = elicit(norms, options(norms, responses="feature")).prompts
    found = {one.relation: words(one) for one in asked}
    assert found == {
        "is": {"wooden": 4, "brown": 4},
        "made of": {"wood": 4, "timber": 4, "oak": 4},
    }


def test_a_response_named_twice_has_its_highest_frequency(tmp_path: Path) -> None:
    """Equal ones come in the order of the file."""
    norms = small(tmp_path, "pan\tis hot\t2\t", "pan\tis big\t3\t", "pan\tis hot_warm\t3\t")
    (prompt,) = elicit(norms, options(norms, responses="feature")).prompts
    assert list(words(prompt).items()) == [("hot", 3), ("big", 3), ("warm", 3)]


def test_two_spellings_are_one_response(tmp_path: Path) -> None:
    """With the higher frequency, under the spelling that has it; both are accepted."""
    norms = small(
        tmp_path, "elephant\tis grey\t9\t", "elephant\tis gray\t2\t", "elephant\tis big\t4\t"
    )
    (prompt,) = elicit(norms, options(norms)).prompts
    assert prompt.responses == (
        Response("grey", 9, ("grey", "gray")),
        Response("big", 4, ("big",)),
    )
    assert elicit(norms, options(norms)).completions("is") == ["grey", "gray", "big"]


@pytest.mark.parametrize(
    ("said", "completed"),
    [
        ("is big", ("is", "big")),
        ("is a tool", ("is a", "tool")),
        ("is an animal", ("is a", "animal")),
        ("has fur", ("has", "fur")),
        ("has a tail", ("has a", "tail")),
        ("is made of metal", ("made of", "metal")),
        ("is made of stainless steel", None),
        ("is very big", None),
        ("is found in woods", None),
        ("is made", None),
        ("is not", None),
        ("has no", None),
        ("eats grass", None),
        ("does not fly", None),
        ("is", None),
    ],
)
def test_one_word_completes_a_relation(said: str, completed: tuple[str, str] | None) -> None:
    """What has more words behind it, or another verb, completes none."""
    assert completion(said) == completed


def test_corrections_and_rare_properties(norms: Norms) -> None:
    """A correction stands for all that a property gave; the least frequency leaves out the rest."""
    found = elicit(norms, options(norms, least_people=8), [Correction("has fur_hair", "has fluff")])
    (bear,) = [one for one in found.prompts if (one.concept, one.relation) == ("bear", "has")]
    assert words(bear) == {"fluff": 27, "claws": 15}


@pytest.mark.parametrize(
    ("concept", "plural"),
    [
        *[(one, True) for one in ("jeans", "scissors", "beans", "mice", "feet", "sunglasses")],
        *[(one, True) for one in ("glasses", "tongs", "sets_of_keys", "shorts")],
        *[(one, False) for one in ("bear", "bus", "rhinoceros", "asparagus", "glass", "lens")],
        *[
            (one, False)
            for one in ("sheep", "compass", "iris", "rice", "christmas_tree", "seal_(x)")
        ],
    ],
)
def test_plurals_are_told(concept: str, plural: bool) -> None:  # noqa: FBT001 - a test's parameter
    """By the lists, the lexicon, and the s of what neither knows."""
    assert is_plural(concept) is plural


@pytest.mark.parametrize(
    ("word", "both"),
    [
        ("grey", ("grey", "gray")),
        ("gray", ("gray", "grey")),
        ("Grey", ("Grey", "Gray")),
        ("tyres", ("tyres", "tires")),
        ("fibers", ("fibers", "fibres")),
        ("multi-coloured", ("multi-coloured", "multi-colored")),
        ("big", ("big",)),
        ("glass", ("glass",)),
    ],
)
def test_spellings_go_both_ways(word: str, both: tuple[str, ...]) -> None:
    """Plurals, capitals and pieces between hyphens too; most words have one."""
    assert spellings(word) == both
    assert {american(one) for one in both} == {american(word)}


def test_the_pairs_of_spellings_are_pairs() -> None:
    """Two different words in lower case; none stands in two pairs."""
    path = Path(__file__).parents[3] / "src/tacit/data/templates/spellings.yaml"
    pairs: dict[str, str] = yaml.safe_load(path.read_text(encoding="utf-8"))
    both = [*pairs, *pairs.values()]
    assert all(isinstance(word, str) and word.isalpha() and word.islower() for word in both)
    assert len(set(both)) == len(both)
    lines = [line.split(":")[0] for line in path.read_text().splitlines() if ":" in line]
    assert sorted(set(lines[-len(pairs) :])) == sorted(pairs)


@needs_buchanan
@pytest.mark.slow
def test_the_real_norms_make_elicitation_prompts() -> None:
    """Fewer than one concept in two is completed for any relation, 15 concepts are plural."""
    norms = read_norms(BUCHANAN)
    found = elicit(norms, options(norms))
    asked = Counter(one.relation for one in found.prompts)
    assert asked == {"is": 71, "is a": 102, "has": 58, "has a": 31, "made of": 31}
    removed = {step.name: set(step.removed) for step in found.steps if step.of == CONCEPTS}
    assert {name: len(names) for name, names in removed.items()} == {
        "has a sense tag": 0,
        "more than one word": 0,
        "plural": 15,
    }
    assert {"children", "feet", "scissors"} < removed["plural"]
    # "is a sounds", "has a toolboxes"
    assert found.notes[SINGULAR] == 6
