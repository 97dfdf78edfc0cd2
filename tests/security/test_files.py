import io
import json
import pickle
import zipfile
from contextlib import suppress
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tacit.engine.blocks import recorded
from tacit.engine.store import Store
from tacit.errors import DataError, TacitError
from tacit.knowledge.base import KnowledgeBase
from tacit.knowledge.build import KnowledgeSource, build
from tacit.sources.dumps import Dump
from tacit.sources.norms import read_norms
from tacit.tables import read_table
from tests.fuzzing.readers import formats
from tests.fuzzing.test_files import no_hang
from tests.security.test_models import Hostile

FORMATS = formats()
YAML = [name for name, form in FORMATS.items() if form.name.endswith(".yaml")]

TAGS = (
    "!!python/object/apply:os.mkdir ['{target}']",
    "!!python/name:os.system ''",
    "relations: {{IsA: {{text: !!python/object/apply:os.mkdir ['{target}']}}}}",
)
BOMB = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 10)}]\n"
    for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize("name", YAML)
@pytest.mark.parametrize("tag", TAGS)
def test_yaml_cannot_make_objects(tmp_path: Path, name: str, tag: str) -> None:
    """A tag of Python's is refused, wherever it stands."""
    path = tmp_path / FORMATS[name].name
    path.write_text(tag.format(target=tmp_path / "made"), encoding="utf-8")
    with pytest.raises(DataError):
        FORMATS[name].read(path)
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize("name", YAML)
@pytest.mark.parametrize("wrapped", ["{}", "- feature: *i\n  wording: *i", "relations: *i"])
def test_yaml_that_refers_to_itself_a_billion_times_is_refused(
    tmp_path: Path, name: str, wrapped: str
) -> None:
    """It is small as long as nobody writes it out."""
    path = tmp_path / FORMATS[name].name
    path.write_text(BOMB + wrapped.replace("{}", ""), encoding="utf-8")
    with no_hang(), pytest.raises(DataError) as refused:
        FORMATS[name].read(path)
    assert len(str(refused.value)) < 5000


def hostile_parquet(target: Path) -> bytes:
    """A column of a type whose own bytes are a pickle, as old libraries of Arrow's wrote them."""
    pickled = pickle.dumps(Hostile(target))
    metadata = {
        b"ARROW:extension:name": b"arrow.py_extension_type",
        b"ARROW:extension:metadata": pickled,
    }
    names = ("text", "separator", "answer", "logprob", "tokens", "spanned", "block", "answers")
    fields = [pa.field(name, pa.string(), metadata=metadata) for name in names]
    schema = pa.schema(fields, metadata={"pandas": pickled, "digest": "d" * 64})
    file = io.BytesIO()
    pq.write_table(pa.Table.from_pylist([dict.fromkeys(names, "1")], schema=schema), file)
    return file.getvalue()


def test_parquet_cannot_run_code(tmp_path: Path) -> None:
    content = hostile_parquet(tmp_path / "made")
    table = tmp_path / "table.parquet"
    table.write_bytes(content)
    with suppress(TacitError):
        read_table(table)
    with suppress(TacitError):
        recorded(table, "d" * 64, [])
    folder = tmp_path / "store" / "scores" / ("f" * 32)
    folder.mkdir(parents=True)
    (folder / "00000001-0123abcd.parquet").write_bytes(content)
    assert Store(tmp_path / "store").read("f" * 64).is_empty()
    assert not (tmp_path / "made").exists()


def test_a_knowledge_base_reads_no_other_file(tmp_path: Path) -> None:
    """A view in the place of a table is refused, and one beside them reaches nothing."""
    secret = tmp_path / "secret.csv"
    secret.write_text("word\nsecret\n", encoding="utf-8")
    facts, path = tmp_path / "facts.tsv", tmp_path / "base.kb"
    facts.write_text("IsA\tbear\tanimal\n", encoding="utf-8")
    build(KnowledgeSource([Dump(facts)]), path)
    query = f"SELECT word AS name FROM read_csv('{secret}')"  # noqa: S608 - hostile on purpose
    with duckdb.connect(str(path)) as base:
        base.execute(f"CREATE VIEW more AS {query}")
    with KnowledgeBase(path) as opened, pytest.raises(DataError):
        opened.table("SELECT * FROM base.more")
    with duckdb.connect(str(path)) as base:
        base.execute("DROP TABLE relations")
        base.execute(f"CREATE VIEW relations AS {query}")
    with pytest.raises(DataError, match="no table relations"):
        KnowledgeBase(path)


def test_a_workbook_s_paths_lead_nowhere(tmp_path: Path) -> None:
    """Names in its archive with ``..`` or a root are never written, and entities not followed."""
    path = tmp_path / "in" / "norms.xlsx"
    path.parent.mkdir()
    path.write_bytes(FORMATS["norms, workbook"].valid())
    with zipfile.ZipFile(path, "a") as archive:
        for name in ("../outside", "/outside", "xl/../../../outside", "..\\outside"):
            archive.writestr(name, "hostile")
    assert len(read_norms(path).properties) == 1
    assert sorted(each.name for each in tmp_path.rglob("*")) == ["in", "norms.xlsx"]
    entity = (
        '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><sst>&e;</sst>'
    )
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("[Content_Types].xml", entity)
        archive.writestr("xl/sharedStrings.xml", entity)
    with pytest.raises(DataError) as refused:
        read_norms(path)
    assert "root:" not in str(refused.value)


def test_a_template_cannot_reach_python_s_objects(tmp_path: Path) -> None:
    """Braces name what the template is given, and nothing of it."""
    for text in ("{statement.__class__} {a_thing}", "{statement!r:{a_thing}}", "{0} {statement}"):
        path = tmp_path / "template.yaml"
        content = {"text": text, "separator": " ", "positive": ["yes"], "negative": ["no"]}
        path.write_text(json.dumps(content), encoding="utf-8")
        with pytest.raises(DataError):
            FORMATS["parts template"].read(path)
