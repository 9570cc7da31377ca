"""`pack` into a store that fails, refuses, hangs or goes away, and packs that are killed: the same bytes as on disk and no
upload left, or one sentence."""

import os
import random
import shutil
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
        stoker.text("synth", at / LARGE, "--kind", "imagenet", "--count", 75 if FULL else 40, "--classes", 3, "--seed", 7)
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
FAULTS = ["500", "503", "503-retry-after", "reset", "short", "lost", "late"]
SLOW = ["silence", "mute"]


@pytest.mark.parametrize("size, kind", [
    *((SMALL, kind) for kind in FAULTS if kind != "late" or FULL),
    *((LARGE, kind) for kind in FAULTS), *((size, kind) for kind in SLOW for size in (SMALL, LARGE) if FULL)])
def test_a_tenth_of_the_requests_may_fail(stoker, data, clean, served, tmp_path, size, kind):
    # Of the few requests for large shards as many fail as can.
    share = {SMALL: 0.03 if kind in SLOW else 0.1, LARGE: 0.1 if kind in SLOW else 0.34}[size]
    more = {"STOKER_HTTP_PATIENCE": "3"} if kind in SLOW and size == SMALL else {}
    with StoreServer(served, "--share", share, "--faults", kind, "--seed", 5) as server:
        stoker.text(*data.pack(size), env=env_of(server.url, tmp_path, **more))
        require_finished(data, size, served, server)
        faulty = server.counts()
    assert faulty["faults"] > 0
    quarter = 0.25 * clean[size]["requests"]
    # Few requests, a third of which fail, are each repeated, and may be asked about or leave something to remove.
    assert faulty["requests"] <= clean[size]["requests"] + (quarter if size == SMALL else 3 * faulty["faults"])


def start_until_it_hangs(stoker, data, server, env, kind, size=LARGE, **options):
    """A pack of which a request meets this fault, if it is not done before."""
    before = server.counts()[kind]
    set_fault(server, kind, **options)
    process = stoker.start(*data.pack(size), env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    while server.counts()[kind] == before and process.poll() is None:
        pass
    return process


def kill_at(stoker, data, server, env, kind, requests, size=LARGE):
    """Whether a pack was killed after so many requests, not done before."""
    process = start_until_it_hangs(stoker, data, server, env, kind, size, after=requests)
    process.kill()
    process.communicate()
    set_fault(server, "")
    return process.returncode == -signal.SIGKILL


def test_a_completion_may_fail_after_its_status(stoker, data, clean, served, tmp_path):
    """First it is not carried out, then it is, and then there is no upload any more."""
    with StoreServer(served) as server:
        set_fault(server, "internal-error", most=2)
        stoker.text(*data.pack(LARGE), env=env_of(server.url, tmp_path))
        require_finished(data, LARGE, served, server)
        counts = server.counts()
    assert counts["internal-error"] == 2 and counts["complete"] == clean[LARGE]["complete"] + 2


HANGING = ["silence", "mute"]  # the request that hangs is, or is not, carried out


@pytest.mark.parametrize("kind", HANGING)
def test_a_pack_that_is_killed_again_and_again_is_finished(stoker, data, served, tmp_path, kind):
    env, deaths = env_of("", tmp_path), 0
    with StoreServer(served) as server:
        env["AWS_ENDPOINT_URL"] = server.url
        while kill_at(stoker, data, server, env, kind, deaths):  # and each time comes a request further
            deaths += 1
        require_finished(data, LARGE, served, server)
    assert deaths > 8 and contents(tmp_path / "cache" / "packs") == {}


@pytest.mark.skipif(not FULL, reason="only with ./dev test --full")
@pytest.mark.parametrize("size", [SMALL, LARGE])
@pytest.mark.parametrize("kind", [*HANGING, "random"])
def test_a_pack_that_is_killed_anywhere_is_finished(stoker, data, clean, tmp_path, size, kind):
    chance = random.Random(9)
    requests = clean[size]["requests"]
    steps = range(requests) if size == LARGE and kind != "random" else sorted(chance.sample(range(requests), 16))
    for step in steps:
        at = tmp_path / str(step)
        (at / "served" / "bucket").mkdir(parents=True)
        with StoreServer(at / "served", "--latency", 0.002) as server:
            env = env_of(server.url, at)
            if kind == "random":
                process = stoker.start(*data.pack(size), env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                while server.counts()["requests"] < step and process.poll() is None:
                    pass
                process.kill()  # anywhere between two requests
                process.communicate()
            else:
                kill_at(stoker, data, server, env, kind, step, size)
            stoker.text(*data.pack(size), env=env)
            require_finished(data, size, at / "served", server)
            assert contents(at / "cache" / "packs") == {}
        shutil.rmtree(at)


@pytest.mark.parametrize("step", ["put", "initiate", "part", "complete"])
@pytest.mark.parametrize("status, code, kind, words", [
    ("403 Forbidden", "AccessDenied", 1, "access is denied"), ("507 Insufficient Storage", "XMinioStorageFull", 1, "XMinioStorageFull"),
    ("507 Insufficient Storage", "", 1, "no room"), ("400 Bad Request", "EntityTooLarge", 1, "EntityTooLarge"),
    ("413 Content Too Large", "", 1, "larger than")])
def test_a_store_that_refuses_is_asked_once(stoker, data, served, tmp_path, step, status, code, kind, words):
    options = ("--refuse", status, "--refuse-step", step, *(("--refuse-code", code) if code else ()))
    with StoreServer(served, *options) as server:
        sentence = stoker.refusal(kind, *data.pack(LARGE), env=env_of(server.url, tmp_path))
        counts = server.counts()
    assert words in sentence and "cannot write 's3://bucket/to" in sentence
    assert 1 <= counts[step] <= (4 if step == "part" else 1)  # parts are sent side by side
    assert counts["open-uploads"] == 0 and counts["complete"] == (step == "complete")
    assert [name for name in contents(served) if not name.endswith(".stoker-pack")] == []


def test_a_bucket_that_is_not_there_is_told_once(stoker, data, served, tmp_path):
    (served / "bucket").rmdir()
    with StoreServer(served) as server:
        sentence = stoker.refusal(1, *data.pack(LARGE), env=env_of(server.url, tmp_path))
        assert "there is no bucket 'bucket'" in sentence and server.counts()["put"] == 1


def require_one_sentence(told):
    """Beside a warning that names what may stay in the store."""
    *warnings, sentence = told.splitlines()
    assert sentence.startswith("stoker: ") and len(warnings) <= 1, told
    assert all("parts of 's3://bucket/to/shard-000000.tar' may stay in the store" in one for one in warnings), told
    return sentence


@pytest.mark.parametrize("step", ["put", "part", "complete"])
@pytest.mark.parametrize("closes", [True, False], ids=["refuses", "hangs"])
def test_a_store_that_goes_away_is_waited_for_once(stoker, data, served, tmp_path, step, closes):
    with StoreServer(served) as server:
        env = env_of(server.url, tmp_path, STOKER_HTTP_PATIENCE="2")
        # After the first of these requests, which hangs, all others do, or there is no server any more.
        process = start_until_it_hangs(stoker, data, server, env, "silence", step=step)
        set_fault(server, "silence")
        if closes:
            server.process.kill()
        _, told = process.communicate(timeout=HANG_S)
        assert process.returncode == 1 and "cannot write 's3://bucket/to" in require_one_sentence(told)
        if closes:
            return
        set_fault(server, "")
        stoker.text(*data.pack(LARGE), env=env)
        require_finished(data, LARGE, served, server)


@pytest.mark.parametrize("step", ["list", "put", "initiate", "part", "complete", "uploads"])
@pytest.mark.parametrize("kind", HANGING)
def test_an_interrupt_is_heard_while_a_store_hangs(stoker, data, served, tmp_path, step, kind):
    with StoreServer(served) as server:
        process = start_until_it_hangs(stoker, data, server, env_of(server.url, tmp_path), kind, step=step)
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=INTERRUPTED_S)
        assert process.returncode == 130, told
        if server.counts()["open-uploads"] > 0:
            assert "may stay in the store" in told
        require_one_sentence(told)


@pytest.mark.parametrize("step", ["put", "initiate", "part", "complete"])
def test_an_interrupt_is_heard_while_all_requests_hang(stoker, data, served, tmp_path, step):
    with StoreServer(served) as server:
        process = start_until_it_hangs(stoker, data, server, env_of(server.url, tmp_path), "silence", step=step)
        set_fault(server, "silence")
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=INTERRUPTED_S)
        assert process.returncode == 130, told
        assert server.counts()["open-uploads"] == 0 or "may stay in the store" in told
        require_one_sentence(told)
