"""A way to compute that is not as exact as scoring each input alone is found out at load."""

import logging
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import torch

from tacit.errors import ModelError
from tacit.models import registry
from tacit.models.huggingface.causal import CausalModel
from tacit.models.huggingface.packing import Tree
from tacit.models.huggingface.self_check import ALONE, made_up, read_often, widened
from tacit.requests import Prompt, Scores
from tests.models import plain, tiny
from tests.models.conftest import Changed, FolderOf, Loaded
from tests.models.passes import Local, passes
from tests.models.prompts import ALIKE, MANY, encodes

ONE_BY_ONE = "sequences are computed one at a time"
APART = "each prompt is computed separately"
_PACKED = 4


def off(
    name: str, model: Local, folder_of: FolderOf, prompts: list[Prompt], step: int = 1
) -> float:
    """The largest difference from the independent computation, in nats, of some of the prompts."""
    reference = plain.load(name, folder_of(name))
    scores: list[Scores] = model.answer(prompts)
    return max(
        abs(one.logprob - reference.score(prompt, one.answer)[0])
        for prompt, score in list(zip(prompts, scores, strict=True))[::step]
        for one in score.answers
        if one.logprob is not None and encodes(name, one.answer)
    )


@pytest.mark.parametrize("name", ["bert", "t5", "gpt2"])
def test_a_model_that_padding_disturbs(
    name: str,
    folder_of: FolderOf,
    changed: Changed,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def disturb(output: Any, given: dict[str, Any]) -> None:  # noqa: ANN401 - a model's
        masks = [m for k, m in given.items() if k.endswith("attention_mask") and m is not None]
        if any(int(mask.min()) == 0 for mask in masks):
            output.logits = output.logits + torch.eye(output.logits.shape[-1])[7]

    changed(name, after=disturb)
    with caplog.at_level(logging.WARNING, "tacit"):
        model = tiny.load(folder_of(name), batch_tokens=4096)
    assert ONE_BY_ONE in caplog.text
    prompts = [Prompt("A bear has" + " a bird" * n, ("fur", "a birdhouse")) for n in range(4)]
    with passes(model) as seen:
        model.answer(prompts)
    assert {one.rows for one in seen} == {1}
    monkeypatch.undo()
    assert off(name, model, folder_of, prompts) < 1e-4


def test_fnet_is_one(loaded: Loaded) -> None:
    """FNet, which mixes padding in like any token, is found out; the others are not."""
    alone = [name for name in tiny.MODELS if loaded(name).description["batch_tokens"] == 1]
    assert alone == ["fnet"]


@pytest.mark.parametrize(
    ("name", "ignored", "way"),
    [
        ("bert", "attention_mask", "padded"),
        ("gpt2-long", "position_ids", "packed"),
        ("gpt2", "attention_mask", "packed"),
    ],
)
def test_what_is_ignored(
    name: str, ignored: str, way: str, folder_of: FolderOf, changed: Changed
) -> None:
    changed(name, lambda given: given.update({ignored: None}))
    checks = tiny.load(folder_of(name))._checks
    assert checks.errors[way] > 100 * checks.limit
    assert way in checks.refused


@pytest.mark.parametrize("how", ["far", "first", "nan", "fails"])
def test_a_broken_mask_is_not_used(
    how: str, folder_of: FolderOf, changed: Changed, caplog: pytest.LogCaptureFixture
) -> None:
    """It is found out at load, or by the first pack that is long enough, and scored right."""

    def spoil(given: dict[str, Any]) -> None:
        mask: torch.Tensor | None = given.get("attention_mask")
        if mask is None or mask.ndim != _PACKED:
            return
        if how == "fails":
            raise IndexError("no such mask")
        index = torch.arange(mask.shape[-1])
        far = mask.masked_fill(index[:, None] - index >= 300, -1e30)
        spoilt = {"far": far, "nan": mask * torch.nan, "first": mask[:1].expand_as(mask)}
        given["attention_mask"] = spoilt[how]

    changed("gpt2", spoil)
    with caplog.at_level(logging.WARNING, "tacit"):
        model = tiny.load(folder_of("gpt2"))
        assert model.description["packs"] is (how == "far")
        model.answer(MANY)
    told = model.description
    assert told["packs"] is False
    assert told["not_packed"] in caplog.text
    assert caplog.text.count(APART) == 1
    assert off("gpt2", model, folder_of, MANY[:30]) < 1e-4


@pytest.mark.parametrize("window", [20, 400])
def test_a_window_that_no_config_tells_of(
    window: int, folder_of: FolderOf, changed: Changed
) -> None:
    """A model that sees the nearest tokens, unless a mask says what it sees, does not pack.

    The wider window is found out by the first inputs that are longer.
    """

    def narrow(given: dict[str, Any]) -> None:
        mask = given["attention_mask"]
        if mask.ndim != _PACKED:
            index = torch.arange(mask.shape[1])
            far = (index[:, None] < index) | (index[:, None] - index >= window)
            hidden = torch.where(far, -1e30, 0.0)[None, None]
            given["attention_mask"] = hidden.expand(len(mask), 1, -1, -1)

    changed("gpt2-long", narrow)
    model, apart = (tiny.load(folder_of("gpt2-long"), packing=packing) for packing in (True, False))
    prompts = [Prompt("a" + " a tree" * words, ("a", "bird")) for words in (100, 280)]
    for packed, alone in zip(model.answer(prompts), apart.answer(prompts), strict=True):
        for one, other in zip(packed.answers, alone.answers, strict=True):
            assert one.logprob == pytest.approx(other.logprob, abs=1e-4)
    assert model.description["packs"] is False
    assert model.description["errors"]["packed"] > 1e-3


def test_a_model_that_looks_ahead_is_refused(tmp_path: Path) -> None:
    """BERT saved as a causal model, but not as a decoder, sees the answer it is to predict."""
    import transformers

    tokenizer = tiny.tokenizer_of("bert")
    given: dict[str, Any] = {"vocab_size": len(tokenizer), **tiny._BERT}
    for is_decoder in (True, False):
        config = transformers.BertConfig(**given, is_decoder=is_decoder)
        model = transformers.BertLMHeadModel(config)
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.add_(torch.randn_like(parameter) * 0.3)
        model.save_pretrained(tmp_path / str(is_decoder))
        tokenizer.save_pretrained(tmp_path / str(is_decoder))
    assert tiny.load(tmp_path / "True").kind == "causal"
    with pytest.raises(ModelError, match="depend on later tokens"):
        tiny.load(tmp_path / "False")


def test_a_cap_of_attention_scores_is_kept_by_every_transformers(
    folder_of: FolderOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some versions say that Gemma 2 works with torch's own attention, which leaves out the cap."""
    from transformers.models.gemma2.modeling_gemma2 import Gemma2PreTrainedModel

    monkeypatch.setattr(Gemma2PreTrainedModel, "_supports_sdpa", True)
    assert off("gemma2", tiny.load(folder_of("gemma2")), folder_of, ALIKE) < 1e-4


def test_large_logits_in_half_precision(changed: Changed, caplog: pytest.LogCaptureFixture) -> None:
    """Logits that bfloat16 holds to half a nat are not taken for wrong ones."""
    changed("gpt2", after=lambda output, _: setattr(output, "logits", output.logits - 100.0))
    with caplog.at_level(logging.WARNING, "tacit"):
        model = tiny.load(registry.folder_of("demo"), dtype="bfloat16")
    assert model.description["packs"] is True
    assert model.description["errors"]["alone"] > 0.1
    assert not caplog.messages


def test_the_check_is_done_once(folder_of: FolderOf, changed: Changed) -> None:
    """With a few hundred tokens the first time, and not with what was recorded."""
    seen: list[int] = []
    changed("gpt2", lambda given: seen.append(given["input_ids"].numel()))
    model = tiny.load(folder_of("gpt2"))
    assert 0 < sum(seen) < 400
    seen.clear()
    again = CausalModel(model._checkpoint, 2048)
    assert not seen
    assert again.description == model.description


def test_what_is_checked_is_what_ran(folder_of: FolderOf, changed: Changed) -> None:
    """Of packs that are planned, and computed in parts when memory has run out."""
    most = 10_000

    def short(given: dict[str, Any]) -> None:
        if given["input_ids"].numel() > most:
            raise torch.OutOfMemoryError("out of memory")

    changed("gpt2-long", short)
    model = tiny.load(folder_of("gpt2-long"), batch_tokens=4096)
    assert isinstance(model, CausalModel)
    words = ("tree", "bird", "egg", "roots")
    prompts = [Prompt(f"Is a {' '.join(of)}?", ("a", "b")) for of in product(words, repeat=4)]
    blocks = model.blocks(prompts, 1024)
    assert blocks
    block = blocks[-1]
    assert block.tokens > 512
    most = 200
    model.prepare(block)()
    assert max(model._checks.packed) <= model._passes.budget.tokens <= 200


@pytest.mark.parametrize(("tokens", "depth"), [(0, 11), (72, 22), (320, 22)])
def test_the_inputs_of_the_check(tokens: int, depth: int) -> None:
    """They fill a pack, share beginnings, and those that are scored alone are read."""
    rows = made_up(range(1, 120), (0,), depth, tokens)
    assert len(rows) >= ALONE
    assert {len(row) for row in rows} == {depth}
    made = read_often(rows, ALONE)
    tree = {row[:at] for row in rows for at in range(1, len(row) + 1)}
    (pack,) = Tree.of(made).cut(10_000)
    assert len(tree) == (pack.rows.lengths - pack.shared).sum() >= tokens
    assert set(made.reads.row) == set(range(ALONE))
    pairs = zip(made.reads.row.tolist(), made.reads.position.tolist(), strict=True)
    assert [rows[row][at + 1] for row, at in pairs] == made.reads.token.tolist()


def test_operations_and_conversions_are_widened() -> None:
    """Those of a model that computes a part in float32 on purpose, too."""
    torch.manual_seed(0)
    layer = torch.nn.Sequential(torch.nn.Linear(300, 2000), torch.nn.Linear(2000, 50, bias=False))
    states = torch.randn(4, 300)
    with torch.inference_mode(), widened(torch.float64):
        found = torch.softmax(layer(states).float(), dim=-1, dtype=torch.float32)
        made = torch.zeros(3)
        made[1:] = torch.ones(2)
    expected = torch.softmax(layer.double()(states.double()), dim=-1)
    assert (found.dtype, made.dtype) == (torch.float64, torch.float64)
    assert torch.allclose(found, expected, rtol=1e-12)


def test_a_change_that_widening_would_lose_is_an_error() -> None:
    """A buffer of the model's own format cannot be written."""
    buffer = torch.zeros(3)
    with torch.inference_mode(), widened(torch.float64), pytest.raises(NotImplementedError):
        buffer.add_(1)
