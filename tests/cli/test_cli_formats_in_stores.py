"""Every shard format in every store: what a run delivers from there is what it delivers from the same files, also with
indexes that lie elsewhere, and from a disk cache."""

import os

import pytest

from hf_hub import DATASET, TOKEN, HfHub
from servers import Nginx, SeaweedFS
from shard_writers import FOREIGN, PACKED

ENV = {"STOKER_HTTP_PATIENCE": "12", "no_proxy": "127.0.0.1", "AWS_EC2_METADATA_DISABLED": "true",
       "AWS_CONFIG_FILE": os.devnull, "AWS_SHARED_CREDENTIALS_FILE": os.devnull, "BOTO_CONFIG": os.devnull}


FULL = bool(os.environ.get("STOKER_TEST_FULL"))
NAMES = [*FOREIGN, *(f"packed-{form}" for form in PACKED)]


@pytest.fixture(scope="module")
def data(stoker, samples, tmp_path_factory):
    """A folder for each of the names."""
    at = tmp_path_factory.mktemp("data")
    for name, (write, _) in FOREIGN.items():
        (at / name).mkdir()
        write(at / name, samples[1])
    for form in PACKED:
        stoker.text("pack", samples[0], at / f"packed-{form}", "--format", form, "--shard-size", "20KB")
    return at


@pytest.fixture(scope="module")
def weed(data, tmp_path_factory):
    with SeaweedFS(tmp_path_factory.mktemp("weed")) as server:
        server.upload_folder(data, "data")
        yield server


# Each store: where the folders are in it, and what a command has to know.
@pytest.fixture(scope="module")
def hf(data):
    with HfHub(data, token=TOKEN) as hub:
        yield DATASET, hub.env


@pytest.fixture(scope="module")
def s3(weed):
    return "s3://data", weed.env


@pytest.fixture(scope="module")
def gs(weed):
    return "gs://data", weed.env


@pytest.fixture(scope="module")
def http(data, tmp_path_factory):
    with Nginx(data, tmp_path_factory.mktemp("nginx")) as nginx:
        yield nginx.url, {}


def run(stoker, tmp_path, data, *options, **env):
    """What it delivered, and its report."""
    path = tmp_path / "audit.jsonl"
    path.unlink(missing_ok=True)
    report = stoker.json("run", data, "--recipe", "imagenet-train", "--batch", 4, "--epochs", 2, "--tune", "off", "--audit", path,
                         *options, env={**ENV, **env})
    return path.read_text().splitlines(), report


@pytest.fixture(scope="module")
def want(stoker, data, tmp_path_factory):
    at = tmp_path_factory.mktemp("want")
    return {name: run(stoker, at, data / given(name, listed=True))[0] for name in NAMES}


def given(name, listed):
    """What is given of a folder: where its store lists it, the folder itself, unless that is one of loose files."""
    return f"{name}/" if listed and name != "npz" or name not in FOREIGN else f"{name}/{FOREIGN[name][1]}"


# gs:// is s3:// with other keys at another endpoint, and packs of any format have the same manifest.
QUICK = {"hf": {*FOREIGN, "packed-parquet"}, "s3": {*NAMES}, "gs": {"parquet", "mds", "packed-tar"},
         "http": {*FOREIGN, "packed-mds"}}
CASES = [(name, scheme) for name in NAMES for scheme, quick in QUICK.items() if FULL or name in quick]


@pytest.mark.parametrize("name, scheme", CASES)
def test_a_format_in_a_store_gives_the_batches_of_its_files(stoker, request, want, tmp_path, name, scheme):
    place, env = request.getfixturevalue(scheme)
    env = {**env, "STOKER_CACHE_DIR": str(tmp_path / "user")}
    there = f"{place}/{given(name, listed=scheme != 'http')}"
    assert len(want[name]) == 24
    stoker.text("index", there, "--index-dir", tmp_path / "indexes", env={**ENV, **env})
    assert list((tmp_path / "indexes").rglob("*.sidx"))
    assert run(stoker, tmp_path, there, "--index-dir", tmp_path / "indexes", **env)[0] == want[name]
    assert not list((tmp_path / "user").rglob("*.sidx")), "nothing was scanned"
    assert run(stoker, tmp_path, there, **env)[0] == want[name]
    for warm in (False, True):
        delivered, report = run(stoker, tmp_path, there, "--cache", f"disk={tmp_path / 'cache'}:50MB", **env)
        assert delivered == want[name]
        assert (report["cache"]["misses"] == 0) == warm, report["cache"]
