"""Writes a made-up dump in the layout, size and shape of ConceptNet 5.7's assertions.

python benchmarks/conceptnet_dump.py --out dump.csv.gz               34 million lines
python benchmarks/conceptnet_dump.py --out small.csv.gz --lines 1000000

One line in ten joins two English concepts: of 34 million, 3.4 million over 1.6 million concepts,
each of which has one edge at least; the rest fall to concepts by Zipf's law, so that the commonest
words have thousands, as people and places have in ConceptNet. Labels are made of wordfreq's words,
the commoner the more often, and other languages' concepts are their words. Lines stand in the
order of ConceptNet: by relation, language, head. Numbers shrink with ``--lines``; the same seed
gives the same dump.
"""

from __future__ import annotations

import argparse
import gzip
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray
from spacy.lang.en.stop_words import STOP_WORDS
from wordfreq import iter_wordlist

Key = TypeVar("Key")

LINES = 34_000_000
CONCEPTS = 1_600_000
ENGLISH = 0.1
# Edges of English concepts in ConceptNet 5.7, in thousands, about.
RELATIONS = {
    "RelatedTo": 1704,
    "FormOf": 379,
    "DerivedFrom": 325,
    "HasContext": 233,
    "IsA": 230,
    "Synonym": 222,
    "UsedFor": 40,
    "EtymologicallyRelatedTo": 32,
    "SimilarTo": 30,
    "AtLocation": 28,
    "HasSubevent": 25,
    "HasPrerequisite": 23,
    "CapableOf": 23,
    "Antonym": 19,
    "Causes": 17,
    "PartOf": 13,
    "MannerOf": 13,
    "MotivatedByGoal": 9,
    "HasProperty": 8,
    "ReceivesAction": 6,
    "HasA": 6,
    "CausesDesire": 5,
    "DistinctFrom": 3,
    "Desires": 3,
    "NotDesires": 3,
    "DefinedAs": 2,
    "InstanceOf": 1,
    "MadeOf": 1,
}
# What the other lines are, in shares: within a language, to English, from English, to the web.
WITHIN = {"FormOf": 0.31, "RelatedTo": 0.13, "Synonym": 0.11, "DerivedFrom": 0.04, "IsA": 0.04}
TO_ENGLISH = {"RelatedTo": 0.15, "Synonym": 0.05, "EtymologicallyRelatedTo": 0.01}
FROM_ENGLISH = {"Synonym": 0.09, "EtymologicallyRelatedTo": 0.01}
TO_WEB = {"ExternalURL": 0.06}
# Other languages, in shares of these lines.
LANGUAGES = {
    "fr": 0.22,
    "es": 0.1,
    "de": 0.1,
    "it": 0.09,
    "ja": 0.08,
    "ru": 0.08,
    "pt": 0.06,
    "fi": 0.06,
    "zh": 0.05,
    "pl": 0.05,
    "nl": 0.04,
    "sv": 0.04,
    "ca": 0.03,
}
# Sources of an assertion, and how its information ends but for surface and weight.
_WIKTIONARY = (
    '{"dataset": "/d/wiktionary/en", "license": "cc:by-sa/4.0", "sources": [{"contributor": '
    '"/s/resource/wiktionary/en", "process": "/s/process/wikiparsec/2"}], '
)
_TWO_WIKTIONARIES = (
    '{"dataset": "/d/wiktionary/en", "license": "cc:by-sa/4.0", "sources": [{"contributor": '
    '"/s/resource/wiktionary/en", "process": "/s/process/wikiparsec/2"}, {"contributor": '
    '"/s/resource/wiktionary/fr", "process": "/s/process/wikiparsec/2"}], '
)
_WORDNET = (
    '{"dataset": "/d/wordnet/3.1", "license": "cc:by/4.0", "sources": [{"contributor": '
    '"/s/resource/wordnet/rdf/3.1"}], '
)
_GAME = (
    '{"dataset": "/d/verbosity", "license": "cc:by/4.0", "sources": [{"contributor": '
    '"/s/resource/verbosity", "process": "/s/process/split_words"}, {"contributor": '
    '"/s/resource/verbosity"}], '
)
_TYPED = (
    '{"dataset": "/d/conceptnet/4/en", "license": "cc:by/4.0", "sources": [{"activity": '
    '"/s/activity/omcs/omcs1_possibly_free_text", "contributor": "/s/contributor/omcs/user1"}, '
    '{"activity": "/s/activity/omcs/vote", "contributor": "/s/contributor/omcs/user2"}], '
)
# Relations that people were asked about, whose assertions have the text that they gave.
_ASKED = frozenset(
    [
        "UsedFor",
        "AtLocation",
        "HasSubevent",
        "HasPrerequisite",
        "CapableOf",
        "Causes",
        "PartOf",
        "MotivatedByGoal",
        "HasProperty",
        "ReceivesAction",
        "HasA",
        "CausesDesire",
        "Desires",
        "NotDesires",
        "DefinedAs",
        "MadeOf",
    ]
)
_PLAIN = (_WIKTIONARY, _WIKTIONARY, _WIKTIONARY, _WIKTIONARY, _TWO_WIKTIONARIES, _WORDNET)
_SUFFIXES = ("", "", "", "", "/n", "/n", "/v", "/a", "/n/wikt/en_1", "/v/wikt/en_2", "/n/wn/act")
_WEIGHTS = ("1.0", "1.0", "1.0", "1.0", "2.0", "0.5", "0.25", "0.584", "2.828")
# Characters that mean something in a URI or in JSON.
_SPECIAL = r'["\\/_]'
_JOINTS = ("of", "the", "and", "in", "to", "a", "for")
# Lines that are made at once.
_CHUNK = 250_000
# The larger, the fewer edges the first of all concepts has, or labels the first of all words.
_FLATTER = 20
_FLATTER_WORDS = 50


@dataclass(frozen=True)
class Concepts:
    """A language's concepts: labels by the alphabet, and where the most connected stand first."""

    language: str
    labels: pl.Series
    by_rank: NDArray[np.int64]


@dataclass(frozen=True)
class Block:
    """Lines of one relation from one language to another, or to the web's addresses."""

    relation: str
    head: str
    tail: str
    lines: int
    # From which to which concept of the head's language each gets an edge here.
    covered: tuple[int, int] = (0, 0)


def main() -> None:
    """Writes the dump and says what it holds."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--lines", type=int, default=LINES)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    lines, size = write_dump(chosen.out, chosen.lines, chosen.seed)
    print(f"{lines:,} lines of {size / lines:.0f} bytes on average")


def write_dump(out: Path, lines: int, seed: int) -> tuple[int, int]:
    """Writes a dump, packed; returns its lines, and its bytes unpacked."""
    random = np.random.default_rng(seed)
    english = english_concepts(CONCEPTS * lines // LINES, random)
    size = 0
    with gzip.open(out, "wb", compresslevel=1) as file:
        for block in blocks(lines, len(english.labels)):
            for chunk in assertions(block, english, random):
                size += file.write(chunk.write_csv(**_LAYOUT).encode())
    return lines, size


_LAYOUT: dict[str, Any] = {"include_header": False, "separator": "\t", "quote_style": "never"}


def blocks(lines: int, concepts: int) -> Iterator[Block]:
    """The dump's blocks, in its order; every English concept is the head of a line of one."""
    english = _shared(round(lines * ENGLISH), RELATIONS)
    firsts = _shared(concepts, RELATIONS)
    others: dict[tuple[str, str, str], float] = {}
    for language, share in LANGUAGES.items():
        pairs = ((WITHIN, language, language), (TO_ENGLISH, language, "en"))
        for kinds, head, tail in (*pairs, (FROM_ENGLISH, "en", language), (TO_WEB, language, "")):
            others |= {(name, head, tail): share * kind for name, kind in kinds.items()}
    counted = _shared(lines - sum(english.values()), others)
    begun = 0
    found = []
    for relation, number in english.items():
        covered = (begun, begun + firsts[relation])
        found.append(Block(relation, "en", "en", number, covered))
        begun = covered[1]
    found += [Block(*place, number) for place, number in counted.items()]
    return iter(sorted(found, key=lambda block: (block.relation, block.head, block.tail)))


def _shared(total: int, shares: Mapping[Key, float]) -> dict[Key, int]:
    """A total in whole parts that are as the shares."""
    ends = np.cumsum(list(shares.values())) / sum(shares.values())
    parts = np.diff(np.rint(ends * total).astype(int), prepend=0)
    return dict(zip(shares, parts.tolist(), strict=True))


def assertions(
    block: Block, english: Concepts, random: np.random.Generator
) -> Iterator[pl.DataFrame]:
    """A block's lines, some at a time: URI, relation, head, tail, information."""
    heads = english if block.head == "en" else foreign_concepts(block.head)
    tails = english if block.tail == "en" else foreign_concepts(block.tail or block.head)
    pairs = joined(block, heads, tails, random)
    for begun in range(0, len(pairs), _CHUNK):
        head, tail = np.divmod(pairs[begun : begun + _CHUNK], len(tails.labels))
        yield as_lines(block, heads.labels.gather(head), tails.labels.gather(tail), random)


def joined(
    block: Block, heads: Concepts, tails: Concepts, random: np.random.Generator
) -> NDArray[np.int64]:
    """Which concepts are joined: head times the number of tails, plus tail; each pair once."""
    first, last = block.covered
    # A step that has no factor in common with the number of concepts meets each of them once.
    covering = np.arange(first, last) * 7919 % len(heads.labels)
    pairs = (
        covering * len(tails.labels)
        + tails.by_rank[zipf(len(covering), len(tails.labels), _FLATTER, random)]
    )
    while (missing := block.lines - len(pairs)) > 0:
        head = heads.by_rank[zipf(missing, len(heads.labels), _FLATTER, random)]
        tail = tails.by_rank[zipf(missing, len(tails.labels), _FLATTER, random)]
        pairs = np.unique(np.concatenate([pairs, head * len(tails.labels) + tail]))
    return np.sort(pairs)


def as_lines(
    block: Block, heads: pl.Series, tails: pl.Series, random: np.random.Generator
) -> pl.DataFrame:
    """The lines for heads and tails by label."""
    asked = block.relation in _ASKED and block.head == block.tail
    sources = (_TYPED, _TYPED, _GAME) if asked else _PLAIN
    drawn = {"suffix": _SUFFIXES, "source": sources, "weight": _WEIGHTS}
    frame = pl.DataFrame(
        {"start": heads, "end": tails}
        | {name: _any_of(kinds, len(heads), random) for name, kinds in drawn.items()}
    )
    relation = pl.lit(f"/r/{block.relation}")
    head = pl.format(f"/c/{block.head}/{{}}{{}}", "start", "suffix")
    web = f"http://{block.head}.wiktionary.org/wiki/{{}}"
    tail = pl.format(f"/c/{block.tail}/{{}}" if block.tail else web, "end")
    return frame.select(
        pl.format("/a/[{}/,{}/,{}/]", relation, head, tail).alias("uri"),
        relation.alias("relation"),
        head.alias("head"),
        tail.alias("tail"),
        pl.format('{}{}"weight": {}}}', "source", _surface(asked=asked), "weight").alias("info"),
    )


def _surface(*, asked: bool) -> pl.Expr:
    """What people said of a fact, in the information of an assertion that they were asked for."""
    if not asked:
        return pl.lit("")
    start, end = (pl.col(name).str.replace_all("_", " ", literal=True) for name in ("start", "end"))
    said = '"surfaceEnd": "{}", "surfaceStart": "{}", "surfaceText": "[[{}]] goes with [[{}]]", '
    return pl.format(said, end, start, start, end)


def _any_of(kinds: tuple[str, ...], number: int, random: np.random.Generator) -> pl.Series:
    return pl.Series(kinds).gather(random.integers(len(kinds), size=number))


def english_concepts(number: int, random: np.random.Generator) -> Concepts:
    """So many English concepts: a third are words, the others two to four of them."""
    words = single_words(number // 3, random)
    labels = pl.Series(words, dtype=pl.String)
    while len(labels) < number:
        more = phrases(words, number - len(labels), random)
        labels = pl.concat([labels, more]).unique(maintain_order=True)
    rank = np.arange(number, dtype=float)
    # The commonest words have the most edges; phrases stand anywhere after them.
    rank[len(words) :] = random.uniform(len(words) // 50, number, number - len(words))
    order = labels.arg_sort()
    return Concepts("en", labels.gather(order), np.argsort(rank[order.to_numpy()]))


def single_words(number: int, random: np.random.Generator) -> list[str]:
    """The commonest English words that are no stop words; when these are not enough, compounds."""
    listed = (word for word in iter_wordlist("en", "large") if not re.search(_SPECIAL, word))
    known = [word for word in listed if word not in STOP_WORDS and len(word) > 1][:number]
    words = dict.fromkeys(known)
    while len(words) < number:
        two = random.integers(len(known), size=(number - len(words), 2))
        words |= dict.fromkeys(known[a] + known[b] for a, b in two.tolist())
    return list(words)


def phrases(words: list[str], number: int, random: np.random.Generator) -> pl.Series:
    """So many labels of two to four words, the second of which may be one like "of"."""
    from_words = pl.Series(words)
    parts = pl.DataFrame(
        {
            name: from_words.gather(zipf(number, len(words), _FLATTER_WORDS, random))
            for name in "abcd"
        }
    ).with_columns(_any_of(_JOINTS, number, random).alias("joint"))
    kind = pl.Series("kind", random.choice(5, number, p=[0.62, 0.15, 0.11, 0.06, 0.06]))
    shapes = (("a", "b"), ("a", "b", "c"), ("a", "joint", "b"), ("a", "b", "c", "d"))
    label = pl.concat_str("a", "joint", "b", "c", separator="_")
    for number_of, shape in enumerate(shapes):
        whole = pl.concat_str(shape, separator="_")
        label = pl.when(pl.col("kind") == number_of).then(whole).otherwise(label)
    return parts.with_columns(kind).select(label).to_series()


@cache
def foreign_concepts(language: str) -> Concepts:
    """A language's concepts: its commonest words."""
    words = pl.Series([*iter_wordlist(language)], dtype=pl.String)
    labels = words.filter(~words.str.contains(_SPECIAL))
    order = labels.arg_sort()
    return Concepts(language, labels.gather(order), np.argsort(order.to_numpy()))


def zipf(number: int, ranks: int, flatter: int, random: np.random.Generator) -> NDArray[np.int64]:
    """Ranks from 0, the first most often: of rank k about as often as 1 / (k + flatter)."""
    drawn = flatter * (1 + ranks / flatter) ** random.random(number) - flatter
    return drawn.astype(np.int64)


if __name__ == "__main__":
    main()
