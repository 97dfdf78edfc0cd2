"""Every command and every line of Python in the README and on the page of commands works."""

from __future__ import annotations

import gzip
import io
import json
import re
import shlex
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tacit.cli import main
from tacit.knowledge.build import KnowledgeSource
from tacit.knowledge.build import build as build_base
from tacit.models.registry import folder_of
from tacit.sources.drawings import demo_drawings
from tacit.sources.dumps import Dump
from tests.models import chatting, tiny, worded
from tests.models.openai.model import Toy
from tests.models.openai.serving import serving
from tests.sources.site import Site, serve_drawings, served

ROOT = Path(__file__).parents[1]
BLOCKS = [
    block
    for page in ("README.md", "docs/reference/cli.md")
    for block in re.findall(r"```(\w+)\n(.*?)```", (ROOT / page).read_text("utf-8"), re.DOTALL)
]


def commands(of: str) -> list[str]:
    lines = [line for language, block in BLOCKS if language == of for line in block.splitlines()]
    return [line.split("#")[0].strip() for line in lines if line.startswith("tacit ")]


DEMO = "tacit demo --no-open"
COMMANDS = [command for command in commands("sh") if command != DEMO]
ELSEWHERE = commands("text")
"""These need a server or a cluster."""
PYTHON = [block for language, block in BLOCKS if language == "python"]


ASSERTION = "/a/x\t/r/{}\t/c/en/{}\t/c/en/{}\t{}\n"
FACTS = [
    ("AtLocation", "dog", "kennel"),
    ("UsedFor", "kennel", "sleep"),
    ("IsA", "kennel", "house"),
]
QUESTION = {
    "id": "q1",
    "question": "Where does a dog sleep?",
    "question_concept": "dog",
    "choices": {"label": ["A", "B"], "text": ["kennel", "tree"]},
    "answerKey": "A",
}
# What reads a run comes after the command that makes it.
CONSISTENCY, ASSUMPTIONS = (
    next(command for command in COMMANDS if command.startswith(f"tacit run {probe}"))
    for probe in ("consistency", "assumptions")
)
AFTER = {
    "tacit run parts --model gpt2 --limit": ("tacit get everyday-things",),
    "tacit suite papers": ("tacit get everyday-things",),
    "tacit show anchor": (CONSISTENCY,),
    "tacit reproduce sta": (ASSUMPTIONS,),
    "tacit report": (CONSISTENCY, ASSUMPTIONS),
    "tacit compare": (ASSUMPTIONS,),
}


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    with served(monkeypatch) as made:
        yield made


@pytest.fixture(autouse=True)
def knowledge(tmp_path: Path) -> None:
    """A dump in ConceptNet's layout, what the README makes of it, and questions."""
    lines = "".join(ASSERTION.format(*fact, '{"weight": 1.0}') for fact in FACTS)
    dump = tmp_path / "conceptnet-assertions-5.7.0.csv.gz"
    dump.write_bytes(gzip.compress(lines.encode()))
    build_base(KnowledgeSource([Dump(dump)]), tmp_path / "conceptnet.kb")
    (tmp_path / "dev.jsonl").write_text(json.dumps(QUESTION) + "\n", encoding="utf-8")


@pytest.fixture(autouse=True)
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, site: Site) -> None:
    """A working folder with what the README's user has: a model, drawings, prompts, beliefs."""
    monkeypatch.delenv("TACIT_STORE", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    serve_drawings(site, monkeypatch)
    monkeypatch.chdir(tmp_path)
    shutil.copytree(folder_of("demo"), tmp_path / "gpt2")
    for seed, name in enumerate(("bert-base-cased", "roberta-base")):
        worded.build(tmp_path / name, ("bear", "fox", "person", "country"), "masked", seed)
    shutil.copytree(demo_drawings(), tmp_path / "everyday-things")
    prompts = '{"text": "In a tree, trunk is above the", "answers": ["roots", "crown"]}\n'
    (tmp_path / "prompts.jsonl").write_text(prompts, encoding="utf-8")
    beliefs = (
        "subject\trelation\tobject\tp_true\nroots\tabove\ttrunk\t0.9\ntrunk\tabove\troots\t0.6\n"
    )
    (tmp_path / "beliefs.tsv").write_text(beliefs, encoding="utf-8")
    columns = "domain\tfeature type\tconcept\tfeature\tpf\tfeature alternatives\tparticipant list\n"
    rows = [f"animal\tfunctional\tbear\thas part{n}\t{20 - n}\t\t\n" for n in range(10)]
    (tmp_path / "norms.dat").write_text(columns + "".join(rows), encoding="utf-8")


def test_the_readme_shows_every_verb_that_there_is_to_show() -> None:
    assert {command.split()[1] for command in COMMANDS} == {
        *("get", "list", "run", "suite", "score", "check", "repair", "show", "reproduce", "kb"),
        *("report", "compare", "export"),
    }
    assert len(ELSEWHERE) == 4


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.slow
def test_a_command_of_the_readme_works(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It ends well, and what it writes is there; one that reads a run comes after the run."""
    before = next((of for reads, of in AFTER.items() if command.startswith(reads)), ())
    for line in (*before, command):
        given(line, monkeypatch)


def given(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = shlex.split(line)
    monkeypatch.setattr(sys, "argv", arguments)
    with pytest.raises(SystemExit) as stopped:
        main()
    assert not stopped.value.code
    if "--out" in arguments:
        assert Path(arguments[arguments.index("--out") + 1]).exists()


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, str]]:
    """A drawing, a model with a chat template, a chat server, a cluster; addresses for theirs."""
    shutil.rmtree(tmp_path / "everyday-things")
    (tmp_path / "everyday-things").mkdir()
    drawing = tmp_path / "everyday-things" / "annotations-0.tsv"
    drawing.write_text("me\tpeach\t---\tstone\tinside\tflesh\n", encoding="utf-8")
    chatting.save("gemma", tmp_path / "path" / "to" / "model")
    for name in ("TACIT_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    monkeypatch.setattr("sys.stdin", Terminal("y\n"))
    with serving(Toy(tiny.gpt2_like().backend_tokenizer)) as server:
        yield {
            "http://localhost:8000/v1": server.address,
            "s3://bucket/scores": f"local://{tmp_path}/scores",
        }


@pytest.mark.parametrize("command", ELSEWHERE)
@pytest.mark.slow
def test_a_command_of_the_readme_works_elsewhere(
    command: str,
    elsewhere: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    """As it stands, but for the addresses of server and bucket; what it writes is there."""
    if "--engine ray" in command:
        ray = pytest.importorskip("ray", reason="the extra ray is not installed")
        request.addfinalizer(ray.shutdown)
        ray.init(address="local", num_cpus=1, include_dashboard=False, log_to_driver=False)
    for theirs, ours in elsewhere.items():
        command = command.replace(theirs, ours)
    given(command, monkeypatch)


@pytest.mark.parametrize("block", PYTHON)
def test_the_python_of_the_readme_works(
    block: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It prints nothing, or a log-probability."""
    given("tacit get everyday-things", monkeypatch)
    capsys.readouterr()
    exec(compile(block, "README.md", "exec"), {})  # noqa: S102 - our own README
    printed = capsys.readouterr().out
    assert not printed or float(printed) < 0


@pytest.mark.slow
def test_the_readme_shows_what_the_demo_prints(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Line by line; on another processor, the last digits of numbers may differ."""
    (shown,) = (block for language, block in BLOCKS if language == "text" and "Planted" in block)
    assert DEMO in commands("sh")
    given(DEMO, monkeypatch)
    printed = [line for line in capsys.readouterr().out.splitlines() if line[:7] != "Report:"]
    assert [masked(line) for line in printed] == [masked(line) for line in shown.splitlines()]
    assert printed[-1] == shown.splitlines()[-1]
    assert Path("tacit-demo", "report.html").is_file()


def masked(line: str) -> str:
    """The words of a line, each number as a mark."""
    return re.sub("[0-9][0-9.,\u2212]*", "#", line.replace("\N{NO-BREAK SPACE}", " "))
