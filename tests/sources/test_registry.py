import hashlib
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tacit.errors import DataError
from tacit.sources.drawings import read_drawings
from tacit.sources.dumps import Dump
from tacit.sources.norms import LAYOUTS, SUFFIXES, read_norms
from tacit.sources.questions import read_anchors
from tacit.sources.registry import Citation, advice, registry
from tacit.tables import SUFFIXES as TABLE_SUFFIXES
from tests.fetched_data import PARROT, needs_parrot

ROOT = Path(__file__).parents[2]


def test_the_registry_s_addresses_and_checksums_are_well_formed() -> None:
    for source in registry().sources.values():
        urls = [source.home, source.citation.url, *(file.url for file in source.files)]
        assert all(re.fullmatch(r"https://[^\s/]+\S*", url) for url in urls if url)
        assert re.fullmatch(r"10\.\d{4,}/\S+", source.citation.doi or "10.1000/1")
        assert source.files
        assert source.steps
        for file in source.files:
            assert re.fullmatch(r"[0-9a-f]{64}", file.sha256 or "0" * 64)


def test_a_citation_is_one_line() -> None:
    citation = Citation(
        authors=["A. Few", "B. Many"], year=2000, title="Few?", venue="Nowhere", doi="10.1000/1"
    )
    assert str(citation) == "A. Few, B. Many (2000). Few? Nowhere. https://doi.org/10.1000/1"


def test_suffixes_and_layouts_are_those_of_the_readers() -> None:
    kinds = registry().kinds
    assert tuple(kinds["norms"].suffixes) == SUFFIXES
    assert tuple(kinds["questions"].suffixes) == TABLE_SUFFIXES
    layouts = {layout.name for layout in LAYOUTS}
    assert {one.layout.split(":")[0] for one in registry().of_kind("norms")} == layouts
    for kind in kinds.values():
        assert (ROOT / "docs" / "reference" / kind.reference).is_file()


@pytest.mark.parametrize(
    ("kind", "name", "reader"),
    [
        ("drawings", "none", lambda path: read_drawings(path, ["above"])),
        ("norms", "none.dat", read_norms),
        ("questions", "none.jsonl", read_anchors),
        ("dumps", "none.csv.gz", Dump),
    ],
)
def test_a_missing_file_is_reported_with_the_sources_that_fit(
    tmp_path: Path, kind: str, name: str, reader: Callable[[Path], object]
) -> None:
    with pytest.raises(DataError) as caught:
        reader(tmp_path / name)
    message = str(caught.value)
    assert message.startswith(f"{tmp_path / name}: there is no such file")
    assert f"; expected {registry().kinds[kind].expected}; " in message
    assert message.endswith(advice(kind))
    for source in registry().sources.values():
        assert (source.access in message) == (source.kind.name == kind)


def test_a_folder_of_files_under_other_names_is_an_error(tmp_path: Path) -> None:
    """A clone of the repository holds no annotations-*.tsv; the message says where to look."""
    (tmp_path / "Diagram-transcription - id0_tab2.tsv").touch()
    with pytest.raises(DataError, match="see tacit get everyday-things --dry-run"):
        read_drawings(tmp_path, ["above"])


@needs_parrot
def test_the_checksums_of_the_drawings_are_those_of_the_files() -> None:
    for file in registry().source("everyday-things").files:
        content = (PARROT / str(file.save_as)).read_bytes()
        assert (len(content), hashlib.sha256(content).hexdigest()) == (file.bytes, file.sha256)


def test_norms_of_buchanan_are_read_once_two_columns_are_renamed(tmp_path: Path) -> None:
    """The published header ends in a comma, which names a column without a name."""
    path = tmp_path / "top to final.csv"
    path.write_text("where,concept,feature,translated,pf,\ntop,bear,furry,fur,9,\n")
    [one] = read_norms(path).properties
    assert (one.concept, one.feature, one.frequency) == ("bear", "furry", 9)


def test_triples_of_cn_100k_are_read_with_their_weight(tmp_path: Path) -> None:
    """The columns that the steps name fit lines of four cells."""
    path = tmp_path / "train100k.txt"
    path.write_text("IsA\tbaseball\tsport\t3.4\n")
    [columns] = re.findall(r"--columns (\S+)", " ".join(registry().source("cn-100k").steps))
    assert Dump(path, columns=tuple(columns.split(","))).layout == "triples"
