"""Folders of runs in which something is damaged or of another shape."""

import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.errors import RequestError, TacitError
from tacit.probes.assumptions.published import published_table
from tacit.report.writing import report
from tacit.runs.comparison import warnings_of_elicitation
from tacit.runs.folder import RunFolder
from tacit.runs.reading import read_run, read_runs
from tacit.runs.run import Runs
from tests.fuzzing.shapes import Damage, changed, reshaped, spoilt
from tests.fuzzing.test_files import EXAMPLES, no_hang, slowly_fuzzed
from tests.report.conftest import assumptions_run, consistency_run, parts_run

RUNS: Mapping[str, Callable[[Path], Path]] = {
    "parts": parts_run,
    "consistency": consistency_run,
    "assumptions": assumptions_run,
}
DOCUMENTS = ["manifest.json", "run.yaml"]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """A finished run of a probe, made once."""
    root = tmp_path_factory.mktemp("finished")
    return cache(lambda probe: RUNS[probe](root / probe))


@pytest.mark.parametrize("probe", RUNS)
def test_a_damaged_run_is_shown_or_refused(
    probe: str, finished: Callable[[str], Path], tmp_path: Path
) -> None:
    """By the report, beside the paper's tables, and by the same command made again."""
    whole = finished(probe)
    names = sorted(str(file.relative_to(whole)) for file in whole.rglob("*.parquet"))
    documents = st.tuples(st.one_of(spoilt(), reshaped()), st.sampled_from(DOCUMENTS))
    tables = st.tuples(spoilt(), st.sampled_from(names))

    @settings(slowly_fuzzed, max_examples=max(12, EXAMPLES // 3))
    @given(st.one_of(documents, documents, tables))
    def check(damaged: tuple[Damage, str]) -> None:
        how, name = damaged
        folder = shutil.copytree(whole, tmp_path / "damaged", dirs_exist_ok=True)
        (folder / name).write_bytes(changed((whole / name).read_bytes(), how))
        with no_hang(), suppress(TacitError):
            runs = read_runs([folder])
            assert runs[0].questions.height
            if name in DOCUMENTS:
                list(warnings_of_elicitation(Runs(runs)))
                report(runs)
        with no_hang(), suppress(TacitError):
            run = read_run(folder, "assumptions")
            published_table(run.tables, None, run.summary)
            assert all(run.notes)
        with no_hang(), suppress(TacitError):
            RunFolder(folder, {"probe": probe}).begin({"model": {}, "data": {}})

    check()


def test_a_manifest_that_describes_no_model_is_refused(
    finished: Callable[[str], Path], tmp_path: Path
) -> None:
    """When the same command is given again; the message names the file, and what to do."""
    folder = shutil.copytree(finished("parts"), tmp_path / "run")
    request = yaml.safe_load((folder / "run.yaml").read_text(encoding="utf-8"))
    for manifest in ("[]", "null", '"x"', "5", '{"model": null}', '{"model": []}'):
        (folder / "manifest.json").write_text(manifest, encoding="utf-8")
        with pytest.raises(
            RequestError, match=r"manifest\.json: is damaged: .* choose another folder"
        ):
            RunFolder(folder, request).begin({"model": {}, "data": {}})
