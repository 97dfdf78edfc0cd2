"""Measure whether stating facts before an anchor question changes the model's answer."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from tacit.english import several
from tacit.findings.numbers import estimate, p_value, points
from tacit.probes.consistency.contexts import CONDITIONS
from tacit.probes.consistency.tables import TABLES
from tacit.statistics.paired import paired_change
from tacit.statistics.prediction import holm

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import polars as pl

    from tacit.probes.consistency.answers import Chosen
    from tacit.probes.consistency.background_scores import CorrectAnswers
    from tacit.probes.consistency.contexts import Contexts, Fact
    from tacit.probes.consistency.questions import Asked
    from tacit.statistics import Bootstrap

ALL, BEFORE = "all", "none"
_FACTS = dict(
    zip(CONDITIONS, ("true facts", "negatives stated as facts", "irrelevant facts"), strict=True)
)
COMPARISONS = (
    *((condition, BEFORE) for condition in CONDITIONS),
    (CONDITIONS[0], CONDITIONS[1]),
    (CONDITIONS[0], CONDITIONS[2]),
)
"""The pairs of conditions that are compared, such as true facts against no facts."""
GROUPS: Mapping[str, tuple[str, bool]] = {
    "facts correct": ("facts_right", True),
    "a fact incorrect": ("facts_right", False),
    "answer in a fact": ("answer_in_fact", True),
    "answer in no fact": ("answer_in_fact", False),
}
"""Groups of anchor questions, each defined by a column of ``answers_in_context`` and its value."""


def tables(
    contexts: Contexts,
    chosen: Mapping[str, Chosen],
    known: CorrectAnswers,
    asked: Asked,
    anchors: pl.DataFrame,
) -> dict[str, pl.DataFrame]:
    """Return the tables ``answers_in_context`` and ``intervention``, by table name."""
    facts_right = _all_right(contexts.own, known, asked)
    answers = _answers(contexts, chosen, facts_right, anchors)
    return {"answers_in_context": answers, "intervention": changes(answers)}


def _answers(
    contexts: Contexts,
    chosen: Mapping[str, Chosen],
    facts_right: Mapping[int, bool | None],
    anchors: pl.DataFrame,
) -> pl.DataFrame:
    """Return the table ``answers_in_context``."""
    import polars as pl

    rows: list[tuple[Any, ...]] = []
    told = anchors.select("anchor", "cluster", "right").rows()
    for condition, found in chosen.items():
        for row, (at, context) in enumerate(contexts.texts[condition].items()):
            name, cluster, before = told[at]
            anchor, choice = contexts.anchors[at], int(found.choice[row])
            missing = bool(found.missing[row])
            own = (facts_right[at], contexts.touching.get(at))
            rows.append(
                (
                    *(name, condition, cluster, len(contexts.own[at]), context, *own, before),
                    None if missing else anchor.choices[choice],
                    None if missing else choice == anchor.answer,
                    bool(found.tied[row]),
                )
            )
    return pl.DataFrame(rows, TABLES["answers_in_context"].schema, orient="row")


def _all_right(
    own: Mapping[int, Sequence[Fact]], known: CorrectAnswers, asked: Asked
) -> dict[int, bool | None]:
    """Return, for each anchor question, whether all answers about its facts are correct."""
    of = asked.facts.select("head", "relation", "tail").iter_rows()
    right = dict(zip(of, known.positive.tolist(), strict=True))
    answers = {at: [right[fact[:3]] for fact in facts] for at, facts in own.items()}
    return {
        at: False if 0 in values else True if values == [1] * len(values) else None
        for at, values in answers.items()
    }


def changes(answers: pl.DataFrame, bootstrap: Bootstrap | None = None) -> pl.DataFrame:
    """Compute paired accuracy changes between conditions, overall and by question group."""
    import polars as pl

    answers = answers.select("anchor", "condition", "cluster", "right_before", "right", *_OF_FACTS)
    alone = answers.unique("anchor", maintain_order=True).with_columns(
        condition=pl.lit(BEFORE), right="right_before"
    )
    every = pl.concat([alone, answers]).drop_nulls("right")
    parts = {ALL: every} | {name: every.filter(**{of: so}) for name, (of, so) in GROUPS.items()}
    rows = [row for name, part in parts.items() for row in _group(name, part, bootstrap)]
    return pl.DataFrame(rows, TABLES["intervention"].schema)


_OF_FACTS = ("facts_right", "answer_in_fact")


def _group(
    name: str, answers: pl.DataFrame, bootstrap: Bootstrap | None
) -> list[dict[str, str | int | float | None]]:
    """Return one row per comparison of two conditions in a group of anchor questions."""
    rows = []
    for condition, against in COMPARISONS:
        after, before = (answers.filter(condition=each) for each in (condition, against))
        both = before.join(after.select("anchor", after="right"), "anchor", maintain_order="left")
        found = paired_change(both["right"], both["after"], both["cluster"], bootstrap)
        figures = {key: value for key, value in asdict(found).items() if key != "change"}
        ends = zip(
            TABLES["intervention"].column("change").names,
            asdict(found.change).values(),
            strict=True,
        )
        keys = {"group": name, "condition": condition, "against": against}
        rows.append({**keys, "clusters": both["cluster"].n_unique(), **figures, **dict(ends)})
    corrected = holm([row["p_value"] for row in rows])
    return [{**row, "p_corrected": p} for row, p in zip(rows, corrected, strict=True)]


def summary(contexts: Contexts, anchoring: str, found: pl.DataFrame) -> dict[str, Any]:
    """Return the entries of the summary that describe the intervention."""
    asked = {condition: len(of) for condition, of in contexts.texts.items()}
    return {
        "anchoring": anchoring,
        "format": asdict(contexts.templates.context),
        **asdict(contexts.choice),
        "anchors": len(contexts.own),
        "without_context": len(contexts.anchors) - len(contexts.own),
        "facts": sum(map(len, contexts.own.values())),
        "answer_in_fact": sum(contexts.touching.values()) if contexts.touching else None,
        "asked": asked,
        "without_pair": {
            condition: asked[condition] - n
            for condition, n in found.filter(group=ALL, against=BEFORE)
            .select("condition", "n")
            .iter_rows()
        },
        "changes": found.to_dicts(),
    }


def sentences(found: Mapping[str, Any]) -> Iterator[str]:
    """Yield sentences on how facts in the prompt change the accuracy."""
    rows = {(row["group"], row["condition"], row["against"]): row for row in found["changes"]}
    for condition, against in COMPARISONS:
        row = rows[ALL, condition, against]
        compared = "" if against == BEFORE else f" rather than {_FACTS[against]}"
        if row["n"]:
            yield (
                f"With {_FACTS[condition]}{compared} in the prompt, the accuracy on "
                f"{several(row['n'], 'anchor question')} changes by {_change(row)}: "
                f"{several(row['gained'], 'wrong answer becomes', 'wrong answers become')} "
                "correct, and "
                f"{several(row['lost'], 'correct answer becomes', 'correct answers become')} "
                "wrong."
            )
    true = CONDITIONS[0]
    for first, text, second, other in (
        (
            "answer in a fact",
            "If a true fact in the prompt contains a concept of the correct choice",
            "answer in no fact",
            (
                "if no true fact in the prompt contains a concept of the correct choice, so that "
                "the answer cannot be copied"
            ),
        ),
        (
            "facts correct",
            (
                "If the model answers “yes” to a separate yes/no question about each true fact "
                "in the prompt"
            ),
            "a fact incorrect",
            "if the model answers “no” to at least one yes/no question about a true fact",
        ),
    ):
        one, rest = rows[first, true, BEFORE], rows[second, true, BEFORE]
        if one["n"] or rest["n"]:
            yield (
                f"{text} (n = {several(one['n'], 'anchor question')}), the facts change the "
                f"accuracy by {_change(one)}; {other} (n = {rest['n']:,}), the facts change the "
                f"accuracy by {_change(rest)}."
            )
    yield from _left_out(found)


def _change(row: Mapping[str, Any]) -> str:
    """Return a change of accuracy as text, with its confidence interval and p-value."""
    if row["p_value"] is None:
        return estimate(row, "change", points)
    p = p_value(row["p_value"])
    shown = f"{estimate(row, 'change', points)}, exact McNemar p {p if p[0] == '<' else f'= {p}'}"
    return f"{shown} (no interval: {row['no_interval']})" if row["no_interval"] else shown


def _left_out(found: Mapping[str, Any]) -> Iterator[str]:
    """Yield sentences on the numbers of anchor questions excluded from comparisons."""
    bare, asked = found["without_context"], found["asked"]
    alone = found["anchors"] - asked[CONDITIONS[2]]
    if bare or alone:
        yield (
            f"{several(bare, 'anchor question has', 'anchor questions have')} no background fact "
            "with a negative (false version), so no facts are stated in the prompt. For "
            f"{several(alone, 'anchor question')}, there are true and false facts to state, but no "
            "irrelevant facts."
        )
    unpaired = found["without_pair"]
    if any(unpaired.values()):
        each = ", ".join(f"{name} {count:,}" for name, count in unpaired.items())
        yield (
            "Number of anchor questions without an answer to the prompt with facts or to the "
            f"prompt without facts, by condition: {each}."
        )


def notes(found: Mapping[str, Any]) -> Iterator[str]:
    """Yield sentences on the composition of contexts and on the test of accuracy changes."""
    facts = several(found["most"], "fact")
    yield (
        f"A context states at most {facts} before a question, sorted by decreasing weight. "
        f"The format of a context is {found['format']['text']!r}. For the same question, true, "
        "false and irrelevant contexts state the same number of facts. "
        "Irrelevant facts belong to another question, which shares no concept and no word with the "
        "question asked. McNemar's test is exact and ignores that questions share concepts; the "
        "intervals resample concepts. Holm's method corrects the p-values for the number "
        "of comparisons on the same subset of anchor questions."
    )
