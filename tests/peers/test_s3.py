"""The store on S3 as moto 5.2.5 serves it, through s3fs."""

import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tacit.engine.ask import Engine
from tacit.engine.store import Store
from tacit.errors import StoreError
from tacit.models.fake import FakeModel
from tacit.requests import Prompt

pytest.importorskip("s3fs", reason="s3fs is not installed")
moto = pytest.importorskip("moto.server", reason="moto[s3], flask and flask-cors are not installed")

PROMPTS = [Prompt(f"text {number}", ("a", "b")) for number in range(8)]


@pytest.fixture
def bucket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of an empty bucket."""
    import boto3
    import s3fs

    server = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    given = {
        "AWS_ENDPOINT_URL": f"http://{host}:{port}",
        "AWS_ACCESS_KEY_ID": "anyone",
        "AWS_SECRET_ACCESS_KEY": "anything",
        "AWS_DEFAULT_REGION": "us-east-1",
        "XDG_CACHE_HOME": str(tmp_path),
    }
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    s3fs.S3FileSystem.clear_instance_cache()
    name = f"scores-{uuid.uuid4().hex}"
    boto3.client("s3").create_bucket(Bucket=name)
    yield f"s3://{name}"
    server.stop()


def by_length(prompt: Prompt, answer: str) -> float:
    return -float(len(prompt.text)) - ord(answer) / 100


def keys(bucket: str) -> list[str]:
    import boto3

    name = bucket.removeprefix("s3://")
    found = boto3.client("s3").list_objects_v2(Bucket=name).get("Contents", [])
    return [str(each["Key"]) for each in found]


def test_what_several_write_at_once_is_all_there(bucket: str) -> None:
    """Each in segments of its own; asked again, nothing is asked."""
    halves = PROMPTS[:4], PROMPTS[4:]

    def ask(prompts: list[Prompt]) -> None:
        Engine(FakeModel(by_length), Store(bucket), block_tokens=1, seconds=0).ask(prompts)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(ask, halves))
    again = Engine(FakeModel(by_length), Store(bucket))
    assert not again.plan(PROMPTS).blocks
    assert again.ask(PROMPTS) == FakeModel(by_length).answer(PROMPTS)
    assert sum(key.endswith(".parquet") for key in keys(bucket)) == len(PROMPTS)


def test_a_damaged_object_is_set_aside_and_asked_again(bucket: str) -> None:
    """It is moved, not deleted."""
    import boto3

    engine = Engine(FakeModel(by_length), Store(bucket))
    engine.ask(PROMPTS)
    (segment,) = [key for key in keys(bucket) if key.endswith(".parquet")]
    client, place = boto3.client("s3"), {"Bucket": bucket.removeprefix("s3://"), "Key": segment}
    content = bytearray(client.get_object(**place)["Body"].read())
    content[50] ^= 1
    client.put_object(**place, Body=bytes(content))
    assert engine.plan(PROMPTS).prompts == len(PROMPTS)
    folder, _, name = segment.rpartition("/")
    assert f"{folder}/damaged/{name}" in keys(bucket)
    assert engine.ask(PROMPTS) == FakeModel(by_length).answer(PROMPTS)


def test_a_bucket_that_is_not_there_is_not_made(bucket: str) -> None:
    """A misspelt name is an error before anything is asked."""
    with pytest.raises(StoreError, match=r"the bucket .* does not exist"):
        Store(f"{bucket}-misspelt/folder")
