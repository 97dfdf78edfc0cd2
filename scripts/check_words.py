# ruff: noqa: INP001, T201 - a script, which prints
"""Check that names and prose use the field's terms.

Run by ``make check``. Prints each name of a module, class or function that holds a word below, each
variable of the package that is named as below, and each line of documentation or code that holds a
phrase below, with the word to use. Exits with 1 when there is one.
"""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDERS = ("src", "tests", "benchmarks", "scripts")
INSTEAD = {
    "cell": "prompt variant, entry",
    "contradiction": "constraint violation",
    "crew": "executor, workers",
    "cutting": "tokenization",
    "form": "prompt variant",
    "hands": "executor, workers",
    "held": "cached",
    "hiding": "redaction",
    "kept": "cached",
    "known": "cached",
    "look": "theme",
    "near": "packed attention",
    "obtained": "elicitation",
    "picture": "graph, mental model",
    "place": "storage, index, position",
    "said": "summary, headline",
    "spoken": "prompt variant",
    "told": "summary, headline",
    "trying": "preflight",
    "way": "prompt variant, elicitation method",
    "world": "assignment, repaired beliefs",
}
VARIABLES = {
    "found": "what it holds",
    "place": "path, target, index, position",
    "said": "message, text, answer",
    "several": "values, items, number",
    "told": "message, texts, notes",
}
# Folders below ``findings``, in which ``found`` need not be the findings of several models.
BELOW = {"coherence", "engine", "knowledge", "models", "requests", "sources"}
PAGES = (
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "docs/**/*.md",
    "src/**/*.py",
    "src/**/*.j2",
)
PHRASES = {
    "goes on where": "resumes",
    "hangs together": "is coherent",
    "held true": "believed",
    "nobody's business": "not needed",
    "passed over": "ignored, skipped",
    "repaired world": "repaired beliefs",
    "rules broken": "constraint violations",
    "scores are kept": "scores are cached",
    "set beside": "compared with",
    "told of": "reported",
    "way to ask": "prompt variant",
}
_PART = re.compile(r"[A-Z]?[a-z]+")


def words_of(name: str) -> set[str]:
    """The words of a name in snake or camel case, in the singular."""
    parts = {part.lower() for part in _PART.findall(name)}
    return parts | {part.removesuffix("s") for part in parts}


def names_in(path: Path) -> list[tuple[int, str]]:
    """The module's name and those of its classes and functions, with their lines.

    A test's own name is a sentence, and not among them.
    """
    tree = ast.parse(path.read_text(encoding="utf-8"))
    named = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    names = [(node.lineno, node.name) for node in ast.walk(tree) if isinstance(node, named)]
    return [(1, path.stem), *((line, name) for line, name in names if name[:5] != "test_")]


def variables_in(path: Path) -> list[tuple[int, str]]:
    """The parameters and variables of a file's functions that are named as they should not be."""
    functions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
    tree = ast.parse(path.read_text(encoding="utf-8"))
    inside = {
        node
        for function in ast.walk(tree)
        if isinstance(function, functions)
        for node in ast.walk(function)
    }
    names = [
        (node.lineno, node.arg)
        for node in inside
        if isinstance(node, ast.arg) and "Findings]" not in ast.unparse(node)
    ]
    names += [
        (node.lineno, node.id)
        for node in inside
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    ]
    return sorted((line, name) for line, name in names if name in VARIABLES)


def phrases_in(path: Path) -> list[tuple[int, str]]:
    """The phrases that a file should not hold, with their lines."""
    lines = path.read_text(encoding="utf-8").lower().splitlines()
    return [(at, each) for at, line in enumerate(lines, 1) for each in PHRASES if each in line]


def problems() -> list[str]:
    """What is named or said otherwise than the glossary says."""
    pages = sorted({path for pattern in PAGES for path in ROOT.glob(pattern)})
    phrases = [
        f"{path.relative_to(ROOT)}:{line}: say {PHRASES[phrase]!r}, not {phrase!r}"
        for path in pages
        for line, phrase in phrases_in(path)
    ]
    phrases += [
        f"{path.relative_to(ROOT)}:{line}: {name}: say {VARIABLES[name]}, not {name}"
        for path in sorted((ROOT / "src").rglob("*.py"))
        for line, name in variables_in(path)
        if name != "found" or not BELOW & set(path.relative_to(ROOT).parts)
    ]
    return phrases + [
        f"{path.relative_to(ROOT)}:{line}: {name}: say {INSTEAD[word]}, not {word}"
        for folder in FOLDERS
        for path in sorted((ROOT / folder).rglob("*.py"))
        for line, name in names_in(path)
        for word in sorted(words_of(name) & set(INSTEAD))
    ]


if __name__ == "__main__":
    found = problems()
    print("\n".join(found))
    sys.exit(bool(found))
