import json
from pathlib import Path
from shutil import copy

import duckdb
import polars as pl
import pytest

from tacit.errors import DataError, RequestError
from tacit.knowledge.base import FORMAT, KnowledgeBase
from tests.knowledge.conftest import Made

LINES = ("IsA\tant\tinsect", "IsA\tbee\tinsect", "HasContext\tant\tbee")


@pytest.fixture
def path(made: Made, tmp_path: Path) -> Path:
    return Path(copy(made(*LINES), tmp_path / "base.duckdb"))


def changed(path: Path, query: str) -> Path:
    with duckdb.connect(str(path)) as base:
        base.execute(query)
    return path


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    for path in (tmp_path / "missing.duckdb", tmp_path):
        with pytest.raises(DataError, match=r"there is no such file|is a folder") as told:
            KnowledgeBase(path)
        assert told.value.path == path
    assert not (tmp_path / "missing.duckdb").exists()


@pytest.mark.parametrize("data", [b"", b"IsA\tant\tinsect\n", bytes(20_000)])
def test_a_file_that_is_no_database_is_told(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "file.duckdb"
    path.write_bytes(data)
    with pytest.raises(DataError, match="is not a knowledge base") as told:
        KnowledgeBase(path)
    assert told.value.path == path
    assert "\n" not in str(told.value)
    assert path.read_bytes() == data


@pytest.mark.parametrize(
    "query",
    [
        "CREATE TABLE things (name VARCHAR)",
        "CREATE TABLE about (text VARCHAR)",
        "CREATE TABLE about (key VARCHAR, value VARCHAR)",
        "CREATE TABLE about AS SELECT 'format' AS key, 'Parquet' AS value",
        "CREATE TABLE about AS SELECT 'format' AS key, NULL AS value",
        "CREATE TABLE about AS SELECT ['a'] AS key, '1' AS value",
    ],
)
def test_a_database_of_something_else_is_told(tmp_path: Path, query: str) -> None:
    path = changed(tmp_path / "other.duckdb", query)
    with pytest.raises(
        DataError, match=r"is not a knowledge base.*; create one with tacit kb import"
    ):
        KnowledgeBase(path)
    changed(path, "CREATE TABLE more (name VARCHAR)")  # it was left closed


def test_a_file_of_another_format_says_what_to_do(path: Path) -> None:
    changed(path, "UPDATE about SET value = '99' WHERE key = 'format'")
    with duckdb.connect(str(path), read_only=True) as base:
        [(maker,)] = base.execute("SELECT value FROM about WHERE key = 'tacit'").fetchall()
    with pytest.raises(RequestError) as told:
        KnowledgeBase(path)
    assert str(told.value) == (
        f"{path} was created by Tacit {json.loads(maker)} in format 99; this version reads format "
        f"{FORMAT}: run tacit kb import again"
    )


def test_a_file_is_opened_as_often_as_one_likes_and_closed(path: Path) -> None:
    """Two can read at once, and one again after the other has closed; the file stays as it is."""
    before = path.read_bytes()
    with KnowledgeBase(path) as one, KnowledgeBase(path) as two:
        assert one.relations == two.relations
    with KnowledgeBase(path) as again:
        assert again.about == one.about
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]
    with pytest.raises(duckdb.Error, match="closed"):
        again.table("SELECT 1")
    changed(path, "CREATE TABLE more (name VARCHAR)")


def test_relations_are_chosen_by_name(made: Made) -> None:
    """Without names those of the paper that are there; else the named ones, each once, sorted."""
    with KnowledgeBase(made(*LINES)) as base:
        assert base.chosen() == ("IsA",)
        assert base.chosen(["IsA", "HasContext", "IsA"]) == ("HasContext", "IsA")


@pytest.mark.parametrize(
    ("names", "said"),
    [(["IsA", "Wants", "Eats"], "has no relation Eats, Wants"), ([], "--relations is empty")],
)
def test_a_relation_that_is_not_there_is_told(made: Made, names: list[str], said: str) -> None:
    with (
        KnowledgeBase(made(*LINES)) as base,
        pytest.raises(RequestError, match=f"{said}; name one .*: HasContext, IsA"),
    ):
        base.chosen(names)


def test_tables_of_one_s_own_stand_beside_the_file_for_one_query(made: Made) -> None:
    """A frame is a table by its name in a query, and is gone after it, even when it fails."""
    frame = pl.DataFrame({"label": ["bee", "cow"]})
    query = "SELECT label, id FROM base.concepts JOIN mine USING (label)"
    with KnowledgeBase(made(*LINES)) as base:
        assert base.table(query, mine=frame).rows() == [("bee", 1)]
        with pytest.raises(duckdb.Error):
            base.table("SELECT nothing FROM mine", mine=frame)
        with pytest.raises(duckdb.Error, match="mine does not exist"):
            base.table(query)
