"""A store behind a link that is slow but steady: as long as bytes pass, no request is given up."""

import os

import pytest

from servers import NarrowLink

# Of the ten seconds a third is for a stall: a request that takes longer must move bytes all the while.
ENV = {"STOKER_HTTP_PATIENCE": "10", "no_proxy": "*"}
FULL = "STOKER_TEST_FULL" in os.environ
SECONDS = 14  # that the link needs for the data, at least


@pytest.fixture(scope="module")
def served(stoker, tmp_path_factory):
    at = tmp_path_factory.mktemp("served")
    stoker.text("synth", at / "loose", "--kind", "imagenet", "--count", 12, "--classes", 3, "--seed", 5)
    stoker.text("pack", at / "loose", at / "bucket" / "packed")
    return at


def bytes_below(folder):
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize("depth", [pytest.param(1, marks=pytest.mark.skipif(not FULL, reason="--full")), 12])
def test_an_epoch_gets_what_the_link_carries(stoker, served, tmp_path, depth):
    args = ("--recipe", "imagenet-val", "--batch", 4, "--io-depth", depth, "--tune", "off")
    want = stoker.audit(tmp_path, "run", served / "bucket" / "packed", *args)
    total = bytes_below(served / "bucket")
    with NarrowLink(served, total // SECONDS) as link:
        report = stoker.json("run", f"{link.url}/bucket/packed/", *args, "--audit", tmp_path / "audit", env=ENV)
    assert (tmp_path / "audit").read_text().splitlines() == want
    # Of twelve connections that share so little, TCP may starve one for a second.
    assert depth > 1 or report["store"]["retries"] == 0
    assert 0.9 * total < report["bytes_read"] <= report["store"]["bytes"]


def test_a_pack_arrives_that_takes_longer_than_any_silence_may(stoker, served, tmp_path):
    stoker.text("pack", served / "loose", tmp_path / "here")
    (tmp_path / "there" / "bucket").mkdir(parents=True)
    with NarrowLink(tmp_path / "there", bytes_below(tmp_path / "here") // SECONDS) as link:
        keys = {"AWS_ENDPOINT_URL": link.url, "AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "key", "AWS_REGION": "us-east-1"}
        stoker.text("pack", served / "loose", "s3://bucket/packed/", env={**ENV, **keys})
        assert len([line for line in link.server.requests() if line.startswith("PUT") and "/shard-" in line]) == 1
    arrived = tmp_path / "there" / "bucket" / "packed"
    for path in (tmp_path / "here").iterdir():
        assert (arrived / path.name).read_bytes() == path.read_bytes()
