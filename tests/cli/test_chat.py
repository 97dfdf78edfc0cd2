"""Models that are tuned for chat, from the command line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.models import chatting, tiny

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Tacit


@pytest.fixture
def drawings(workplace: Path) -> Path:
    """One drawing of two parts."""
    path = workplace / "annotations-0.tsv"
    path.write_text("me\tpeach\t---\tstone\tinside\tflesh\n", encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def talker(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny model with a chat template."""
    return chatting.save("gemma", tmp_path_factory.mktemp("talker"))


def test_a_run_as_a_chat_says_so_and_is_another_run(
    tacit: Tacit, talker: Path, drawings: Path, workplace: Path
) -> None:
    """In its request and its manifest; the store gives it none of the plain run's scores."""
    common = ("--drawings", drawings, "--model", talker, "--device", "cpu", "--json")
    ran = tacit("run", "parts", *common, "--out", "plain")
    assert ran.code == 0, ran.err
    ran = tacit("run", "parts", *common, "--chat", "--out", "chat")
    assert ran.code == 0, ran.err
    plain, chat = (
        json.loads((workplace / out / "manifest.json").read_text())["model"]
        for out in ("plain", "chat")
    )
    assert plain["obtained"] == "log-probabilities of whole answers"
    assert chat["obtained"] == "log-probabilities of whole answers, in chat"
    assert plain["fingerprint"] != chat["fingerprint"]
    assert "chat: true" in (workplace / "chat" / "run.yaml").read_text()
    assert "chat: " not in (workplace / "plain" / "run.yaml").read_text()
    ran = tacit("run", "parts", *common, "--out", "chat")
    assert ran.code == 2


def test_what_a_chat_gives_a_model_is_shown(tacit: Tacit, talker: Path, drawings: Path) -> None:
    """Token by token, the reply's in brackets."""
    options = ("--drawings", drawings, "--model", talker, "--first", 1)
    ran = tacit("show", "prompts", "parts", *options, "--chat")
    assert ran.code == 0, ran.err
    assert "input: <s> <start_of_turn> " in ran.out
    assert " Ċ [True]\n" in ran.out


def test_a_model_without_a_template_is_refused_in_one_line(
    tacit: Tacit, drawings: Path, workplace: Path
) -> None:
    """It was asked for what it cannot do: exit code 2."""
    folder = tiny.save("gpt2", workplace / "gpt2")
    ran = tacit("run", "parts", "--drawings", drawings, "--model", folder, "--chat", "--out", "r")
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "no chat template" in ran.err
    assert not (workplace / "r").exists()


def test_a_server_takes_no_template_from_here(
    tacit: Tacit, drawings: Path, workplace: Path
) -> None:
    """It has its own."""
    ran = tacit(
        *("run", "parts", "--drawings", drawings, "--model", "http://h/v1"),
        *("--chat", "--out", workplace / "r"),
    )
    assert ran.code == 2
    assert "--chat is for models in this process" in ran.err
