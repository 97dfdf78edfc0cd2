"""inspect_ai: the probes as its tasks, asked at a server, and its logs as a model."""

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import tacit
from tacit.errors import DataError

pytest.importorskip("inspect_ai", reason="the extra inspect is not installed")
pytestmark = pytest.mark.filterwarnings("ignore")


class Answering(BaseHTTPRequestHandler):
    """A server that returns the log-probabilities of prompts as vLLM does, of transformers' own."""

    tokenizer: Any
    model: Any
    scores: bool = True

    def do_POST(self) -> None:
        import torch

        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        assert (self.path, body["max_tokens"], body["prompt_logprobs"]) == ("/v1/completions", 1, 1)
        ids = self.tokenizer(body["prompt"]).input_ids
        with torch.no_grad():
            logits = self.model(torch.tensor([ids])).logits[0].double()
        found = logits.log_softmax(-1)
        scored = [
            {str(token): {"decoded_token": self.tokenizer.decode([token]), "logprob": value}}
            for at, token in enumerate(ids[1:])
            for value in [found[at, token].item()]
        ]
        choice = {"index": 0, "text": " a", "finish_reason": "length", "logprobs": None}
        if self.scores:
            choice["prompt_logprobs"] = [None, *scored]
        usage = {"prompt_tokens": len(ids), "completion_tokens": 1, "total_tokens": len(ids) + 1}
        about = {"id": "1", "object": "text_completion", "created": 0, "model": "demo"}
        content = json.dumps({**about, "choices": [choice], "usage": usage}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002, ANN401 - the library's names
        """Print nothing."""


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Answering]]:
    """A server with the demo model, which inspect_ai finds as the service "own"."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from tacit.models.registry import folder_of

    class Demo(Answering):
        tokenizer = AutoTokenizer.from_pretrained(folder_of("demo"))
        model = AutoModelForCausalLM.from_pretrained(folder_of("demo"), dtype="float32")

    made = ThreadingHTTPServer(("127.0.0.1", 0), Demo)
    threading.Thread(target=made.serve_forever, daemon=True).start()
    monkeypatch.setenv("OWN_BASE_URL", f"http://127.0.0.1:{made.server_port}/v1")
    monkeypatch.setenv("OWN_API_KEY", "none")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    yield Demo
    made.shutdown()
    made.server_close()


EVALUATE = """
import json, sys
from inspect_ai import eval
from tacit.runs.exports.inspect_ai import TASKS
task = TASKS["parts"](**json.loads(sys.argv[1]))
eval(task, model="openai-api-completions/own/demo", log_dir=sys.argv[2], display="none")
"""


def asked(out: Path, **options: Any) -> str:  # noqa: ANN401 - any options
    """The name of the model in the log of an evaluation, in a process of its own."""
    given = json.dumps({"drawings": str(tacit.demo_data("drawings")), **options})
    words = [sys.executable, "-c", EVALUATE, given, str(out)]
    ran = subprocess.run(words, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr[-2000:]
    (log,) = out.glob("*.eval")
    return f"inspect:{log}"


def test_a_log_has_the_findings_of_our_own_run(tmp_path: Path, server: type[Answering]) -> None:
    """Beliefs, violations and repair."""
    assert server.scores
    few = {"things": "lantern", "fast": True}
    model = asked(tmp_path / "logs", **few)
    given = {"drawings": tacit.demo_data("drawings"), "store": tmp_path / "store", **few}
    ours, theirs = (tacit.run("parts", model=m, progress=False, **given) for m in ("demo", model))
    assert theirs.metrics == pytest.approx(ours.metrics, abs=1e-4)
    off = (ours.questions["p_true"] - theirs.questions["p_true"]).abs().max()
    assert isinstance(off, float)
    assert off < 1e-4


def test_what_is_no_such_log_is_refused(tmp_path: Path, server: type[Answering]) -> None:
    """A server that returns no log-probabilities of prompts, and a file of another kind."""
    server.scores = False
    model = asked(tmp_path / "logs", things="lantern", fast=True, limit=1)
    with pytest.raises(DataError, match="has no log-probabilities of its prompt"):
        tacit.load_model(model)
    other = tmp_path / "other.eval"
    other.write_text("no", encoding="utf-8")
    with pytest.raises(DataError, match="cannot be read as a log of inspect_ai"):
        tacit.load_model(f"inspect:{other}")
