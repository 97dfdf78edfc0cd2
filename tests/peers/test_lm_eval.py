"""EleutherAI's lm-evaluation-harness, version 0.4.13: HFLM.loglikelihood."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import cast

import pytest

import tacit
from tacit.errors import PromptError
from tacit.models.huggingface.seq2seq import Seq2SeqModel
from tacit.options import build
from tacit.requests import Prompt
from tests.fetched_data import CSQA, needs_csqa
from tests.models import plain, tiny

Made = Callable[[str], "Both"]

# What it imports, and how, is its own affair.
pytestmark = pytest.mark.filterwarnings("ignore")

TOLERANCE = 1e-3


TREE = "In a tree, the trunk is above the roots. True or False?"
PROMPTS = [
    Prompt(TREE, ("True", "False", "Trues", "birdhouse", "it is a bird, a tree and the eggs")),
    Prompt("A bear has", ("fur", "claws", "a birdhouse", "it")),
    Prompt("Question: is it?\nAnswer:", ("yes", "no", "it is"), " "),
    Prompt("Question: is it?", ("yes", "no", "True"), "\n"),
    Prompt("", ("True", "bird", "In a tree")),
    Prompt("", ("True", "bird", "🐦"), ""),
    Prompt("Something that has wings is called a bird", ("house", "bath", "s"), ""),
]


class Both:
    """One tiny model in Tacit and in the harness."""

    def __init__(self, name: str, folder: Path) -> None:
        from lm_eval.models.huggingface import HFLM

        self.name = name
        self.folder = tiny.save(name, folder)
        self.ours = tiny.load(self.folder)
        self.theirs = HFLM(pretrained=str(self.folder), device="cpu", dtype="float32", batch_size=4)

    def ask_them(self, context: str, continuation: str) -> float:
        """Their log-probability of one continuation."""
        from lm_eval.api.instance import Instance

        request = Instance("loglikelihood", {}, (context, continuation), 0)
        ((value, _),) = self.theirs.loglikelihood([request], disable_tqdm=True)
        return float(value)

    def pairs(self, prompts: list[Prompt]) -> Iterator[tuple[Prompt, str, float, float]]:
        """Prompt, answer, our log-probability and theirs; not where a token spans the boundary."""
        for prompt, score in zip(prompts, self.ours.answer(prompts), strict=True):
            for one in score.answers:
                if one.logprob is not None and not one.spanned:
                    continuation = prompt.separator + one.answer
                    if self.ours.kind == "seq2seq":
                        continuation = one.answer
                    yield prompt, one.answer, one.logprob, self.ask_them(prompt.text, continuation)


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """A tiny model in both, made at its first use."""
    return cache(lambda name: Both(name, tmp_path_factory.mktemp(name)))


@pytest.mark.parametrize(
    "name", ["gpt2", "gpt-neo", "gpt-neox", "opt", "llama", "mistral", "gemma3"]
)
def test_causal(name: str, both: Made) -> None:
    """Equal for every answer, whether the separator is a token of its own or not."""
    pairs = list(both(name).pairs(PROMPTS))
    assert len(pairs) > 20
    for prompt, answer, ours, theirs in pairs:
        assert ours == pytest.approx(theirs, abs=TOLERANCE), (prompt, answer)


@needs_csqa
def test_all_choices_of_the_demo_model(tmp_path: Path) -> None:
    """Equal for every choice of CommonsenseQA, also where the space is a token of its own."""
    from lm_eval.api.instance import Instance
    from lm_eval.models.huggingface import HFLM

    from tacit.models.registry import folder_of

    rows = [json.loads(line) for line in CSQA.read_text(encoding="utf-8").splitlines()]
    prompts = [
        Prompt(f"Question: {row['question']}\nAnswer:", tuple(row["choices"]["text"]))
        for row in rows
    ]
    shutil.copytree(folder_of("demo"), tmp_path / "demo")
    ours = tiny.load(tmp_path / "demo")
    scores = [one for score in ours.answer(prompts) for one in score.answers]
    asked = [(prompt.text, f" {answer}") for prompt in prompts for answer in prompt.answers]
    model = HFLM(pretrained=str(tmp_path / "demo"), device="cpu", dtype="float32", batch_size=64)
    requests = [Instance("loglikelihood", {}, pair, 0) for pair in asked]
    theirs = [value for value, _ in model.loglikelihood(requests, disable_tqdm=True)]
    off = [abs((one.logprob or 0) - value) for one, value in zip(scores, theirs, strict=True)]
    assert len(off) == 6105
    assert max(off) < TOLERANCE


@pytest.mark.parametrize("name", ["t5", "flan-t5"])
def test_seq2seq(name: str, both: Made) -> None:
    """Equal: the encoder reads the text with its end token, the decoder starts with its own."""
    pairs = list(both(name).pairs(PROMPTS[:5]))
    off = [abs(ours - theirs) for _, _, ours, theirs in pairs]
    assert len(off) > 10
    assert max(off) < TOLERANCE


def test_bart_without_its_beginning(both: Made) -> None:
    """The harness leaves out the <s> that begins what BART writes; without it both agree."""
    pair = both("bart")
    assert max(abs(ours - theirs) for _, _, ours, theirs in pair.pairs(PROMPTS[:4])) > 0.1
    model = cast("Seq2SeqModel", pair.ours)
    start = model._start
    assert tiny.tokenizer_of("bart").convert_ids_to_tokens(list(start)) == ["</s>", "<s>"]
    model._start = start[:1]
    try:
        off = [abs(ours - theirs) for _, _, ours, theirs in pair.pairs(PROMPTS[:4])]
    finally:
        model._start = start
    assert max(off) < TOLERANCE


def test_a_token_over_the_boundary(both: Made) -> None:
    """A token that holds the text's end and the answer's beginning: the harness mixes two strings.

    It takes the text's tokens alone, and behind them what the whole string has from that number on,
    which together are no tokens of the whole string. Tacit gives the token to the answer, and says
    that it is spanned.
    """
    pair = both("gpt2")
    tokenizer = tiny.tokenizer_of("gpt2")
    text, answer = "A bear has bra", "nches and claws"
    whole, alone = tokenizer(text + answer)["input_ids"], tokenizer(text)["input_ids"]
    assert whole[: len(alone)] != alone
    ours = pair.ours.answer([Prompt(text, (answer,), "")])[0].answers[0]
    assert ours.spanned
    reference = plain.load("gpt2", pair.folder)
    places = range(len(alone), len(whole))
    mixed = alone + whole[len(alone) :]
    cut = reference._read(reference._logits(mixed), mixed, places, -1)
    theirs = pair.ask_them(text, answer)
    assert theirs == pytest.approx(cut, abs=TOLERANCE)
    assert ours.tokens > len(places)
    assert ours.logprob is not None
    assert abs(ours.logprob - theirs) > 1


def test_a_special_token_that_a_text_spells_is_text_here(both: Made) -> None:
    """The harness reads it as the token; where a tokenizer can only do so, the text is refused."""
    spelled = Prompt("<s>In a tree is", ("bird", "roots"))
    for _, _, ours, theirs in both("opt").pairs([spelled]):
        assert ours != pytest.approx(theirs, abs=0.1)
    with pytest.raises(PromptError, match="would encode as a special token"):
        list(both("llama").pairs([spelled]))


def run_harness(folder: Path, tag: str, model: Path) -> Path:
    """The folder of samples of a tag's tasks, after the harness has found them all."""
    harness = [sys.executable, "-m", "lm_eval"]
    where = ["--tasks", tag, "--include_path", str(folder / "tasks")]
    asked = ["--model", "hf", "--model_args", f"pretrained={model},dtype=float32"]
    asked += ["--device", "cpu", "--batch_size", "32", "--log_samples"]
    for words in (
        ["validate", *where],
        ["run", *where, *asked, "--output_path", str(folder / "samples")],
    ):
        ran = subprocess.run([*harness, *words], capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stderr[-2000:]
    (found,) = (folder / "samples").iterdir()
    return found


@pytest.mark.parametrize("name", ["parts", "consistency"])
def test_a_harness_run_has_the_findings_of_our_own(tmp_path: Path, name: str) -> None:
    """Exported, run by the harness itself, and read back: beliefs, violations and consistency."""
    from tacit.models.registry import folder_of
    from tacit.probes.registry import probe
    from tacit.runs.exports.lm_eval import export

    model = shutil.copytree(folder_of("demo"), tmp_path / "demo")
    given = {"drawings": tacit.demo_data("drawings")}
    if name == "consistency":
        kb = tacit.build_kb(tacit.demo_data("facts"), tmp_path / "demo.kb")
        given = {"questions": tacit.demo_data("questions"), "kb": kb}
    kind, options = probe(name), {**given, "fast": True, "limit": 20}
    export(kind, build(kind.Options, options), tmp_path / "tasks")
    samples = run_harness(tmp_path, f"tacit_{name}", model)
    asked = {**options, "progress": False, "store": tmp_path / "store"}
    ours, theirs = (tacit.run(name, model=m, **asked) for m in ("demo", f"lm-eval:{samples}"))
    assert theirs.metrics == pytest.approx(ours.metrics, abs=1e-4)
    column = "p_true" if name == "parts" else "logprob"
    off = (ours.questions[column] - theirs.questions[column]).abs().max()
    assert isinstance(off, float)
    assert off < 1e-4
