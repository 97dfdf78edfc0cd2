"""Tiny models with random weights, and tokenizers trained on a few lines.

The weights are large, so that a log-probability read at a wrong place differs by far more than
rounding does. Untouched, such models give nearly the same to every answer in every context.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, cast

from tokenizers import AddedToken, Tokenizer
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from tests.models.passes import Local

LINES = (
    "In a tree, the trunk is above the roots and the branches are part of the crown.",
    "Judge whether this statement is true or false: the egg yolk is inside the shell.",
    "A bear has fur, is big, and has claws; a cat has whiskers.",
    "True or False? Yes or No? True. False. Trues and Falsehoods are truest.",
    "Something that has wings and a beak is called a bird, a birdhouse or a birdbath.",
    "naïve café, 12 345 words, don't stop: it's unbelievable\nQuestion: is it?\nAnswer: yes.",
)

WIDTH = 32
HEADS = 4
LAYERS = 2
WINDOW = 64


# Tokenizers of four kinds


def _wrapped(backend: Tokenizer, **special: str | AddedToken) -> PreTrainedTokenizerBase:
    from transformers import PreTrainedTokenizerFast

    return PreTrainedTokenizerFast(tokenizer_object=backend, **special)


def _byte_level(specials: list[str], lines: Sequence[str] = LINES, size: int = 400) -> Tokenizer:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    backend = Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=specials,
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    backend.train_from_iterator(lines, trainer)
    return backend


def gpt2_like(lines: Sequence[str] = LINES, size: int = 400) -> PreTrainedTokenizerBase:
    """Byte-level BPE whose tokens' offsets hold their leading space; nothing is added."""
    from tokenizers import processors

    backend = _byte_level(["<|endoftext|>"], lines, size)
    backend.post_processor = processors.ByteLevel(trim_offsets=False)
    end = "<|endoftext|>"
    return _wrapped(backend, bos_token=end, eos_token=end, unk_token=end)


def trimming() -> PreTrainedTokenizerBase:
    """Byte-level BPE whose tokens' offsets leave the leading space out; nothing is added."""
    from tokenizers import processors

    backend = _byte_level(["<|endoftext|>", "<|pad|>"])
    backend.post_processor = processors.ByteLevel(trim_offsets=True)
    end = "<|endoftext|>"
    return _wrapped(backend, bos_token=end, eos_token=end, unk_token=end, pad_token="<|pad|>")


def byte_level_with_bos() -> PreTrainedTokenizerBase:
    """Byte-level BPE with one BOS by default, as OPT, Llama 3 and Gemma have it."""
    from tokenizers import processors

    backend = _byte_level(["<s>", "<pad>", "</s>"])
    backend.post_processor = processors.TemplateProcessing(
        single="<s> $A", pair="<s> $A <s> $B", special_tokens=[("<s>", 0)]
    )
    return _wrapped(backend, bos_token="<s>", eos_token="</s>", pad_token="<pad>")


def roberta_like(lines: Sequence[str] = LINES, size: int = 400) -> PreTrainedTokenizerBase:
    """Byte-level BPE between <s> and </s>, with a mask that takes the space before it."""
    from tokenizers import AddedToken, processors

    backend = _byte_level(["<s>", "<pad>", "</s>", "<unk>"], lines, size)
    backend.add_special_tokens([AddedToken("<mask>", lstrip=True, special=True)])
    backend.post_processor = processors.RobertaProcessing(
        ("</s>", 2), ("<s>", 0), trim_offsets=True, add_prefix_space=False
    )
    return _wrapped(
        backend,
        bos_token="<s>",
        eos_token="</s>",
        cls_token="<s>",
        sep_token="</s>",
        pad_token="<pad>",
        unk_token="<unk>",
        mask_token=AddedToken("<mask>", lstrip=True, special=True),
    )


def word_piece() -> PreTrainedTokenizerBase:
    """Lower-casing WordPiece between [CLS] and [SEP]."""
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers

    text = "".join(LINES).lower()
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *_words()[::2]]
    pieces += ["##s", "##house", "##hoods", "##bath", "##able", "##vab", "##ly"]
    pieces += sorted({*text, *(f"##{letter}" for letter in text if letter.isalnum())} - {*pieces})
    vocabulary = {piece: number for number, piece in enumerate(dict.fromkeys(pieces))}
    backend = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    backend.normalizer = normalizers.BertNormalizer(lowercase=True)
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    backend.decoder = decoders.WordPiece()
    return _bert_specials(backend)


def _words() -> list[str]:
    """The words of the lines; pieces are made of them by hand, as training is not repeatable."""
    return sorted({word for line in LINES for word in re.findall(r"\w+", line.lower())})


def _bert_specials(backend: Tokenizer) -> PreTrainedTokenizerBase:
    from tokenizers import processors

    pieces = [(piece, backend.token_to_id(piece)) for piece in ("[CLS]", "[SEP]")]
    backend.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=pieces
    )
    return _wrapped(
        backend,
        cls_token="[CLS]",
        sep_token="[SEP]",
        pad_token="[PAD]",
        unk_token="[UNK]",
        mask_token="[MASK]",
    )


def _unigram(specials: list[str], unknown: str, prepend: str) -> Tokenizer:
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers

    words = _words()
    pieces = ["▁" + word for word in words[::2]]
    pieces += sorted({"▁" + word[:2] for word in words} - set(pieces))
    pieces += ["s", "house", "hoods", "bath", "able"]
    pieces += sorted({"▁", *"".join(LINES)} - {" ", *pieces})
    scored = [
        (piece, -3.0 - 3 * (len(piece) < 3) - number / 100) for number, piece in enumerate(pieces)
    ]
    backend = Tokenizer(
        models.Unigram([(one, 0.0) for one in specials] + scored, specials.index(unknown))
    )
    backend.add_special_tokens(specials)
    backend.normalizer = normalizers.NFKC()
    backend.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme=prepend)
    backend.decoder = decoders.Metaspace(prepend_scheme=prepend)
    return backend


def t5_like() -> PreTrainedTokenizerBase:
    """Unigram with a space put before every text, </s> behind it, and sentinels."""
    from tokenizers import processors

    specials = ["<pad>", "</s>", "<unk>", "<extra_id_0>", "<extra_id_1>"]
    backend = _unigram(specials, "<unk>", "always")
    backend.post_processor = processors.TemplateProcessing(
        single="$A </s>", pair="$A </s> $B </s>", special_tokens=[("</s>", 1)]
    )
    return _wrapped(backend, eos_token="</s>", pad_token="<pad>", unk_token="<unk>")


def llama_like() -> PreTrainedTokenizerBase:
    """Unigram with a space put before the first word, and one BOS by default."""
    from tokenizers import processors

    backend = _unigram(["<unk>", "<s>", "</s>"], "<unk>", "first")
    backend.post_processor = processors.TemplateProcessing(
        single="<s> $A", pair="<s> $A <s> $B", special_tokens=[("<s>", 1)]
    )
    return _wrapped(backend, bos_token="<s>", eos_token="</s>", unk_token="<unk>")


def albert_like() -> PreTrainedTokenizerBase:
    """Unigram with a space put before every text, between [CLS] and [SEP]."""
    specials = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    return _bert_specials(_unigram(specials, "[UNK]", "always"))


TOKENIZERS: dict[str, Callable[[], PreTrainedTokenizerBase]] = {
    make.__name__: make
    for make in (
        *(gpt2_like, trimming, byte_level_with_bos, roberta_like),
        *(word_piece, t5_like, llama_like, albert_like),
    )
}

# Models


@dataclass(frozen=True)
class Tiny:
    """A tiny model of one architecture."""

    kind: str  # causal, masked or seq2seq
    tokenizer: Callable[[], PreTrainedTokenizerBase]
    name: str  # its class in transformers
    settings: dict[str, Any]  # of its config, besides what is the tokenizer's
    window: int | None = WINDOW  # the longest input in tokens; None for no limit
    spread: float = 0.35  # standard deviation of the weights
    packs: bool = True  # whether prompts are to be packed

    def model(self, tokenizer: PreTrainedTokenizerBase) -> PreTrainedModel:
        """A model with the class's own random weights, in the tokenizer's vocabulary."""
        import transformers

        model_class = getattr(transformers, self.name)
        ends = {end: getattr(tokenizer, end) for end in _ENDS}
        config = {"vocab_size": len(tokenizer), **ends, **self.settings}
        model: PreTrainedModel = model_class(model_class.config_class(**config))
        return model


_ENDS = ("bos_token_id", "eos_token_id", "pad_token_id")
_DEEP: dict[str, Any] = {"num_hidden_layers": LAYERS, "num_attention_heads": HEADS}
_WIDE = {"hidden_size": WIDTH, **_DEEP, "max_position_embeddings": WINDOW}
_BERT = {**_WIDE, "intermediate_size": 48}
_LLAMA = {**_BERT, "num_key_value_heads": 2}
_OPT = {**_WIDE, "word_embed_proj_dim": WIDTH, "ffn_dim": 48}
_GPT2 = {"n_embd": WIDTH, "n_layer": LAYERS, "n_head": HEADS, "n_positions": WINDOW}
_BLOOM = {"hidden_size": WIDTH, "n_layer": LAYERS, "n_head": HEADS}
_GPT_NEO: dict[str, Any] = {
    "hidden_size": WIDTH,
    "num_layers": LAYERS,
    "num_heads": HEADS,
    "attention_types": [[["global", "local"], 1]],
    "max_position_embeddings": WINDOW,
}
_DISTILBERT = {
    "dim": WIDTH,
    "hidden_dim": 48,
    "n_layers": LAYERS,
    "n_heads": HEADS,
    "max_position_embeddings": WINDOW,
}
_FNET = {
    "hidden_size": WIDTH,
    "intermediate_size": 48,
    "num_hidden_layers": LAYERS,
    "max_position_embeddings": WINDOW,
}
_T5 = {
    "d_model": WIDTH,
    "d_kv": 8,
    "d_ff": 48,
    "num_layers": LAYERS,
    "num_heads": HEADS,
    "decoder_start_token_id": 0,
}
_BART = {
    "d_model": WIDTH,
    "encoder_layers": LAYERS,
    "decoder_layers": LAYERS,
    "encoder_attention_heads": HEADS,
    "decoder_attention_heads": HEADS,
    "encoder_ffn_dim": 48,
    "decoder_ffn_dim": 48,
    "max_position_embeddings": WINDOW,
    "decoder_start_token_id": 2,
}
_FLAN = {"tie_word_embeddings": False, "feed_forward_proj": "gated-gelu"}
_EXPERTS: dict[str, Any] = {"num_experts_per_tok": 2, "num_local_experts": 4}
_LINEAR: dict[str, Any] = {f"linear_{of}_head_dim": 8 for of in ("key", "value")}
_LINEAR |= {f"linear_num_{of}_heads": 2 for of in ("key", "value")}
_ROPE = {
    "rope_type": "longrope",
    "rope_theta": 10000.0,
    "short_factor": [1.0] * (WIDTH // HEADS // 2),
    "long_factor": [4.0] * (WIDTH // HEADS // 2),
    "original_max_position_embeddings": 40,
    "factor": 25.6,
}
_LONG: dict[str, Any] = {"max_position_embeddings": 1024}


def _causal(
    name: str,
    settings: dict[str, Any],
    tokenizer: Callable[[], PreTrainedTokenizerBase] = gpt2_like,
    *,
    packs: bool = True,
    endless: bool = False,
    **more: Any,  # noqa: ANN401 - settings
) -> Tiny:
    window = None if endless else WINDOW
    return Tiny("causal", tokenizer, name, {**settings, **more}, window, packs=packs)


def _like_llama(
    name: str,
    tokenizer: Callable[[], PreTrainedTokenizerBase] = gpt2_like,
    *,
    packs: bool = True,
    **more: Any,  # noqa: ANN401 - settings
) -> Tiny:
    return _causal(f"{name}ForCausalLM", _LLAMA, tokenizer, packs=packs, **more)


def _masked(
    name: str,
    settings: dict[str, Any],
    tokenizer: Callable[[], PreTrainedTokenizerBase] = word_piece,
    spread: float = 0.35,
    **more: Any,  # noqa: ANN401 - settings
) -> Tiny:
    return Tiny("masked", tokenizer, f"{name}ForMaskedLM", {**settings, **more}, spread=spread)


_MAMBA = {"hidden_size": WIDTH, "num_hidden_layers": LAYERS, "state_size": 4}
MODELS: dict[str, Tiny] = {
    "gpt2": _causal("GPT2LMHeadModel", _GPT2),
    "gpt-neo": _causal("GPTNeoForCausalLM", _GPT_NEO, trimming, packs=False, window_size=256),
    "gpt-neo-local": _causal("GPTNeoForCausalLM", _GPT_NEO, packs=False, window_size=12),
    "gpt-j": _causal("GPTJForCausalLM", _GPT2, rotary_dim=4),
    "gpt-neox": _like_llama("GPTNeoX", trimming, num_key_value_heads=None),
    "opt": _causal("OPTForCausalLM", _OPT, byte_level_with_bos),
    "llama": _like_llama("Llama", llama_like),
    "mistral": _like_llama("Mistral", llama_like, sliding_window=12),
    "gemma3": _like_llama("Gemma3", byte_level_with_bos, head_dim=8, sliding_window=12),
    "qwen2": _like_llama("Qwen2"),
    "bloom": _causal("BloomForCausalLM", _BLOOM, packs=False, endless=True),
    "mamba": _causal("MambaForCausalLM", _MAMBA, packs=False, endless=True),
    "bert": _masked("Bert", _BERT),
    "electra": _masked("Electra", _BERT, spread=0.5, embedding_size=16),
    "albert": _masked("Albert", _BERT, albert_like, embedding_size=16),
    "roberta": _masked(
        "Roberta", _BERT, roberta_like, max_position_embeddings=WINDOW + 2, type_vocab_size=1
    ),
    "distilbert": _masked("DistilBert", _DISTILBERT),
    "fnet": _masked("FNet", _FNET),
    "t5": Tiny("seq2seq", t5_like, "T5ForConditionalGeneration", _T5, None, 0.5),
    "flan-t5": Tiny("seq2seq", t5_like, "T5ForConditionalGeneration", {**_T5, **_FLAN}, None, 0.25),
    "bart": Tiny("seq2seq", roberta_like, "BartForConditionalGeneration", _BART, spread=0.5),
}

MORE: dict[str, Tiny] = {
    "gemma": _like_llama("Gemma", byte_level_with_bos, head_dim=8),
    "gemma2": _like_llama("Gemma2", byte_level_with_bos, head_dim=8, sliding_window=12),
    "qwen3": _like_llama("Qwen3", head_dim=8),
    "mixtral": _like_llama("Mixtral", llama_like, **_EXPERTS),
    "gpt-oss": _like_llama("GptOss", **_EXPERTS, head_dim=8, sliding_window=12),
    "phi": _like_llama("Phi"),
    "phi3": _like_llama("Phi3", llama_like),
    "olmo2": _like_llama("Olmo2"),
    "granite": _like_llama("Granite"),
    "stablelm": _like_llama("StableLm"),
    "smollm3": _like_llama("SmolLM3"),
    "falcon": _causal("FalconForCausalLM", _BERT),
    "falcon-alibi": _causal("FalconForCausalLM", _BERT, packs=False, alibi=True),
    "mpt": _causal(
        "MptForCausalLM",
        {"d_model": WIDTH, "n_layers": LAYERS, "n_heads": HEADS, "max_seq_len": WINDOW},
        packs=False,
    ),
    "gpt-neo-long": _causal(
        "GPTNeoForCausalLM", {**_GPT_NEO, **_LONG}, packs=False, window_size=256
    ),
    "rwkv": _causal(
        "RwkvForCausalLM", {"hidden_size": WIDTH, "num_hidden_layers": LAYERS}, packs=False
    ),
    "qwen3-next": _like_llama(
        "Qwen3Next",
        packs=False,
        head_dim=8,
        num_experts=0,
        layer_types=["linear_attention", "full_attention"],
        **_LINEAR,
    ),
}
"""Architectures that are asked only whether packing is right for them."""

EVERY = {**MODELS, **MORE}

LONG: dict[str, Tiny] = {
    "gpt2-long": _causal("GPT2LMHeadModel", {**_GPT2, "n_positions": 1024}),
    "opt-long": _causal("OPTForCausalLM", {**_OPT, **_LONG}, byte_level_with_bos),
    "llama-long": _like_llama("Llama", llama_like, **_LONG),
    "mistral-long": _like_llama("Mistral", llama_like, **_LONG, sliding_window=700),
    "gemma2-long": _like_llama(
        "Gemma2", byte_level_with_bos, **_LONG, head_dim=8, sliding_window=700
    ),
    "gemma3-long": _like_llama(
        "Gemma3", byte_level_with_bos, **_LONG, head_dim=8, sliding_window=700
    ),
    "phi3-longrope": _like_llama(
        "Phi3", llama_like, **_LONG, original_max_position_embeddings=40, rope_parameters=_ROPE
    ),
}
"""Models that take a thousand tokens."""

ALL = {**EVERY, **LONG}


def names(kind: str) -> list[str]:
    return [name for name, one in MODELS.items() if one.kind == kind]


def causal() -> list[str]:
    """All causal models but those that take a thousand tokens."""
    return [name for name, one in EVERY.items() if one.kind == "causal"]


@cache
def tokenizer_of(name: str) -> PreTrainedTokenizerBase:
    return ALL[name].tokenizer()


def single(name: str) -> tuple[str, ...]:
    """Six words, each one token together with the space before it."""
    vocabulary = sorted(tokenizer_of(name).get_vocab())
    if "##s" in vocabulary:
        return tuple(word for word in vocabulary if word.isalpha())[:6]
    return tuple(word[1:] for word in vocabulary if word[0] in "Ġ▁" and word[1:].isalpha())[:6]


def make(name: str, seed: int = 0) -> PreTrainedModel:
    return drawn(ALL[name], tokenizer_of(name), seed)


def drawn(tiny: Tiny, tokenizer: PreTrainedTokenizerBase, seed: int) -> PreTrainedModel:
    """A tiny model whose every weight matters."""
    import torch

    torch.manual_seed(seed)
    model = tiny.model(tokenizer)
    model.eval()
    with torch.no_grad():
        for parameter in model.parameters():
            noise = torch.randn_like(parameter)
            # Vectors are biases around 0 and norms around 1.
            spread = tiny.spread
            parameter.copy_(noise * spread if parameter.ndim > 1 else parameter + noise * 0.2)
    return model


def save(name: str, folder: Path) -> Path:
    make(name).save_pretrained(folder)
    tokenizer_of(name).save_pretrained(folder)
    return folder


def load(folder: Path, **options: Any) -> Local:  # noqa: ANN401 - LoadOptions' fields
    """Loads a model as a user does, on the processor unless told otherwise."""
    from tacit.models.loading import load_model
    from tacit.models.options import LoadOptions

    return cast("Local", load_model(str(folder), LoadOptions(**{"device": "cpu", **options})))
