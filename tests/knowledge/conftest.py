"""Knowledge bases: small ones of a few lines, and CN-100K, built once for all tests."""

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import TypeAlias
from unittest.mock import patch

import pytest

from tests.fetched_data import DATA
from tests.knowledge import plain

Made: TypeAlias = Callable[..., Path]

CN100K = [DATA / "conceptnet" / f"cn100k-{part}.tsv" for part in ("train", "valid", "test")]


@pytest.fixture(scope="session", autouse=True)
def _english_once() -> Iterator[None]:
    """SpaCy's English rules are made once: making them takes longer than all else here."""
    import spacy

    with patch("spacy.blank", cache(spacy.blank)):
        yield


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    from tacit.knowledge.build import KnowledgeSource, build
    from tacit.sources.dumps import TRIPLES, Dump

    @cache
    def make(*lines: str) -> Path:
        folder = tmp_path_factory.mktemp("base")
        dump = folder / "dump.tsv"
        dump.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        weighed = lines[0].count("\t") == len(TRIPLES)
        columns = (*TRIPLES, "weight") if weighed else TRIPLES
        build(KnowledgeSource([Dump(dump, columns=columns)]), folder / "base.duckdb")
        return folder / "base.duckdb"

    return make


@pytest.fixture(scope="session")
def cn100k_lines() -> list[str]:
    if not all(path.is_file() for path in CN100K):
        pytest.skip("CN-100K is not here")
    return [line for path in CN100K for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="session")
def graph(cn100k_lines: list[str]) -> plain.Graph:
    return plain.Graph.of_lines(cn100k_lines)


@pytest.fixture(scope="session")
def cn100k(cn100k_lines: list[str], made: Made) -> Path:
    return made(*cn100k_lines)
