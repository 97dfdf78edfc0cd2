from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml

from tacit.errors import DataError, RequestError
from tacit.sources.anchors import read_anchors
from tacit.sources.drawings import read_drawings
from tacit.sources.dumps import Dump
from tacit.sources.missing import advice
from tacit.sources.norm_files import SUFFIXES as NORMS_SUFFIXES
from tacit.sources.norms import LAYOUTS, read_norms
from tacit.sources.registry import Registry, read_registry, registry
from tacit.tables import SUFFIXES as TABLE_SUFFIXES

ROOT = Path(__file__).parents[2]
DATA = Path(os.environ.get("TACIT_TEST_DATA", ROOT / "../shared/data"))
needs_parrot = pytest.mark.skipif(
    not (DATA / "parrot").is_dir(), reason="the real drawings are not here"
)

SMALL: dict[str, Any] = {
    "kinds": {
        "norms": {
            "noun": "norms",
            "expected": "a file of norms",
            "options": ["tacit run assumptions --norms"],
            "suffixes": [".dat"],
            "reference": "norms.md",
        }
    },
    "sources": {
        "few": {
            "kind": "norms",
            "label": "Few",
            "title": "A few norms",
            "home": "https://example.org/few",
            "layout": "table",
            "files": [{"name": "few.dat", "bytes": 3, "sha256": "0" * 64}],
            "steps": ["Download few.dat."],
            "citation": {"authors": ["A. Few"], "year": 2000, "title": "Few", "venue": "Nowhere"},
        }
    },
}


def read(folder: Path, content: object) -> Registry:
    """The registry that has this content."""
    path = folder / "registry.yaml"
    path.write_text(yaml.safe_dump(content), encoding="utf-8")
    return read_registry(path)


def changed(place: str, value: object) -> dict[str, Any]:
    """The small registry with another value at a place such as ``sources.few.home``."""
    content = deepcopy(SMALL)
    *above, last = place.split(".")
    below: Any = content
    for key in above:
        below = below[int(key)] if isinstance(below, list) else below[key]
    below[last] = value
    return content


def test_what_is_not_said_is_none(tmp_path: Path) -> None:
    """Licence, condition, addresses and checksums may be missing, and are then None."""
    (source,) = read(tmp_path, SMALL).sources.values()
    assert (source.licence, source.condition, source.files[0].url) == (None, None, None)
    assert (source.kind.name, source.files[0].bytes) == ("norms", 3)
    assert source.facts()["Licence"] == "licence unknown; see the home page of the data set"
    assert "Checksums" not in source.facts()


@pytest.mark.parametrize(
    ("place", "value", "problem"),
    [
        ("sources", {}, "sources: Dictionary should have at least 1 item"),
        ("sources.Few", {}, "sources.Few.[key]: String should match pattern"),
        ("sources.few.kind", "norm", "sources.few.kind: Input should be an instance of Kind"),
        ("sources.few.home", "few.org", "sources.few.home: String should match pattern"),
        ("sources.few.license", "MIT", "sources.few.license: Extra inputs are not permitted"),
        ("sources.few.files.0.sha256", "0" * 63, "files.0.sha256: String should match pattern"),
        ("sources.few.citation", {}, "sources.few.citation.authors: Field required"),
    ],
)
def test_a_malformed_entry_is_named(
    tmp_path: Path, place: str, value: object, problem: str
) -> None:
    """A missing, unknown or invalid value is an error that names the entry and the key."""
    content = changed(place, value)
    with pytest.raises(DataError) as caught:
        read(tmp_path, content)
    assert problem in str(caught.value)
    assert caught.value.path == tmp_path / "registry.yaml"


def test_a_name_twice_is_an_error(tmp_path: Path) -> None:
    """The second of two sources of one name does not replace the first."""
    path = tmp_path / "registry.yaml"
    path.write_text("sources:\n  few: {}\n  few: {}\nkinds: {}\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"line 3: .*'few' occurs twice"):
        read_registry(path)


def test_a_citation_is_one_line(tmp_path: Path) -> None:
    """A title that asks ends without a full stop; a DOI becomes an address."""
    citation = {
        "authors": ["A. Few", "B. Many"],
        "year": 2000,
        "title": "Few?",
        "venue": "Nowhere",
        "doi": "10.1000/1",
    }
    found = read(tmp_path, changed("sources.few.citation", citation)).source("few").citation
    assert str(found) == "A. Few, B. Many (2000). Few? Nowhere. https://doi.org/10.1000/1"


def test_the_registry_has_the_sources_that_the_readers_know() -> None:
    """Each kind has its published sources."""
    named = {kind: [one.name for one in registry().of_kind(kind)] for kind in registry().kinds}
    assert named == {
        "drawings": ["everyday-things"],
        "dumps": ["conceptnet", "cn-100k"],
        "questions": ["commonsenseqa", "arc", "openbookqa", "piqa"],
        "norms": ["cslb", "mcrae", "buchanan"],
    }


def test_suffixes_and_layouts_are_those_of_the_readers() -> None:
    """What the registry says a reader takes is what its code takes."""
    kinds = registry().kinds
    assert kinds["norms"].suffixes == NORMS_SUFFIXES
    assert kinds["questions"].suffixes == TABLE_SUFFIXES
    layouts = {layout.name for layout in LAYOUTS}
    assert {one.layout.split(":")[0] for one in registry().of_kind("norms")} == layouts
    for kind in kinds.values():
        assert (ROOT / "docs" / "reference" / kind.reference).is_file()


def test_an_unknown_source_is_told(tmp_path: Path) -> None:
    """The message names the nearest source, or all."""
    known = read(tmp_path, SMALL)
    with pytest.raises(RequestError, match="did you mean few"):
        known.source("FEW")
    with pytest.raises(RequestError, match="there is no source named 'many'; expected few"):
        known.source("many")


@pytest.mark.parametrize(
    ("kind", "name", "reader"),
    [
        ("drawings", "none", lambda path: read_drawings(path, ["above"])),
        ("norms", "none.dat", read_norms),
        ("questions", "none.jsonl", read_anchors),
        ("dumps", "none.csv.gz", Dump),
    ],
)
def test_a_missing_file_is_told_with_the_sources_that_fit(
    tmp_path: Path, kind: str, name: str, reader: Callable[[Path], object]
) -> None:
    """Each reader says what it expected, and where each source of that kind is found."""
    with pytest.raises(DataError) as caught:
        reader(tmp_path / name)
    told = str(caught.value)
    assert told.startswith(f"{tmp_path / name}: there is no such file")
    assert f"; expected {registry().kinds[kind].expected}; " in told
    assert told.endswith(advice(kind))
    for source in registry().sources.values():
        assert (source.home in told) == (source.kind.name == kind)


def test_a_folder_of_files_under_other_names_is_told_of_the_source(tmp_path: Path) -> None:
    """A clone of the repository holds no annotations-*.tsv; the message says where to look."""
    (tmp_path / "Diagram-transcription - id0_tab2.tsv").touch()
    with pytest.raises(DataError, match="see tacit show sources everyday-things"):
        read_drawings(tmp_path, ["above"])


def test_a_condition_of_access_is_told() -> None:
    """CSLB's norms need a registration, which the message says beside the address."""
    assert "CSLB (https://cslb.psychol.cam.ac.uk/propnorms, after registration)" in advice("norms")


@needs_parrot
def test_the_checksums_of_the_drawings_are_those_of_the_files() -> None:
    """Sizes and checksums are of the files as they are read."""
    for file in registry().source("everyday-things").files:
        content = (DATA / "parrot" / str(file.save_as)).read_bytes()
        assert (len(content), hashlib.sha256(content).hexdigest()) == (file.bytes, file.sha256)


def test_norms_of_buchanan_are_read_once_two_columns_are_renamed(tmp_path: Path) -> None:
    """The published header ends in a comma, which names a column without a name."""
    path = tmp_path / "top to final.csv"
    path.write_text("where,concept,feature,translated,pf,\ntop,bear,furry,fur,9,\n")
    norms = read_norms(path)
    assert norms.layout == "table"
    assert [(one.concept, one.feature, one.frequency) for one in norms.properties] == [
        ("bear", "furry", 9)
    ]


def test_triples_of_cn_100k_are_read_with_their_weight(tmp_path: Path) -> None:
    """The columns that the steps name fit lines of four cells."""
    path = tmp_path / "train100k.txt"
    path.write_text("IsA\tbaseball\tsport\t3.4\n")
    steps = " ".join(registry().source("cn-100k").steps)
    assert "--columns relation,head,tail,weight" in steps
    assert Dump(path, columns=("relation", "head", "tail", "weight")).layout == "triples"


def test_readers_load_the_registry_only_when_a_file_is_missing(tmp_path: Path) -> None:
    """Neither the command line nor a reader that finds its file imports the registry."""
    path = tmp_path / "norms.tsv"
    path.write_text("concept\tfeature\tpf\nbear\thas fur\t9\n")
    program = (
        "import sys, tacit.cli\n"
        "from tacit.sources import anchors, drawings, dumps, norms\n"
        "norms.read_norms(sys.argv[1])\n"
        "print('pydantic' in sys.modules, 'tacit.sources.registry' in sys.modules)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=True
    )
    assert ran.stdout.split() == ["False", "False"]
