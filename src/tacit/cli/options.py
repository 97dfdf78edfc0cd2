"""The options that several verbs share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer


def _checked(given: str | list[str] | None) -> str | list[str] | None:
    """The models as they are named, unless one is an address that may hold a key.

    Raises:
        ModelError: One is; no verb has named it yet.
    """
    from tacit.models.server.address import check_holds_no_key

    for name in [given] if isinstance(given, str) else given or ():
        check_holds_no_key(name)
    return given


_A_MODEL = "A Hugging Face name, a model's folder, demo, or a server's address (http://…/v1)"

ModelName = Annotated[
    str,
    typer.Option("--model", help=f"{_A_MODEL}.", show_default=False, callback=_checked),
]
OneModel = Annotated[str | None, typer.Option("--model", help=f"{_A_MODEL}.", callback=_checked)]
ModelNames = Annotated[
    list[str] | None,
    typer.Option("--model", help=f"{_A_MODEL}; once or more.", callback=_checked),
]
SomeModels = Annotated[
    list[str],
    typer.Option(
        "--model",
        help=f"{_A_MODEL}; once or more.",
        show_default=False,
        callback=_checked,
    ),
]
BeliefsFile = Annotated[
    Path | None,
    typer.Option(
        "--beliefs", help="Beliefs asked elsewhere, in place of a model: thing, subject, …, p_true."
    ),
]
Revision = Annotated[str | None, typer.Option(help="Branch, tag or commit of a model on the hub.")]
Dtype = Annotated[
    str,
    typer.Option(help="auto (float32 on a CPU, else as stored), float32, bfloat16 or float16."),
]
Device = Annotated[str, typer.Option(help="auto, cpu, cuda, cuda:1, …")]
BatchTokens = Annotated[
    int | None, typer.Option(help="Tokens in one forward pass; the default goes by the device.")
]
NoPacking = Annotated[
    bool,
    typer.Option(
        "--no-packing",
        help="Compute every prompt by itself, in place of what prompts begin with alike once.",
    ),
]
TrustRemoteCode = Annotated[
    bool,
    typer.Option(
        "--trust-remote-code",
        help="Run the programs that a model brings; without it they are never run.",
    ),
]
AllowPickle = Annotated[
    bool,
    typer.Option(
        "--allow-pickle",
        help="Read weights from a pickle (pytorch_model.bin) where there are no safetensors.",
    ),
]
Adapter = Annotated[
    Path | None, typer.Option(help="A folder with a PEFT adapter (LoRA and others) for the model.")
]
DeviceMap = Annotated[
    str | None,
    typer.Option(help="Spread the model over devices: auto, balanced, sequential (accelerate)."),
]
MaskedMode = Annotated[
    str,
    typer.Option(
        help="How a masked model scores answers of several tokens: left-to-right or one-at-a-time."
    ),
]
ServedModel = Annotated[
    str | None,
    typer.Option(
        "--served-model", help="With a server: what it calls the model [default: its only one]."
    ),
]
TokenizerPath = Annotated[
    Path | None,
    typer.Option(
        "--tokenizer", help="With a server: the model's tokenizer.json, or a folder that holds it."
    ),
]
Concurrency = Annotated[
    int, typer.Option(min=1, help="With a server: how many prompts are under way at once.")
]
Timeout = Annotated[
    float | None,
    typer.Option(
        help="With a server: seconds that an answer may take [default: 120; 600 where it thinks]."
    ),
]
Drawings = Annotated[
    Path,
    typer.Option(help="A folder of drawings, an annotations file, or a file of things and parts."),
]
Things = Annotated[str | None, typer.Option(help="Only these things, with commas between.")]
Preset = Annotated[
    str, typer.Option(help="How a question is put: plain, macaw, gpt3 or gpt3-paper.")
]
PromptFile = Annotated[
    Path | None, typer.Option("--prompt", help="A YAML template of your own, in place of a preset.")
]
NumberPreset = Annotated[
    str, typer.Option("--number", help="paper (plural when it ends in s) or grammar.")
]
NounsFile = Annotated[
    Path | None,
    typer.Option("--nouns", help="YAML: your own exceptions to the rules of --number grammar."),
]
FigureFormats = Annotated[
    str | None,
    typer.Option("--figures", help="Also draw the figures: svg, png, pdf, with commas between."),
]
PaletteName = Annotated[
    str, typer.Option("--palette", help="house, or okabe-ito, which is safe for the colour-blind.")
]
Graphs = Annotated[
    str | None,
    typer.Option(help="With --figures: the things to draw as graphs; one typical drawing if none."),
]
StorePath = Annotated[
    str | None,
    typer.Option(
        "--store",
        help="Where scores are kept, a folder or s3://… [default: $TACIT_STORE, else .tacit].",
    ),
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Say what would be asked and how long it would take.")
]
Strict = Annotated[
    bool,
    typer.Option(
        "--strict",
        help="Refuse the run if a prompt is longer than the model's window; else it is skipped.",
    ),
]
Force = Annotated[
    bool,
    typer.Option("--force", help="Overwrite a file that this command did not write."),
]
Questions = Annotated[
    Path,
    typer.Option(help="Multiple-choice questions: CommonsenseQA, or question, choices, answer."),
]
WordsVersion = Annotated[
    str,
    typer.Option(
        "--version",
        help="Words that count: review-lexicon (content words, by the lexicon), review (by a "
        "tagger) or arxiv (all).",
    ),
]
Tagger = Annotated[
    str | None, typer.Option(help="A spaCy pipeline with a tagger; with --version review.")
]
OverlapRule = Annotated[
    str,
    typer.Option(
        "--overlap",
        help="A concept is in a question with over half of its all-words or content-words.",
    ),
]
PartsRule = Annotated[
    str,
    typer.Option(
        "--parts",
        help="Match concepts with the question and each choice apart (separate), or pooled.",
    ),
]
VerbatimRule = Annotated[
    str,
    typer.Option("--verbatim", help="on: a concept that is there verbatim counts as well; or off."),
]
Relations = Annotated[
    str | None,
    typer.Option(help="Relations, with commas between [default: the 14 of Sahu et al. 2022]."),
]
PathLength = Annotated[int, typer.Option("--length", help="The longest path: 1, 2 or 3 hops.")]
FactCap = Annotated[
    int | None,
    typer.Option(
        "--cap", help="Most facts of a question, 0 for all [default: all; 200 beyond one hop]."
    ),
]
NegativeSeed = Annotated[
    int,
    typer.Option(
        "--seed", help="Seed of the negatives, and of which equally heavy facts --cap keeps."
    ),
]
FrequentWords = Annotated[
    int, typer.Option("--frequent", help="Negatives are among so many frequent words.")
]
KnowledgeBaseFile = Annotated[
    Path, typer.Option("--kb", help="A knowledge base's file, that tacit kb import made.")
]
RunFolder = Annotated[
    Path, typer.Option("--out", help="The run's folder; of several models, one in it for each.")
]
FactWording = Annotated[str, typer.Option("--wording", help="paper (as printed) or grammatical.")]
TemplatesFile = Annotated[
    Path | None,
    typer.Option("--templates", help="YAML: relations of your own, or other words for ours."),
]
Answering = Annotated[
    str,
    typer.Option(
        "--answering",
        help="How a yes/no question is answered: max, count, calibrated, or single.",
    ),
]
MetaPrompt = Annotated[
    int | None, typer.Option("--meta", help="With --answering single: the meta-prompt, from 1.")
]
WordPair = Annotated[
    str | None, typer.Option("--pair", help="With --answering single: a pair such as Yes/No.")
]
Anchoring = Annotated[
    str,
    typer.Option(
        "--anchors", help="How questions are answered: choice, verify, or both; the first counts."
    ),
]
NormsFile = Annotated[
    Path, typer.Option("--norms", help="CSLB's norms.dat, McRae's file, or concept, feature, pf.")
]
Corrections = Annotated[
    Path | None,
    typer.Option(help="Your own wordings: a table or YAML with concept, feature, wording."),
]
LeastPeople = Annotated[int, typer.Option(min=0, help="Only properties that so many people named.")]
ConceptLimit = Annotated[
    int | None, typer.Option(min=1, help="Only the first so many concepts that are left.")
]
MostWords = Annotated[
    int | None, typer.Option(min=1, help="Retrieval: only properties of at most so many words.")
]
LeastProperties = Annotated[
    int, typer.Option(min=1, help="Retrieval: only concepts with so many usable properties.")
]
ArticleRule = Annotated[
    Literal["fixed", "candidate"],
    typer.Option(help="Retrieval: A for all, or each candidate's own, scored with it."),
]
ConceptPreset = Annotated[
    Literal["paper", "tagged", "all"],
    typer.Option(
        "--concepts",
        help="paper: without seal_(animal) and the like; tagged: the tag is stripped; all: also "
        "several words, in elicitation.",
    ),
]
ResponsePreset = Annotated[
    Literal["people", "feature", "first"],
    typer.Option(
        "--responses",
        help="Elicitation: alternatives with the number of people who gave each, all with that of "
        "the feature, or the feature's first wording.",
    ),
]
Candidates = Annotated[
    str,
    typer.Option(
        "--vocabulary",
        metavar="shared|own|concepts|FILE",
        help="Retrieval ranks the words that all models share, own ones, the concepts, or those of "
        "a file, one per line.",
    ),
]
CausalWording = Annotated[
    str,
    typer.Option(
        "--wording",
        help="How a causal model is asked for a concept: blank-last, sentence or both.",
    ),
]
EngineName = Annotated[
    Literal["local", "ray"],
    typer.Option("--engine", help="local (this process), or ray (workers here or elsewhere)."),
]
ClusterAddress = Annotated[
    str | None,
    typer.Option(
        "--address",
        help="With --engine ray: a running cluster, auto, HOST:PORT or ray://HOST:PORT "
        "[default: $RAY_ADDRESS, else one that is started here for the run].",
    ),
]
Workers = Annotated[
    int | None,
    typer.Option(
        min=1, help="With --engine ray: how many workers [default: one per GPU, else per node]."
    ),
]
GpusPerWorker = Annotated[
    float | None,
    typer.Option(
        min=0, help="With --engine ray: each worker's GPUs, such as 0.5 or 2 [default: 1 or none]."
    ),
]
Threads = Annotated[
    int | None,
    typer.Option(
        min=1, help="In how many threads the model computes, here or in each worker, on a CPU."
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


def listed(names: str | None) -> tuple[str, ...]:
    """Names with commas between, without the blanks around them."""
    return tuple(name.strip() for name in (names or "").split(",") if name.strip())
