"""Jobs that many processes do, task by task: `pack`, `index` and `verify` with --plan, --task and --merge."""

import json
import os
import random
import re
import shutil
import subprocess
import time

import pytest

from servers import StoreServer

FULL = bool(os.environ.get("STOKER_TEST_FULL"))
KILLS = 100 if FULL else 12
WORKERS = 3
HANG_S = 120


def contents(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.fixture(scope="module")
def loose(stoker, tmp_path_factory):
    folder = tmp_path_factory.mktemp("data") / "loose"
    stoker.text("synth", folder, "--kind", "imagenet", "--count", 120, "--classes", 4, "--seed", 3)
    return folder


OPTIONS = ("--shard-size", "600KB", "--shuffle", 7)


def plan(stoker, data, to, *more, **options):
    """Its path, and how many tasks it has."""
    path = to.parent / f"{to.name}.plan"
    return path, stoker.json("pack", data, to, "--plan", path, *(more or OPTIONS), **options)["tasks"]


@pytest.fixture(scope="module")
def whole(stoker, loose, tmp_path_factory):
    """A pack that one process made by a plan."""
    to = tmp_path_factory.mktemp("whole") / "out"
    path, tasks = plan(stoker, loose, to)
    assert tasks > 8
    stoker.text("pack", loose, to, "--plan", path, "--task", f"0-{tasks - 1}")
    assert stoker.json("pack", loose, to, "--plan", path, "--merge")["samples"] == 120
    return contents(to)


def test_xargs_makes_the_same_pack(stoker, loose, whole, tmp_path):
    to = tmp_path / "out"
    path, tasks = plan(stoker, loose, to)
    subprocess.run(["xargs", "-P", str(WORKERS), "-I", "{}", stoker.path, "pack", str(loose), str(to), "--plan", str(path),
                    "--task", "{}"], input="\n".join(map(str, reversed(range(tasks)))), text=True, check=True, env=stoker.env,
                   stdout=subprocess.DEVNULL)
    told = stoker.text("pack", loose, to, "--plan", path, "--merge")
    assert told.startswith(f"{to}: 120 samples in {tasks} shards")
    assert contents(to) == whole
    assert stoker.json("verify", to)["bad"] == []


def test_workers_that_are_killed_leave_nothing_wrong(stoker, loose, whole, tmp_path):
    to = tmp_path / "out"
    path, tasks = plan(stoker, loose, to)
    chance = random.Random(1)
    began = time.monotonic()
    stoker.text("pack", loose, tmp_path / "timed", "--plan", tmp_path / "timed.plan", *OPTIONS)
    stoker.text("pack", loose, tmp_path / "timed", "--plan", tmp_path / "timed.plan", "--task", "0-1")
    of_two = time.monotonic() - began

    def start():
        wanted = chance.sample(range(tasks), chance.randint(1, 4))
        return stoker.start("pack", loose, to, "--plan", path, "--task", ",".join(map(str, wanted)), "--threads", 1,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    running, killed = [start() for _ in range(WORKERS)], 0
    while killed < KILLS:
        time.sleep(chance.uniform(0, of_two))
        victim = chance.randrange(WORKERS)
        if running[victim].poll() is None:
            running[victim].kill()
            killed += 1
        said = running[victim].communicate()[1]
        assert running[victim].returncode in (0, -9), said
        running[victim] = start()
        records = list((tmp_path / "out.plan.done").glob("*.json"))
        if len(records) == tasks and chance.random() < 0.1:
            for record in records:  # what was done is done again, over what is there
                record.unlink()
    for worker in running:
        assert worker.wait(HANG_S) == 0, worker.stderr.read()
    stoker.text("pack", loose, to, "--plan", path, "--task", f"0-{tasks - 1}")
    stoker.text("pack", loose, to, "--plan", path, "--merge")
    assert contents(to) == whole


def test_a_merge_that_is_killed_is_finished_by_the_next(stoker, loose, whole, tmp_path):
    to = tmp_path / "out"
    path, tasks = plan(stoker, loose, to)
    stoker.text("pack", loose, to, "--plan", path, "--task", f"0-{tasks - 1}")
    chance = random.Random(2)
    for number in range(30 if FULL else 6):
        copy = shutil.copytree(to, tmp_path / f"copy{number}")
        merge = stoker.start("pack", loose, copy, "--plan", path, "--merge", stdout=subprocess.DEVNULL)
        time.sleep(chance.uniform(0, 0.05))
        merge.kill()
        merge.wait()
        stoker.text("pack", loose, copy, "--plan", path, "--merge")
        assert contents(copy) == whole


@pytest.mark.parametrize("where", ["the pack", "the plan, too"])
def test_a_pack_by_a_plan_may_lie_in_a_store(stoker, loose, whole, tmp_path, where):
    with StoreServer(tmp_path) as server:
        (tmp_path / "bench").mkdir()
        env = {"AWS_ENDPOINT_URL": server.url, "AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "AWS_REGION": "us-east-1",
               "no_proxy": "127.0.0.1"}
        path = "s3://bench/out.plan" if where == "the plan, too" else tmp_path / "out.plan"
        to = "s3://bench/out"
        tasks = stoker.json("pack", loose, to, "--plan", path, *OPTIONS, env=env)["tasks"]
        missing = stoker.refusal(2, "pack", loose, to, "--plan", path, "--merge", env=env)
        assert f"{tasks} tasks of {tasks} are not done: 0 to {tasks - 1}" in missing
        for worker in (range(0, tasks, 2), range(1, tasks, 2), range(tasks)):
            stoker.text("pack", loose, to, "--plan", path, "--task", ",".join(map(str, worker)), env=env)
        stoker.text("pack", loose, to, "--plan", path, "--merge", env=env)
        assert contents(tmp_path / "bench" / "out") == whole


def test_indexes_are_made_by_a_plan(stoker, loose, tmp_path):
    tars = tmp_path / "tars"
    tars.mkdir()
    for number in range(5):
        stoker.text("synth", tars / f"{number}.tar", "--kind", "tiny", "--count", 20, "--seed", number, "--format", "tar")
    broken = (tars / "2.tar").read_bytes()
    (tars / "2.tar").write_bytes(broken[:len(broken) // 2])
    shutil.copytree(tars, tmp_path / "plain")
    at_once = stoker("index", tmp_path / "plain", "--json")
    assert at_once.returncode == 1
    path = tmp_path / "index.plan"
    assert stoker.json("index", tars, "--plan", path)["tasks"] == 5
    for task in (4, 0, "2-3"):
        done = stoker("index", tars, "--plan", path, "--task", task)
        assert done.returncode == (1 if task == "2-3" else 0), done
    assert "1 task of 5 is not done: 1; do it first" in stoker.refusal(2, "index", tars, "--plan", path, "--merge")
    stoker.text("index", tars, "--plan", path, "--task", 1)
    merged = stoker("index", tars, "--plan", path, "--merge", "--json")
    assert merged.returncode == 1
    as_if = [text.replace(str(tmp_path / "plain"), str(tars)) for text in at_once.stdout.splitlines()]
    ignored = ("seconds", )
    told, expected = ({name: value for name, value in json.loads("\n".join(lines)).items() if name not in ignored}
                      for lines in (merged.stdout.splitlines(), as_if))
    assert told == expected
    for number in range(5):
        index = tars / f"{number}.tar.sidx"
        assert index.exists() == (number != 2)
        if index.exists():
            assert index.read_bytes() == (tmp_path / "plain" / index.name).read_bytes()


def test_a_data_set_is_verified_by_a_plan(stoker, loose, tmp_path):
    # A folder of loose files is one task, however it is written.
    stoker.text("verify", f"{loose}/", "--plan", tmp_path / "loose.plan")
    assert "Nothing is bad" in stoker.text("verify", f"{loose}/", "--plan", tmp_path / "loose.plan", "--task", 0)
    packed = tmp_path / "packed"
    stoker.text("pack", loose, packed, "--shard-size", "600KB")
    hurt = packed / "shard-000003.tar"
    content = bytearray(hurt.read_bytes())
    content[len(content) // 2] ^= 1
    hurt.write_bytes(content)
    shutil.copy(packed / "shard-000000.tar", packed / "stray.tar")
    at_once = stoker("verify", packed, "--json")
    path = tmp_path / "verify.plan"
    tasks = stoker.json("verify", packed, "--plan", path)["tasks"]
    for task in reversed(range(tasks)):
        done = stoker("verify", packed, "--plan", path, "--task", task)
        assert done.returncode == (1 if task == 3 else 0), done
    merged = stoker("verify", packed, "--plan", path, "--merge", "--json")
    assert (merged.returncode, at_once.returncode) == (1, 1)

    def told(done):
        found = json.loads(done.stdout)
        return {**found, "seconds": 0, "bad": sorted(map(str, found["bad"]))}

    assert told(merged) == told(at_once)
    assert len(told(merged)["bad"]) >= 2


def test_a_shard_that_changed_after_its_task_is_named_when_a_plan_of_verify_is_merged(stoker, loose, tmp_path):
    packed, path = tmp_path / "packed", tmp_path / "verify.plan"
    stoker.text("pack", loose, packed, "--shard-size", "600KB")
    tasks = stoker.json("verify", packed, "--plan", path)["tasks"]
    stoker.text("verify", packed, "--plan", path, "--task", f"0-{tasks - 1}")
    assert "Nothing is bad" in stoker.text("verify", packed, "--plan", path, "--merge")
    hurt = packed / "shard-000001.tar"
    os.truncate(hurt, hurt.stat().st_size - 100)
    for words in ("the shard has .* bytes, and had ", "the shard is not there any more"):
        merged = stoker("verify", packed, "--plan", path, "--merge")
        assert merged.returncode == 1 and re.search(words, merged.stdout) and str(hurt) in merged.stdout, merged
        hurt.unlink(missing_ok=True)


def flip_a_byte(path):
    """The size stays; the time of the change is another."""
    content, before = bytearray(path.read_bytes()), path.stat().st_mtime_ns
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    os.utime(path, ns=(before + 10**9, before + 10**9))


def test_a_shard_whose_bytes_changed_after_its_task_is_verified_again(stoker, loose, tmp_path):
    packed, path = tmp_path / "packed", tmp_path / "verify.plan"
    stoker.text("pack", loose, packed, "--shard-size", "600KB")
    tasks = stoker.json("verify", packed, "--plan", path)["tasks"]
    task = ("verify", packed, "--plan", path, "--task", f"0-{tasks - 1}")
    merge = ("verify", packed, "--plan", path, "--merge")
    assert "done before" not in stoker.text(*task)
    assert f"{tasks} tasks done before" in stoker.text(*task)
    hurt = packed / "shard-000001.tar"
    for statuses in ((1, 1), (0, 0)):
        flip_a_byte(hurt)
        stale = stoker(*merge)
        assert stale.returncode == 1 and str(hurt) in stale.stdout and "has changed since task 1 " in stale.stdout, stale
        told = [stoker(*task), stoker(*merge)]
        assert tuple(done.returncode for done in told) == statuses, told
        assert all("changed since task" not in done.stdout for done in told)


@pytest.mark.parametrize("command", ["pack", "verify"])
def test_processes_that_write_one_plan_at_once_take_turns(stoker, loose, tmp_path, command):
    path = tmp_path / "job.plan"
    job = ("pack", loose, tmp_path / "out", "--plan", path) if command == "pack" else ("verify", loose, "--plan", path)
    for _ in range(3):
        shutil.rmtree(tmp_path / "out", ignore_errors=True)
        path.unlink(missing_ok=True)
        started = [stoker.start(*job, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(4)]
        told = [process.communicate(timeout=60) for process in started]
        assert [process.returncode for process in started] == [0] * 4, told
    assert sorted(at.name for at in tmp_path.iterdir()) == sorted(["job.plan", *(["out"] if command == "pack" else [])])


def test_what_the_plan_decides_is_not_decided_again(stoker, loose, tmp_path):
    to = tmp_path / "out"
    path, tasks = plan(stoker, loose, to)
    task = ("pack", loose, to, "--plan", path, "--task")
    assert "--quality was decided when the plan was made" in stoker.refusal(2, *task, 0, "--quality", 80)
    assert "--shuffle was decided" in stoker.refusal(2, "pack", loose, to, "--plan", path, "--merge", "--shuffle", 1)
    assert f"there is no task {tasks}" in stoker.refusal(2, *task, tasks)
    for wrong in ("x", "3-1", "1,", "-1", "1-"):
        assert "numbers of tasks" in stoker.refusal(2, *task, wrong)
    assert "--plan" in stoker.refusal(2, "pack", loose, to, "--task", 0)
    assert "--plan" in stoker.refusal(2, "pack", loose, to, "--merge")
    assert "another plan has begun" in stoker.refusal(2, "pack", loose, to, "--plan", path, "--shard-size", "1MB")
    assert "another name" in stoker.refusal(2, "pack", loose, tmp_path / "elsewhere", "--plan", path, "--shard-size", "1MB")
    assert "not for `stoker verify`" in stoker.refusal(2, "verify", loose, "--plan", path, "--task", 0)
    for words in (("--tokens", "words"), ("--dry-run",), ("--quarantine", tmp_path / "list")):
        assert f"leave {words[0]} out" in stoker.refusal(2, "pack", loose, tmp_path / "other", "--plan", tmp_path / "other.plan", *words)
    assert "leave --quarantine out" in stoker.refusal(2, "verify", loose, "--plan", tmp_path / "v.plan", "--quarantine", tmp_path / "list")
    (tmp_path / "text").write_text("no plan\n" * 9)
    assert "is not a plan" in stoker.refusal(1, "pack", loose, to, "--plan", tmp_path / "text", "--task", 0)
    assert "cannot open" in stoker.refusal(1, "pack", loose, to, "--plan", tmp_path / "none", "--task", 0)


@pytest.mark.parametrize("command", ["verify", "pack"])
def test_a_list_of_bad_samples_is_for_the_merge(stoker, tiny, tmp_path, command):
    job = (command, tiny.tar, *([tmp_path / "out"] if command == "pack" else []), "--plan", tmp_path / "it.plan")
    stoker.text(*job)
    listed = ("--quarantine", tmp_path / "bad.jsonl")
    assert "--quarantine is for what all tasks found; leave it out of them, and give it with --merge" in \
        stoker.refusal(2, *job, "--task", 0, *listed)
    stoker.text(*job, "--task", "0")
    stoker.text(*job, "--merge", *listed)
    assert (tmp_path / "bad.jsonl").read_text() == ""
