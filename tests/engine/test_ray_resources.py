"""How a cluster is shared out and reached; none is started here."""

import socket
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.engine.options import EngineOptions
from tacit.engine.ray.cluster import Share, connect, share_out
from tacit.errors import MissingPackage, RequestError

LAPTOP = [{"CPU": 8.0}]
SMALL = [{"CPU": 4.0}, {"CPU": 16.0}, {"CPU": 8.0}]
GPUS = [{"CPU": 16.0, "GPU": 4.0}, {"CPU": 8.0, "GPU": 2.0}, {"CPU": 64.0}]


@pytest.mark.parametrize(
    ("nodes", "options", "share"),
    [
        (LAPTOP, EngineOptions(), Share(1, 8, 0)),
        (LAPTOP, EngineOptions(workers=3), Share(3, 2, 0)),
        (LAPTOP, EngineOptions(workers=20), Share(20, 1, 0)),
        (SMALL, EngineOptions(), Share(3, 4, 0)),
        (SMALL, EngineOptions(workers=4, threads=8), Share(4, 8, 0)),
        (GPUS, EngineOptions(), Share(6, 1, 1)),
        (GPUS, EngineOptions(gpus_per_worker=2), Share(3, 1, 2)),
        (GPUS, EngineOptions(gpus_per_worker=0.3), Share(18, 1, 0.3)),
        (GPUS, EngineOptions(gpus_per_worker=0), Share(3, 8, 0)),
        (GPUS, EngineOptions(workers=2, threads=4), Share(2, 4, 1)),
    ],
)
def test_what_is_not_asked_for_goes_by_the_cluster(
    nodes: list[dict[str, float]], options: EngineOptions, share: Share
) -> None:
    """One worker per GPU, else per node with the cores of the smallest."""
    assert share_out(options, nodes) == share


@given(
    st.lists(
        st.builds(
            lambda cpu, gpu: {"CPU": float(cpu), "GPU": float(gpu)},
            st.integers(1, 64),
            st.integers(0, 8),
        ),
        min_size=1,
        max_size=5,
    )
)
def test_the_workers_that_a_cluster_gives_by_itself_fit_on_it(
    nodes: list[dict[str, float]],
) -> None:
    share = share_out(EngineOptions(), nodes)
    held = 0
    for node in nodes:
        cpu, gpu = node["CPU"], node["GPU"]
        while cpu >= share.threads and gpu >= share.gpus:
            held, cpu, gpu = held + 1, cpu - share.threads, gpu - share.gpus
    assert held == share.room(nodes)
    assert 1 <= share.workers <= held


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (EngineOptions(gpus_per_worker=1), "1 node has at most 0 GPU"),
        (EngineOptions(gpus_per_worker=1.5), "fraction of one GPU, such as 0.5, or a whole number"),
        (
            EngineOptions(threads=9),
            "a worker needs 9 cores, but according to Ray the cluster's 1 node has",
        ),
    ],
)
def test_a_worker_that_fits_nowhere_is_refused(options: EngineOptions, said: str) -> None:
    with pytest.raises(RequestError, match=said):
        share_out(options, LAPTOP)


def test_an_address_where_nothing_listens_is_refused_at_once() -> None:
    pytest.importorskip("ray", reason="the extra ray is not installed")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        for address in (f"127.0.0.1:{port}", f"ray://127.0.0.1:{port}"):
            with pytest.raises(RequestError, match=f"at --address {address} .*ray start --head"):
                connect(EngineOptions(address=address))


@pytest.mark.parametrize("address", ["here", "ray://", "host:123456", "http://a:1"])
def test_what_is_no_address_is_refused(address: str) -> None:
    pytest.importorskip("ray", reason="the extra ray is not installed")
    with pytest.raises(RequestError, match="it must be auto, HOST:PORT"):
        connect(EngineOptions(address=address))


@pytest.mark.parametrize("given", [True, False])
def test_a_password_in_an_address_is_not_shown(
    monkeypatch: pytest.MonkeyPatch, *, given: bool
) -> None:
    pytest.importorskip("ray", reason="the extra ray is not installed")
    monkeypatch.setenv("RAY_ADDRESS", "ray://me:secret@host:10001")
    with pytest.raises(RequestError, match="contains a user, a password") as refused:
        connect(EngineOptions(address="ray://me:secret@host:10001" if given else None))
    assert "secret" not in str(refused.value)


def test_without_ray_its_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingPackage, match=r"pip install 'tacit-lm\[ray\]'"):
        connect(EngineOptions())
