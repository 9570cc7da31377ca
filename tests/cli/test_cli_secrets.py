"""Whatever gives access is neither told nor kept: not by a pack into a store, not by a proxy's URL, not by refusals, not by
the most detailed log, a trace, the pages that a run serves, or the module, and neither in the user's cache nor in a disk
cache, be it in files or in their names. Other tests of stores look at their own verbs; here all that a command leaves is
searched at once."""

import base64
import json
import os
import re
import signal
import subprocess
import sys
import urllib.request

import pytest

from hf_hub import DATASET, TOKEN, HfHub
from servers import StoreServer
from web_proxy import PASSWORD, USER, WebProxy

KEY, SECRET, SESSION, LOGIN = "AKIDSTOKERTEST", "s3cr3tKey", "s3cr3tSession", "s3cr3tLogin"
SIGNED = "X-Amz-Credential=s3cr3tCredential&X-Amz-Security-Token=s3cr3tToken&X-Amz-Signature=s3cr3tSignature"
HANG_S = 20  # a guard against hanging, not a limit on speed


def encoded(login):
    return base64.b64encode(login.encode()).decode().rstrip("=")


# A login is written in base64, too, and "s1gn3d" is what the hub's places are signed with.
WORDS = ["s3cr3t", "s1gn3d", "Signature=", KEY, TOKEN, PASSWORD, encoded(f"user:{LOGIN}"), encoded(f"{USER}:{PASSWORD}")]


@pytest.fixture(scope="module")
def data(stoker, tmp_path_factory):
    """A bucket with a tar and a pack, and loose images."""
    at = tmp_path_factory.mktemp("data")
    (at / "bucket").mkdir()
    synth = ("--kind", "tiny", "--count", 60, "--classes", 3, "--seed", 7)
    stoker.text("synth", at / "loose", *synth)
    stoker.text("synth", at / "bucket" / "a.tar", *synth, "--format", "tar")
    stoker.text("pack", at / "loose", at / "bucket" / "packed", "--shard-size", 20_000)
    return at


class Watch:
    """Runs commands, and looks for secrets in all that they say and leave below a folder."""

    def __init__(self, stoker, at):
        self.stoker, self.at = stoker, at
        self.told = ""
        self.env = {"STOKER_HTTP_PATIENCE": "1", "no_proxy": "127.0.0.1", "AWS_EC2_METADATA_DISABLED": "true",
                    "AWS_CONFIG_FILE": os.devnull, "AWS_SHARED_CREDENTIALS_FILE": os.devnull, "AWS_REGION": "us-east-1",
                    "AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_SESSION_TOKEN": SESSION,
                    "STOKER_CACHE_DIR": str(at / "user-cache"), "STOKER_LOG": "debug"}

    def __call__(self, *args, good=True, **env):
        done = self.stoker(*args, env={**self.env, **env})
        assert (done.returncode == 0) == good, (args, done)
        self.told += done.stdout + done.stderr
        return done

    def verbs(self, data, good=True, cached=True, **env):
        """Everything that reads, with everything that it can write; then the cache on disk is asked about."""
        cache = ("--cache", f"disk={self.at}/disk-cache:50MB") if cached else ()
        self("run", data, "--recipe", "cifar-train", "--batch", 10, "--epochs", 2, "--audit", self.at / "audit", "--save-state",
             self.at / "state", "--json", "--tune-report", self.at / "tuning.html", "--explain", "--quarantine",
             self.at / "quarantine", "--metrics", "127.0.0.1:0", "--trace", self.at / "trace", *cache, good=good, **env)
        for verb in (("info", data, "--json"), ("verify", data), ("plan", data, "--recipe", "cifar-train"),
                     ("view", data, "--recipe", "cifar-train", "--out", self.at / "sheet.png"),
                     ("pack", data, self.at / f"packed-{len(self.told)}")):
            self(*verb, good=good, **env)
        if cached and good:
            self("cache", "info", self.at / "disk-cache")

    def files(self, part=""):
        return [path for path in self.at.rglob("*") if path.is_file() and part in path.as_posix()]

    def require_silence(self):
        names = "\n".join(path.as_posix() for path in self.at.rglob("*"))
        for word in WORDS:
            assert word not in self.told
            assert word not in names
            assert [path for path in self.files() if word.encode() in path.read_bytes()] == []


@pytest.fixture
def watch(stoker, tmp_path):
    (tmp_path / "kept").mkdir()
    return Watch(stoker, tmp_path / "kept")


def signed(at, name):
    return f"http://user:{LOGIN}@{at}/bucket/{name}?{SIGNED}"


def test_reading_tells_no_secret(watch, data):
    with StoreServer(data) as server:
        watch.verbs("s3://bucket/packed/", AWS_ENDPOINT_URL=server.url)
        watch.verbs(signed(server.at, "a.tar"))
        assert server.counts()["logins"] > 0
    with HfHub(data, token=TOKEN) as hub:
        watch.verbs(f"{DATASET}/bucket/*.tar", **hub.env)
        assert hub.counts["files"] > 0
    for part in ("disk-cache/", "user-cache/", "audit", "state", "trace"):
        assert watch.files(part)
    assert "debug: epoch 0 begins" in watch.told and "info: epoch 0: 60 samples" in watch.told
    watch.require_silence()


def test_what_is_wrong_with_the_data_tells_no_secret(watch, data, tmp_path):
    """An empty tar, an empty text, a list that lacks labels, and one that names no sample."""
    bucket = tmp_path / "bucket"
    bucket.mkdir()
    (bucket / "empty.tar").write_bytes(bytes(10240))
    for name in ("empty.txt", "labels.csv"):
        (bucket / name).write_text("")
    (bucket / "none.txt").write_text("# none\n")
    to = watch.at / "packed"
    with StoreServer(tmp_path) as server:
        for args in (("verify", signed(server.at, "empty.tar")), ("pack", signed(server.at, "empty.tar"), to),
                     ("pack", data / "loose", to, "--labels", signed(server.at, "labels.csv")),
                     ("pack", data / "loose", to, "--subset", signed(server.at, "none.txt")),
                     ("pack", "--tokens", "words", signed(server.at, "empty.txt"), to)):
            assert server.at in watch(*args, good=False).stderr, args
        assert server.counts()["logins"] > 0
    watch.require_silence()


def pages_of(watch, data, **env):
    """What a run serves once it has delivered something."""
    args = ("run", data, "--recipe", "cifar-train", "--batch", 10, "--epochs", 1_000_000, "--metrics", "127.0.0.1:0",
            "--dashboard", "127.0.0.1:0", "--trace", watch.at / "trace", "--json")
    # Of a detailed log nothing would be read, and the run would wait.
    process = watch.stoker.start(*args, env={**watch.env, **env, "STOKER_LOG": "warning"}, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE)
    lines = [process.stderr.readline() for _ in range(2)]
    base = re.search(r"the dashboard is at (http://127\.0\.0\.1:\d+/)", "".join(lines))[1]
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def get(path):
        with opener.open(base + path, timeout=HANG_S) as answer:
            return answer.read().decode()

    while json.loads(figures := get("dashboard.json"))["loaders"][0]["samples"] == 0:
        pass
    pages = [get(""), figures, get("metrics")]
    process.send_signal(signal.SIGINT)
    watch.told += "".join([*lines, *pages, *process.communicate(timeout=HANG_S)])
    return pages


def test_what_a_run_serves_tells_no_secret(watch, data):
    with StoreServer(data) as server, HfHub(data, token=TOKEN) as hub:
        for place, env in (("s3://bucket/packed/", {"AWS_ENDPOINT_URL": server.url}), (signed(server.at, "a.tar"), {}),
                           (f"{DATASET}/bucket/*.tar", hub.env)):
            page, figures, metrics = pages_of(watch, place, **env)
            assert "fetch('dashboard.json'" in page and '"loaders"' in figures and "stoker_samples_total" in metrics
            trace, = watch.files("trace")
            assert "batch 0" in trace.read_text()
            watch.require_silence()
            trace.unlink()
        assert server.counts()["logins"] > 0


# Whatever its objects say of themselves, with the log in all its detail.
IN_PYTHON = """
import logging, sys, traceback, urllib.request
import stoker
logging.basicConfig(level=logging.DEBUG)
data, at, cache = sys.argv[1:]
try:
    dataset = stoker.open(data)
    print(dataset, repr(dataset), vars(dataset) if hasattr(dataset, "__dict__") else "")
    with stoker.Loader(dataset, stoker.recipe("cifar-train"), batch=10, audit=at + "/audit", trace=at + "/trace", cache=cache,
                       quarantine=at + "/quarantine", metrics_address="127.0.0.1:0") as loader:
        for epoch in range(2):
            for batch in loader.epoch(epoch):
                pass
        report = loader.report()
        print(loader, repr(loader), report, repr(report), report.as_dict(), loader.metrics(), loader.tuning, loader.state_dict())
        with urllib.request.urlopen(f"http://{loader.metrics_address}/metrics") as answer:
            print(answer.read().decode())
    print("delivered")
except stoker.Error as error:
    print("refused", error.kind, error, repr(error), error.args)
    traceback.print_exc()
"""


def test_the_module_tells_no_secret(watch, data):
    pytest.importorskip("stoker._stoker")  # without the module, `stoker` is the folder of the library's sources

    def told_of(place, **env):
        done = subprocess.run([sys.executable, "-c", IN_PYTHON, place, watch.at, f"disk={watch.at}/disk-cache:50MB"],
                              env={**watch.stoker.env, **watch.env, **env}, capture_output=True, text=True, timeout=HANG_S)
        assert done.returncode == 0, done
        watch.told += done.stdout + done.stderr
        return done.stdout

    with StoreServer(data) as server, StoreServer(data, "--refuse", "403 Forbidden") as closed, HfHub(data, token=TOKEN) as hub:
        for at, word in ((server, "delivered"), (closed, "refused")):
            for place in ("s3://bucket/packed/", signed(at.at, "a.tar")):
                told = told_of(place, AWS_ENDPOINT_URL=at.url)
                assert word in told and (at is closed or "stoker_samples_total" in told)
        assert "delivered" in told_of(f"{DATASET}/bucket/*.tar", **hub.env)
        assert "refused" in told_of(f"{DATASET}/bucket/*.tar", **{**hub.env, "HF_TOKEN": f"{TOKEN}-another"})
        assert "refused" in told_of(signed(server.at, "none.tar"))
    assert "DEBUG:stoker:" in watch.told and "INFO:stoker:epoch 0" in watch.told
    assert len(watch.files("trace")) == 1 and watch.files("disk-cache/")
    watch.require_silence()


def test_a_diagnosis_tells_no_secret(watch, data):
    """Its page and its facts have the command that repeats it, and name the data."""
    with StoreServer(data) as server:
        for number, place in enumerate(("s3://bucket/packed/", signed(server.at, "a.tar"))):
            watch("doctor", place, "--recipe", "cifar-train", "--batch", 10, "--step", 20, "--quick", "--json", "--html",
                  watch.at / f"{number}.html", AWS_ENDPOINT_URL=server.url)
        watch("doctor", "s3://bucket/none/", "--recipe", "cifar-train", "--step", 20, "--quick", good=False, AWS_ENDPOINT_URL=server.url)
        assert server.counts()["logins"] > 0
    assert len(watch.files(".html")) == 2
    watch.require_silence()


@pytest.mark.parametrize("status, code", [("403 Forbidden", ""), ("403 Forbidden", "SignatureDoesNotMatch"),
                                          ("403 Forbidden", "ExpiredToken"), ("400 Bad Request", "")], ids=str)
def test_refusals_tell_no_secret(watch, data, status, code):
    refusing = ("--refuse", status, *(("--refuse-code", code) if code else ()))
    with StoreServer(data, *refusing) as server:
        watch.verbs("s3://bucket/packed/", good=False, AWS_ENDPOINT_URL=server.url)
        watch.verbs(signed(server.at, "a.tar"), good=False)
        watch("pack", data / "loose", "s3://bucket/to", good=False, AWS_ENDPOINT_URL=server.url)
        assert server.counts()["logins"] > 0
    with HfHub(data, token="another") as hub:
        watch.verbs(f"{DATASET}/bucket/*.tar", good=False, **hub.env)
    assert len(re.findall("^stoker: (?!debug|info)", watch.told, re.MULTILINE)) >= 10
    watch.require_silence()


def test_a_pack_into_a_store_tells_no_secret(watch, data, tmp_path):
    """Nor does the journal that it keeps while it is under way: neither what it reads nor where it writes."""
    (tmp_path / "written" / "bucket").mkdir(parents=True)
    with StoreServer(data) as server, StoreServer(tmp_path / "written") as store:
        store.tell("faults?kind=silence&after=12")
        env = {**watch.env, "AWS_ENDPOINT_URL": store.url, "STOKER_HTTP_PATIENCE": "60"}
        args = ("pack", signed(server.at, "a.tar"), "s3://bucket/to", "--shard-size", 20_000)
        process = watch.stoker.start(*args, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        while store.counts()["silence"] == 0:
            assert process.poll() is None, process.communicate()
        process.send_signal(signal.SIGKILL)
        process.communicate()
        journals = watch.files("user-cache/packs/")
        assert len(journals) == 1 and len(journals[0].read_text().splitlines()) > 1
        watch.require_silence()
        store.tell("faults?kind=")
        watch(*args, AWS_ENDPOINT_URL=store.url)
        assert store.counts()["logins"] > 0
    written = b"".join(path.read_bytes() for path in (tmp_path / "written").rglob("*") if path.is_file())
    assert written and [word for word in WORDS if word.encode() in written] == []
    watch.require_silence()


def test_a_proxy_with_a_password_is_not_told_of(watch, data, tmp_path):
    (tmp_path / "written" / "bucket").mkdir(parents=True)
    with WebProxy() as proxy, StoreServer(data) as server, StoreServer(tmp_path / "written") as store:
        watch.verbs(signed(server.at, "a.tar"), **proxy.env())
        watch("pack", data / "loose", "s3://bucket/to", AWS_ENDPOINT_URL=store.url, **proxy.env())
        forwarded = proxy.counts["forwarded"]
        assert forwarded > 10 and store.counts()["put"] > 1
        # One that does not accept the password, one that is not there, and one that makes no sense.
        gone = {**proxy.env(), "http_proxy": f"http://{USER}:{PASSWORD}@127.0.0.1:9"}
        wrong = {**proxy.env(), "http_proxy": f"http://{USER}:{PASSWORD}@127.0.0.1:port"}
        for env in (proxy.env(password=f"another{PASSWORD}"), gone, wrong):
            watch.verbs(signed(server.at, "a.tar"), good=False, cached=False, **env)
            watch("pack", data / "loose", "s3://bucket/to2", good=False, AWS_ENDPOINT_URL=store.url, **env)
        assert proxy.counts["forwarded"] == forwarded and "status 407" in watch.told
    watch.require_silence()
