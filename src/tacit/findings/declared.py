"""Tables of findings, and headlines, that are declared in YAML."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from importlib import resources
from typing import Any

from tacit.findings.display import Headline
from tacit.findings.spec import TableSpec


class Tables(Mapping[str, TableSpec]):
    """The tables of ``data/tables/{name}.yaml``, which is read when a table is first needed.

    A table names columns of the catalogue ``columns``, and may replace some of their attributes;
    ``interval: true`` declares the ends ``x_low`` and ``x_high`` for the column ``x``.
    """

    def __init__(self, name: str, section: str = "tables") -> None:
        self._name, self._section = name, section

    def __getitem__(self, name: str) -> TableSpec:
        return self._tables[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tables)

    def __len__(self) -> int:
        return len(self._tables)

    @cached_property
    def _tables(self) -> Mapping[str, TableSpec]:
        from pydantic import TypeAdapter

        content = shipped("tables", self._name)
        catalogue = content["columns"]
        tables = [
            {
                "name": name,
                "reading": "",
                **table,
                "columns": [_column(each, catalogue) for each in table["columns"]],
            }
            for name, table in content[self._section].items()
        ]
        specs = TypeAdapter(list[TableSpec]).validate_python(tables)
        return {table.name: table for table in specs}


class Headlines(Sequence[Headline]):
    """The headlines of ``data/texts/{name}.yaml``, which is read when one is first needed."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getitem__(self, at: Any) -> Any:  # noqa: ANN401 - a headline, or several of them
        return self._headlines[at]

    def __len__(self) -> int:
        return len(self._headlines)

    @cached_property
    def _headlines(self) -> tuple[Headline, ...]:
        from pydantic import TypeAdapter

        content = shipped("texts", self._name)["headlines"]
        return TypeAdapter(tuple[Headline, ...]).validate_python(content)


def shipped(folder: str, name: str) -> Any:  # noqa: ANN401 - any content
    """Return the content of ``data/{folder}/{name}.yaml``."""
    import yaml

    file = resources.files("tacit") / "data" / folder / f"{name}.yaml"
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return yaml.load(file.read_text(encoding="utf-8"), loader)  # noqa: S506 - a safe loader


def _column(declared: str | dict[str, Any], catalogue: Mapping[str, Any]) -> dict[str, Any]:
    """Return the attributes of one column."""
    ((name, own),) = ({declared: {}} if isinstance(declared, str) else declared).items()
    column = {"name": name, "heading": name.replace("_", " "), **catalogue.get(name, {}), **own}
    if column.pop("interval", False):
        column["ends"] = (f"{name}_low", f"{name}_high")
    return column
