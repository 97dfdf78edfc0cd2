"""Suites, runs and folders of other people: nothing of theirs runs, and no key leaves."""

import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import tacit as api
from tacit.addresses import holds_secret
from tacit.errors import ModelError
from tacit.runs.predicting import RunPredictor
from tests.cli.conftest import Tacit
from tests.models import tiny
from tests.models.openai.model import Toy
from tests.models.openai.serving import Serving, serving
from tests.runs.suite.suites import PARTS, written
from tests.security.test_models import Hostile, pickled, with_a_program

KEY = "sk-of-the-person-who-runs-it"


@pytest.fixture
def listener() -> Iterator[Serving]:
    """A server of another person, which records what it gets."""
    with serving(Toy(tiny.gpt2_like().backend_tokenizer)) as state:
        yield state


@pytest.fixture
def trace(workplace: Path) -> Path:
    return workplace / "made"


@pytest.fixture
def model(workplace: Path, trace: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("transformers.dynamic_module_utils.HF_MODULES_CACHE", str(workplace / "hf"))
    folder = tiny.save("gpt2", workplace / "model")
    with_a_program(folder, trace)
    return folder


@pytest.mark.parametrize("option", ["trust_remote_code", "allow_pickle", "yes"])
@pytest.mark.parametrize("value", [True, False])
def test_a_suite_cannot_permit_anything(
    option: str, workplace: Path, tacit: Tacit, listener: Serving, *, value: bool
) -> None:
    of_file = {"model": listener.address, option: value}
    file = written(workplace, models=["demo", of_file])
    for more in ((), ("--dry-run",), ("--set", f"{option}=true")):
        refused = tacit("suite", file, *more)
        assert refused.code == 2
        assert f"models.1.{option} counts only on the command line" in refused.err
        assert f"{file}, line " in refused.err
        assert f"--set {option}=true" in refused.err
    assert not listener.keys
    assert not (workplace / "runs").exists()


@pytest.mark.slow
@pytest.mark.parametrize("option", ["trust_remote_code", "allow_pickle"])
def test_only_the_command_line_lets_a_suite_s_model_act(
    option: str, workplace: Path, trace: Path, model: Path, tacit: Tacit
) -> None:
    """A program leaves its trace only with --set; a hostile pickle never does."""
    if option == "allow_pickle":
        model = tiny.save("gpt2", workplace / "pickled")
        pickled(model, {"weight": Hostile(trace)})
    file = written(workplace, models=[str(model)])
    assert tacit("suite", file, "--no-report").code
    assert not trace.exists()
    ran = tacit("suite", file, "--no-report", "--set", f"{option}=true")
    assert (ran.code, trace.exists()) == (
        (0, True) if option == "trust_remote_code" else (1, False)
    )


@pytest.mark.parametrize("out", ["../../x", "/elsewhere/x", "runs/../../x", "linked/x"])
def test_a_suite_writes_only_beside_its_file(out: str, workplace: Path, tacit: Tacit) -> None:
    folder = workplace / "theirs"
    folder.mkdir()
    (folder / "linked").symlink_to(workplace)
    file = written(folder, out=out)
    refused = tacit("suite", file)
    assert refused.code == 2
    assert "suite.yaml, line 2: out is " in refused.err
    if out == "../../x":
        assert tacit("suite", file, "--dry-run", "--out", "mine").code == 0
        written(folder, out=str(folder / "runs"))
        assert tacit("suite", file, "--dry-run").code == 0
    assert sorted(path.name for path in workplace.iterdir()) == ["theirs"]


@pytest.mark.parametrize(
    ("variable", "more"), [("TACIT_API_KEY", {}), ("OPENAI_API_KEY", {"api": "chat", "samples": 2})]
)
def test_a_server_that_a_file_names_gets_no_key(
    variable: str,
    more: dict[str, Any],
    workplace: Path,
    tacit: Tacit,
    listener: Serving,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Unless its host is listed; without a key it is asked like any other server."""
    host = listener.address.split("/")[2]
    shutil.copytree(api.demo_data("drawings"), workplace / "things")
    monkeypatch.setenv(variable, KEY)
    file = written(workplace, models=[{"model": listener.address, **more}], runs=[PARTS])
    options = workplace / "options.yaml"
    options.write_text(json.dumps({"model": listener.address, "drawings": "things", **more}))
    configured = ("run", "parts", "--config", options, "--out", "run")
    for listed in ("", f"localhost, 127.0.0.1, api.{host}, example.org"):
        monkeypatch.setenv("TACIT_API_KEY_HOSTS", listed)
        for how in (("suite", file), ("suite", file, "--dry-run"), configured):
            refused = tacit(*how)
            assert refused.code == 2
            assert f"{host} would get your API key" in refused.err
    assert not listener.keys, "nothing was sent"
    monkeypatch.setenv("TACIT_API_KEY_HOSTS", f"example.org, {host}")
    few = ("--no-report", "--set", "yes=true", "--set", "limit=1")
    tacit("suite", file, *few)
    assert set(listener.keys) == {f"Bearer {KEY}"}
    listener.keys.clear()
    monkeypatch.delenv("TACIT_API_KEY_HOSTS")
    monkeypatch.setenv("TACIT_API_KEY", "")
    tacit("suite", file, "--out", "other", *few)
    assert set(listener.keys) == {None}


@pytest.mark.parametrize("named", [False, True])
def test_a_run_s_server_gets_no_key(
    workplace: Path, listener: Serving, monkeypatch: pytest.MonkeyPatch, *, named: bool
) -> None:
    """Its run.yaml names it; who gives the same address as --model names it themselves."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setattr(RunPredictor, "predictors", {"both": None})
    questions = workplace / "questions.csv"
    questions.write_text("id,question,choices,answer\nq1,Where is a dog?,kennel | oven,kennel\n")
    facts = workplace / "facts.tsv"
    facts.write_text("AtLocation\tdog\tkennel\n")
    api.build_kb(facts, workplace / "small.kb")
    run = api.run(
        "consistency",
        model="demo",
        questions=questions,
        kb=workplace / "small.kb",
        out=workplace / "run",
        report=False,
        progress=False,
    )
    theirs = {"model": listener.address, "allow_pickle": True, "trust_remote_code": True}
    run = replace(api.load_run(workplace / "run"), request={**run.request, **theirs})
    predictor = RunPredictor(run, listener.address if named else None)
    assert not predictor._model.loading.allow_pickle
    assert not predictor._model.loading.trust_remote_code
    with pytest.raises((ModelError, api.TacitError), match="differs" if named else "would get"):
        predictor.predict("Where is a dog?", ["kennel", "oven"])
    assert set(listener.keys) == ({f"Bearer {KEY}"} if named else set())


SECRETS = [
    *("https://user:pa%73s-word@host/v1", "http://host/v1?api_key=pa%73s-word"),
    *("https:/user:pa%73s-word@host", "https//user:pa%73s-word@host", "http://pa%73s-word@host"),
    *("user:pa%73s-word@127.0.0.1:9/v1", "//user:pa%73s-word@host", "s3://a/b?sig=pa%73s-word"),
    *("http%3A%2F%2Fuser:pa%73s-word@host", "http://127.0.0.1:9/v1%3Fapi_key=pa%73s-word"),
    *("https://user%3Apa%73s-word%40host/v1", "HTTP:user:pa%73s-word@host", "x:/y:pa%73s-word@z"),
    *("https;//user:pa%73s-word@h", "s3://ID:HU/SH@bucket", "s3://ID%3AHUSH@bucket/a"),
    *("filecache::s3://HUSH@bucket", "slow://me:HU@SH@host", "sftp://me:123/HUSH@h:22/a:b"),
    *("file:///ID:HUSH@folder", "s3://:HUSH@bucket", "S3://HUSH@bucket/a", "gs://HUSH@bucket"),
]
HARMLESS = [
    *("http://localhost:8000/v1", "sftp://me@host/store", "C:/Users/me@home/x.csv", "a?key=b"),
    *("results/s3/run@1", "data/gs/conceptnet@2024.tsv", "mlx:org/phi@main", "a@b:c"),
    *("sftp://me@host:22/a:b", "abfs://container@account.net/x", "s3://bucket/it/a@b"),
]


def test_an_address_with_a_secret_is_known() -> None:
    """Also a misspelt one; a port, a user of SFTP or a path is none."""
    assert [one for one in SECRETS if not holds_secret(one)] == []
    assert [one for one in HARMLESS if holds_secret(one)] == []


@pytest.mark.parametrize("address", [SECRETS[0], SECRETS[5]])
def test_an_address_with_a_secret_is_repeated_nowhere(
    address: str, workplace: Path, tacit: Tacit, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given as an option, in a suite's file, in Python, or in the environment."""
    things = str(api.demo_data("drawings"))
    asked = ("run", "parts", "--drawings", things, "--out", "run")
    said = [
        tacit(*asked, "--model", address).err,
        tacit(*asked, "--model", "demo", "--store", address).err,
        tacit(*asked, f"--model={address}").err,
        tacit("check", address).err,
        tacit("report", "run", "--out", address).err,
    ]
    for key, value in (("model", address), ("adapter", address)):
        file = written(workplace, models=[{"model": "demo", key: value}])
        said.append(tacit("suite", file).err)
    file = written(workplace, runs=[{**PARTS, "drawings": address}])
    said.append(tacit("suite", file).err)
    for call in (
        lambda: api.run("parts", model=address, drawings=things, progress=False),
        lambda: api.Store(address),
        lambda: api.load_model(address),
    ):
        with pytest.raises(api.TacitError) as refused:
            call()
        said.append(str(refused.value))
    monkeypatch.setenv("TACIT_STORE", address)
    said.append(tacit(*asked, "--model", "demo").err)
    assert all(said)
    assert not any("s-word" in one for one in said)
    assert not [path for path in workplace.rglob("*") if "s-word" in str(path)]


def test_aliases_that_repeat_or_contain_themselves(workplace: Path, tacit: Tacit) -> None:
    """A suite that would be endless is read to its end, and refused in a line."""
    nested = "a0: &a0 [x]\n" + "".join(
        f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 12)
    )
    for text in ("family: &a [*a]\n", f"models: &a [{{model: demo}}, *a]\n{nested}"):
        file = workplace / "suite.yaml"
        file.write_text(f"runs: [{{probe: parts}}]\n{text}")
        refused = tacit("suite", str(file))
        assert refused.code == 2
        assert "Traceback" not in refused.err


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["repair", "ray"])
def test_programs_in_the_current_folder_are_not_run(
    engine: str, workplace: Path, trace: Path
) -> None:
    """By no worker either, whose Python would look there first."""
    if engine == "ray":
        pytest.importorskip("ray", reason="the extra ray is not installed")
    for name in ("numpy", "torch", "tacit", "polars", "transformers"):
        (workplace / f"{name}.py").write_text(f"import os; os.mkdir({str(trace)!r})\n")
    draw = random.Random(0)  # noqa: S311 - no secret
    parts = [f"part{at}" for at in range(26)]
    rows = [
        f"t{thing},{a},{relation},{b},{draw.random():.4f}"
        for thing in range(2)
        for a in parts
        for b in parts
        for relation in ("above", "next to", "surrounds")
        if a != b
    ]
    header = "thing,subject,relation,object,p_true"
    (workplace / "hard.csv").write_text("\n".join([header, *rows]) + "\n")
    asked = {
        "repair": ["repair", "hard.csv", "--out", "r.csv", "--time-limit", "3"],
        "ray": [
            *("run", "parts", "--model", "demo", "--drawings", str(api.demo_data("drawings"))),
            *("--limit", "1", "--engine", "ray", "--workers", "1", "--out", "run"),
        ],
    }
    # As the script `tacit` starts: without the current folder.
    started = [sys.executable, "-P", "-c", "from tacit.cli import main; main()", *asked[engine]]
    ran = subprocess.run(
        started, cwd=workplace, env=dict(os.environ), capture_output=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert not trace.exists()
    if engine == "ray":
        manifest = json.loads((workplace / "run" / "manifest.json").read_text(encoding="utf-8"))
        assert (manifest["engine"]["kind"], manifest["engine"]["workers"]) == ("ray", 1)
