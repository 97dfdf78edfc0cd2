# ruff: noqa: INP001 - scripts that stand beside one another are no package
"""Write docs/reference/glossary.md from the terms that the report explains (``make docs``)."""

from __future__ import annotations

from pathlib import Path

from tacit.report.writing import glossary

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "glossary.md"
_BEGINNING = """\
<!-- Generated from src/tacit/data/glossary.yaml by scripts/glossary_page.py: make docs. -->

# Glossary
"""


def page() -> str:
    """Return the page in Markdown."""
    terms = (f"**{name}**\n:   {term['meaning']}\n" for name, term in glossary().items())
    return "\n".join([_BEGINNING, *terms])


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
