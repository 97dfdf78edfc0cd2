"""``tacit run assumptions`` on small models that know the words of small norms."""

import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
import torch

from tests.cli.conftest import Ran, Tacit
from tests.models.worded import build

PARTS = ("legs", "arms", "eyes", "ears", "toes", "teeth", "nails", "bones", "skin", "hair")
CONCEPTS = ("bear", "fox", "seal", "cat", "horse")


def norms() -> str:
    """Five concepts with ten or eleven properties, and one that has a single one."""
    rows = [
        f"{concept}\thas {part}\t{20 - place}\tvisual perceptual"
        for concept in CONCEPTS
        for place, part in enumerate(PARTS)
    ]
    rows += [f"{concept}\tis a animal\t30\ttaxonomic" for concept in CONCEPTS]
    return "concept\tfeature\tpf\tcategory\n" + "\n".join([*rows, "owl\thas eyes\t3\t"]) + "\n"


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folders ``masked``, ``other`` and ``causal``, whose tokenizer has the norms' words."""
    folder = tmp_path_factory.mktemp("models")
    words = (*PARTS, *CONCEPTS, "animal", "person", "country", "home", "land", "owl")
    for seed, name in enumerate(("masked", "other", "causal")):
        build(folder / name, words, "causal" if name == "causal" else "masked", seed)
    return folder


@pytest.fixture
def run(tacit: Tacit, workplace: Path, models: Path) -> Callable[..., Ran]:
    """Runs the probe on named models, with an ``--out``."""
    (workplace / "norms.tsv").write_text(norms(), encoding="utf-8")

    def ran(out: str, *more: object, of: tuple[str, ...] = ("masked",)) -> Ran:
        named = [part for name in of for part in ("--model", models / name)]
        given = ("--norms", "norms.tsv", "--out", out, "--orders", "main", *named)
        return tacit("run", "assumptions", *given, *more)

    return ran


def test_models_are_compared_on_the_words_they_share(
    run: Callable[..., Ran], workplace: Path
) -> None:
    ran = run("runs", "--wording", "both", of=("masked", "other", "causal"))
    assert ran.code == 0, ran.err
    sizes = {
        pl.read_parquet(workplace / "runs" / name / "findings" / "vocabulary.parquet")[
            "shared"
        ].sum()
        for name in ("masked", "other", "causal")
    }
    assert len(sizes) == 1
    causal = pl.read_parquet(workplace / "runs" / "causal" / "findings" / "retrieval.parquet")
    assert set(causal["wording"]) == {"blank-last", "sentence"}
    together = pl.read_parquet(workplace / "runs" / "comparison.parquet")
    assert set(together["first"]) | set(together["second"])
    assert "Assumptions: from " in ran.out


def test_corrections_that_meet_no_property_are_named(
    run: Callable[..., Ran], workplace: Path, caplog: pytest.LogCaptureFixture
) -> None:
    own = "feature\twording\nhas legs\twalks on legs\nhas wheels\trolls\n"
    (workplace / "own.tsv").write_text(own, encoding="utf-8")
    assert run("run", "--corrections", "own.tsv", "--dry-run").code == 0
    assert "match no property (letter case matters): 'has wheels'" in caplog.text


def test_a_vocabulary_of_ones_own(run: Callable[..., Ran], workplace: Path) -> None:
    """Its words are the candidates of every model; what they lack is told; the words are saved."""
    (workplace / "words.txt").write_text("bear\nfox\nhair\nzebra\n", encoding="utf-8")
    ran = run("runs", "--vocabulary", "words.txt", of=("masked", "causal"))
    assert ran.code == 0, ran.err
    for name in ("masked", "causal"):
        findings = workplace / "runs" / name / "findings"
        retrieval = pl.read_parquet(findings / "retrieval.parquet")
        assert (set(retrieval["word"]), set(retrieval["candidates"])) == ({"bear", "fox"}, {4})
        saved = pl.read_parquet(findings / "vocabulary.parquet").filter("candidate")
        assert saved["word"].to_list() == ["bear", "fox", "hair", "zebra"]
        manifest = json.loads((workplace / "runs" / name / "manifest.json").read_text())
        assert "words.txt" in manifest["data"]
        told = manifest["summary"]["vocabulary"]
        assert (told["name"], told["words"]) == ("file", 4)


def log_softmax(model: Path, kind: str, ids: list[int], position: int) -> torch.Tensor:
    """What transformers itself predicts at one position."""
    import torch
    from transformers import AutoModelForCausalLM, AutoModelForMaskedLM

    loader = AutoModelForMaskedLM if kind == "masked" else AutoModelForCausalLM
    with torch.inference_mode():
        logits = loader.from_pretrained(model)(torch.tensor([ids])).logits
    found: torch.Tensor = logits[0, position].log_softmax(-1)
    return found


@pytest.mark.parametrize("kind", ["masked", "causal"])
def test_the_article_of_a_candidate_is_scored(
    run: Callable[..., Ran], workplace: Path, models: Path, kind: str
) -> None:
    """As transformers itself scores article and word, token by token."""
    from transformers import AutoTokenizer

    more = ("--articles", "candidate", "--vocabulary", "concepts", "--least", "1", "--limit", "6")
    ran = run("run", *more, "--wording", "sentence", of=(kind,))
    assert ran.code == 0, ran.err
    table = pl.read_parquet(workplace / "run" / "findings" / "retrieval.parquet")
    row = table.filter(pl.col("category").is_null(), concept="owl", n=1).row(0, named=True)
    assert (row["text"], row["candidates"]) == ("___ has eyes.", 6)
    tokenizer = AutoTokenizer.from_pretrained(models / kind)
    plain = tokenizer("An owl has eyes.", add_special_tokens=False)["input_ids"]
    own = len(tokenizer("An owl", add_special_tokens=False)["input_ids"])
    total = 0.0
    if kind == "causal":
        ids = [tokenizer.bos_token_id, *plain]
        for at in range(1, len(ids)):
            total += float(log_softmax(models / kind, kind, ids, at - 1)[ids[at]])
    else:
        for at in range(own):
            masked = [*plain[:at], *[tokenizer.mask_token_id] * (own - at), *plain[own:]]
            ids = [tokenizer.cls_token_id, *masked, tokenizer.sep_token_id]
            begin = ids.index(tokenizer.mask_token_id)
            total += float(log_softmax(models / kind, kind, ids, begin)[plain[at]])
    assert row["logprob"] == pytest.approx(total, abs=1e-4)
    assert row["tokens"] == own


@pytest.mark.slow
def test_different_questions_are_warned_of_and_marked(
    run: Callable[..., Ran], tacit: Tacit, workplace: Path
) -> None:
    """On standard error and in the terminal's rows; ``tacit compare`` and its page say it too."""
    ran = run("runs", of=("masked", "causal"))
    assert ran.code == 0, ran.err
    warning = "Prompts of different wordings ask different questions"
    assert warning in ran.err
    assert "Note: the models' prompts ask different questions" in ran.out
    compared = tacit("compare", workplace / "runs", "--out", "compared.html")
    assert compared.code == 0, compared.err
    page = (workplace / "compared.html").read_text()
    assert all(warning in " ".join(text.split()) for text in (compared.err, page))
