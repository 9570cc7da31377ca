"""`pack` into a store that fails, refuses, hangs or goes away, and packs that are killed: the same bytes as on disk and no
upload left, or one sentence."""

import collections
import os
import signal
import subprocess
import urllib.parse

import pytest

from servers import StoreServer

FULL = bool(os.environ.get("STOKER_TEST_FULL"))
HANG_S = 20  # a guard against hanging, not a limit on speed
INTERRUPTED_S = 2 if FULL else HANG_S  # a second or so is what is promised; a machine that runs other tests may be late
TO = "s3://bucket/to"
SMALL, LARGE = "small", "large"
SHARD_BYTES = {SMALL: 2_000, LARGE: 18_000_000}  # an object by one request, and in three parts of 8 MiB at most
UPLOAD_STEPS = ("initiate", "part", "complete")


def env_of(url, tmp_path, **more):
    return {"STOKER_HTTP_PATIENCE": "12", "no_proxy": "127.0.0.1", "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_CONFIG_FILE": os.devnull, "AWS_SHARED_CREDENTIALS_FILE": os.devnull, "AWS_ENDPOINT_URL": url,
            "AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "AKIDTEST", "AWS_SECRET_ACCESS_KEY": "s3cr3t",
            "STOKER_CACHE_DIR": str(tmp_path / "cache"), **more}


class Data:
    """What is packed, how, and what comes of it on disk: many small shards, or a few that are sent in parts."""

    def __init__(self, stoker, at):
        stoker.text("synth", at / SMALL, "--kind", "tiny", "--count", 150, "--classes", 3, "--seed", 7)
        stoker.text("synth", at / LARGE, "--kind", "imagenet", "--count", 100 if FULL else 75, "--classes", 3, "--seed", 7)
        self.at = at
        self.want = {}
        for size in (SMALL, LARGE):
            stoker.text(*self.pack(size, at / "packed" / size))
            self.want[size] = contents(at / "packed" / size)

    def pack(self, size, to=TO):
        raw = ("--raw",) if size == LARGE else ()  # many bytes for little work
        return ("pack", self.at / size, to, "--shard-size", SHARD_BYTES[size], *raw)


def contents(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.fixture(scope="module")
def data(stoker, tmp_path_factory):
    return Data(stoker, tmp_path_factory.mktemp("data"))


@pytest.fixture
def served(tmp_path):
    (tmp_path / "served" / "bucket").mkdir(parents=True)
    return tmp_path / "served"


def set_fault(server, kind, **options):
    """From now on the server makes this mistake alone; none without a kind."""
    server.tell("faults?" + urllib.parse.urlencode({"kind": kind, **options}))


def require_finished(data, size, served, server):
    assert contents(served) == {f"bucket/to/{name}": content for name, content in data.want[size].items()}
    assert server.counts()["open-uploads"] == 0


@pytest.fixture(scope="module")
def clean(stoker, data, tmp_path_factory):
    """What the server counts where nothing fails, and that it gets what the disk gets."""
    counts = {}
    for size in (SMALL, LARGE):
        at = tmp_path_factory.mktemp(size)
        (at / "served" / "bucket").mkdir(parents=True)
        with StoreServer(at / "served") as server:
            stoker.text(*data.pack(size), env=env_of(server.url, at))
            require_finished(data, size, at / "served", server)
            counts[size] = server.counts()
    return counts


def test_large_shards_alone_are_sent_in_parts(clean):
    assert [[clean[size][step] > 0 for step in UPLOAD_STEPS] for size in (SMALL, LARGE)] == [[False] * 3, [True] * 3]
    assert clean[SMALL]["requests"] > 100


# "silence" and "mute" cost a time-out each; the others a moment.
FAULTS = ["500", "503", "503-retry-after", "reset", "short", "lost", "late", "internal-error"]
SLOW = ["silence", "mute"]


@pytest.mark.parametrize("size, kind", [
    *((SMALL, kind) for kind in FAULTS if kind not in ("internal-error", "late") or (FULL and kind == "late")),
    *((LARGE, kind) for kind in FAULTS), *((size, kind) for kind in SLOW for size in (SMALL, LARGE) if FULL)])
def test_a_tenth_of_the_requests_may_fail(stoker, data, clean, served, tmp_path, size, kind):
    # Of the few requests for large shards as many fail as can.
    share = 0.03 if kind in SLOW else 0.1 if size == SMALL else 0.34
    more = {"STOKER_HTTP_PATIENCE": "3"} if kind in SLOW else {}
    with StoreServer(served, "--share", share, "--faults", kind, "--seed", 3) as server:
        stoker.text(*data.pack(size), env=env_of(server.url, tmp_path, **more))
        require_finished(data, size, served, server)
        faulty = server.counts()
    assert faulty["faults"] > 0
    quarter = 0.25 * clean[size]["requests"]
    # Few requests, a third of which fail, are each repeated, and may be asked about or leave something to remove.
    assert faulty["requests"] <= clean[size]["requests"] + (quarter if size == SMALL else 3 * faulty["faults"])
