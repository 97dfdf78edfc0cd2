"""A request that cannot be met ends with exit code 2 and one line, and writes nothing."""

import shlex
import shutil
from pathlib import Path

import pytest

from tacit.runs.folder import RunFolder
from tacit.sources.demo import NORMS
from tacit.sources.drawings import demo_drawings
from tests.cli.conftest import Tacit
from tests.report.conftest import parts_run
from tests.runs.suite.suites import knowledge, written

PARTS = "run parts --drawings things --out out"
DEMO = f"{PARTS} --model demo"
SERVER = "--model http://127.0.0.1:9/v1"
CONSISTENCY = "run consistency --questions questions.csv --kb small.kb --model demo --out out"
ASSUMPTIONS = "run assumptions --norms norms.dat --out out"
SCORE = "score prompts.jsonl --out scores.jsonl"
REFUSED = {
    # models
    PARTS: "give either a model or a file of beliefs",
    f"{DEMO} --beliefs beliefs.tsv": "give either a model or a file of beliefs",
    f"{DEMO} --model demo": "given twice",
    f"{DEMO} --model ./nowhere": "there is no such model folder",
    f"{DEMO} --model no/such-model": "no/such-model: there is no folder of this name",
    f"{SCORE} --model empty": "contains no config.json",
    f"{DEMO} --revision main": "demo is on this machine, and --revision chooses a version",
    f"{DEMO} --family other=opt": "names 'other', but no model is named so",
    f"{DEMO} --device toaster": "cannot be used here",
    f"{DEMO} --samples 3": "--samples and --thinking-tokens require --api chat",
    f"{DEMO} --api chat": "use --chat for a model in this process",
    f"{DEMO} --workers 2": "--workers requires --engine ray",
    f"{DEMO} --engine ray --device cuda:1": "--device is cuda:1",
    f"{PARTS} {SERVER} --engine ray": "--engine ray applies only to models that Tacit loads",
    f"{PARTS} {SERVER} --chat --dtype bf16": "--dtype and --chat: only for models in this process",
    f"{PARTS} {SERVER} --model demo --chat": "--chat, --adapter and --device-map apply only to",
    f"{PARTS} {SERVER} --api chat --thinking-tokens few": "must be a number of tokens, or all",
    f"{ASSUMPTIONS} {SERVER} --yes": "use --elicitation named-tokens --tokenizer PATH",
    f"{PARTS} {SERVER} --elicitation telepathy": "must be auto, ",
    f"{PARTS} {SERVER} --price-in 2": "--price-in and --price-out require each other",
    f"{PARTS} {SERVER} --elicitation votes": "--elicitation votes requires --samples N",
    f"{PARTS} {SERVER} --elicitation named-tokens": "requires --tokenizer PATH",
    f"{PARTS} {SERVER} --elicitation echo --samples 3": "require --api chat",
    f"{PARTS} {SERVER} --elicitation first-tokens --samples 3": "contradicts --elicitation",
    f"{CONSISTENCY} {SERVER} --api chat --samples 3": "--anchors verify",
    # beliefs
    "check beliefs.tsv --violations beliefs.tsv": "is an input file",
    "repair beliefs.tsv --out r.tsv --assignment beliefs.tsv": "is an input file",
    # output
    f"{DEMO} --store prompts.jsonl": "prompts.jsonl is a file; expected a folder for the store",
    f"{DEMO} --out things": "contains files but no run",
    f"{DEMO} --out prompts.jsonl/out": "prompts.jsonl is a file; expected a folder for the run",
    f"{DEMO} --out runs": "runs contains other runs, such as runs/one: choose another folder",
    f"{DEMO} --out unfinished": "(probe: 'assumptions' there, 'parts' now)",
    f"{DEMO} --out runs/one": "contains a run with different options (api: None there",
    f"{DEMO} --graphs peach": "--graphs requires --figures",
    f"{DEMO} --figures svg --graphs moon": "no drawing of moon",
    "run parts --drawings things --model demo": "--out is missing",
    "run part": "there is no probe 'part'; expected parts, consistency, assumptions, or",
    "run --model demo": "name one of parts, consistency, assumptions first",
    "show prompts parts --drawings things --model demo --graphs peach": "No such option",
    "show prompts --model demo": "as in: tacit show prompts parts --model MODEL",
    f"{DEMO},demo": "given twice",
    # files of options
    f"{DEMO} --config none.yaml": "none.yaml: there is no such file",
    f"{DEMO} --config misspelt.yaml": "unknown key limt; expected probe, drawings",
    f"{DEMO} --config permits.yaml": "counts only on the command line: give --trust-remote-code",
    f"{DEMO} --config list.yaml": "expected a mapping of options to values",
    f"{DEMO} --config wrong.yaml": "Invalid value for '--limit'",
    f"{CONSISTENCY} --config runs/one/run.yaml": "options of another probe than consistency",
    "run parts --config keyed.yaml": "variable TACIT_API_KEY",
    # options of probes
    f"{DEMO} --preset fancy": "is not one of 'plain'",
    f"{PARTS} --beliefs prompts.jsonl --dry-run": "a dry run needs a model",
    f"{CONSISTENCY} --answering single": "single requires a meta-prompt",
    f"{CONSISTENCY} --context-facts 1": "--context-facts sets the facts of --intervene",
    f"{ASSUMPTIONS} --model demo-masked --least 40": "fewer than 40 usable properties",
    # other commands
    f"{SCORE} --model demo --batch-tokens 0": "greater than or equal to 1",
    "score prompts.jsonl --model demo --out s.txt": "unsupported suffix '.txt'; expected .jsonl",
    "kb import . --out x.kb": "this is a folder: name its files",
    "kb import triples.tsv --out triples.tsv": "is an input file",
    "kb facts small.kb": "either a question or a file",
    "kb facts small.kb 'A dog' --questions questions.csv": "either a question or a file",
    "kb facts small.kb 'What?' one": "requires at least two",
    "kb facts small.kb 'What?' one ' '": "is empty",
    "show statements things --out things/annotations-7.tsv": "choose another name",
    "get conceptnet5": "did you mean conceptnet?",
    f"show prompts parts --drawings none {SERVER}": "is a server, which does not show",
    "show prompts assumptions --norms none.tsv --model demo": "CSLB (",
    "show anchor runs/one q1": "contains a run of the probe parts",
    "show anchor empty q1": "contains no run",
    "reproduce consistency --questions q --kb k --anchors verify": "No such option",
    "reproduce parrot --drawings things --model demo --beliefs b.tsv": "--model or --beliefs",
    "reproduce sta runs/one": "tacit run assumptions",
    "reproduce sta runs": "contains several runs: give one of them",
    "reproduce sta unfinished": "contains a run that is unfinished",
    "export eee runs/one --organization us --relationship x --out results": "'x' is not one of",
    "export hf runs/one --dataset bench --out results": "expected ORG/NAME",
    "export eee runs/one --organization us --out prompts.jsonl": "is a file; expected a folder",
    "predict runs/one Where? --choices a,b": "a prediction needs a run of consistency",
    "predict none Where? --choices a,b": "none does not exist",
    "report prompts.jsonl": "prompts.jsonl is a file; expected the folder of a run",
    "compare runs/one": "nothing to compare",
    "suite suite.yaml --set limit": "is not OPTION=VALUE, such as --set limit=10",
    "suite suite.yaml --set limit=1 --set limit=2": "is given twice",
}


CONFIGS = {
    "misspelt": "limt: 3\n",
    "permits": "trust_remote_code: true\n",
    "list": "- limit\n",
    "wrong": "limit: few\n",
    "keyed": "model: http://me:secret@127.0.0.1:9/v1\n",
}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the requests name."""
    folder = tmp_path_factory.mktemp("data")
    written(folder)  # a suite
    (folder / "small.kb").symlink_to(knowledge())
    (folder / "things").unlink()
    shutil.copytree(demo_drawings(), folder / "things")
    shutil.copy(NORMS, folder / "norms.dat")
    (folder / "empty").mkdir()
    (folder / "prompts.jsonl").write_text('{"text": "A cat is", "answers": ["big"]}\n')
    (folder / "beliefs.tsv").write_text("subject\trelation\tobject\tp_true\na\tabove\tb\t0.9\n")
    (folder / "triples.tsv").write_text("IsA\tdog\tanimal\n")
    (folder / "questions.csv").write_text("question,choices,answer\nWhat wags?,dog|tail,dog\n")
    for name, text in CONFIGS.items():
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    parts_run(folder / "runs" / "one")
    parts_run(folder / "runs" / "two")
    RunFolder(folder / "unfinished", {"probe": "assumptions"}).begin({"model": {}})
    return folder


@pytest.mark.parametrize("request_", REFUSED)
def test_what_cannot_be_done_is_refused(
    tacit: Tacit, data: Path, monkeypatch: pytest.MonkeyPatch, request_: str
) -> None:
    """The reason is in the last line, which is the only one of Tacit's own."""
    monkeypatch.delenv("TACIT_STORE", raising=False)
    monkeypatch.chdir(data)
    before = sorted(data.rglob("*"))
    ran = tacit(*shlex.split(request_))
    assert (ran.code, ran.out) == (2, ""), ran.err
    assert REFUSED[request_] in ran.err.splitlines()[-1]
    assert ran.err.count("\n") == 1 or ran.err.startswith("Usage: ")
    assert sorted(data.rglob("*")) == before


VERBS = {
    "score": "score none.jsonl --out s.jsonl",
    "score by Ray": "score none.jsonl --out s.jsonl --engine ray",
    "score in a chat": "score none.jsonl --out s.jsonl --api chat --dry-run",
    "run": "run parts --drawings none --out a",
    "run of two": "run parts --drawings none --out a --model demo",
    "reproduce": "reproduce parrot --drawings none",
    "show": "show prompts assumptions --norms none",
    "predict": "predict none What? --choices a,b",
}
"""Each command that takes --model."""


@pytest.mark.parametrize("verb", VERBS)
def test_an_address_with_a_key_is_refused_without_being_shown(
    tacit: Tacit, workplace: Path, verb: str
) -> None:
    """By every command, before it names the model, or reads, writes or asks anything."""
    ran = tacit(*shlex.split(VERBS[verb]), "--model", "http://me:secret@127.0.0.1:9/v1")
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "variable TACIT_API_KEY" in ran.err
    assert "cret" not in ran.err + ran.out
    assert not list(workplace.iterdir())
