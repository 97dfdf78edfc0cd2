"""The option ``--config``: a YAML file with options, such as the run.yaml that a run writes."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from tacit.errors import DataError, RequestError
from tacit.options import declarations
from tacit.probes.base import Probe

_HELP = (
    "A YAML file with options by name, such as the run.yaml in the folder of a run. Paths in the "
    "file are relative to the current folder, and options on the command line have precedence."
)


def config_option(kind: type[Probe], kinds: Iterable[type]) -> Any:  # noqa: ANN401 - an annotation
    """Return the annotation of the option of a probe's command that accepts options ``kinds``."""

    def read(ctx: typer.Context, path: Path | None) -> None:
        if path is not None:
            ctx.default_map = _values(path, kind, kinds)

    return Annotated[
        Path | None, typer.Option("--config", is_eager=True, callback=read, help=_HELP)
    ]


def is_configured(ctx: typer.Context, name: str) -> bool:
    source = ctx.get_parameter_source(name)
    return source is not None and source.name == "DEFAULT_MAP"


def _values(path: Path, kind: type[Probe], kinds: Iterable[type]) -> dict[str, Any]:
    """Read the values of options from a file; a run's file also names its probe and its models."""
    from tacit.documents import read_yaml, unknown_key
    from tacit.models.openai.options import check_holds_no_key

    content = read_yaml(path)
    if not isinstance(content, dict):
        raise DataError("expected a mapping of options to values", path)
    if content.pop("probe", kind.name) != kind.name:
        raise DataError(f"holds options of another probe than {kind.name}", path)
    known = {name: one for each in kinds for name, one in declarations(each).items()}
    models = content.pop("compared", content.pop("model", None))
    if models is not None:
        content["model"] = models if isinstance(models, list) else [models]
    for key, value in content.items():
        if key not in known:
            raise DataError(unknown_key("the file", str(key), ("probe", *known)), path)
        if known[key].permits:
            flag = key.replace("_", "-")
            raise DataError(f"{key} counts only on the command line: give --{flag}", path)
        try:
            for text in value if isinstance(value, list) else [value]:
                check_holds_no_key(str(text))
        except RequestError as error:
            raise DataError(str(error), path) from error
    return {key: value for key, value in content.items() if value is not None}
