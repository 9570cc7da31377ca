"""`--cache disk=DIR:SIZE` in front of a web server and of local shards, and `stoker cache`."""

import os
from pathlib import Path

import pytest

from web_server import WebServer

PATIENCE = {"STOKER_HTTP_PATIENCE": "20"}
RECIPE = ("--recipe", "imagenet-train", "--batch", "8", "--tune", "off")


@pytest.fixture(scope="module")
def packed(stoker, tmp_path_factory):
    """Shards with their indexes inside, and a manifest."""
    folder = tmp_path_factory.mktemp("packed")
    stoker.text("synth", folder / "loose", "--kind", "tiny", "--count", 96, "--classes", 4, "--seed", 3, "--format", "folder")
    stoker.json("pack", folder / "loose", folder / "packed", "--shard-size", "40KB")
    return folder / "packed"


def cached(cache, size="50MB"):
    return ("--cache", f"disk={cache}:{size}")


def files_below(folder):
    return [path for path in Path(folder).rglob("*") if path.is_file()]


def test_the_second_epoch_makes_no_request(stoker, packed, tmp_path):
    with WebServer(packed) as server:
        data = f"{server.url}/"
        requests = []
        for cache in (tmp_path / "a", tmp_path / "b"):
            report = stoker.json("run", data, *RECIPE, *cached(cache), "--epochs", len(requests) + 1, env=PATIENCE)
            requests.append(server.counts()["requests"] - sum(requests))
            # Of samples that share a part of the file, the second may find it; and what is read ahead for the next epoch
            # before this one's has come is asked for again.
            assert 0 < report["cache"]["misses"] <= 96 * 1.25
            # A sample that two epochs wait for at a time is read once.
            assert 0.9 * 96 * len(requests) < report["cache"]["hits"] + report["cache"]["misses"] <= 96 * len(requests)
        # The same requests, whether one epoch was read or two; merged reads may differ by what is drawn together.
        assert requests[1] <= requests[0] * 1.2, requests
        again = stoker.json("run", data, *RECIPE, *cached(tmp_path / "a"), "--epochs", 2, env=PATIENCE)
        assert again["cache"]["misses"] == 0 and 0.9 * 192 < again["cache"]["hits"] <= 192
        assert again["cache"]["bytes_from_store"] == again["cache"]["bytes_written"] == 0


def test_more_epochs_from_the_cache_make_no_more_requests(stoker, packed, tmp_path):
    with WebServer(packed) as server:
        def requests(epochs):
            before = server.counts()["requests"]
            stoker.json("run", f"{server.url}/", *RECIPE, *cached(tmp_path / "cache"), "--epochs", epochs, env=PATIENCE)
            return server.counts()["requests"] - before

        requests(1)
        assert requests(4) == requests(1)  # what opening takes


def test_audits_are_the_same_cold_warm_and_at_any_size(stoker, packed, tmp_path):
    plain = stoker.audit(tmp_path, "run", packed, *RECIPE, "--epochs", 2)
    with WebServer(packed) as server:
        for size in ("50MB", "3MB", "2MB"):
            for depth in (1, 64):
                args = ("run", f"{server.url}/", *RECIPE, *cached(tmp_path / size, size), "--epochs", 2, "--io-depth", depth)
                assert stoker.audit(tmp_path, *args, env=PATIENCE) == plain, (size, depth)


def test_an_object_that_was_replaced_is_not_served(stoker, packed, tmp_path):
    shard = sorted(packed.glob("*.tar"))[0]
    other = tmp_path / "data" / shard.name
    other.parent.mkdir()
    other.write_bytes(shard.read_bytes())
    with WebServer(other.parent) as server:
        args = ("run", f"{server.url}/{shard.name}", *RECIPE, "--tail", "pad", *cached(tmp_path / "cache"))
        first = stoker.json(*args, env=PATIENCE)["cache"]
        assert first["misses"] > 0 and first["hits"] == 0
        assert stoker.json(*args, env=PATIENCE)["cache"]["misses"] == 0
        os.utime(other, ns=(1, 1))
        assert stoker.json(*args, env=PATIENCE)["cache"]["hits"] == 0


def test_the_cache_serves_local_shards_too(stoker, packed, tmp_path):
    args = ("run", packed, *RECIPE, *cached(tmp_path / "cache"))
    stoker.json(*args)
    assert stoker.json(*args)["cache"]["misses"] == 0


def test_a_folder_that_cannot_be_used_is_told_once(stoker, packed, tmp_path):
    (tmp_path / "file").write_text("no folder")
    done = stoker("run", packed, *RECIPE, *cached(tmp_path / "file" / "cache"), "--json",
                  env={"STOKER_LOG": "warning"})
    assert done.returncode == 0
    assert done.stderr.count("without a disk cache") == 1, done.stderr


def test_the_cache_names_no_secret_and_is_shown_and_cleared(stoker, packed, tmp_path):
    cache = tmp_path / "cache"
    with WebServer(packed, "--secret", "hush") as server:
        shard = sorted(packed.glob("*.tar"))[0].name
        stoker.json("run", f"{server.url}/{shard}?token=hush", *RECIPE, "--tail", "pad", *cached(cache), env=PATIENCE)
        held = b"".join(path.read_bytes() for path in files_below(cache))
        assert b"hush" not in held and "hush" not in " ".join(str(path) for path in files_below(cache))
        info = stoker.json("cache", "info", cache)
        assert [group["folder"] for group in info["data"]] == [server.url]
    assert info["totals"]["misses"] > 0 and info["disk_bytes"] > 0
    assert "1" in stoker.text("cache", "info", cache)
    assert stoker.json("cache", "clear", cache)["freed_bytes"] >= info["disk_bytes"]
    assert stoker.json("cache", "info", cache)["data"] == []
    assert "is not a cache" in stoker.refusal(2, "cache", "info", packed)
    stoker.refusal(2, "cache", "forget", cache)


@pytest.mark.parametrize("text", ["disk=", "disk=/tmp", "disk=/tmp:much", "disc=/tmp:1GB"])
def test_what_is_no_cache_is_refused(stoker, packed, text):
    stoker.refusal(2, "run", packed, *RECIPE, "--cache", text)


def test_a_cache_that_could_keep_nothing_is_refused(stoker, packed, tmp_path):
    for size in (0, "1MB"):
        said = stoker.refusal(2, "run", packed, *RECIPE, "--cache", f"disk={tmp_path}:{size}")
        assert "keeps nothing; give it at least 2MB" in said
    said = stoker.refusal(2, "run", packed, *RECIPE, "--cache", "ram", "--cache-memory", 1)
    assert "cache memory of 1 B keeps none of the" in said and "give at least 1MB" in said
    assert stoker.json("run", packed, *RECIPE, "--cache", "ram", "--cache-memory", "1MB")["samples"] > 0


def test_the_cache_names_data_that_were_given_by_a_relative_name(stoker, tiny, tmp_path):
    folder = os.path.realpath(tiny.tar.parent)
    stoker.json("run", tiny.tar.name, *RECIPE, *cached(tmp_path / "cache"), cwd=folder)
    folders = {group["folder"] for group in stoker.json("cache", "info", tmp_path / "cache")["data"]}
    assert folder in folders and all(map(os.path.isabs, folders))
