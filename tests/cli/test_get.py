"""``tacit get`` and what fetches for it, from a server on this machine."""

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tacit.errors import NetworkError, RequestError, TacitError, WorkError
from tacit.sources.fetching import fetch, folder_of, is_fetched
from tacit.sources.registry import Source, registry
from tests.cli.conftest import Tacit
from tests.sources.site import NAME, Site, serve_drawings, served, source_of

CONTENT = bytes(range(256)) * 40


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    with served(monkeypatch) as made:
        yield made


@pytest.fixture
def source(site: Site) -> Source:
    return source_of(site, {"a.tsv": CONTENT, "b.tsv": b"b"})


def test_files_are_fetched_once(site: Site, source: Source, tmp_path: Path) -> None:
    """Under the names of the registry; the number of bytes that are there only grows."""
    done: list[int] = []
    paths = fetch(source, tmp_path / "new" / "here", done.append)
    assert [path.read_bytes() for path in paths] == [CONTENT, b"b"]
    assert sorted(path.name for path in paths[0].parent.iterdir()) == ["a.tsv", "b.tsv"]
    assert (done, done[-1]) == (sorted(done), source.size)
    assert site.asked == [("a.tsv", None), ("b.tsv", None)]
    assert fetch(source, tmp_path / "new" / "here", done.append) == paths
    assert len(site.asked) == 2


@pytest.mark.parametrize(
    ("left", "ranges", "asked"),
    [
        (100, True, ["bytes=100-"]),
        (100, False, ["bytes=100-"]),
        (len(CONTENT), True, []),
        (len(CONTENT) + 1, True, [f"bytes={len(CONTENT) + 1}-", None]),
    ],
)
def test_what_an_interruption_left_is_resumed(
    site: Site, source: Source, tmp_path: Path, left: int, asked: list[str | None], *, ranges: bool
) -> None:
    """By a server that knows ranges; otherwise, or if too much is there, from the start."""
    site.ranges = ranges
    (tmp_path / "a.tsv.part").write_bytes((CONTENT + b"more")[:left])
    assert fetch(source, tmp_path, lambda _: None)[0].read_bytes() == CONTENT
    assert [wanted for name, wanted in site.asked if name == "a.tsv"] == asked
    assert not list(tmp_path.glob("*.part"))


def test_a_connection_that_is_cut_is_resumed_by_the_next_command(
    site: Site, source: Source, tmp_path: Path
) -> None:
    site.cuts = 5000
    with pytest.raises(NetworkError, match="run the same command again to resume"):
        fetch(source, tmp_path, lambda _: None)
    assert (tmp_path / "a.tsv.part").read_bytes() == CONTENT[:5000]
    assert not is_fetched(source)
    site.cuts = None
    assert fetch(source, tmp_path, lambda _: None)[0].read_bytes() == CONTENT
    assert ("a.tsv", "bytes=5000-") in site.asked


@pytest.mark.parametrize(
    ("content", "kind", "message"),
    [
        (CONTENT[:-1] + b"x", WorkError, "another file than expected"),
        (CONTENT + b"x", WorkError, "expected 10,240"),
        (None, NetworkError, "answers 404 Not Found"),
    ],
)
def test_a_file_that_is_not_the_registrys_is_not_kept(
    site: Site,
    source: Source,
    tmp_path: Path,
    content: bytes | None,
    kind: type[TacitError],
    message: str,
) -> None:
    site.files = {} if content is None else {**site.files, "a.tsv": content}
    with pytest.raises(kind, match=message):
        fetch(source, tmp_path, lambda _: None)
    assert not list(tmp_path.iterdir())


def test_a_folder_that_cannot_take_the_files_is_refused(
    site: Site, source: Source, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is a file, holds another file of the name, or lies on a full disk; nothing is asked."""
    (tmp_path / "file").touch()
    with pytest.raises(WorkError, match="cannot be written"):
        fetch(source, tmp_path / "file" / "under", lambda _: None)
    (tmp_path / "a.tsv").write_text("mine")
    with pytest.raises(RequestError, match="is another file than that of everyday-things"):
        fetch(source, tmp_path, lambda _: None)
    assert (tmp_path / "a.tsv").read_text() == "mine"
    monkeypatch.setattr(shutil, "disk_usage", lambda _: type("Usage", (), {"free": 10}))
    with pytest.raises(WorkError, match="needs 10,241 bytes, and 10 bytes are free"):
        fetch(source, tmp_path / "other", lambda _: None)
    assert site.asked == []


def test_a_proxy_is_used(
    site: Site, source: Source, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = [replace(one, url=f"http://one.test/{one.saved}") for one in source.files]
    monkeypatch.setenv("HTTP_PROXY", site.address)
    assert len(fetch(replace(source, files=files), tmp_path, lambda _: None)) == 2


def test_what_was_fetched_is_found_by_the_probe(
    tacit: Tacit, site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before, its error names the command that fetches; the licence is printed first."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    local = serve_drawings(site, monkeypatch)
    run = ("run", "parts", "--model", "demo", "--limit", 1, "--fast", "--out", "run")
    refused = tacit(*run)
    assert (refused.code, refused.out) == (2, "")
    assert f"--drawings is missing: fetch the published data with tacit get {NAME}" in refused.err
    assert "Apache-2.0" in tacit("get", NAME, "--dry-run").out
    assert not site.asked, "nothing is fetched unless it is asked for"
    ran = tacit("get", NAME)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.index("Apache-2.0") < ran.out.index("Fetching 2 files")
    assert tacit(*run).code == 0
    assert str(folder_of(local)) in (tmp_path / "run" / "run.yaml").read_text()
    unsized = replace(local, files=[replace(one, bytes=None) for one in local.files])
    monkeypatch.setitem(registry().sources, NAME, unsized)
    again = json.loads(tacit("get", NAME, "--json").out)
    assert again["paths"] == [str(folder_of(local) / one.saved) for one in local.files]
    assert "(fetched)" in tacit("list").out
    names = json.loads(tacit("list", "--json").out)
    assert {"probes", "models", "data"} <= set(names)


def test_what_cannot_be_fetched_is_described(tacit: Tacit) -> None:
    ran = tacit("get", "cslb")
    assert ran.code == 2
    assert all(step in ran.err for step in registry().source("cslb").steps)
