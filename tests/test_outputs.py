from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from tacit.errors import RequestError
from tacit.outputs import Kind, check_outputs, table_with
from tacit.tables import SUFFIXES, write_table

COUNTS = table_with("a table of counts", "name", "count")


@pytest.mark.parametrize(
    ("outputs", "problem"),
    [
        (["a.tsv", "./a.tsv"], "is given for two results"),
        (["a.tsv", "link.tsv"], "is given for two results"),
        (["b.csv", "folder/../in.tsv"], "is an input file"),
        (["b.csv", "folder.tsv"], "is a folder"),
        (["b.csv", "b.txt"], "has the unsupported suffix '.txt'"),
        (["in.tsv/b.tsv"], "cannot be used as a file's path: Not a directory"),
        (["x" * 5000 + ".tsv"], r"xxx\.\.\.: cannot be used as a file's path"),
    ],
)
@pytest.mark.parametrize("force", [False, True])
def test_outputs_are_files_of_their_own(
    tmp_path: Path, outputs: list[str], problem: str, *, force: bool
) -> None:
    """An output that is a folder, an input, or another output is refused, links followed."""
    (tmp_path / "in.tsv").write_text("a")
    (tmp_path / "folder.tsv").mkdir()
    (tmp_path / "folder").mkdir()
    (tmp_path / "link.tsv").symlink_to(tmp_path / "a.tsv")
    with pytest.raises(RequestError, match=problem):
        check_outputs(
            [tmp_path / "in.tsv"], [(tmp_path / name, COUNTS) for name in outputs], force=force
        )


def test_outputs_of_different_names_pass(tmp_path: Path) -> None:
    """Outputs that differ from one another and from the input are no error, nor is None."""
    outputs = [(tmp_path / "a.tsv", COUNTS), (tmp_path / "a.csv", COUNTS), (None, COUNTS)]
    check_outputs([tmp_path / "in.tsv"], outputs)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_table_of_the_same_kind_is_overwritten(tmp_path: Path, suffix: str) -> None:
    """In each format, with further columns or without."""
    path = tmp_path / f"counts{suffix}"
    write_table(pl.DataFrame({"more": ["x"], "count": [1], "name": ["a"]}), path)
    check_outputs([], [(path, COUNTS)])


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("columns", [("name", "number"), ("count",), ("Name", "Count")])
def test_a_table_of_another_kind_is_not(
    tmp_path: Path, suffix: str, columns: tuple[str, ...]
) -> None:
    """The message names the file, the kind and the way out."""
    path = tmp_path / f"mine{suffix}"
    write_table(pl.DataFrame({name: [1] for name in columns}), path)
    problem = rf"mine{suffix} exists and is not a table of counts: .* with --force"
    with pytest.raises(RequestError, match=problem) as raised:
        check_outputs([], [(path, COUNTS)])
    assert raised.value.exit_code == 2
    check_outputs([], [(path, COUNTS)], force=True)


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"notes", b"[1]\n", b'"', b"\n"])
def test_what_is_no_table_is_not_overwritten(tmp_path: Path, suffix: str, content: bytes) -> None:
    """Whatever its suffix says."""
    path = tmp_path / f"mine{suffix}"
    path.write_bytes(content)
    with pytest.raises(RequestError, match="exists and is not"):
        check_outputs([], [(path, COUNTS)])


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl"])
def test_the_header_of_a_file_is_bounded(
    tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A huge file of one line is no table, and is not read whole."""
    path = tmp_path / f"huge{suffix}"
    path.write_text("x" * (1 << 21))
    monkeypatch.setattr("tacit.outputs.columns_of", lambda _: ["name", "count"])
    with pytest.raises(RequestError, match="exists and is not"):
        check_outputs([], [(path, COUNTS)])


def test_an_empty_file_is_overwritten(tmp_path: Path) -> None:
    """Nothing is lost; a JSONL table without rows is such a file."""
    (tmp_path / "new.jsonl").touch()
    check_outputs([], [(tmp_path / "new.jsonl", COUNTS)])


def test_what_is_no_regular_file_is_refused(tmp_path: Path) -> None:
    """A device would be replaced by a file of its name."""
    link = tmp_path / "null"
    link.symlink_to("/dev/null")
    with pytest.raises(RequestError, match="is not a regular file"):
        check_outputs([], [(link, Kind("a page", lambda _: True))], force=True)
