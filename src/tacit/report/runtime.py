"""The charts' runtime: Vega, Vega-Lite and Vega-Embed, as vl-convert bundles them."""

from __future__ import annotations

import contextlib
import os
from functools import cache
from importlib import metadata
from pathlib import Path

from tacit.errors import WorkError
from tacit.publishing import publish_text

LICENCES = (
    "Vega, Vega-Lite and Vega-Embed: copyright University of Washington Interactive Data Lab and "
    "contributors, BSD 3-Clause licence. They bundle d3 and topojson-client "
    "(Mike Bostock, ISC licence), fast-json-patch (Joachim Wester, MIT licence), "
    "json-stringify-pretty-compact (Lydell, MIT licence), semver (Isaac Z. Schlueter, ISC licence) "
    "and lodash.debounce (JS Foundation, MIT licence)."
)
_SNIPPET = "window.vegaEmbed = vegaEmbed;"


@cache
def runtime() -> str:
    """A script that defines ``vegaEmbed`` and loads nothing.

    Bundling takes seconds, so that the script is kept in the user's cache folder for the version of
    vl-convert that made it.
    """
    import vl_convert

    version = metadata.version("vl-convert-python")
    kept = _cache() / f"charts-{version}.js"
    with contextlib.suppress(OSError, UnicodeDecodeError):
        return checked(kept.read_text(encoding="utf-8"))
    bundle = checked(vl_convert.javascript_bundle(_SNIPPET))
    # A folder that cannot be written only costs the seconds again.
    with contextlib.suppress(WorkError):
        publish_text(kept, bundle)
    return bundle


def charts_script() -> str:
    """The runtime as a script of a page, which keeps its own names to itself."""
    return f"/* {LICENCES} */\n(function () {{ {runtime()}\n}})();"


def checked(script: str) -> str:
    """The script, if it can stand within a page as it is.

    Raises:
        WorkError: It holds what would end it there, or what a browser reads as another character,
            so that the hash in the page's policy would be another's.
    """
    if any(ending in script.lower() for ending in ("</script", "<!--", "\r", "\0")):
        raise WorkError("the charts' runtime of this vl-convert cannot stand within a page")
    return script


def _cache() -> Path:
    place = os.environ.get("XDG_CACHE_HOME")
    return (Path(place) if place else Path.home() / ".cache") / "tacit"
