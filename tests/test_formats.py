"""What Tacit writes carries a format number; what a newer one wrote is refused in plain words."""

import io
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import tacit
from tacit import files
from tacit.engine.store import Store, next_name
from tacit.errors import DataError, RequestError, StoreError
from tacit.models.fake import FakeModel
from tacit.requests import AnswerScore, Prompt, Scores
from tacit.runs import folder as run_folder
from tacit.runs.folder import RunFolder, read_findings
from tacit.sources.drawings import Drawing
from tacit.tables import read_table, write_table
from tacit.version import _commit_of, version
from tests.manifests import change
from tests.probes.parts.measured import believing, probe_of

NEWER = (
    r"was written by a newer version of Tacit: it has format 3, and this version reads formats up "
    r"to 1; upgrade tacit-lm"
)


def rewritten(path: Path, **about: object) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **about}))


def manifest_of(folder: Path) -> dict[str, Any]:
    return dict(json.loads((folder / "manifest.json").read_text()))


def finished(folder: Path) -> RunFolder:
    run = RunFolder(folder, {"probe": "parts"})
    run.begin({"model": {"name": "m", "fingerprint": "f"}, "data": {}})
    probe = probe_of(Drawing("lamp", "", ("shade", "base"), ()))
    run.finish(believing(probe, [0.9] * probe.questions.height))
    return run


def test_a_run_of_a_newer_format_is_refused(tmp_path: Path) -> None:
    """Whether it is gone on with or shown, and whatever else is new in it."""
    finished(tmp_path)
    assert manifest_of(tmp_path)["format"] == files.RUN
    assert read_findings(tmp_path)["beliefs"]["p_true"].unique().to_list() == [0.9]
    rewritten(tmp_path / "manifest.json", format=3, status={"new": "finished"}, model=[])
    with pytest.raises(
        RequestError, match=rf"manifest\.json: {NEWER}\. To start a new run, choose another folder"
    ):
        RunFolder(tmp_path, {"probe": "parts", "more": 1})
    with pytest.raises(DataError, match=rf"manifest\.json: {NEWER}"):
        read_findings(tmp_path)


@pytest.mark.parametrize("number", [None, -1, True, "1.5", [1], "³"])
def test_a_format_that_is_no_number_is_damage(number: object, tmp_path: Path) -> None:
    finished(tmp_path)
    change(tmp_path / "manifest.json", format=number)
    with pytest.raises(DataError, match=r"is damaged: its format is .*, which is not a number"):
        read_findings(tmp_path)


def test_a_table_of_a_newer_format_is_refused(tmp_path: Path) -> None:
    """Findings are Parquet, and so may other tables be; tables of other people's have no number."""
    frame, path = pl.DataFrame({"n": [1]}), tmp_path / "found.parquet"
    write_table(frame, path)
    assert pl.read_parquet_metadata(path)[files.KEY] == str(files.TABLE)
    assert read_table(path).equals(frame)
    frame.write_parquet(path, metadata={files.KEY: "3"})
    with pytest.raises(DataError, match=rf"found\.parquet: {NEWER}"):
        read_table(path)
    frame.write_parquet(path)
    assert read_table(path).equals(frame)


def test_a_segment_of_a_newer_format_is_refused(tmp_path: Path) -> None:
    """It is whole: it stays where it is, and is not asked again."""
    model, prompt, store = FakeModel(lambda *_: -1.0), Prompt("x", ("a",)), Store(tmp_path)
    scores = [Scores((AnswerScore("a", -1.0, 1),))]
    segment = tmp_path / store.append(model.description, [prompt], scores)
    about = pl.read_parquet_metadata(segment)
    assert about[files.KEY] == str(files.SEGMENT)
    file = io.BytesIO()
    pl.read_parquet(segment).write_parquet(file, metadata={**about, files.KEY: "3"})
    segment.unlink()
    newer = segment.parent / next_name([], file.getvalue())
    newer.write_bytes(file.getvalue())
    with pytest.raises(StoreError, match=rf"{newer.name}: this segment {NEWER}, or use another"):
        store.read(model.fingerprint)
    assert newer.is_file()


@pytest.mark.slow
def test_a_resumed_run_names_every_version_that_worked_on_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each once, the last one last; in the findings' bytes they do not stand."""

    def resumed(tacit_version: str, libraries: Mapping[str, str]) -> bytes:
        monkeypatch.setattr(run_folder, "version", lambda: tacit_version)
        monkeypatch.setattr(run_folder, "_LIBRARIES", tuple(libraries))
        monkeypatch.setattr(metadata, "version", lambda name: libraries.get(name, "0"))
        finished(tmp_path)
        return (tmp_path / "findings" / "beliefs.parquet").read_bytes()

    old, new = {"torch": "2.0"}, {"torch": "2.1"}
    found = {resumed("1", old), resumed("1", old), resumed("2+gabc1234", old), resumed("1", new)}
    found.add(resumed("2+gabc1234", old))
    told = [(one["tacit"], one["libraries"]) for one in manifest_of(tmp_path)["versions"]]
    assert told == [("1", old), ("1", new), ("2+gabc1234", old)]
    assert len(found) == 1


def git(folder: Path, *arguments: str) -> str:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    asked = ("git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@b", *arguments)
    return subprocess.run(asked, env=clean, check=True, capture_output=True, text=True).stdout


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_a_checkout_of_tacit_names_its_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And whether a file was changed since; the repository is that of the package, no other."""
    source = tmp_path / "src" / "tacit" / "version.py"
    source.parent.mkdir(parents=True)
    source.write_text("")
    (tmp_path / "pyproject.toml").write_text('name = "tacit-lm"\n')
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "-m", "first")
    assert _commit_of(tmp_path) == "", "the package is imported from elsewhere"
    monkeypatch.setattr(sys.modules["tacit.version"], "__file__", str(source))
    commit = git(tmp_path, "rev-parse", "--short", "HEAD").strip()
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    assert _commit_of(tmp_path) == f"+g{commit}"
    source.write_text("changed = True\n")
    assert _commit_of(tmp_path) == f"+g{commit}.dirty"
    (tmp_path / "pyproject.toml").write_text('name = "something"\n')
    assert _commit_of(tmp_path) == ""
    monkeypatch.setenv("PATH", "")
    (tmp_path / "pyproject.toml").write_text('name = "tacit-lm"\n')
    assert _commit_of(tmp_path) == "", "without git, the version alone"


def test_the_working_folder_s_repository_is_not_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = version()
    monkeypatch.chdir(tmp_path)
    version.cache_clear()
    assert version() == before
    assert before.partition("+")[0] == tacit.__version__
