"""Data on a web server: the same batches as from the folder that it serves, whatever the server does, or one sentence."""

import shutil
import signal
import subprocess

import numpy as np
import pytest

from web_server import FAULTS, WebServer

SHARDS = 3
HANG_S = 20  # a guard against hanging, not a limit on speed
FATAL = {"changed-tag"}
# Whatever the machine that tests run on has for its own connections is not for these.
PATIENCE = {"STOKER_HTTP_PATIENCE": "12", "no_proxy": "127.0.0.1", "AWS_CA_BUNDLE": "", "CURL_CA_BUNDLE": "", "SSL_CERT_FILE": "", "SSL_CERT_DIR": ""}


@pytest.fixture(scope="module")
def shards(stoker, tmp_path_factory):
    """A folder with three tars of small images, two with an index beside them."""
    folder = tmp_path_factory.mktemp("served")
    for number in range(SHARDS):
        tar = folder / f"shard-{number:03}.tar"
        stoker.text("synth", tar, "--kind", "tiny", "--count", 60, "--classes", 3, "--seed", number, "--format", "tar")
        if number > 0:
            stoker.text("index", tar)
    return folder


def run(data, *args):
    return ("run", data, "--recipe", "cifar-train", "--batch", 10, *args)


def pattern(at):
    return f"{at}/shard-{{000..{SHARDS - 1:03}}}.tar"


@pytest.fixture(scope="module")
def want(stoker, shards, tmp_path_factory):
    return stoker.audit(tmp_path_factory.mktemp("want"), *run(pattern(shards), "--epochs", 2))


@pytest.mark.parametrize("options", [(), ("--io-depth", 1), ("--order", "windowed", "--lanes", 5), ("--no-index",)], ids=str)
def test_a_run_over_http_delivers_what_a_run_on_the_folder_does(stoker, shards, tmp_path, options):
    local = stoker.audit(tmp_path, *run(pattern(shards), *options))
    with WebServer(shards, "--latency", 0.002) as server:
        assert stoker.audit(tmp_path, *run(pattern(server.url), *options), env=PATIENCE) == local


def test_a_list_and_a_packed_folder_are_read_over_http(stoker, shards, tmp_path):
    served = tmp_path / "served"
    stoker.text("pack", shards / "shard-002.tar", served / "packed")
    shutil.copy(shards / "shard-001.tar", served)
    (served / "list.txt").write_text("shard-001.tar\n")
    with WebServer(served) as server:
        for local, remote in ((served / "packed", f"{server.url}/packed/"), (served / "list.txt", f"{server.url}/list.txt")):
            assert stoker.audit(tmp_path, *run(remote)) == stoker.audit(tmp_path, *run(local))


@pytest.mark.parametrize("name, lines", [
    ("list.csv", ["path,label", *[f"img/a {i}.png,{i}" for i in range(8)]]),
    ("list.jsonl", [f'{{"file_name": "img/a {i}.png", "label": {i}}}' for i in range(8)]),
], ids=["csv", "jsonl"])
def test_a_list_of_samples_is_read_over_http(stoker, tmp_path, name, lines):
    stoker.text("synth", tmp_path / "loose", "--kind", "tiny", "--count", 8, "--classes", 1)
    served = tmp_path / "served"
    (served / "img").mkdir(parents=True)
    for number, image in enumerate(sorted((tmp_path / "loose").rglob("*.*g"))):
        shutil.copy(image, served / "img" / f"a {number}.png")
    (served / name).write_text("\n".join(lines) + "\n")
    with WebServer(served) as server:
        here, there = run(served / name, "--tail", "wrap"), run(f"{server.url}/{name}", "--tail", "wrap")
        assert stoker.audit(tmp_path, *there) == stoker.audit(tmp_path, *here)
        (served / "urls.csv").write_text(f"path,label\n{server.url}/img/a.png,1\n")
        assert "not URLs" in stoker.refusal(1, *run(f"{server.url}/urls.csv"))


def test_a_packed_folder_is_verified_and_estimated_over_http(stoker, shards, tmp_path):
    stoker.text("pack", shards / "shard-002.tar", tmp_path / "served" / "packed")
    with WebServer(tmp_path / "served") as server:
        assert "Nothing is bad" in stoker.text("verify", f"{server.url}/packed/")
        estimate = stoker.json("pack", f"{server.url}/packed/", tmp_path / "again", "--dry-run")
    assert estimate["samples"] == 60 and not (tmp_path / "again").exists()


def test_a_subset_and_labels_are_read_over_http(stoker, tmp_path):
    stoker.text("synth", tmp_path / "loose", "--kind", "tiny", "--count", 20, "--classes", 4)
    keys = sorted(str(path.relative_to(tmp_path / "loose").with_suffix("")) for path in (tmp_path / "loose").rglob("*.*g"))
    (tmp_path / "lists").mkdir()
    (tmp_path / "lists" / "keys.txt").write_text("\n".join(keys[5:15]) + "\n")
    (tmp_path / "lists" / "labels.csv").write_text("".join(f"{key},{number}\n" for number, key in enumerate(keys)))
    with WebServer(tmp_path / "lists") as server:
        here, there = (stoker.audit(tmp_path, *run(tmp_path / "loose", "--subset", f"{at}/keys.txt", "--labels", f"{at}/labels.csv"))
                       for at in (tmp_path / "lists", server.url))
    assert here == there and len(here) == 10


def test_what_a_run_writes_is_not_written_to_a_url(stoker, shards, tmp_path):
    for option in ("--audit", "--trace", "--save-state", "--tune-report", "--quarantine"):
        told = stoker.refusal(2, *run(shards / "shard-000.tar", option, "s3://bucket/name"), cwd=tmp_path)
        assert "local files alone" in told and "s3://bucket/name" in told
    for command in (("synth", "s3://bucket/name"), run(shards / "shard-000.tar", "--cache", "disk=s3://bucket/cache:1GB")):
        assert "local files alone" in stoker.refusal(2, *command, cwd=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_scan_is_kept_and_an_index_elsewhere_is_used(stoker, shards, tmp_path):
    stoker.text("index", shards / "shard-000.tar", "--index-dir", tmp_path / "indexes")
    cache = {**PATIENCE, "STOKER_CACHE_DIR": str(tmp_path / "cache")}
    requests = []
    with WebServer(shards) as server:
        for args in ((), (), ("--index-dir", tmp_path / "indexes")):
            before = server.counts()["bytes"]
            stoker.text(*run(f"{server.url}/shard-000.tar", *args), env=cache)
            requests.append(server.counts()["bytes"] - before)
    scanned, kept, indexed = requests
    assert kept < scanned and indexed < scanned


def test_index_asks_for_each_byte_of_a_tfrecord_once(stoker, shards, tmp_path):
    stoker.text("pack", shards / "shard-000.tar", tmp_path / "packed", "--format", "tfrecord")
    shard = tmp_path / "packed" / "shard-000000.tfrecord"
    served = tmp_path / "served"
    served.mkdir()
    shutil.copy(shard, served)
    with WebServer(served) as server:
        stoker.text("index", f"{server.url}/{shard.name}", "--index-dir", tmp_path / "indexes", env=PATIENCE)
        asked = server.counts()["bytes"]
    assert asked < 1.6 * shard.stat().st_size  # what tells the shard's content is small places all over it
    index = (tmp_path / "indexes" / f"{shard.name}.sidx").read_bytes()
    assert index == (shard.parent / f"{shard.name}.sidx").read_bytes()


def test_entry_points_take_no_request_of_their_own_for_long(stoker, tmp_path):
    photos = ("--count", 100, "--classes", 4, "--seed", 5, "--format", "folder")
    stoker.text("synth", tmp_path / "loose", "--kind", "imagenet", *photos)
    stoker.text("pack", tmp_path / "loose", tmp_path / "packed")
    # One read at a time: what is read together does not depend on what was there first.
    options = ("--recipe", "imagenet-train", "--batch", 5, "--epochs", 5, "--io-depth", 1, "--tune", "off")
    with WebServer(tmp_path / "packed") as server:
        def requests(*more):
            before = server.counts()["requests"]
            audit = stoker.audit(tmp_path, "run", f"{server.url}/", *options, *more, env=PATIENCE)
            return server.counts()["requests"] - before, audit

        indexed, audit = requests()
        scanned, plain = requests("--no-index")
    assert audit == plain == stoker.audit(tmp_path, "run", tmp_path / "packed", *options)
    assert 0.8 * 500 < indexed < 1.2 * scanned


def test_a_run_says_what_it_asked_the_server_for(stoker, shards):
    with WebServer(shards, "--latency", 0.02) as server:
        args = run(pattern(server.url), "--epochs", 2)
        report = stoker.json(*args, env=PATIENCE)
        store, counts = report["store"], server.counts()
        assert list(store) == ["requests", "retries", "hedged", "bytes", "first_byte_ms_p50", "first_byte_ms_p99"]
        assert store["requests"] == counts["requests"]
        assert report["bytes_read"] <= store["bytes"] <= counts["bytes"]
        assert 20 <= store["first_byte_ms_p50"] <= store["first_byte_ms_p99"] < 10_000
        assert store["retries"] == 0
        text = stoker.text(*args, env=PATIENCE)
    network = next(line for line in text.splitlines() if line.startswith("network"))
    assert network.endswith("%") and not network.endswith(" 0.0%")
    assert not any(line.startswith("disk") for line in text.splitlines())
    local = run(shards / "shard-000.tar", "--epochs", 1)
    assert stoker.json(*local)["store"] is None
    assert any(line.startswith("disk") for line in stoker.text(*local).splitlines())


# These cost a time-out each.
SLOW = {"silence", "drip"}


@pytest.mark.parametrize("kind", [kind for kind in FAULTS if kind not in FATAL])
def test_a_part_of_the_requests_may_fail(stoker, shards, tmp_path, want, kind):
    requests = []
    for faults in ((), ("--share", 0.03 if kind in SLOW else 0.1, "--faults", kind)):
        with WebServer(shards, *faults) as server:
            args = run(pattern(server.url), "--epochs", 2, "--io-depth", 4)
            assert stoker.audit(tmp_path, *args, env=PATIENCE) == want
            requests.append(server.counts())
    clean, faulty = requests
    assert faulty["faults"] > 0
    assert faulty["requests"] <= clean["requests"] + max(0.25 * clean["requests"], faulty["faults"] + 5)


def test_an_object_that_is_replaced_is_noticed(stoker, shards):
    with WebServer(shards, "--share", 0.2, "--faults", "changed-tag") as server:
        sentence = stoker.refusal(1, *run(pattern(server.url), "--epochs", 50), env=PATIENCE)
    assert "was replaced" in sentence


@pytest.mark.parametrize("path, status, part", [
    ("none.tar", 3, "status 404"), ("loop.tar", 1, "more than 5 times"), ("none-{0..3}.tar", 3, "none-0.tar"),
    ("*.tar", 2, "shard-{000..099}.tar"), ("", 2, "shard-{000..099}.tar")])
def test_what_cannot_be_read_is_told_in_one_sentence(stoker, shards, path, status, part):
    with WebServer(shards) as server:
        done = stoker(*run(f"{server.url}/{path}"), env=PATIENCE)
        assert server.counts()["requests"] <= 20
    assert done.returncode != 0 and done.stderr.startswith("stoker: ") and done.stderr.count("\n") == 1, done
    assert part in done.stderr


def test_a_server_that_is_not_there_is_told_soon(stoker, shards):
    with WebServer(shards) as server:
        url = server.url
    done = stoker(*run(f"{url}/shard-000.tar"), env=PATIENCE)
    assert done.returncode != 0 and "onnect to server" in done.stderr and done.stderr.count("\n") == 1


def test_logins_and_signatures_are_shown_nowhere(stoker, shards, tmp_path):
    written = tmp_path / "written"
    written.mkdir()
    env = {**PATIENCE, "STOKER_CACHE_DIR": str(tmp_path / "cache")}
    with WebServer(shards, "--secret", "s3cr3t") as server, WebServer(shards, "--redirect-to", f"{server.url}/shard-001.tar?s3cr3t") as front:
        signed = f"http://user:s3cr3t@{server.at}/shard-001.tar?signature=s3cr3t"
        moved = f"http://user:s3cr3t@{front.at}/moved.tar"
        runs = [stoker(*run(url, "--audit", written / "audit", "--save-state", written / "state", "--json", "--tune", "on",
                            "--tune-report", written / "report.html", *more), env=env)
                for url, more in ((signed, ()), (moved, ()), (signed.replace("001", "009"), ()), (signed, ("--cache", "bogus")))]
        assert [done.returncode == 0 for done in runs] == [True, True, False, False], runs
        assert front.counts()["logins"] > 0
        assert server.counts()["logins"] > 0
    told = "".join(done.stdout + done.stderr for done in runs)
    kept = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert "s3cr3t" not in told and b"s3cr3t" not in kept


def test_a_login_is_not_told_to_another_server(stoker, shards):
    with WebServer(shards) as server, WebServer(shards, "--redirect-to", f"{server.url}/shard-001.tar") as front:
        stoker.text(*run(f"http://user:s3cr3t@{front.at}/moved.tar"), env=PATIENCE)
        assert front.counts()["logins"] > 0 and server.counts()["requests"] > 0
        assert server.counts()["logins"] == 0


def test_a_run_stops_while_its_requests_hang(stoker, shards):
    with WebServer(shards, "--share", 1, "--faults", "silence", "--after", 30) as server:
        process = stoker.start(*run(pattern(server.url), "--epochs", 1000), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        while server.counts()["silence"] == 0 and process.poll() is None:
            pass
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=HANG_S)  # which is less than what a request may take
    assert process.returncode == 130


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """Certificate and key of a server at 127.0.0.1, which nothing vouches for but itself."""
    at = tmp_path_factory.mktemp("certificate")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=test", "-addext",
                    "subjectAltName=IP:127.0.0.1", "-keyout", at / "key", "-out", at / "certificate"],
                   check=True, capture_output=True)
    (at / "both").write_bytes((at / "key").read_bytes() + (at / "certificate").read_bytes())
    return at


@pytest.mark.parametrize("variable", ["SSL_CERT_FILE", "AWS_CA_BUNDLE", "CURL_CA_BUNDLE"])
def test_a_certificate_of_ones_own_can_be_trusted(stoker, shards, certificate, tmp_path, variable):
    with WebServer(shards, "--certificate", certificate / "both") as server:
        env = {**PATIENCE, variable: str(certificate / "certificate")}
        assert stoker.audit(tmp_path, *run(pattern(server.url)), env=env) == stoker.audit(tmp_path, *run(pattern(shards)))


def test_no_other_certificate_is_trusted(stoker, shards, certificate):
    with WebServer(shards, "--certificate", certificate / "both") as server:
        trusted = {**PATIENCE, "no_proxy": "localhost", "SSL_CERT_FILE": str(certificate / "certificate")}
        elsewhere = server.url.replace("127.0.0.1", "localhost")
        for url, env, part in ((server.url, PATIENCE, "is not trusted"), (elsewhere, trusted, "is for another host")):
            assert f"certificate {part}" in stoker.refusal(1, *run(f"{url}/shard-000.tar"), env=env)


def test_what_is_encrypted_stays_so(stoker, shards, certificate):
    with WebServer(shards) as plain:
        with WebServer(shards, "--certificate", certificate / "both", "--redirect-to", f"{plain.url}/shard-001.tar") as front:
            done = stoker(*run(f"{front.url}/moved.tar"), env={**PATIENCE, "SSL_CERT_FILE": str(certificate / "certificate")})
        assert done.returncode != 0 and "not encrypted" in done.stderr and done.stderr.count("\n") == 1
        assert plain.counts()["requests"] == 0


def test_a_loader_reads_urls_as_it_reads_paths(shards, monkeypatch):
    pytest.importorskip("stoker._stoker")  # without the module, `stoker` is the folder of the library's sources
    import stoker

    monkeypatch.setenv("no_proxy", "127.0.0.1")
    recipe = stoker.recipe().decode().center_crop(32).normalize("imagenet")

    def batches(data):
        with stoker.Loader(data, recipe, batch=10) as loader:
            return [(batch.key, np.array(batch.image).tobytes()) for batch in loader.epoch(0)]

    with WebServer(shards) as server:
        assert batches(pattern(server.url)) == batches(pattern(shards))
