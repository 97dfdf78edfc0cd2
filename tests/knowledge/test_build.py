import csv
import hashlib
import json
from collections import Counter
from itertools import permutations
from pathlib import Path
from unittest.mock import patch

import pytest
from wordfreq import word_frequency

from tacit.knowledge.base import KnowledgeBase, canonical, relation_sets
from tacit.knowledge.build import KnowledgeSource, build
from tacit.sources.dumps import Dump
from tests.fetched_data import SAMPLE, needs_sample
from tests.knowledge import plain
from tests.knowledge.conftest import Made
from tests.knowledge.tables import edges, same, tables


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sample") / "base.duckdb"
    build(KnowledgeSource([Dump(SAMPLE)], version="5.7"), path)
    return path


@pytest.fixture(scope="module")
def lines() -> list[list[str]]:
    """The sample's lines between two English concepts: relation, head, tail, info."""
    with SAMPLE.open(encoding="utf-8", newline="") as file:
        found = [line[1:] for line in csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)]
    return [line for line in found if all(end.startswith("/c/en/") for end in line[1:3])]


@needs_sample
def test_the_sample_s_english_edges_are_there(sample: Path, lines: list[list[str]]) -> None:
    """Each of the 96 has its relation, labels, parts of speech, weight and surface text."""
    expected = []
    for relation, head, tail, info in lines:
        ends = [[*end.split("/"), None] for end in (head, tail)]
        about = json.loads(info)
        expected.append(
            (
                relation.removeprefix("/r/"),
                *(end[3].replace("_", " ") for end in ends if end[3]),
                *(end[4] for end in ends),
                pytest.approx(about["weight"]),
                about.get("surfaceText"),
            )
        )
    found = edges(sample)
    assert len(found) == 96
    assert not [edge for edge in expected if edge not in found]
    assert Counter(edge[:5] for edge in found) == Counter(edge[:5] for edge in expected)
    assert any(edge[6] for edge in found)
    assert any(edge[3] is None for edge in found)


@needs_sample
def test_the_file_says_where_it_comes_from(sample: Path, lines: list[list[str]]) -> None:
    with KnowledgeBase(sample) as base:
        about = dict(base.about)
        relations = base.relations
    [source] = about["sources"]
    assert (source["file"], source["layout"]) == (SAMPLE.name, "assertions")
    assert (source["lines"], source["bad_lines"]) == (764, 0)
    assert source["sha256"] == hashlib.sha256(SAMPLE.read_bytes()).hexdigest()
    assert (about["language"], about["version"], about["edges"]) == ("en", "5.7", 96)
    licences = sorted({json.loads(line[3])["license"] for line in lines})
    assert about["licence"] == ", ".join(licences)
    assert relations == Counter(line[0].removeprefix("/r/") for line in lines)
    labels = {end.split("/")[3] for line in lines for end in line[1:3]}
    facts = {(line[0], *(end.split("/")[3] for end in line[1:3])) for line in lines}
    assert about["concepts"] == len(labels)
    assert about["facts"] == sum(head != tail for _, head, tail in facts)


def test_cn100k_is_there(cn100k: Path, graph: plain.Graph) -> None:
    """All 102,400 lines are edges, and each fact stands once in either direction."""
    found = Counter(edge[:3] for edge in edges(cn100k))
    assert found.total() == 102_400
    assert set(found) == {(fact.relation, fact.head, fact.tail) for fact in graph.weights}
    assert tables(cn100k)["concepts"]["label"].to_list() == graph.labels
    facts = [fact for fact in graph.weights if fact.head != fact.tail]
    with KnowledgeBase(cn100k) as base:
        assert base.about["facts"] == len(facts)
        ways = base.table("""
            SELECT c.label, r.name, o.label AS other, forward FROM base.neighbours n
                JOIN base.concepts c ON c.id = n.concept JOIN base.concepts o ON o.id = n.other
                JOIN base.relations r ON r.id = n.relation""").rows()
    assert len(ways) == len(set(ways)) == 2 * len(facts)
    assert set(ways) == {(*fact, True) for fact in facts} | {
        (tail, relation, head, False) for head, relation, tail in facts
    }


WEIGHTED = ("RelatedTo\tb\ta\t1", "RelatedTo\tb\ta\t", "IsA\tice cream\tb\t2", "is a\tb\tb\t2")


def test_every_order_of_a_few_lines_gives_the_same_tables(made: Made) -> None:
    first, *others = (made(*order) for order in list(permutations(WEIGHTED))[::5])
    assert len(others) == 4
    assert all(same(first, other) for other in others)


def test_a_fact_has_its_heaviest_assertion_s_weight(made: Made) -> None:
    """Assertions of one fact stay apart as edges; the fact has the largest weight there is."""
    path = made("IsA\ta\tb\t1", "IsA\ta\tb\t3", "IsA\ta\tb\t", "HasA\ta\tb\t", "IsA\ta\ta\t5")
    found = tables(path)
    assert sorted(found["edges"]["weight"].to_list(), key=str) == [1.0, 3.0, 5.0, None, None]
    assert found["neighbours"].rows() == [
        (0, 1, 0, True, None),
        (0, 1, 1, True, 3.0),
        (1, 0, 0, False, None),
        (1, 0, 1, False, 3.0),
    ]


def test_labels_and_relations_of_triples_are_made_plain(made: Made) -> None:
    path = made("/r/IsA\tIce_Cream\t food ", "isa\tice  cream\tFOOD", "is a\tice cream\t_food_")
    assert {edge[:3] for edge in edges(path)} == {("IsA", "ice cream", "food")}
    assert len(edges(path)) == 3


def test_triples_may_name_concepts_by_their_addresses(made: Made) -> None:
    """Of an address the label is taken; what only looks a little like one is a label."""
    path = made("/r/IsA\t/c/en/ice_cream/n/wn/food\t /c/en/food ", "IsA\tand/or\t/c/en")
    assert {edge[:3] for edge in edges(path)} == {
        ("IsA", "ice cream", "food"),
        ("IsA", "and/or", "/c/en"),
    }


def test_relations_have_conceptnet_s_spelling() -> None:
    """Known relations are found in any spelling; another stays as it is, without its prefix."""
    for name in relation_sets()["known"]:
        assert canonical(f"/r/{name}") == canonical(name.lower()) == canonical(name) == name
    assert canonical("used_for") == canonical("Used For") == "UsedFor"
    assert canonical("/r/dbpedia/genre") == "dbpedia/genre"
    assert canonical("eats") == "eats"


def test_the_relation_sets_are_the_documented_ones() -> None:
    """The paper's 14 and the symmetric ones are among those known, and each is there once."""
    sets = relation_sets()
    assert len(sets["sahu2022"]) == len(set(sets["sahu2022"])) == 14
    assert set(sets["symmetric"]) == plain.SYMMETRIC
    assert {*sets["sahu2022"], *sets["symmetric"]} <= {*sets["known"]}
    assert list(sets["known"]) == sorted(set(sets["known"]))


def test_concepts_have_their_words_dictionary_flag_and_frequency(cn100k: Path) -> None:
    """Of every fortieth concept of CN-100K, as spaCy, lemminflect and wordfreq tell directly."""
    for _, label, words, content, frequency, dictionary in tables(cn100k)["concepts"][::40].rows():
        found = plain.tokens(label)
        assert words == len(found)
        assert content == sum(not plain.is_stop(word) for word in found)
        assert dictionary == (" " not in label and bool(plain.listed(label)))
        # wordfreq rounds to three digits; here the words are rounded, there their sum.
        precision = 1e-9 if " " not in label else 1e-2
        assert frequency == pytest.approx(word_frequency(label, "en"), rel=precision)


def test_terms_are_the_lemmas_of_a_concept_s_words(made: Made) -> None:
    """Each lemma of each word has the concept, its word's place, and whether it is a stop word."""
    path = made("IsA\tthe dog's leaves\tof")
    found = tables(path)
    labels = found["concepts"]["label"]
    places: dict[int, set[tuple[str, bool]]] = {}
    terms = found["terms"].select("lemma", "concept", "place", "stop")
    for lemma, concept, place, stop in terms.rows():
        if labels[concept] == "the dog's leaves":
            places.setdefault(place, set()).add((lemma, stop))
    in_order = [places[place] for place in sorted(places)]
    assert in_order == [
        {("the", True)},
        {("dog", False)},
        {("be", True)},
        {("leaf", False), ("leave", False)},
    ]


def test_progress_goes_up_to_the_size_of_all_dumps(tmp_path: Path) -> None:
    """What is told while reading grows, from one dump to the next, up to the sum of their sizes."""
    dumps = []
    for name in ("one", "two"):
        dump = tmp_path / f"{name}.tsv"
        dump.write_text("".join(f"IsA\t{name} {number}\tpet\n" for number in range(200)))
        dumps.append(dump)
    told: list[int] = []
    with patch("tacit.sources.dumps._BLOCK", 500):
        build(
            KnowledgeSource([Dump(dump) for dump in dumps]), tmp_path / "base.duckdb", told.append
        )
    assert told == sorted(told)
    assert told[0] < told[-1]
    assert told[-1] == sum(dump.stat().st_size for dump in dumps)
    assert len(edges(tmp_path / "base.duckdb")) == 400
