"""The registry of probes: Tacit's own, those of other packages, and those of this process.

Tacit finds the probes of other packages by their entry points in the group ``tacit.probes``.
"""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Mapping
from dataclasses import is_dataclass
from difflib import get_close_matches
from functools import cache, cached_property
from importlib import import_module, metadata, util
from pathlib import Path
from typing import Any

from tacit.errors import RequestError
from tacit.findings.display import FigureSpec
from tacit.probes.base import Probe, declared_figures

GROUP = "tacit.probes"
"""The entry-point group in which other packages declare their probe classes."""

BUILT_IN = {
    "parts": "tacit.probes.parts.probe:PartsProbe",
    "consistency": "tacit.probes.consistency.probe:ConsistencyProbe",
    "assumptions": "tacit.probes.assumptions.probe:Assumptions",
}

_HERE: dict[str, type[Probe]] = {}

log = logging.getLogger(__name__)


def register(kind: type[Probe]) -> None:
    """Register the class of a probe in this process, in place of an earlier one of its name."""
    check_class(kind)
    if kind.name in BUILT_IN:
        if kind is probe(kind.name):
            return
        raise RequestError(f"{kind.name!r} is the name of one of Tacit's probes; choose another")
    _HERE[kind.name] = kind


def load_file(file: Path) -> type[Probe]:
    """Register the probe that a Python file defines, and return its class; the file is run."""
    if not file.is_file():
        raise RequestError(f"{file}: there is no such file")
    spec = util.spec_from_file_location(file.stem, file)
    if spec is None or spec.loader is None:
        raise RequestError(f"{file} is not a Python file")
    module = util.module_from_spec(spec)
    sys.modules[file.stem] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise RequestError(f"{file} cannot be run: {type(error).__name__}: {error}") from error
    kinds = [
        one
        for one in vars(module).values()
        if isinstance(one, type) and issubclass(one, Probe) and one.__module__ == file.stem
    ]
    if len(kinds) != 1:
        names = ", ".join(one.__name__ for one in kinds) or "none"
        raise RequestError(f"{file} must define one class derived from tacit.Probe; found {names}")
    register(kinds[0])
    return kinds[0]


def check_class(kind: Any, whose: str = "") -> None:  # noqa: ANN401 - any object
    """Refuse what is not the class of a probe, lacks members or misspells one, after ``whose``."""
    named = whose + (kind.__name__ if isinstance(kind, type) else repr(kind))
    if not isinstance(kind, type) or not issubclass(kind, Probe):
        raise RequestError(f"{named} is not a class derived from tacit.Probe")
    lacking = [name for name in ("name", "summary") if not getattr(kind, name)]
    ours = [each for each in kind.__mro__ if each.__module__.split(".")[0] == "tacit"]
    needed = ("for_models",) if kind.ranks_vocabulary else kind._required  # noqa: SLF001
    for name in needed:
        default = next(vars(each)[name] for each in ours[::-1] if name in vars(each))
        first = next(vars(each)[name] for each in kind.__mro__ if name in vars(each))
        lacking += [name] * (first is default)
    if not is_dataclass(kind.Options):
        lacking.append("Options (a dataclass), or the decorator @dataclass on the class itself")
    if lacking:
        raise RequestError(f"{named} defines no {', no '.join(lacking)}")
    if not re.fullmatch(r"[\w-]+", kind.name):
        raise RequestError(f"{named} has the name {kind.name!r}; use letters, digits, _ and -")
    members = {id(value): value for each in kind.__mro__ for value in vars(each).values()}
    figures = [one for one in members.values() if isinstance(one, FigureSpec)]
    if lost := [one.name for one in figures if one not in declared_figures(kind).values()]:
        raise RequestError(
            f"{named} has the figure {lost[0]}, which is not among its figures; add the line "
            f"figures = ({', '.join(lost)},) to the class"
        )
    hooks = {name for each in ours for name in vars(each) if not name.startswith("_")}
    own = {
        name
        for each in kind.__mro__
        if each not in ours
        for name, value in vars(each).items()
        if not isinstance(value, property | cached_property)
    }
    for name in sorted(own - hooks):
        near = [] if name.startswith("_") else get_close_matches(name, hooks, 1, 0.75)
        if near:
            raise RequestError(
                f"{named} defines {name}, which Tacit does not use; did you mean {near[0]}?"
            )


def probe(name: str) -> type[Probe]:
    """Return the class of the probe with the given name."""
    if name in BUILT_IN:
        module, _, kind = BUILT_IN[name].partition(":")
        own: type[Probe] = getattr(import_module(module), kind)
        return own
    if name in _HERE:
        return _HERE[name]
    if name in _others():
        return _loaded(_others()[name])
    raise RequestError(f"there is no probe {name!r}; expected one of {', '.join(probes())}")


def probes() -> tuple[str, ...]:
    """Return the names of all probes; Tacit's own probes come first."""
    return (*BUILT_IN, *sorted({*_others(), *_HERE} - set(BUILT_IN)))


@cache
def _loaded(entry: metadata.EntryPoint) -> type[Probe]:
    """Load the probe of another package."""
    package = entry.dist.name if entry.dist else entry.value
    try:
        kind: type[Probe] = entry.load()
    except Exception as error:
        raise RequestError(
            f"the probe {entry.name} of the package {package} cannot be loaded: {error!r}"
        ) from error
    check_class(kind, f"the package {package}: ")
    if kind.name != entry.name:
        raise RequestError(
            f"the package {package} registers the probe {kind.name!r} under the name "
            f"{entry.name!r}; both must be the same"
        )
    return kind


@cache
def _others() -> Mapping[str, metadata.EntryPoint]:
    """Return the entry points of other packages; one with the name of Tacit's probes is ignored."""
    entries = {}
    for entry in metadata.entry_points(group=GROUP):
        if entry.name in BUILT_IN:
            package = entry.dist.name if entry.dist else entry.value
            log.warning(
                "the package %s registers a probe as %s, which is one of Tacit's: it is ignored",
                package,
                entry.name,
            )
        else:
            entries[entry.name] = entry
    return entries
