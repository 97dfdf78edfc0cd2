"""What the assumptions probe found, as a person reads it in a terminal."""

from __future__ import annotations

import math
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import typer

from tacit.cli.obtained import obtained_told
from tacit.english import several
from tacit.present import terminal
from tacit.probes.assumptions.retrieved import shown_probability

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    import polars as pl
    from rich.table import Table

    from tacit.findings.findings import Findings

_UNDEFINED = "-"
_MAIN = "top-decreasing"
_EXAMPLES = (("bear", "has"), ("ladder", "made of"))  # Table 1 of the paper
_BEST = 5
_TABLE_2 = (
    *("prompts", "mAP\nvocab", "95 % interval", "chance", "mAP\nsens", "chance", "rho"),
    "n of\nrho",
)
_NUMBERS = (1, 2, 4, 6, 8, 10)


def echo_assumptions(findings: Findings, name: str) -> None:
    """Prints what the probe found: the paper's tables, and concept retrieval.

    Args:
        findings: What was found; a table that is absent or empty is not printed.
        name: The model's name.
    """
    console = terminal.console()
    wording = findings.summary.get("elicitation_wording")
    named = f"{name}, wording {wording}" if wording else name
    for table in _tables(findings, name, named):
        console.print(table)
    typer.echo("\n".join(_told(findings.summary)))


def _tables(findings: Findings, name: str, named: str) -> Iterator[Table]:
    """The tables; ``named`` is the model with its wording of elicitation."""
    held = {key: table for key, table in findings.tables.items() if not table.is_empty()}
    if "retrieval_by_number" in held:
        yield from _retrieval(held["retrieval_by_number"], name, findings.summary.get("kind"))
    if {"elicitation", "elicitation_top"} <= held.keys():
        yield from _responses(held["elicitation"], held["elicitation_top"], named)
    if {"elicitation_by_relation", "agreement"} <= held.keys():
        yield from _relations(held["elicitation_by_relation"], held["agreement"], named)
    if "prince" in held:
        yield _prince(held["prince"], named)


def _retrieval(by_number: pl.DataFrame, name: str, kind: str | None) -> Iterator[Table]:
    """Concept retrieval: a table per wording, a row per number of properties."""
    import polars as pl

    main = by_number.filter(pl.col("category").is_null(), order=_MAIN)
    for (wording,), part in main.group_by("wording", maintain_order=True):
        title = f"{name}, wording {wording}: concept retrieval from k properties"
        table = _titled(title, "k")
        table.collapse_padding, table.caption_justify = True, "left"
        counts = part["candidates"].drop_nulls().to_list()
        if counts:
            among = several(max(counts), "candidate")
            table.caption = _plain(f"Among {among}. Chance: the MRR of random ranks.")
        shown = shown_probability(kind, str(wording))
        named = "probability" if shown == "probability" else "among candidates"
        for heading in ("MRR", "95 % interval", "chance", named, "95 % interval", "first", "n"):
            table.add_column(heading, justify="right")
        for row in part.filter(pl.col("n").is_in(_NUMBERS)).sort("n").iter_rows(named=True):
            table.add_row(
                str(row["n"]),
                *_estimate(row, "mrr"),
                _number(row["chance_mrr"]),
                *_estimate(row, shown),
                _percent(row["first"]),
                f"{row['concepts']:,}",
            )
        yield table


def _responses(people: pl.DataFrame, best: pl.DataFrame, name: str) -> Iterator[Table]:
    """Table 1: people's responses with their frequency beside the model's best candidates."""
    for row in _examples(people):
        asked = {key: row[key] for key in ("relation", "preface", "over", "concept")}
        said = people.filter(**asked).sort("frequency", descending=True, maintain_order=True)
        found = best.filter(**asked)
        table = _titled(f"Table 1, {name}: {row['text']}", "people")
        for heading in ("frequency", "model", "probability"):
            table.add_column(heading, justify="left" if heading == "model" else "right")
        pairs = zip_longest(
            said.select("word", "frequency").head(_BEST).iter_rows(),
            found.sort("place").select("word", "logprob").head(_BEST).iter_rows(),
        )
        for person, model in pairs:
            word, frequency = person or ("", "")
            own, logprob = model or ("", None)
            table.add_row(word, str(frequency), own, _probability(logprob) if model else "")
        yield table


def _examples(people: pl.DataFrame) -> Iterator[dict[str, Any]]:
    """A row of each prompt: the paper's two, or the first that have these relations."""
    prefaced = people.filter(preface=True, over="vocabulary")
    table = people.filter(over="vocabulary") if prefaced.is_empty() else prefaced
    for concept, relation in _EXAMPLES:
        of = table.filter(relation=relation)
        papers = of.filter(concept=concept)
        yield from (of if papers.is_empty() else papers).head(1).iter_rows(named=True)


def _relations(by_relation: pl.DataFrame, agreement: pl.DataFrame, name: str) -> Iterator[Table]:
    """Table 2: how well properties are elicited, with the preface and without."""
    for (preface,), part in by_relation.group_by("preface", maintain_order=True):
        how = "with" if preface else "without"
        table = _titled(f'Table 2, {name}: {how} "Everyone knows that"', "relation")
        table.caption, table.caption_justify = _plain(_candidates(part)), "left"
        table.columns[0].no_wrap = table.collapse_padding = True
        for heading in _TABLE_2:
            table.add_column(heading, justify="right", no_wrap=True)
        rows = {(row["relation"], row["over"]): row for row in part.iter_rows(named=True)}
        ranks = agreement.filter(preface=preface)
        rho = {row["relation"]: row for row in ranks.iter_rows(named=True)}
        for relation in dict.fromkeys(relation for relation, _ in rows):
            whole, among = rows.get((relation, "vocabulary")), rows.get((relation, "sensible"))
            own = rho.get(relation)
            table.add_row(
                relation,
                _count(whole, "prompts"),
                *(_estimate(whole, "map") if whole else (_UNDEFINED, "")),
                _number(whole["chance_map"] if whole else None),
                _number(among["map"] if among else None),
                _number(among["chance_map"] if among else None),
                _number(own["spearman"] if own else None),
                _count(own, "used"),
            )
        yield table


def _candidates(by_relation: pl.DataFrame) -> str:
    """How many words each relation's responses are ranked among, and what chance means."""
    told = []
    for (over,), part in by_relation.group_by("over", maintain_order=True):
        counts = part.drop_nulls("candidates").select("relation", "candidates").rows()
        if len({count for _, count in counts}) == 1:
            told.append(f"{over}: {counts[0][1]:,}")
        else:
            listed = ", ".join(f"{count:,} for {relation}" for relation, count in counts)
            told.append(f"{over}: {listed}")
    return f"Candidates: {'; '.join(told)}. Chance: the mAP of a random ranking."


def _prince(prince: pl.DataFrame, name: str) -> Table:
    """Table 3: the best candidates for Prince's own examples, her words marked by a star."""
    table = _titled(f"Table 3, {name}: Prince's examples (*: hers)", "text")
    table.add_column("best candidates [probability]")
    for (text,), part in prince.group_by("text", maintain_order=True):
        best = part.drop_nulls(["place", "logprob"]).sort("place").head(2 * _BEST)
        words = [
            f"{row['word']}{'*' if row['target'] else ''} [{_probability(row['logprob'])}]"
            for row in best.iter_rows(named=True)
        ]
        table.add_row(_plain(str(text)), _plain(", ".join(words) or _UNDEFINED))
    return table


def _titled(title: str, first: str) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(title=_plain(title), title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1))
    table.add_column(first)
    return table


def _plain(words: str) -> Any:  # noqa: ANN401 - rich is imported where it is used
    """Words in which brackets are brackets."""
    from rich.text import Text

    return Text(words)


def _told(summary: Mapping[str, Any]) -> Iterator[str]:
    """What was asked, and what was left out, in sentences; nothing of what is not known."""
    yield from obtained_told(summary)
    counts = [
        several(summary[key], *nouns)
        for key, nouns in (
            ("concepts", ("concept",)),
            ("retrieval_prompts", ("prompt of retrieval", "prompts of retrieval")),
            ("elicitation_prompts", ("prompt of elicitation", "prompts of elicitation")),
        )
        if key in summary
    ]
    if counts:
        yield ", ".join(counts)
    if "vocabulary" in summary:
        vocabulary = summary["vocabulary"]
        of = f", wording {summary['wordings'][0]}" if len(summary.get("wordings", ())) > 1 else ""
        words = several(vocabulary["words"], "word")
        yield f"Candidates of retrieval: {words} ({vocabulary['name']}{of})"
        if vocabulary["name"] == "file":
            yield (
                f"{vocabulary['not_own']:,} of them are no single token of the model; "
                f"{vocabulary['own_left_out']:,} of its own words are not in the file"
            )
    if "wordings" in summary:
        yield f"Wording of retrieval: {' and '.join(summary['wordings'])}"
    yield from _properties(summary.get("properties", {}))
    yield from _counted("Stated by the feature", summary.get("worded_by_feature", {}))
    uncounted = {why: len(lines) for why, lines in summary.get("uncounted", {}).items()}
    yield from _counted("Rows of the norms", uncounted)
    yield from _counted("Responses", summary.get("responses", {}))
    yield from _steps(summary.get("steps", ()), "Concepts left out")
    yield from _steps(summary.get("elicitation_steps", ()), "Concepts left out of elicitation")
    yield from ranked_told(summary)
    if "intervals" in summary:
        how = summary["intervals"]
        yield (
            f"Intervals: {how['method']} ({several(how['resamples'], 'resample')}), clustered by "
            f"{how['clusters']}"
        )


def ranked_told(summary: Mapping[str, Any]) -> Iterator[str]:
    """How many candidates took several tokens, and how many are missing, in sentences."""
    if summary.get("several"):
        yield f"{several(summary['several'], 'candidate')} took several tokens: their sum counts"
    if summary.get("missing"):
        yield f"{several(summary['missing'], 'candidate')} could not be scored, and are left out"


def _properties(counts: Mapping[str, int]) -> Iterator[str]:
    """How many of the norms' properties a prompt could state, and why the others could not."""
    left_out = {
        reason: count
        for reason, count in counts.items()
        if reason not in {"all", "usable", "corrected"} and count
    }
    if not counts:
        return
    told = f"Properties: {counts['usable']:,} of {counts['all']:,} can be stated"
    reasons = ", ".join(f"{count:,} {reason}" for reason, count in left_out.items())
    yield f"{told} ({reasons})" if reasons else told


def _counted(what: str, counts: Mapping[str, int]) -> Iterator[str]:
    """Those counts that are not 0, in one line."""
    told = [f"{count:,} {name}" for name, count in counts.items() if count]
    if told:
        yield f"{what}: {', '.join(told)}"


def _steps(steps: Iterable[Mapping[str, Any]], what: str) -> Iterator[str]:
    """How many concepts each filter removed."""
    removed = [f"{step['removed']:,} {step['filter']}" for step in steps if step["removed"]]
    if removed:
        yield f"{what}: {', '.join(removed)}"


def _estimate(row: Mapping[str, Any], name: str) -> tuple[str, str]:
    """A figure and its interval; nothing for the second where there is none."""
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    interval = "" if low is None or high is None else f"{short(low, 2)} to {short(high, 2)}"
    return _number(row[name]), interval


def _count(row: Mapping[str, Any] | None, name: str) -> str:
    return _UNDEFINED if row is None else f"{row[name]:,}"


def _number(value: float | None) -> str:
    return _UNDEFINED if value is None else short(value, 3)


def short(value: float, decimals: int) -> str:
    """A figure with so many decimals, or its order of magnitude where they are all 0."""
    least: float = 10.0**-decimals / 2
    return f"{value:.0e}" if 0 < abs(value) < least else f"{value:.{decimals}f}"


def _percent(share: float | None) -> str:
    return _UNDEFINED if share is None else f"{share:.1%}"


def _probability(logprob: float | None) -> str:
    return _UNDEFINED if logprob is None else f"{math.exp(logprob):.2f}"
