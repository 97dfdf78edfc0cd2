import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tacit.errors import DataError, RequestError, WorkError
from tacit.files import publish
from tacit.outputs import OutputKind, check_outputs, table_with
from tacit.tables import (
    SUFFIXES,
    line_of_row,
    read_json_lines,
    read_table,
    recorded_path,
    table_path,
    write_table,
)

pd = pytest.importorskip("pandas")

TABLE = pl.DataFrame(
    {"subject": ["trunk", None], "p_true": [0.25, None], "believed": [False, None], "n": [1, 2]}
)
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1)
same_folder = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def write(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_a_table_is_written_as_people_read_it(tmp_path: Path) -> None:
    """JSONL and Parquet give back numbers, truth values and missing values as they were."""
    folder = tmp_path / "a" / "b"
    csv = "subject,p_true,believed,n\ntrunk,0.25,False,1\n,,,2\n"
    texts = {".csv": csv, ".tsv": csv.replace(",", "\t")}
    for suffix in (".csv", ".tsv", ".jsonl", ".parquet"):
        path = folder / f"t{suffix}"
        write_table(TABLE, path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o644
        if suffix in texts:
            assert path.read_text() == texts[suffix]
        else:
            assert read_table(path).equals(TABLE)
    assert (folder / "t.jsonl").read_text().splitlines() == [
        '{"subject":"trunk","p_true":0.25,"believed":false,"n":1}',
        '{"subject":null,"p_true":null,"believed":null,"n":2}',
    ]
    assert len([*folder.iterdir()]) == 4


@same_folder
@pytest.mark.parametrize("suffix", [".tsv", ".csv"])
@given(rows=st.lists(st.tuples(TEXT, TEXT), min_size=1))
def test_delimited_text_gives_back_any_text(
    tmp_path: Path, suffix: str, rows: list[tuple[str, str]]
) -> None:
    frame = pl.DataFrame(rows, schema=["a", "b"], orient="row")
    write_table(frame, tmp_path / f"t{suffix}")
    assert read_table(tmp_path / f"t{suffix}").equals(frame)


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("t.tsv", "a\tb\n1\t2\n1\n", ", line 3: has 1 cell; the header has 2: a, b"),
        ("t.tsv", "a\tb\n\n1\t2\t3\n", ", line 3: has 3 cells"),
        ("t.csv", 'a,b\n"x\ny",2\n1\n', ", line 4: has 1 cell;"),
        ("t.csv", 'a,b\n1,2\n"x,2\n3,4\n', ", line 3: is malformed"),
        ("t.tsv", "a\ta\n", ", line 1: names the column a twice"),
        ("t.tsv", "a\tc\n1\t2\n", ", line 1: has no column b; expected a, b, found a, c"),
        ("t.csv", "z\n1\n", ", line 1: has no column a, b; expected a, b, found z"),
        ("t.tsv", "", ": is empty; expected a header line"),
        ("t.tsv", b"a\tb\n\xe4\t1\n", ", line 2: is not UTF-8 text"),
        ("t.jsonl", '{"a": 1, "b": 2}\n{"a": 1,\n', ", line 2: is not JSON"),
        ("t.jsonl", '{"a": 1, "b": 2}\n\n[1]\n', ", line 3: is list, not a JSON object"),
        ("t.jsonl", '{"a": 1, "b": 2}\n{"a": [1], "b": 2}\n', ", line 2: has a list in a; "),
        ("t.jsonl", '{"a": 1, "b": 2}\n\n{"a": "1"}\n', ", line 3: has a text in a, but the"),
        ("t.jsonl", '{"a": 1}\n{"a": "\\ud800"}\n', ", line 2: has an unpaired surrogate"),
        ("t.jsonl", '{"\\ud800": 1}\n', ", line 1: has an unpaired surrogate"),
        ("t.jsonl", '{"a": 9223372036854775808}', ", line 1: has an integer of more than 64 bits"),
        ("t.jsonl", "[" * 100_000, ", line 1: is not JSON"),
        ("t.jsonl", "", ": has no column a, b; expected a, b, found none"),
        ("t.parquet", "no such thing", ": cannot be read as Parquet"),
        ("t.xlsx", "", ": has the unsupported suffix '.xlsx'; expected one of .tsv, .csv, .jso"),
    ],
)
def test_a_malformed_table_is_named_by_file_and_line(
    tmp_path: Path, name: str, content: str | bytes, problem: str
) -> None:
    path = write(tmp_path, name, content)
    with pytest.raises(DataError) as caught:
        read_table(path, ["a", "b"])
    assert str(caught.value).startswith(f"{path}{problem}")
    assert "separated" not in str(caught.value)


def test_whole_and_other_numbers_of_a_column_may_be_mixed(tmp_path: Path) -> None:
    """In JSONL 1 and 0.5 are numbers of one column, and null is a missing one."""
    path = write(tmp_path, "t.jsonl", '{"a": 1}\n{"a": null}\n{"a": 0.5}\n')
    assert read_table(path)["a"].to_list() == [1.0, None, 0.5]


@pytest.mark.parametrize("cell", [[1], {"x": 1}, b"1"])
def test_columns_that_are_no_cells_are_refused(tmp_path: Path, cell: object) -> None:
    pl.DataFrame({"b": [1], "a": [cell]}).write_parquet(tmp_path / "t.parquet")
    with pytest.raises(
        DataError, match=r"column a has the type .*; expected text, numbers or Boolean"
    ):
        read_table(tmp_path / "t.parquet")


def test_a_parquet_file_is_no_pattern(tmp_path: Path) -> None:
    """Brackets in a name are letters, though another file would match them."""
    for name in ("x1", "x[1]"):
        pl.DataFrame({"a": [name]}).write_parquet(tmp_path / f"{name}.parquet")
    assert read_table(tmp_path / "x[1].parquet")["a"].to_list() == ["x[1]"]


@pytest.mark.parametrize("read", [read_table, read_json_lines])
@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("x" * 5000 + ".jsonl", "cannot be used as a file's path"),
        ("missing.jsonl", "there is no such file"),
        ("folder.jsonl", "is a folder; expected a file"),
    ],
)
def test_what_is_no_file_is_an_error(
    tmp_path: Path, read: Callable[[Path], object], name: str, problem: str
) -> None:
    """A path of thousands of letters is not shown whole."""
    (tmp_path / "folder.jsonl").mkdir()
    with pytest.raises(DataError, match=problem) as caught:
        read(tmp_path / name)
    assert len(str(caught.value)) < 400


def test_rows_know_their_lines(tmp_path: Path) -> None:
    """A row's line counts the header, blank lines and line breaks within cells."""
    for name, content, lines in (
        ("t.tsv", "a\tb\n1\t1\n\n2\t2\n", [2, 4]),
        ("t.csv", 'a,b\n"x\ny",1\n\nz,2\n', [2, 5]),
        ("t.jsonl", '\n{"a": 1}\n\n{"a": 2}\n', [2, 4]),
    ):
        path = write(tmp_path, name, content)
        assert [line_of_row(path, row) for row in range(2)] == lines


def test_json_lines_come_with_their_numbers(tmp_path: Path) -> None:
    """Each object comes with its line; blank lines count, and a byte order mark does not."""
    path = write(tmp_path, "t.jsonl", '\ufeff\r\n{"a": 1}\r\n\n{"b": [2]}\n')
    assert read_json_lines(path) == [(2, {"a": 1}), (4, {"b": [2]})]


def test_a_write_that_fails_leaves_the_old_file(tmp_path: Path) -> None:
    """A path below a file, or one that is a folder, cannot be written."""
    path = write(tmp_path, "t.tsv", "old")

    def fail(file: Path) -> None:
        file.write_text("half")
        raise OSError(28, "No space left on device")

    with pytest.raises(WorkError, match=r"t\.tsv: cannot be written: .*No space left"):
        publish(path, fail)
    assert [(entry.name, entry.read_text()) for entry in tmp_path.iterdir()] == [("t.tsv", "old")]
    (tmp_path / "folder.tsv").mkdir()
    for other in (path / "t.tsv", tmp_path / "folder.tsv"):
        with pytest.raises(WorkError, match="cannot be written"):
            write_table(TABLE, other)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["folder.tsv", "t.tsv"]


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ('{"text": "a", "answers": ["b"], "text": "c"}', "text"),
        ('{"text": "a", "answers": ["b"], "more": {"x": 1, "y": 2, "x": 1}}', "x"),
        ('{"te\\u0078t": "a", "text": "a"}', "text"),
    ],
)
def test_a_key_that_stands_twice_is_refused(tmp_path: Path, line: str, key: str) -> None:
    path = tmp_path / "p.jsonl"
    path.write_text('{"n": 1}\n\n' + line + "\n", encoding="utf-8")
    for read in (read_table, read_json_lines):
        with pytest.raises(DataError) as refused:
            read(path)
        assert str(refused.value) == f"{path}, line 3: has the key {key!r} twice; expected it once"


def test_texts_in_a_dictionary_are_texts(tmp_path: Path) -> None:
    """As Arrow writes categories in Parquet, missing cells too."""
    plain = pl.DataFrame({"a": ["x", "y", None, "x"], "n": [1, 2, 3, 4]})
    arrow = pa.table({"a": pa.array(plain["a"].to_list()).dictionary_encode(), "n": [1, 2, 3, 4]})
    pq.write_table(arrow, tmp_path / "arrow.parquet")
    assert read_table(tmp_path / "arrow.parquet").equals(plain)


TEXTS = pl.Series("a", ["x", "y", None, "x"])


@pytest.mark.parametrize(
    "frame",
    [
        pl.DataFrame([TEXTS]),
        pl.LazyFrame([TEXTS]),
        pl.DataFrame([TEXTS.cast(pl.Categorical())]),
        pl.LazyFrame([TEXTS.cast(pl.Enum(["y", "x"]))]),
        pl.DataFrame([TEXTS]).to_pandas(),
        pl.DataFrame([TEXTS]).to_pandas().astype("category"),
        pl.DataFrame([TEXTS]).to_pandas().assign(b=1).set_index("a"),
    ],
    ids=["polars", "lazy", "categorical", "enum", "pandas", "category", "index"],
)
def test_a_data_frame_is_a_table(frame: Any) -> None:  # noqa: ANN401
    """Categories are text, and an index with a name is a column."""
    assert read_table(frame, ["a"])["a"].equals(TEXTS)
    again = table_path(frame)
    assert recorded_path(again) == recorded_path(table_path(frame)) == again.name


def test_what_is_no_table_is_refused(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """With Tacit's errors, which name no temporary file, nor does a notice."""
    for wrong in (pd.Series(["a"]), TEXTS, 3, None):
        with pytest.raises(RequestError, match="is not a table; expected a data frame"):
            read_table(wrong)
    for no_table in (
        pl.LazyFrame([TEXTS]).select("zz"),
        pl.scan_csv(tmp_path / "none.csv"),
        pd.DataFrame({"a": [1, "x", object()]}),
    ):
        with pytest.raises(DataError, match="the data frame cannot be used as a table"):
            read_table(no_table)
    for frame in (pl.DataFrame([TEXTS]), pd.DataFrame({"a": ["x"]})):
        with pytest.raises(DataError, match=r"^the data frame: has no column b"):
            read_table(frame, ["b"])
    read_table(pl.DataFrame({"": ["x"], "a": ["y"]}))
    assert caplog.messages == ["the data frame: columns without a name are ignored: column 1"]


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
    (tmp_path / "in.tsv").write_text("a")
    (tmp_path / "folder.tsv").mkdir()
    (tmp_path / "folder").mkdir()
    (tmp_path / "link.tsv").symlink_to(tmp_path / "a.tsv")
    with pytest.raises(RequestError, match=problem):
        check_outputs(
            [tmp_path / "in.tsv"], [(tmp_path / name, COUNTS) for name in outputs], force=force
        )


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_table_of_the_same_kind_is_overwritten(tmp_path: Path, suffix: str) -> None:
    """With further columns or without; and what is empty, as nothing is lost."""
    path, empty = tmp_path / f"counts{suffix}", tmp_path / "new.jsonl"
    write_table(pl.DataFrame({"more": ["x"], "count": [1], "name": ["a"]}), path)
    empty.touch()
    outputs = [(path, COUNTS), (empty, COUNTS), (tmp_path / "a.csv", COUNTS), (None, COUNTS)]
    check_outputs([tmp_path / "in.tsv"], outputs)


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("columns", [("name", "number"), ("count",), ("Name", "Count")])
def test_a_table_of_another_kind_is_not(
    tmp_path: Path, suffix: str, columns: tuple[str, ...]
) -> None:
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


def test_what_is_no_regular_file_is_refused(tmp_path: Path) -> None:
    """A device would be replaced by a file of its name."""
    link = tmp_path / "null"
    link.symlink_to("/dev/null")
    with pytest.raises(RequestError, match="is not a regular file"):
        check_outputs([], [(link, OutputKind("a page", lambda _: True))], force=True)
