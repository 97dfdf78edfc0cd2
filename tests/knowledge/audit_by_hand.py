"""The audit of METHODS section 1 once more, with sets of labels; prints it as a script.

python -m tests.knowledge.audit_by_hand QUESTIONS DUMP…     questions of CommonsenseQA, triples
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from tests.knowledge import plain

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

# By what is counted and relation: how many there are, and of how many.
Counts: TypeAlias = dict[tuple[str, str], tuple[int | None, int]]

PAPER = (
    *("Antonym", "AtLocation", "CapableOf", "Causes", "Desires", "FormOf", "HasA", "IsA"),
    *("MadeOf", "PartOf", "RelatedTo", "SimilarTo", "Synonym", "UsedFor"),
)


def audit(
    texts: Sequence[Sequence[str]],
    graph: plain.Graph,
    *,
    pooled: bool = False,
    verbatim: bool = True,
    relations: Collection[str] = PAPER,
) -> Counts:
    """The counts of all questions, of facts one hop long."""
    labels = plain.Labels(graph.labels)
    concepts: Counter[str] = Counter()
    facts: dict[str, Counter[str]] = {name: Counter() for name in ("n", "across", "word", "pooled")}
    every: Counter[str] = Counter()
    for parts in texts:
        by_part = [labels.by_lemmas(plain.content_lemmas(part)) for part in parts]
        as_they_are = [labels.verbatim(part) for part in parts]
        bag = set[str]().union(*map(plain.content_lemmas, parts))
        apart, together = set[str]().union(*by_part), labels.by_lemmas(bag)
        spelled = set[str]().union(*as_they_are)
        counted = spelled if verbatim else set[str]()
        separate, whole = apart | counted, together | counted
        found = whole if pooled else separate
        by_lemmas = together if pooled else apart
        concepts["verbatim"] += len(spelled - by_lemmas)
        concepts["verbatim n"] += len(spelled | by_lemmas)
        concepts["pooled"] += len(whole - separate)
        concepts["pooled n"] += len(whole)
        within = [
            some | (exactly if verbatim else set())
            for some, exactly in zip(by_part, as_they_are, strict=True)
        ]
        for fact, _ in graph.facts(found, relations, 1):
            ends = {fact.head, fact.tail}
            facts["n"][fact.relation] += 1
            facts["across"][fact.relation] += not any(ends <= part for part in within)
            facts["word"][fact.relation] += plain.shares_a_word(fact.head, fact.tail)
        few = {fact for fact, _ in graph.facts(separate, relations, 1)}
        for fact, _ in graph.facts(whole, relations, 1):
            every[fact.relation] += 1
            facts["pooled"][fact.relation] += fact not in few
    result: Counts = {
        ("concepts found only verbatim", "all"): (concepts["verbatim"], concepts["verbatim n"]),
        ("concepts found only by pooling parts", "all"): (concepts["pooled"], concepts["pooled n"]),
    }
    for name, counts, among in (
        ("facts between concepts of different parts", facts["across"], facts["n"]),
        ("facts between concepts that share a word", facts["word"], facts["n"]),
        ("facts found only by pooling parts", facts["pooled"], every),
    ):
        unknown = pooled and name.endswith("different parts")
        for relation in sorted(among):
            result[name, relation] = (None if unknown else counts[relation], among[relation])
        result[name, "all"] = (None if unknown else counts.total(), among.total())
    return result


def main() -> None:
    """Prints the audit of a file of questions."""
    questions, *dumps = map(Path, sys.argv[1:])
    lines = [line for dump in dumps for line in dump.read_text(encoding="utf-8").splitlines()]
    rows = map(json.loads, questions.read_text(encoding="utf-8").splitlines())
    # A choice that is listed twice is one part.
    texts = [(row["question"], *dict.fromkeys(row["choices"]["text"])) for row in rows]
    for (audited, relation), (count, n) in audit(texts, plain.Graph.of_lines(lines)).items():
        sys.stdout.write(f"{audited}\t{relation}\t{count}\t{n}\n")


if __name__ == "__main__":
    main()
