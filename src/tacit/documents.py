"""YAML files that people write, JSON among them: each key once, and an error with its line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import yaml

from tacit.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Hashable
    from pathlib import Path


def read_yaml(path: Path) -> Any:  # noqa: ANN401 - whatever the file holds
    """What a YAML file holds; tags of Python's are refused.

    Raises:
        DataError: The file is missing or no YAML, or a key stands twice in one mapping.
    """
    try:
        return yaml.load(path.read_text(encoding="utf-8"), _Once)  # noqa: S506 - a safe loader
    except FileNotFoundError as error:
        raise DataError("there is no such file", path) from error
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"cannot be read: {error}", path) from error
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else None
        raise DataError(f"is not YAML: {error.problem}", path, line) from error
    except (ValueError, RecursionError, yaml.YAMLError) as error:
        raise DataError(f"is not YAML: {error}", path) from error


class _Once(yaml.SafeLoader):
    """YAML in which a key that stands twice is an error, and not the last one's."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:  # noqa: FBT001, FBT002 - PyYAML's signature
        known: list[object] = []
        for key, _ in node.value:
            name = self.construct_object(key, deep=True)
            if name in known:
                raise yaml.constructor.ConstructorError(
                    problem=f"the key {name!r} stands twice; expected it once",
                    problem_mark=key.start_mark,
                )
            known.append(name)
        return super().construct_mapping(node, deep)
