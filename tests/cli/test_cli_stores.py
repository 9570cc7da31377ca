"""The same data by every way that leads to it, and what stores do wrong, on real servers: nginx, also with TLS, and a fast
one of our own that makes mistakes by the thousand. test_cli_http.py has what a small server in Python can show."""

import os
import shutil
import signal
import subprocess
import urllib.request

import pytest

from servers import Nginx, StoreServer

FULL = bool(os.environ.get("STOKER_TEST_FULL"))
HANG_S = 20  # a guard against hanging, not a limit on speed
INTERRUPTED_S = 1 if FULL else HANG_S  # a second is what is promised; a machine that runs other tests may be late
# Whatever the machine that tests run on has for its own connections is not for these.
ENV = {"STOKER_HTTP_PATIENCE": "12", "no_proxy": "127.0.0.1", "AWS_CA_BUNDLE": "", "CURL_CA_BUNDLE": "",
       "SSL_CERT_FILE": "", "SSL_CERT_DIR": ""}
RUN = ("--recipe", "cifar-train", "--batch", 10)


def run(data, *args):
    return ("run", data, *RUN, *args)


class Data:
    """The same images as a folder, as tars with and without an index, and packed."""

    def __init__(self, stoker, at, count):
        self.at, self.folder = at, at / "folder"
        synth = ("--kind", "tiny", "--count", count, "--classes", 3, "--seed", 7)
        stoker.text("synth", self.folder, *synth)
        stoker.text("synth", at / "shard-000.tar", *synth, "--format", "tar")
        shutil.copy(at / "shard-000.tar", at / "indexed.tar")
        stoker.text("index", at / "indexed.tar")
        stoker.text("pack", self.folder, at / "packed")


@pytest.fixture(scope="module")
def data(stoker, tmp_path_factory):
    return Data(stoker, tmp_path_factory.mktemp("data"), 150)


@pytest.fixture(scope="module")
def want(stoker, data, tmp_path_factory):
    return stoker.audit(tmp_path_factory.mktemp("want"), *run(data.folder, "--epochs", 2))


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    """A folder with the certificate `ca` of an authority of our own, and what it vouches for: 127.0.0.1's `certificate`."""
    at = tmp_path_factory.mktemp("authority")

    def openssl(*args):
        subprocess.run(["openssl", *map(str, args)], check=True, capture_output=True)

    openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", 2, "-subj", "/CN=authority", "-keyout", at / "ca-key",
            "-out", at / "ca")
    openssl("req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=server", "-keyout", at / "key", "-out", at / "request")
    (at / "names").write_text("subjectAltName=IP:127.0.0.1")
    openssl("x509", "-req", "-days", 2, "-in", at / "request", "-CA", at / "ca", "-CAkey", at / "ca-key", "-CAcreateserial",
            "-extfile", at / "names", "-out", at / "certificate")
    return at


def test_a_folder_tars_and_packs_deliver_the_same(stoker, data, want, tmp_path):
    for name in ("shard-000.tar", "indexed.tar", "packed"):
        assert stoker.audit(tmp_path, *run(data.at / name, "--epochs", 2)) == want, name


@pytest.mark.parametrize("depth", [1, 3, 128])
def test_web_servers_deliver_what_the_folder_does(stoker, data, want, tmp_path, authority, depth):
    secure = {**ENV, "SSL_CERT_FILE": str(authority / "ca")}
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    with StoreServer(data.at, "--latency", 0.005, "--sigma", 0.5) as late, Nginx(data.at, tmp_path / "a") as plain, \
            Nginx(data.at, tmp_path / "b", authority) as tls:
        for server, env in ((late, ENV), (plain, ENV), (tls, secure)):
            for name in ("shard-000.tar", "indexed.tar", "packed/"):
                args = run(f"{server.url}/{name}", "--epochs", 2, "--io-depth", depth)
                assert stoker.audit(tmp_path, *args, env=env) == want, (server.url, name)
        done = stoker(*run(f"{tls.url}/packed/"), env=ENV)
        assert done.returncode != 0 and "certificate is not trusted" in done.stderr and done.stderr.count("\n") == 1


def test_a_packed_data_set_opens_with_one_request_a_shard(stoker, data, tmp_path):
    """And one for the folder, and one for the manifest, side by side: each of them may take a tenth of a second."""
    stoker.text("pack", data.folder, tmp_path / "bucket" / "packed", "--shard-size", "64KiB")
    shards = len(list((tmp_path / "bucket" / "packed").glob("*.tar")))
    with StoreServer(tmp_path) as server:
        env = {**ENV, "AWS_ENDPOINT_URL": server.url, "AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "AWS_REGION": "r"}
        stoker.json(*run("s3://bucket/packed/", "--epochs", 1), env=env)
        asked = [line.split() for line in server.requests()]
    assert shards > 1 and {method for method, *_ in asked} == {"GET"}
    paths = [path for _, path, *_ in asked[:2 + shards]]
    assert sorted(paths[:2]) == ["/bucket", "/bucket/packed/manifest.json"]
    assert len(set(paths[2:])) == shards and all(path.endswith(".tar") for path in paths[2:])


# "silence" and "drip" cost a time-out each.
FAULTS = "500 503 503-retry-after reset short wrong-length wrong-range garbage not-http".split()


@pytest.mark.parametrize("kinds", [",".join(FAULTS), "drip", "silence"])
def test_faults_of_all_kinds_leave_the_batches_as_they_are(stoker, data, want, tmp_path, kinds):
    # Few that take long, and not all at a time: a host that is silent is given up.
    share, depth, epochs = (0.1, 4, 20) if "," in kinds else (0.02, 16, 3)
    with StoreServer(data.at, "--share", share, "--faults", kinds, "--seed", 3) as server:
        args = run(f"{server.url}/packed/", "--epochs", epochs, "--io-depth", depth)
        assert stoker.audit(tmp_path, *args, env=ENV)[:len(want)] == want
        assert server.counts()["faults"] > 0


@pytest.fixture(scope="module")
def large(stoker, tmp_path_factory):
    """So large that each sample takes a request of its own."""
    at = tmp_path_factory.mktemp("large")
    stoker.text("synth", at / "loose", "--kind", "imagenet", "--count", 600, "--classes", 3)
    stoker.text("pack", at / "loose", at / "packed")
    return at


@pytest.mark.skipif(not FULL, reason="only with ./dev test --full")
@pytest.mark.parametrize("kind", [*FAULTS, "drip", "silence"])
def test_a_tenth_of_thousands_of_requests_costs_a_quarter_more_at_most(stoker, large, tmp_path, kind):
    args = ("--recipe", "imagenet-val", "--batch", 50, "--epochs", 6, "--io-depth", 128, "--tune", "off")
    audits, counts = [], []
    for faults in ((), ("--share", 0.1, "--faults", kind)):
        with StoreServer(large, *faults) as server:
            path = tmp_path / "audit"
            done = subprocess.run([stoker.path, *map(str, ("run", f"{server.url}/packed/", *args, "--audit", path))],
                                  env={**stoker.env, **ENV}, capture_output=True, text=True, timeout=600)
            assert (done.returncode, done.stderr) == (0, ""), done
            audits.append(path.read_text())
            counts.append(server.counts())
    clean, faulty = counts
    assert audits[0] == audits[1]
    assert clean["requests"] > 2000 and faulty["faults"] > 0.05 * clean["requests"]
    assert faulty["requests"] <= 1.25 * clean["requests"]


@pytest.mark.parametrize("status, what", [("401 Unauthorized", "401"), ("403 Forbidden", "403"), ("404 Not Found", "404")])
def test_what_repeating_cannot_help_is_not_repeated(stoker, data, status, what):
    with StoreServer(data.at, "--refuse", status) as server:
        done = stoker(*run(f"{server.url}/indexed.tar"), env=ENV)
        asked = server.requests()
    # A data set is looked at in three places before it is opened.
    assert asked and max(asked.count(one) for one in asked) <= 3
    assert done.returncode != 0 and what in done.stderr and done.stderr.count("\n") == 1


def wait_for(server, name, count, process):
    while server.counts()[name] < count:
        assert process.poll() is None, process.communicate()


def test_an_object_that_another_takes_the_place_of_is_noticed(stoker, data, tmp_path):
    served = tmp_path / "served"
    served.mkdir()
    for name in ("indexed.tar", "indexed.tar.sidx"):
        shutil.copy(data.at / name, served)
    shutil.copy(data.at / "indexed.tar", tmp_path / "other.tar")
    with StoreServer(served) as server:
        process = stoker.start(*run(f"{server.url}/indexed.tar", "--epochs", 1_000_000), stderr=subprocess.PIPE)
        wait_for(server, "requests", 50, process)
        os.replace(tmp_path / "other.tar", served / "indexed.tar")
        _, told = process.communicate(timeout=HANG_S)
    assert process.returncode == 1 and "was replaced" in told and told.count("\n") == 1


def test_a_store_that_falls_silent_is_waited_for_once(stoker, data):
    depth = 4
    with StoreServer(data.at, "--share", 1, "--faults", "silence", "--after", 30) as server:
        done = stoker(*run(f"{server.url}/packed/", "--epochs", 1000, "--io-depth", depth),
                      env={**ENV, "STOKER_HTTP_PATIENCE": "2"})
        assert done.returncode == 1 and done.stderr.count("\n") == 1, done
        assert "no answer came within" in done.stderr or "does not answer" in done.stderr
        # Each of the reads under way, with another request where it was late and those that open the data set anew; a run
        # of so many epochs that waited again would ask for ever.
        assert 0 < server.counts()["silence"] <= 4 * depth


@pytest.mark.parametrize("verb", ["run", "info", "index", "verify", "pack"])
def test_every_verb_stops_while_its_requests_hang(stoker, data, tmp_path, verb):
    args = {"run": ("--recipe", "cifar-train", "--epochs", 1000), "index": ("--index-dir", tmp_path), "pack": (tmp_path / "out",)}
    with StoreServer(data.at, "--share", 1, "--faults", "silence") as server:
        process = stoker.start(verb, f"{server.url}/shard-000.tar", *args.get(verb, ()), stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
        wait_for(server, "silence", 1, process)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=INTERRUPTED_S)
    assert process.returncode == 130


SECRET = "s3cr3t"


def test_no_verb_tells_or_keeps_a_secret(stoker, data, tmp_path):
    """Neither where all goes well, nor where the object is missing, damaged, refused, or hangs."""
    kept = tmp_path / "kept"
    kept.mkdir()
    env = {**ENV, "STOKER_HTTP_PATIENCE": "1", "STOKER_CACHE_DIR": str(kept / "cache")}
    verbs = [
        run("{}", "--audit", kept / "audit", "--save-state", kept / "state", "--json", "--tune-report", kept / "tuning.html",
            "--explain", "--quarantine", kept / "quarantine", "--metrics", "0"),
        ("info", "{}"), ("info", "{}", "--json"), ("verify", "{}"), ("index", "{}", "--index-dir", kept / "indexes"),
        ("pack", "{}", kept / "packed"), ("plan", "{}", "--recipe", "cifar-train"),
        ("view", "{}", "--recipe", "cifar-train", "--out", kept / "sheet.png")]
    told, good = "", 0
    with StoreServer(data.at) as server, StoreServer(data.at, "--refuse", "403 Forbidden") as closed, \
            StoreServer(data.at, "--share", 1, "--faults", "garbage") as broken:
        for at, name in ((server.at, "shard-000.tar"), (server.at, "none.tar"), (closed.at, "shard-000.tar"),
                         (broken.at, "shard-000.tar")):
            url = f"http://user:{SECRET}@{at}/{name}?X-Amz-Signature={SECRET}&X-Amz-Security-Token={SECRET}"
            for args in verbs:
                done = stoker(*(url if arg == "{}" else arg for arg in args), env=env)
                told += done.stdout + done.stderr
                assert (done.returncode == 0) == (at == server.at and name != "none.tar"), (args, done)
                good += done.returncode == 0
        assert server.counts()["logins"] > 0
    assert good == len(verbs)
    assert SECRET not in told
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) > 6
    assert [path for path in files if SECRET.encode() in path.read_bytes()] == []


def test_metrics_tell_no_secret(stoker, data):
    with StoreServer(data.at) as server:
        process = stoker.start(*run(f"http://user:{SECRET}@{server.at}/packed/", "--epochs", 1_000_000, "--metrics",
                                    "127.0.0.1:0"), stderr=subprocess.PIPE)
        line = process.stderr.readline()
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(line.split()[-1]) as answer:
            text = answer.read().decode()
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=HANG_S)
    assert "stoker_" in text and SECRET not in text + line + told


def test_plan_measures_a_store_and_says_what_each_order_gives(stoker, data):
    """A machine that does other work only makes a store slower than it was told to be."""
    latency_s, link = 0.05, 20e6
    usual = ("--recipe", "cifar-train", "--batch", 16)
    with StoreServer(data.at, "--latency", latency_s, "--link", link) as server:
        store = stoker.json("plan", f"{server.url}/packed/", *usual, env=ENV)["store"]
        asked = server.counts()["requests"]
        text = stoker.text("plan", f"{server.url}/packed/", *usual, env=ENV)
        loose = stoker.json("plan", data.folder, *usual, env=ENV)["store"]
    assert loose is None, "a local folder is no store to be measured"
    histogram = 1.2  # a percentile is told as the end of a step of the histogram
    assert 1e3 * latency_s / histogram <= store["first_byte_ms_p50"] <= store["first_byte_ms_p99"]
    assert 0 < store["connection_bytes_per_s"] and 0 < store["link_bytes_per_s"] <= 2 * link
    assert store["requests_per_s"] <= 1.5 * store["requests_at_once"] / latency_s
    assert 1 < store["requests_at_once"] <= 512
    assert 100 < store["requests"] <= asked and store["bytes"] < 1e9
    everything = store["orders"][0]
    assert everything["order"] == "global" and 0 < everything["requests_per_sample"] <= 2
    for order in store["orders"]:
        assert 0 < order["samples_per_s"] <= min(order["store_samples_per_s"], store["cpu_samples_per_s"])
    best = store["recommended"]
    assert best["samples_per_s"] in [order["samples_per_s"] for order in store["orders"]]
    assert not best["pack"] and best["shard_bytes"] >= 1e6 and store["bottleneck"] in ("store", "cpu")
    for said in ("The store answers after", "bottleneck", "Recommended: --order", "Recommended: shards of"):
        assert said in text, said
