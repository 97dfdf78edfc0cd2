"""Every command and every line of Python in the README and on the page of commands works."""

import gzip
import json
import re
import shlex
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tacit.cli import main
from tacit.models.registry import folder_of
from tacit.sources.drawings import demo_drawings
from tests.cli.test_server import Terminal
from tests.models import chatting, tiny, worded
from tests.models.openai.model import Toy
from tests.models.openai.serving import serving
from tests.sources.site import serve_drawings, served

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


@pytest.fixture(scope="module")
def workplace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A working folder with what the README's user has: models, drawings, norms, a dump."""
    folder = tmp_path_factory.mktemp("readme")
    shutil.copytree(folder_of("demo"), folder / "gpt2")
    for seed, name in enumerate(("bert-base-cased", "roberta-base")):
        worded.build(folder / name, ("bear", "fox", "person", "country"), "masked", seed)
    shutil.copytree(demo_drawings(), folder / "everyday-things")
    facts = "".join(ASSERTION.format(*fact, '{"weight": 1.0}') for fact in FACTS)
    (folder / "conceptnet-assertions-5.7.0.csv.gz").write_bytes(gzip.compress(facts.encode()))
    beliefs = "roots\tabove\ttrunk\t0.9\ntrunk\tabove\troots\t0.6\n"
    columns = "domain\tfeature type\tconcept\tfeature\tpf\tfeature alternatives\tparticipant list\n"
    rows = [f"animal\tfunctional\tbear\thas part{n}\t{20 - n}\t\t\n" for n in range(10)]
    for name, text in {
        "dev.jsonl": json.dumps(QUESTION) + "\n",
        "prompts.jsonl": '{"text": "The trunk is above the", "answers": ["roots", "it"]}\n',
        "beliefs.tsv": f"subject\trelation\tobject\tp_true\n{beliefs}",
        "norms.dat": columns + "".join(rows),
    }.items():
        (folder / name).write_text(text, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch, served(patch) as site:
        patch.delenv("TACIT_STORE", raising=False)
        patch.setenv("XDG_DATA_HOME", str(folder / "data"))
        serve_drawings(site, patch)
        yield folder


@pytest.fixture(autouse=True)
def _there(workplace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(workplace)


@pytest.fixture(scope="module")
def done() -> set[str]:
    """The commands that have been run."""
    return set()


def test_the_readme_shows_every_verb_that_there_is_to_show() -> None:
    assert {command.split()[1] for command in COMMANDS} == {
        *("get", "list", "run", "suite", "score", "check", "repair", "show", "reproduce", "kb"),
        *("report", "compare", "export"),
    }
    assert len(ELSEWHERE) == 4


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.slow
def test_a_command_of_the_readme_works(
    command: str, done: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It ends well after those above it, and what it writes is there."""
    for line in COMMANDS[: COMMANDS.index(command) + 1]:
        if line not in done:
            given(line, monkeypatch)
            done.add(line)


def given(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = shlex.split(line)
    monkeypatch.setattr(sys, "argv", arguments)
    with pytest.raises(SystemExit) as stopped:
        main()
    assert not stopped.value.code
    if "--out" in arguments:
        assert Path(arguments[arguments.index("--out") + 1]).exists()


@pytest.fixture
def elsewhere(
    workplace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[dict[str, str]]:
    """A drawing, a model with a chat template, a chat server, a cluster; addresses for theirs."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gpt2").symlink_to(workplace / "gpt2")
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
