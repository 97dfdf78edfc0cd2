"""What ``ranking.py`` ranks with: a model of RoBERTa-base's size, a vocabulary, and prompts.

The weights are random. Norms and tokenizer are made up from wordfreq's words where none are given.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from tokenizers import Tokenizer
from transformers import PreTrainedTokenizerBase

from tacit.probes.assumptions.properties import WordedNorms

CANDIDATES = 21_000
SIZE = 50_265
_SPECIALS = ("<s>", "<pad>", "</s>", "<unk>")
# Of made-up norms.
_CONCEPTS = 300
_PROPERTIES = 14


def prepare(folder: Path, norms: Path | None, tokenizer: Path | None, prompts: int) -> None:
    """Writes a model, ``words.json`` and ``prompts.json`` (text, target, tokens) to a folder."""
    import torch
    from transformers import RobertaConfig, RobertaForMaskedLM

    from tacit.models.loading import words_of
    from tacit.probes.assumptions.options import AssumptionsOptions
    from tacit.probes.assumptions.properties import word_properties
    from tacit.sources.norms import read_norms

    own = roberta_tokenizer(tokenizer)
    torch.manual_seed(0)
    config = RobertaConfig(
        vocab_size=len(own),
        max_position_embeddings=514,
        type_vocab_size=1,
        bos_token_id=0,
        pad_token_id=1,
        eos_token_id=2,
    )
    RobertaForMaskedLM(config).save_pretrained(folder / "model")
    own.save_pretrained(folder / "model")
    options = AssumptionsOptions(norms or made_up_norms(folder / "norms.tsv"))
    worded = word_properties(read_norms(options.norms), options)
    known = [word for word in words_of(str(folder / "model"))[1].words if word.isalpha()]
    random.Random(0).shuffle(known)  # noqa: S311 - a choice of words, no secret
    # Concepts stay among the candidates, of whom they are few.
    known.sort(key=lambda word: word not in worded.properties)
    words = sorted(known[:CANDIDATES])
    (folder / "words.json").write_text(json.dumps(words))
    asked = list(islice(distinct_prompts(worded, words), prompts))
    told = [(text, target, len(own(text)["input_ids"])) for text, target in asked]
    (folder / "prompts.json").write_text(json.dumps(told))


def distinct_prompts(worded: WordedNorms, words: list[str]) -> Iterator[tuple[str, str]]:
    """Texts and targets of concept retrieval: the properties by frequency, then shuffled."""
    from tacit.probes.assumptions.options import AssumptionsOptions
    from tacit.probes.assumptions.properties import choose_concepts
    from tacit.probes.assumptions.retrieval import ORDERS, RANDOM_ORDERS, Retrieval
    from tacit.requests import Vocabulary

    concepts = choose_concepts(worded, AssumptionsOptions(worded.norms.path), words).concepts
    orders = (ORDERS[0], *RANDOM_ORDERS)
    asked = Retrieval(concepts, Vocabulary(words), orders=orders)
    texts: dict[str, str] = {}
    for one in asked.items:
        if one.category is None:
            texts.setdefault(one.text, one.word)
    yield from texts.items()


def roberta_tokenizer(folder: Path | None) -> PreTrainedTokenizerBase:
    """Byte-level BPE between <s> and </s>, with a mask that takes the space before it.

    Args:
        folder: Holds the ``vocab.json`` and ``merges.txt`` of one; None trains one.
    """
    from tokenizers import AddedToken, decoders, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    backend = _read(folder) if folder else _trained()
    mask = AddedToken("<mask>", lstrip=True, special=True)
    backend.add_special_tokens([*_SPECIALS, mask])
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    backend.post_processor = processors.RobertaProcessing(
        ("</s>", 2), ("<s>", 0), trim_offsets=True, add_prefix_space=False
    )
    begin, pad, end, unknown = _SPECIALS
    names = {"bos": begin, "cls": begin, "eos": end, "sep": end, "pad": pad, "unk": unknown}
    tokens = {f"{name}_token": token for name, token in names.items()}
    return PreTrainedTokenizerFast(tokenizer_object=backend, mask_token=mask, **tokens)


def _read(folder: Path) -> Tokenizer:
    """The tokens and merges of a folder, behind RoBERTa's special tokens."""
    from tokenizers import Tokenizer, models

    known = json.loads((folder / "vocab.json").read_text(encoding="utf-8"))
    lines = (folder / "merges.txt").read_text(encoding="utf-8").splitlines()
    merges = [(first, second) for first, second in (line.split() for line in lines[1:] if line)]
    tokens = [token for token in sorted(known, key=known.__getitem__) if token[:2] != "<|"]
    numbered = {token: at for at, token in enumerate((*_SPECIALS, *tokens))}
    return Tokenizer(models.BPE(numbered, merges))


def _trained() -> Tokenizer:
    """Trained on wordfreq's words, capitalised too, behind a space, the commoner the more often."""
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers
    from wordfreq import iter_wordlist

    backend = Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=SIZE - 1,  # and the mask
        special_tokens=list(_SPECIALS),
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    words = islice(iter_wordlist("en", "large"), 100_000)
    both = (f" {word} {word.capitalize()}" for word in words)
    texts = (text * (1 + 1000 // (rank + 10)) for rank, text in enumerate(both))
    backend.train_from_iterator(texts, trainer)
    return backend


def made_up_norms(path: Path) -> Path:
    """Writes norms of common words: properties of 2 to 12 words, most of them short."""
    from wordfreq import iter_wordlist

    chance = random.Random(0)  # noqa: S311 - made-up properties, no secret
    listed = (word for word in iter_wordlist("en") if word.isalpha() and word.isascii())
    words = list(islice(listed, 6000))
    rows = ["concept\tfeature\tpf"]
    for concept in chance.sample(words[:2000], _CONCEPTS):
        for frequency in range(_PROPERTIES, 0, -1):
            said = chance.choices(words, k=min(11, 1 + int(chance.expovariate(0.4))))
            feature = " ".join([chance.choice(("has", "is")), *said])
            rows.append(f"{concept}\t{feature}\t{frequency}")
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path
