"""S3 by SeaweedFS, and by a server of ours that makes mistakes: the same batches as from the folder, and no secret told."""

import os

import pytest

from servers import SeaweedFS, StoreServer

ENV = {"STOKER_HTTP_PATIENCE": "12", "no_proxy": "127.0.0.1", "AWS_EC2_METADATA_DISABLED": "true",
       "AWS_CONFIG_FILE": os.devnull, "AWS_SHARED_CREDENTIALS_FILE": os.devnull}
RUN = ("--recipe", "cifar-train", "--batch", 10, "--epochs", 2)


def run(data, *args):
    return ("run", data, *RUN, *args)


@pytest.fixture(scope="module")
def folder(stoker, tmp_path_factory):
    at = tmp_path_factory.mktemp("data") / "folder"
    stoker.text("synth", at, "--kind", "tiny", "--count", 150, "--classes", 3, "--seed", 7)
    return at


@pytest.fixture(scope="module")
def want(stoker, folder, tmp_path_factory):
    return stoker.audit(tmp_path_factory.mktemp("want"), *run(folder))


@pytest.fixture(scope="module")
def tar(stoker, tmp_path_factory):
    at = tmp_path_factory.mktemp("tar") / "shard-000.tar"
    stoker.text("synth", at, "--kind", "tiny", "--count", 150, "--classes", 3, "--seed", 7, "--format", "tar")
    return at


@pytest.fixture(scope="module")
def weed(tmp_path_factory):
    with SeaweedFS(tmp_path_factory.mktemp("weed")) as server:
        server.env = {**ENV, **server.env}
        yield server


@pytest.fixture(scope="module")
def buckets(stoker, folder, tmp_path_factory):
    """A folder with a folder for each bucket, in which packed data are."""
    at = tmp_path_factory.mktemp("buckets")
    stoker.text("pack", folder, at / "data" / "packed")
    return at


@pytest.mark.parametrize("depth", [1, 3, 128])
def test_a_pack_in_s3_delivers_what_the_folder_does(stoker, weed, buckets, want, tmp_path, depth):
    weed.upload_folder(buckets / "data" / "packed", "data/packed")
    at = "s3://data/packed/"
    assert stoker.audit(tmp_path, *run(at, "--io-depth", depth), env=weed.env) == want
    assert stoker.json("info", at, env=weed.env)["samples"] == 150
    stoker.text("verify", at, env=weed.env)


@pytest.mark.parametrize("scheme", ["s3", "gs"])
def test_what_is_packed_into_a_bucket_delivers_what_the_folder_does(stoker, weed, folder, want, tmp_path, scheme):
    at = f"{scheme}://data/made-{scheme}/"
    stoker.text("pack", folder, at, env=weed.env)
    assert stoker.audit(tmp_path, *run(at), env=weed.env) == want
    stoker.text("verify", at, env=weed.env)


@pytest.mark.parametrize("scheme", ["s3", "gs"])
def test_public_data_are_read_without_keys(stoker, buckets, want, tmp_path, scheme):
    with StoreServer(buckets) as server:
        env = {**keys_of(server), "STORAGE_EMULATOR_HOST": server.at, "GS_ACCESS_KEY_ID": "GOOGTEST", "GS_SECRET_ACCESS_KEY": "s3cr3t"}
        assert stoker.audit(tmp_path, *run(f"{scheme}://data/packed/", "--store-anonymous"), env=env) == want
        assert server.counts()["requests"] > 0 and server.counts()["logins"] == 0
        assert stoker.audit(tmp_path, *run(f"{scheme}://data/packed/"), env=env) == want
        assert server.counts()["logins"] > 0


def test_foreign_tars_are_listed_read_and_indexed(stoker, weed, tar, want, tmp_path):
    weed.upload([tar], "data/tars")
    for data in ("s3://data/tars/shard-000.tar", "s3://data/tars/shard-*.tar"):
        assert stoker.audit(tmp_path, *run(data), env=weed.env) == want
    stoker.text("index", "s3://data/tars/shard-000.tar", env=weed.env)
    assert stoker.audit(tmp_path, *run("s3://data/tars/shard-000.tar"), env=weed.env) == want


def test_loose_objects_deliver_what_the_folder_does(stoker, weed, folder, want, tmp_path):
    weed.upload_folder(folder, "data/loose")
    assert stoker.audit(tmp_path, *run("s3://data/loose/"), env=weed.env) == want


@pytest.mark.parametrize("change", [{"AWS_SECRET_ACCESS_KEY": "s3cr3tOfAnother"}, {"AWS_ACCESS_KEY_ID": "AKIDOFANOTHER"}], ids=str)
def test_a_key_that_is_refused_is_told_in_one_sentence(stoker, weed, tar, change):
    weed.upload([tar], "data/tars")
    done = stoker(*run("s3://data/tars/shard-000.tar"), env={**weed.env, **change})
    assert done.returncode == 1 and "does not accept the keys" in done.stderr and done.stderr.count("\n") == 1, done
    assert "s3cr3t" not in done.stdout + done.stderr


def keys_of(server):
    return {**ENV, "AWS_ENDPOINT_URL": server.url, "AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "AKIDTEST",
            "AWS_SECRET_ACCESS_KEY": "s3cr3t", "AWS_SESSION_TOKEN": "s3cr3tToken"}


FAULTS = "500,503,503-retry-after,reset,short,wrong-length,wrong-range,garbage,not-http"


def test_s3_may_fail_as_web_servers_do_and_is_asked_a_quarter_more_at_most(stoker, buckets, want, tmp_path):
    args = ("run", "s3://data/packed/", "--recipe", "cifar-train", "--batch", 10, "--epochs", 20, "--io-depth", 4, "--tune",
            "off")
    audits, counts = [], []
    for faults in ((), ("--share", 0.1, "--faults", FAULTS, "--seed", 5)):
        with StoreServer(buckets, *faults) as server:
            audits.append(stoker.audit(tmp_path, *args, env=keys_of(server)))
            counts.append(server.counts())
    assert audits[0] == audits[1] and audits[0][:len(want)] == want
    clean, faulty = counts
    assert faulty["faults"] > 0.05 * clean["requests"] and faulty["logins"] == faulty["requests"]
    assert faulty["requests"] <= 1.25 * clean["requests"]


def test_no_key_token_or_signature_is_told_or_kept(stoker, buckets, tmp_path):
    kept = tmp_path / "kept"
    kept.mkdir()
    verbs = [run("{}", "--audit", kept / "audit", "--save-state", kept / "state", "--json", "--tune-report", kept / "tuning.html",
                 "--explain"),
             ("info", "{}"), ("verify", "{}"), ("pack", "{}", kept / "packed"), ("plan", "{}", "--recipe", "cifar-train"),
             ("view", "{}", "--recipe", "cifar-train", "--out", kept / "sheet.png")]
    told = ""
    with StoreServer(buckets) as server, StoreServer(buckets, "--refuse", "403 Forbidden") as closed:
        for at in (server, closed):
            env = {**keys_of(at), "STOKER_CACHE_DIR": str(kept / "cache"), "STOKER_HTTP_PATIENCE": "1"}
            for args in verbs:
                done = stoker(*("s3://data/packed/" if arg == "{}" else arg for arg in args), env=env)
                assert (done.returncode == 0) == (at is server), (args, done)
                told += done.stdout + done.stderr
        assert server.counts()["logins"] > 0
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) > 5
    for word in ("s3cr3t", "Signature", "AKIDTEST"):
        assert word not in told
        assert [path for path in files if word.encode() in path.read_bytes()] == []
