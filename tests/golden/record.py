"""Digests of what representative runs of all probes find: ``python -m tests.golden.record``.

It overwrites ``digests.json``. Run it only after a deliberate change of a finding, a name or an
input that is in the changelog.
"""

import hashlib
import json
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl
import pytest

from tacit.cli import main
from tacit.sources.demo import FACTS, NORMS, QUESTIONS, THINGS
from tests.golden.models import SERVER, install, share

FILE = Path(__file__).with_name("digests.json")
Digests = dict[str, dict[str, str]]
"""Of each table, and of each JSON object that was printed, the digest of each column or key."""

VOTES = ("--model", SERVER, "--api", "chat", "--samples", "5", "--yes")
ONE = ("--model", "golden-a")
PARTS = ("run", "parts", "--drawings", str(THINGS), "--limit")
CONSISTENCY = ("run", "consistency", "--questions", str(QUESTIONS), "--kb", "golden.kb")
ASSUMPTIONS = ("run", "assumptions", "--norms", str(NORMS), "--orders")

# What differs from one time to the next, or says where files are.
_PRIVATE = {"out", "seconds", "file", "path"}


@dataclass(frozen=True)
class Case:
    """A command whose results are digested; they are in ``out``, or all are printed."""

    name: str  # in digests.json
    arguments: tuple[str, ...]
    out: str | None = None


def _run(name: str, *arguments: str) -> Case:
    return Case(name, (*arguments, "--out", name, "--json"), name)


def cases() -> list[Case]:
    """All cases: of each probe one model, two that are compared, and sampled replies."""
    two, masked = (*ONE, "--model", "golden-b"), ("--model", "golden-masked")
    parrot = ("reproduce", "parrot", "--drawings", str(THINGS), "--json")
    single = ("--answering", "single", "--meta", "1", "--pair", "Yes/No", "--anchors", "verify")
    question = "Where does a dog sleep?"
    return [
        _run("parts", *PARTS, "120", *ONE),
        _run("parts-two", *PARTS, "120", *two),
        _run("parts-beliefs", *PARTS, "120", "--beliefs", "{beliefs}"),
        _run("consistency", *CONSISTENCY, *ONE, "--anchors", "choice,verify"),
        _run("consistency-two", *CONSISTENCY, *two, "--answering", "count"),
        _run(
            "consistency-calibrated",
            *CONSISTENCY,
            *(*ONE, "--answering", "calibrated", "--length", "2", "--cap", "10"),
        ),
        _run("assumptions", *ASSUMPTIONS, "all", "--limit", "8", *masked),
        _run("assumptions-two", *ASSUMPTIONS, "main", *ONE, *masked),
        Case("check", ("check", "{beliefs}", "--json")),
        Case("repair", ("repair", "{beliefs}", "--out", "repaired.tsv", "--json"), "repaired.tsv"),
        Case("reproduce-parrot", parrot),
        Case("reproduce-parrot-beliefs", (*parrot, "--beliefs", "{beliefs}")),
        Case("reproduce-consistency", ("reproduce", *CONSISTENCY[1:], "--json")),
        Case("reproduce-sta", ("reproduce", "sta", "assumptions", "--json")),
        Case("kb-facts", ("kb", "facts", "golden.kb", question, "kennel", "tree", "--json")),
        Case("show-anchor", ("show", "anchor", "consistency", "{anchor}", "--json")),
        _run("parts-votes", *PARTS, "40", *VOTES),
        _run("consistency-votes", *CONSISTENCY, "--limit", "30", *single, *VOTES),
    ]


def of_consistency(name: str) -> bool:
    """Whether a case is about the consistency probe, whose runs take as long as all others."""
    return name.startswith("consistency") or name == "show-anchor"


def check(folder: Path, chosen: Callable[[str], bool]) -> None:
    """Asserts each column of each table, and each key of what is printed as JSON."""
    content = json.loads(FILE.read_text(encoding="utf-8"))
    known = {name: digests for name, digests in content.items() if chosen(name)}
    found = recorded(folder, chosen)
    assert {name: sorted(of) for name, of in found.items()} == {
        name: sorted(of) for name, of in known.items()
    }
    differing = [
        f"{case}: {table}: {column}"
        for case, tables in known.items()
        for table, columns in tables.items()
        for column in sorted({*columns, *found[case][table]})
        if columns.get(column) != found[case][table].get(column)
    ]
    assert not differing


def recorded(folder: Path, chosen: Callable[[str], bool] = bool) -> dict[str, Digests]:
    """The digests of cases, run in an empty folder on models that are alike everywhere."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.delenv("TACIT_STORE", raising=False)
        install(patch)
        _tacit(["kb", "import", str(FACTS), "--out", "golden.kb"])
        return {case.name: digest(case) for case in cases() if chosen(case.name)}


def digest(case: Case) -> Digests:
    """The digests of one case's tables and of what it prints."""
    found_in = {"{anchor}": _anchor, "{beliefs}": _beliefs}
    arguments = [found_in[one]() if one in found_in else one for one in case.arguments]
    printed = json.loads(_tacit(arguments))
    found = {"printed": _of_json(printed)}
    place = Path(case.out) if case.out else None
    if place is None:
        return found
    files = [place] if place.is_file() else sorted(place.rglob("*.parquet"))
    for file in files:
        if "blocks" not in file.name:
            name = file.relative_to(place).as_posix() if place.is_dir() else file.name
            found[name.removesuffix(".parquet")] = _of_table(file)
    return found


def _beliefs() -> str:
    """A file of beliefs, which are drawn, for the statements of the first case."""
    asked = pl.read_parquet("parts/questions.parquet")
    rows = asked.select("thing", "subject", "relation", "object").unique(maintain_order=True)
    drawn = [round(share("beliefs", *row), 6) for row in rows.iter_rows()]
    rows.with_columns(pl.Series("p_true", drawn)).write_csv("beliefs.tsv", separator="\t")
    return "beliefs.tsv"


def _anchor() -> str:
    anchors = pl.read_parquet("consistency/findings/anchors.parquet")
    return str(anchors.sort("facts", "anchor", descending=True)["anchor"][0])


def _tacit(arguments: Sequence[str]) -> str:
    before, printed = sys.argv, StringIO()
    sys.argv = ["tacit", *arguments, *(["--no-report"] if arguments[0] == "run" else [])]
    try:
        with redirect_stdout(printed):
            main()
    except SystemExit as stopped:
        if stopped.code not in {0, None}:
            raise AssertionError(f"tacit {' '.join(arguments)} ended with {stopped.code}") from None
    finally:
        sys.argv = before
    return printed.getvalue()


def _of_table(file: Path) -> dict[str, str]:
    """The digest of each column: its type and its values in their order."""
    read = pl.read_parquet if file.suffix == ".parquet" else _read_text
    return {column.name: _sha256(str(column.dtype), column.to_list()) for column in read(file)}


def _read_text(file: Path) -> pl.DataFrame:
    return pl.read_csv(file, separator="\t", infer_schema=False)


def _of_json(printed: Any) -> dict[str, str]:  # noqa: ANN401 - any JSON
    """The digest of each key of an object; of a list of runs, of each key of each run."""
    if isinstance(printed, list):
        columns = {key for row in printed for key in row}
        return {key: _sha256([row.get(key) for row in printed]) for key in sorted(columns)}
    found: dict[str, str] = {}
    for key, value in printed.items():
        if key == "runs":
            for at, run in enumerate(value):
                # The wording of a block may change; its figures are among the other entries.
                found |= {
                    f"runs[{at}].{name}": sha
                    for name, sha in _of_json(run).items()
                    if name != "block"
                }
        elif key not in _PRIVATE:
            found[key] = _sha256(value)
    return found


def _sha256(*content: object) -> str:
    text = json.dumps(_rounded(content), sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _rounded(value: Any) -> Any:  # noqa: ANN401 - any JSON
    """To ten significant digits: processors differ in the last bits of a logarithm."""
    if isinstance(value, float):
        return f"{value:.10g}"
    if isinstance(value, list | tuple):
        return [_rounded(each) for each in value]
    if isinstance(value, dict):
        return {key: _rounded(each) for key, each in value.items() if key not in _PRIVATE}
    return value


if __name__ == "__main__":
    os.environ["HF_HUB_OFFLINE"] = "1"
    with TemporaryDirectory() as made:
        text = json.dumps(recorded(Path(made)), indent=1, sort_keys=True)
    FILE.write_text(text + "\n", encoding="utf-8")
