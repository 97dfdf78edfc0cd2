"""Every reader of a file, with a file that it reads."""

import gzip
import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import polars as pl

from tacit.coherence.beliefs import read_beliefs
from tacit.coherence.ontology import Ontology, read_ontology
from tacit.engine.blocks import recorded
from tacit.english import Nouns
from tacit.knowledge.base import KnowledgeBase
from tacit.knowledge.build import KnowledgeSource, build
from tacit.models.huggingface.fingerprint import FileHashes
from tacit.models.openai.tokenizer import TokenizerFile
from tacit.probes.assumptions.corrections import read_corrections
from tacit.probes.consistency.template import load_templates
from tacit.probes.parts.beliefs import answers_in
from tacit.probes.parts.questions import Template
from tacit.requests import Prompt
from tacit.runs.score_files import read_prompts
from tacit.sources.drawings import files_of, is_things, read_drawings, read_things, undrawn
from tacit.sources.dumps import Dump
from tacit.sources.norms import read_norms
from tacit.sources.questions import read_anchors
from tacit.tables import read_table
from tests.models import tiny

DIGEST = "d" * 64
PARTS = Ontology.load("parts")
BELIEFS = (
    b"thing\tannotator\tsubject\trelation\tobject\tp_true\tlabel\n"
    b"egg\tann\tyolk\tinside\twhite\t0.9\tTrue\n"
    b"egg\tann\twhite\tsurrounds\tyolk\t0.2\tFalse\n"
    b"egg\tann\tshell\tsurrounds\twhite\t\tTrue\n"
)
DRAWINGS = (
    b"ann\tegg\t---\tyolk\tinside\twhite\n\t\t---\tshell\tsurrounds\twhite\n"
    b"bob\tegg\t---\tyolk\tpart of\tegg\n"
)
ASSERTION = (
    b"/a/[/r/IsA/,/c/en/bear/n/,/c/en/animal/]\t/r/IsA\t/c/en/bear/n\t/c/en/animal\t"
    b'{"dataset": "/d/x", "license": "cc:by/4.0", "weight": 2.0, "surfaceText": "[[a bear]]"}\n'
)
CSQA = {
    "id": "1",
    "question": {
        "question_concept": "fox",
        "choices": [{"label": "A", "text": "forest"}, {"label": "B", "text": "sea"}],
        "stem": "Where is a fox?",
    },
    "answerKey": "A",
}
ARC = {
    "id": "2",
    "question": "What melts?",
    "choices": {"text": ["ice", "stone"], "label": ["1", "2"]},
    "answerKey": "1",
}
PLAIN = {"question": "Where?", "choices": ["here", "there"], "answer": "here"}
PIQA = {"goal": "Open it.", "sol1": "Pull.", "sol2": "Push.", "label": 1}


@dataclass(frozen=True)
class Format:
    """A kind of file; where reading takes long, fewer are read."""

    name: str
    valid: Callable[[], bytes]
    read: Callable[[Path], object]
    slow: bool = False


def formats() -> dict[str, Format]:
    return {
        "drawings": Format("annotations.tsv", lambda: DRAWINGS, _drawings),
        "things": Format(
            "things.tsv", lambda: b"Everyday thing\tParts\negg\tyolk, white\n", _things
        ),
        "beliefs": Format("beliefs.tsv", lambda: BELIEFS, _beliefs),
        "beliefs, CSV": Format("b.csv", lambda: BELIEFS.replace(b"\t", b","), _beliefs),
        "beliefs, JSONL": Format("b.jsonl", lambda: _lines(*_beliefs_rows()), _beliefs),
        "beliefs, Parquet": Format("b.parquet", lambda: _parquet(_beliefs_rows()), _beliefs),
        "norms, CSLB": Format("norms.dat", lambda: _demo("norms.dat"), read_norms),
        "norms, McRae": Format(
            "n.txt",
            lambda: (
                b"Concept\tFeature\tProd_Freq\tBR_Label\n"
                b"bear\tbeh_-_eats\t5\ttaxonomic\nseal_(animal)\thas_fur\t9\ttactile\n"
            ),
            read_norms,
        ),
        "norms, table": Format(
            "n.csv", lambda: b'concept,feature,pf\nbear,"has fur",3\nbear,eats,2\n', read_norms
        ),
        "norms, workbook": Format("n.xlsx", _workbook, read_norms, slow=True),
        "corrections": Format(
            "c.csv", lambda: b"feature,wording,concept\neats,eats food,bear\n", read_corrections
        ),
        "anchors, CommonsenseQA": Format("a.jsonl", lambda: _lines(CSQA), read_anchors),
        "anchors, ARC": Format("a.jsonl", lambda: _lines(ARC), read_anchors),
        "anchors, PIQA": Format("a.jsonl", lambda: _lines(PIQA), read_anchors),
        "anchors, CSV": Format(
            "a.csv", lambda: b"question,choices,answer\nWhere?,here|there,here\n", read_anchors
        ),
        "anchors, Parquet": Format("a.parquet", lambda: _parquet([PLAIN, PLAIN]), read_anchors),
        "assertions": Format("dump.csv", lambda: ASSERTION * 3, _imported, slow=True),
        "assertions, gzip": Format(
            "d.csv.gz", lambda: gzip.compress(ASSERTION * 9), _imported, slow=True
        ),
        "triples": Format("facts.tsv", lambda: _demo("facts.tsv"), _imported, slow=True),
        "knowledge base": Format("base.kb", _base, _base_facts, slow=True),
        "ontology": Format("o.yaml", lambda: _data("ontologies/space.yaml"), read_ontology),
        "parts template": Format(
            "t.yaml",
            lambda: (
                b"text: 'Judge: {statement} ({a_thing})'\nseparator: ' '\n"
                b"positive: ['true']\nnegative: ['false']\n"
            ),
            Template.read,
        ),
        "consistency templates": Format(
            "t.yaml", lambda: b"relations:\n  IsA:\n    text: '{c1} is {c2}'\n", load_templates
        ),
        "nouns": Format("n.yaml", lambda: b"plural: [scissors]\nan: [hour]\n", Nouns.load),
        "prompts": Format(
            "p.jsonl", lambda: _lines({"text": "a ___ b", "answers": ["x", "y"]}), read_prompts
        ),
        "table, Parquet": Format("t.parquet", lambda: _parquet(_beliefs_rows()), read_table),
        "recorded blocks": Format("blocks.parquet", _blocks, _recorded),
        "hashes": Format(
            "hashes.json", lambda: b'{"/a": {"size": 3, "mtime_ns": 4, "sha256": "00"}}', _hashed
        ),
        "tokenizer": Format("tokenizer.json", _tokenizer, _tokenized),
    }


def _lines(*rows: Any) -> bytes:  # noqa: ANN401 - JSON
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def _parquet(rows: Any) -> bytes:  # noqa: ANN401 - JSON
    file = io.BytesIO()
    pl.DataFrame(rows).write_parquet(file)
    return file.getvalue()


def _beliefs_rows() -> list[dict[str, Any]]:
    return [
        {"thing": "egg", "subject": "yolk", "relation": "inside", "object": "white", "p_true": 0.9},
        {
            "thing": "egg",
            "subject": "white",
            "relation": "inside",
            "object": "yolk",
            "p_true": None,
        },
    ]


def _data(name: str) -> bytes:
    return (resources.files("tacit") / "data" / name).read_bytes()


def _demo(name: str) -> bytes:
    return b"".join(_data(f"demo/{name}").splitlines(keepends=True)[:12])


def _drawings(path: Path) -> None:
    read_drawings(path, PARTS.relations)
    files_of(path)


def _things(path: Path) -> None:
    if is_things(path):
        undrawn(path)
    read_things(path)


def _beliefs(path: Path) -> None:
    read_beliefs(path, PARTS)
    statements = pl.DataFrame(
        [("egg", "ann", "yolk", "inside", "white")],
        ["thing", "annotator", "subject", "relation", "object"],
        orient="row",
    )
    answers_in(path, statements, PARTS)


def _workbook() -> bytes:
    from openpyxl import Workbook

    book, file = Workbook(), io.BytesIO()
    for row in (("Concept", "Feature", "Prod_Freq"), ("bear", "has_fur", 3)):
        book.active.append(row)  # type: ignore[union-attr]
    book.save(file)
    return file.getvalue()


def _imported(path: Path) -> None:
    build(KnowledgeSource([Dump(path)]), path.with_name("made.kb"))


def _base() -> bytes:
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        facts, base = Path(folder) / "facts.tsv", Path(folder) / "base.kb"
        facts.write_bytes(_demo("facts.tsv"))
        build(KnowledgeSource([Dump(facts)]), base)
        return base.read_bytes()


def _base_facts(path: Path) -> None:
    with KnowledgeBase(path) as base:
        _ = base.relations
        base.table("SELECT * FROM base.neighbours JOIN base.concepts ON concept = id")
        base.table("SELECT * FROM base.terms")


def _blocks() -> bytes:
    rows = [{"block": 0, "tokens": 3, "request": 0, "parts": [0]}]
    file = io.BytesIO()
    pl.DataFrame(rows).write_parquet(file, metadata={"digest": DIGEST})
    return file.getvalue()


def _recorded(path: Path) -> None:
    recorded(path, DIGEST, [Prompt("a", ("b",))])


def _hashed(path: Path) -> None:
    hashes = FileHashes(path)
    assert len(hashes.sha256(path)) == 64


def _tokenizer() -> bytes:
    content: str = tiny.gpt2_like().backend_tokenizer.to_str()
    return content.encode()


def _tokenized(path: Path) -> None:
    tokenizer = TokenizerFile(path)
    tokenizer.cut("a bear in the woods")
    tokenizer.spelled(5)
    tokenizer.key(5, spaced=True)
