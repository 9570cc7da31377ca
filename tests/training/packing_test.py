"""Packs that engines run, task by task: the examples' scripts, and stoker.ray."""

import json
import os
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path

import pytest

from launchers import FULL, HANG_S, ROOT, only_full, program

COMMAND = os.environ.get("STOKER_BIN", str(ROOT / "build/release/stoker"))
EXAMPLES = ROOT / "examples/many-machines"
RAY = Path(os.environ.get("STOKER_TEST_RAY", ROOT / "build/ray-venv/bin/python"))
OPTIONS = ("--shard-size", "40KB", "--shuffle", "7")
KILLS, HEAD_KILLS = 40, 20


def stoker(*arguments, **options):
    done = subprocess.run([COMMAND, *map(str, arguments)], capture_output=True, text=True, timeout=HANG_S, **options)
    assert done.returncode == 0, done.stderr
    return done.stdout


def contents(folder):
    return {path.name: path.read_bytes() for path in sorted(Path(folder).iterdir())}


@pytest.fixture(scope="module")
def loose(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data") / "loose"
    stoker("synth", folder, "--kind", "imagenet", "--count", 60, "--classes", 3, "--seed", 3)
    return folder


@pytest.fixture(scope="module")
def whole(loose, tmp_path_factory):
    """What one process makes by a plan."""
    at = tmp_path_factory.mktemp("whole")
    tasks = plan(loose, at)
    stoker("pack", loose, at / "out", "--plan", at / "plan", "--task", f"0-{tasks - 1}")
    stoker("pack", loose, at / "out", "--plan", at / "plan", "--merge")
    return contents(at / "out")


def plan(loose, at):
    return json.loads(stoker("pack", loose, at / "out", "--plan", at / "plan", *OPTIONS, "--json"))["tasks"]


def with_command():
    """An environment in which the command is `stoker`."""
    return {**os.environ, "PATH": f"{Path(COMMAND).resolve().parent}:{os.environ['PATH']}"}


@pytest.fixture(scope="module")
def shards(loose, tmp_path_factory):
    """Tars without an index, of other programs."""
    at = tmp_path_factory.mktemp("shards")
    for number, folder in enumerate(sorted(path for path in loose.iterdir() if path.is_dir())):
        with tarfile.open(at / f"{number}.tar", "w") as tar:
            for path in sorted(folder.iterdir()):
                tar.add(path, path.name)
    return at


@pytest.fixture(scope="module")
def hurt(loose, tmp_path_factory):
    """A pack, in which a byte is not what it was."""
    at = tmp_path_factory.mktemp("hurt") / "packed"
    stoker("pack", loose, at, *OPTIONS)
    shard = sorted(at.glob("*.tar"))[1]
    content = bytearray(shard.read_bytes())
    content[2000] ^= 1
    shard.write_bytes(content)
    return at


class Work:
    """A command that engines run by a plan in a folder, and what must come of it: what comes of the command alone."""

    def __init__(self, verb, at, loose, shards, hurt):
        self.verb, self.at, self.data = verb, at, {"pack": loose, "index": at / "shards", "verify": hurt}[verb]
        if verb == "index":
            shutil.copytree(shards, self.data)
        self.words = [verb, self.data, *([at / "out"] if verb == "pack" else [])]
        self.options = OPTIONS if verb == "pack" else ()
        self.plan = at / "plan"

    def tasks(self):
        """Their number, when the plan is made."""
        return self.run("--plan", self.plan, *self.options)["tasks"]

    def run(self, *more):
        command = [COMMAND, *map(str, [*self.words, *more, "--json"])]
        done = subprocess.run(command, capture_output=True, text=True, timeout=HANG_S)
        assert done.returncode in (0, 1), done.stderr
        return json.loads(done.stdout)

    def result(self, told):
        if self.verb == "verify":
            return {name: told[name] for name in ("samples", "bad")}
        return contents(self.at / "out" if self.verb == "pack" else self.data)

    def merged(self):
        return self.result(self.run("--plan", self.plan, "--merge"))


@pytest.fixture(params=["pack", "index", "verify"])
def work(request, tmp_path, loose, shards, hurt):
    return Work(request.param, tmp_path, loose, shards, hurt)


@pytest.fixture
def expected(work, whole, tmp_path, loose, shards, hurt):
    if work.verb == "pack":
        return whole
    (tmp_path / "alone").mkdir()
    alone = Work(work.verb, tmp_path / "alone", loose, shards, hurt)
    result = alone.result(alone.run())
    assert len(result["bad"]) == 1 if work.verb == "verify" else len(result) > len(contents(shards))
    return result


def test_xargs_makes_what_one_process_does(work, expected):
    """By the commands of docs/many-machines.md."""
    page = (ROOT / "docs/many-machines.md").read_text()
    block = re.search(r"```bash\n(command=.*?)```", page, re.DOTALL)[1]
    options = {"pack": ("photos", "packed"), "index": ("shards",), "verify": ("packed",)}[work.verb]
    assert re.search(rf"^(?:# )?command=\(stoker {work.verb} {' '.join(options)} --plan \S+\)$", block, re.MULTILINE)
    command = shlex.join(map(str, ["stoker", *work.words, "--plan", work.plan]))
    script = re.sub(r"^command=.*", f"command=({command})", block, count=1)
    script = script.replace("--json |", " ".join([*work.options, "--json |"]), 1)
    done = subprocess.run(["bash", "-uc", script], env=with_command(), timeout=HANG_S, capture_output=True, text=True)
    assert done.returncode == (1 if work.verb == "verify" else 0), done.stderr
    assert work.tasks() > 2
    assert work.merged() == expected


@only_full
def test_mpi_makes_what_one_process_does(work, expected):
    subprocess.run([program("mpirun"), "--allow-run-as-root", "--oversubscribe", "-n", "3", EXAMPLES / "tasks_mpi.sh", work.plan,
                    str(work.tasks()), *work.words], check=True, env=with_command(), timeout=HANG_S)
    assert work.merged() == expected


@only_full
@pytest.mark.parametrize("work, each", [("pack", 1), ("pack", 3), ("index", 1), ("verify", 3)], indirect=["work"])
def test_a_slurm_array_makes_what_one_process_does(slurm, work, expected, each):
    tasks = work.tasks()
    job = slurm.submit({**with_command(), "EACH": str(each), "LAST": str(tasks - 1)}, f"--array=0-{(tasks - 1) // each}",
                       "--cpus-per-task=1", f"--output={work.at}/%a.out", EXAMPLES / "tasks.slurm", work.plan, *work.words)
    states = slurm.states_at_end(job)
    assert set(states) == {"COMPLETED"}, "".join(path.read_text() for path in work.at.glob("*.out"))
    assert len(states) == (tasks - 1) // each + 1
    assert work.merged() == expected


@only_full
def test_a_task_that_could_not_be_done_ends_mpi(loose, tmp_path):
    done = subprocess.run([program("mpirun"), "--allow-run-as-root", "--oversubscribe", "-n", "2", EXAMPLES / "tasks_mpi.sh",
                           tmp_path / "no.plan", "2", "pack", loose, tmp_path / "out"], env=with_command(), timeout=HANG_S,
                          capture_output=True, text=True)
    assert done.returncode != 0 and "no.plan" in done.stderr


def ray_script(loose, at, more=""):
    return f"""
import json, ray, stoker.ray
ray.init(num_cpus=3, include_dashboard=False, logging_level="error", log_to_driver=False)
told = stoker.ray.pack({str(loose)!r}, {str(at / "out")!r}, plan={str(at / "plan")!r}, shard_size="40KB", shuffle=7, retries=50{more})
print(json.dumps(told))
"""


def start_ray(script, at):
    # Ray's sockets have paths of 107 bytes at most.
    return subprocess.Popen([RAY, "-c", script], env={**with_command(), "STOKER_BIN": COMMAND, "RAY_TMPDIR": tempfile.gettempdir()}, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)


def told_in(said):
    """The objects among what Ray says itself."""
    return [json.loads(line) for line in said.splitlines() if line.startswith("{")]


def descendants(of):
    """The processes below one, by /proc."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        parents.setdefault(int(fields[1]), []).append(int(stat.parent.name))
    found, left = [], [of]
    while left:
        children = parents.get(left.pop(), [])
        found += children
        left += children
    return found


def kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def command_line(pid):
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


@only_full
def test_ray_makes_the_same_pack_while_its_workers_are_killed(loose, whole, tmp_path):
    driver = start_ray(ray_script(loose, tmp_path, ", tasks_at_once=2"), tmp_path)
    killed, deadline = 0, time.monotonic() + 3 * HANG_S
    try:
        while driver.poll() is None and time.monotonic() < deadline:
            # Ray's own workers, and the commands that they started.
            victims = [pid for pid in descendants(driver.pid) if "--task" in command_line(pid) or "ray::_do" in command_line(pid)]
            if victims and killed < KILLS:
                kill(victims[killed % len(victims)])
                killed += 1
            time.sleep(0.1)
        said, errors = driver.communicate(timeout=HANG_S)
    finally:
        for pid in descendants(driver.pid):
            kill(pid)
        driver.kill()
    assert driver.returncode == 0, errors[-3000:]
    assert told_in(said)[0]["samples"] == 60
    assert killed > 3
    assert contents(tmp_path / "out") == whole


@only_full
def test_the_head_of_ray_is_killed_and_the_next_run_goes_on(loose, whole, tmp_path):
    """A job is what its plan's files say: another run of the script, with a Ray of its own, ends it."""
    draw, killed, jobs = random.Random(5), 0, 0
    while killed < HEAD_KILLS:
        at = tmp_path / f"job-{jobs}"
        at.mkdir()
        jobs += 1
        while True:
            driver = start_ray(ray_script(loose, at), at)
            end = time.monotonic() + draw.uniform(1, 12)
            while driver.poll() is None and time.monotonic() < end:
                time.sleep(0.05)
            everything = descendants(driver.pid)
            heads = [pid for pid in everything if any(name in command_line(pid) for name in ("gcs_server", "raylet/raylet"))]
            if driver.poll() is None:
                kill(draw.choice([driver.pid, *heads]))
                killed += 1
            try:
                driver.wait(timeout=1)
            except subprocess.TimeoutExpired:
                pass  # Ray would wait a minute for its head
            for pid in [*everything, driver.pid]:
                kill(pid)
            said, errors = driver.communicate(timeout=HANG_S)
            if driver.returncode == 0:
                break
            assert driver.returncode < 0 or "ray" in errors.lower(), errors[-3000:]
        assert told_in(said)[0]["samples"] == 60
        assert contents(at / "out") == whole


@only_full
def test_ray_indexes_and_verifies(loose, tmp_path):
    stoker("pack", loose, tmp_path / "packed", *OPTIONS)
    script = f"""
import json, pathlib, ray, stoker.ray
ray.init(num_cpus=2, include_dashboard=False, logging_level="error", log_to_driver=False)
data = {str(tmp_path / "packed")!r}
print(json.dumps(stoker.ray.verify(data, plan={str(tmp_path / "verify.plan")!r})))
shard = sorted(pathlib.Path(data).glob("*.tar"))[1]
content = bytearray(shard.read_bytes()); content[2000] ^= 1; shard.write_bytes(content)
listed = {str(tmp_path / "bad.jsonl")!r}
hurt = stoker.ray.verify(data, plan={str(tmp_path / "again.plan")!r}, quarantine=listed, memory="512MiB")
print(json.dumps(dict(hurt, listed=len(pathlib.Path(listed).read_text().splitlines()))))
print(json.dumps(stoker.ray.index([data + "/*.tar"], plan={str(tmp_path / "index.plan")!r}, index_dir={str(tmp_path / "indexes")!r})))
"""
    driver = start_ray(script, tmp_path)
    said, errors = driver.communicate(timeout=2 * HANG_S)
    assert driver.returncode == 0, errors[-3000:]
    sound, hurt, indexed = told_in(said)
    assert (sound["samples"], sound["bad"]) == (60, [])
    assert len(hurt["bad"]) >= 1 and hurt["listed"] >= 1
    assert indexed["shards"] == sound["shards"]


@only_full
def test_ray_refuses_to_pack_nothing_and_says_what_a_number_must_be(tmp_path):
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad/0.jpg").write_text("no picture")
    script = f"""
import json, ray, stoker, stoker.ray
ray.init(num_cpus=1, include_dashboard=False, logging_level="error", log_to_driver=False)
def refusal(call):
    try:
        call()
    except stoker.Error as error:
        print(json.dumps(dict(said=str(error))))
folder, out, plan = {str(tmp_path / "bad")!r}, {str(tmp_path / "out")!r}, {str(tmp_path / "plan")!r}
refusal(lambda: stoker.ray.pack(folder, out, plan=plan))
refusal(lambda: stoker.ray.verify(out, plan={str(tmp_path / "verify.plan")!r}))
refusal(lambda: stoker.ray.pack(folder, out, plan=plan, threads="2"))
refusal(lambda: stoker.ray.Loader(folder, "imagenet-train", actors="2"))
refusal(lambda: stoker.ray.Loader(folder, "imagenet-train", actors=(3, 2)))
refusal(lambda: stoker.ray.Loader(folder, "imagenet-train", cpus=None))
"""
    driver = start_ray(script, tmp_path)
    said, errors = driver.communicate(timeout=2 * HANG_S)
    assert driver.returncode == 0, errors[-3000:]
    assert [told["said"].replace(str(tmp_path), "") for told in told_in(said)] == [
        "the only sample is bad, so no shard was written; --bad-sample keep packs bytes as they are",
        "there are no samples to verify in /out",
        "threads is '2', but must be a whole number of at least 1",
        "actors is '2', but must be a whole number, or two: the least and the most",
        "actors is (3, 2), but must be a whole number, or two: the least and the most",
        "cpus is None, but must be a whole number of at least 1",
    ]


def test_without_ray_one_sentence_says_what_to_install():
    if not FULL and subprocess.run([sys.executable, "-c", "import ray"], capture_output=True).returncode == 0:
        pytest.skip("this Python has Ray")
    done = subprocess.run([sys.executable, "-c", "import stoker.ray"], capture_output=True, text=True)
    assert done.stderr.splitlines()[-1] == "ImportError: stoker.ray needs Ray: pip install ray"
