"""A site on this machine from which data sets are fetched."""

import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

import pytest

from tacit.sources.drawings import demo_drawings
from tacit.sources.registry import Source, SourceFile, registry

NAME = "everyday-things"


@dataclass
class Site:
    """Files by path; ``asked`` has the path and the range of each request."""

    files: dict[str, bytes] = field(default_factory=dict)
    asked: list[tuple[str, str | None]] = field(default_factory=list)
    ranges: bool = True
    cuts: int | None = None
    address: str = ""


class Handler(BaseHTTPRequestHandler):
    """Sends the files of a site; a whole one if the site knows no ranges."""

    site: ClassVar[Site]

    def log_message(self, *_: Any) -> None:  # noqa: ANN401 - http.server's signature
        """Write nothing."""

    def do_GET(self) -> None:
        site, wanted = self.site, self.headers.get("Range")
        path = self.path.rpartition("/")[2]
        site.asked.append((path, wanted))
        whole = site.files.get(path)
        if whole is None:
            self.send_error(404)
            return
        begin = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted and site.ranges else 0
        if begin >= len(whole):
            self.send_error(416)
            return
        self.send_response(206 if begin else 200)
        if begin:
            self.send_header("Content-Range", f"bytes {begin}-{len(whole) - 1}/{len(whole)}")
        self.send_header("Content-Length", str(len(whole) - begin))
        self.end_headers()
        self.wfile.write(whole[begin : site.cuts])


@contextmanager
def served(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """A site, to which no proxy of the environment leads."""
    for name in ("HTTP_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    made = Site()
    kind = type("OfSite", (Handler,), {"site": made})
    with ThreadingHTTPServer(("127.0.0.1", 0), kind) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        made.address = f"http://127.0.0.1:{server.server_port}"
        yield made
        server.shutdown()
        thread.join()


def source_of(site: Site, files: dict[str, bytes]) -> Source:
    """A data set with these files, all of which the site has."""
    site.files |= files
    listed = [
        SourceFile(
            name=f"{name} of the site",
            save_as=name,
            url=f"{site.address}/{name}",
            bytes=len(content),
            sha256=hashlib.sha256(content).hexdigest(),
        )
        for name, content in files.items()
    ]
    return replace(registry().source(NAME), files=listed)


def serve_drawings(site: Site, monkeypatch: pytest.MonkeyPatch) -> Source:
    """Let everyday-things be the demo's drawings, from the site."""
    local = source_of(site, {one.name: one.read_bytes() for one in demo_drawings().iterdir()})
    monkeypatch.setitem(registry().sources, NAME, local)
    return local
