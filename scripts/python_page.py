# ruff: noqa: INP001 - scripts that stand beside one another are no package
"""Write docs/reference/python.md from Tacit's public names (``make docs``).

The page names each object; mkdocstrings renders its docstring when the site is built.
"""

from __future__ import annotations

from pathlib import Path

import tacit

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "python.md"
GROUPS = {
    "Run a probe": ("run", "suite", "compare", "load_run", "Run", "Runs", "demo_data", "marks_by"),
    "Check and repair beliefs": ("check", "repair", "enrich", "Check", "Repaired"),
    "Ontologies and drawings": ("Ontology", "Relation", "Drawing", "read_drawings"),
    "Knowledge bases": ("build_kb",),
    "Models": ("load_model", "LoadOptions", "LanguageModel", "FakeModel", "Engine", "Store"),
    "Requests and answers": (
        *("Prompt", "Scores", "AnswerScore", "RankingPrompt", "Vocabulary", "Ranking"),
        *("Standing", "SamplingPrompt", "Samples", "Sample", "Votes"),
    ),
    "Write a probe": (
        *("Probe", "Requests", "Answers", "Findings", "TableSpec", "Column", "Layout", "Details"),
        *("Headline", "FigureSpec", "figure", "option", "template", "read_table", "Block"),
        *("ShareProbe", "share"),
    ),
    "Errors": ("TacitError",),
}
_BEGINNING = """\
<!-- Generated from the public names by scripts/python_page.py: make docs. -->

# Python

Import the names on this page from `tacit`. Importing Tacit is fast: each name is loaded when it is
first used. Every error that Tacit raises on purpose is a `TacitError`. The signatures and examples
appear when the site is built (`make docs`); in a shell, `help(tacit.run)` shows them too.
"""


def page() -> str:
    """The page in Markdown.

    Raises:
        ValueError: A public name is in no group.
    """
    listed = {name for names in GROUPS.values() for name in names}
    missing = set(tacit.__all__) - listed - {"__version__"}
    if missing:
        raise ValueError(f"in no group of the page: {', '.join(sorted(missing))}")
    lines = [_BEGINNING]
    for title, names in GROUPS.items():
        lines += [f"## {title}", ""]
        for name in names:
            thing = getattr(tacit, name)
            lines += [f"### tacit.{name}", "", f"::: {thing.__module__}.{thing.__qualname__}", ""]
    return "\n".join(lines)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
