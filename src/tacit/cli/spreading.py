"""Options that several verbs take together: one dataclass here, one by one on the command line."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from functools import cache, wraps
from inspect import Parameter
from typing import Any, get_type_hints


def spread(verb: Callable[..., None]) -> Callable[..., None]:
    """A verb that takes the fields of its dataclasses one by one, in their place.

    Args:
        verb: Its parameters are options, or dataclasses whose fields are options; no two options
            may have the same name.
    """
    kinds = get_type_hints(verb, include_extras=True)
    groups: dict[str, Any] = {name: kind for name, kind in kinds.items() if is_dataclass(kind)}
    options: list[Parameter] = []
    for name, parameter in inspect.signature(verb).parameters.items():
        if name in groups:
            options += _fields(groups[name])
        else:
            only = Parameter.KEYWORD_ONLY
            options.append(parameter.replace(kind=only, annotation=kinds[name]))

    @wraps(verb)
    def spread_out(**given: Any) -> None:  # noqa: ANN401 - whatever options there are
        for name, kind in groups.items():
            given[name] = kind(**{one.name: given.pop(one.name) for one in fields(kind)})
        verb(**given)

    spread_out.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined] # Typer's
    spread_out.__annotations__ = {option.name: option.annotation for option in options}
    return spread_out


@cache  # reading its hints is slow, several verbs share it, and all of that is at start-up
def _fields(group: Any) -> tuple[Parameter, ...]:  # noqa: ANN401 - any dataclass
    kinds = get_type_hints(group, include_extras=True)
    return tuple(
        Parameter(
            one.name,
            Parameter.KEYWORD_ONLY,
            default=Parameter.empty if one.default is MISSING else one.default,
            annotation=kinds[one.name],
        )
        for one in fields(group)
    )
