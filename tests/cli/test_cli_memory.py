"""Memory budgets: of jobs, by the most that their processes ever held, and of `plan` and `run`, by the images."""

import json
import os
import re
import subprocess
import sys

import pytest
from PIL import Image

FAILURE = 1
MB = 10**6


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """Images of one color, which are short files. Decoders hold all of those in several scans: 150 MB for each."""
    folder = tmp_path_factory.mktemp("large") / "data"
    folder.mkdir()
    for number in range(4):
        image = Image.new("RGB", (6000, 4000), (40 * number, 90, 60))
        image.save(folder / f"{number}.jpg", quality=80, progressive=True, subsampling=0)
    return folder


# A process is said to have held what the one had that it was forked from: that is to be a small one, not this.
LAUNCHER = """
import json, os, subprocess, sys
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
said = process.stdout.read()
_, status, usage = os.wait4(process.pid, 0)
print(json.dumps([os.waitstatus_to_exitcode(status), said, usage.ru_maxrss * 1024]))
"""


def held(stoker, *args):
    """Status, what was said, and the most memory that the command held."""
    done = subprocess.run([sys.executable, "-c", LAUNCHER, stoker.path, *map(str, args)], env=stoker.env, check=True,
                          capture_output=True, text=True)
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def shard(stoker, large, tmp_path_factory):
    folder = tmp_path_factory.mktemp("shard") / "packed"
    stoker.text("pack", large, folder)
    return folder / "shard-000000.tar"


JOBS = {
    "verify": (450, lambda large, shard, out: ("verify", large)),
    "index": (450, lambda large, shard, out: ("index", shard, "--index-dir", out)),
    "info": (100, lambda large, shard, out: ("info", large)),
    "pack": (450, lambda large, shard, out: ("pack", large, out)),
    "pack-raw": (1000, lambda large, shard, out: ("pack", large, out, "--raw")),
    "pack-small": (700, lambda large, shard, out: ("pack", large, out, "--resize-short", 256)),
}


@pytest.mark.parametrize("job", JOBS)
def test_a_job_on_four_threads_holds_no_more_than_its_budget(stoker, large, shard, tmp_path, job):
    budget, command = JOBS[job]
    status, said, peak = held(stoker, *command(large, shard, tmp_path / "out"), "--threads", 4, "--memory", f"{budget}MB")
    assert status == 0, said
    assert peak <= budget * MB


@pytest.mark.parametrize("job", ["verify", "index", "pack-raw"])
def test_a_budget_that_is_too_small_names_the_sample_and_one_that_is_enough(stoker, large, shard, tmp_path, job):
    command = (*JOBS[job][1](large, shard, tmp_path / "out"), "--threads", 2, "--memory")
    sentence = stoker.refusal(FAILURE, *command, "120MB")
    enough = int(re.search(r"sample '[0-3]': .* a budget \(--memory\) of (\d+)MB is enough$", sentence)[1])
    assert "is enough" in stoker.refusal(FAILURE, *command, f"{enough - 1}MB")
    status, said, peak = held(stoker, *command, f"{enough}MB")
    assert status == 0, said
    assert peak <= enough * MB


@pytest.mark.parametrize("size", ["0", "1MB", "lots"])
def test_a_budget_that_cannot_work_is_refused(stoker, large, size):
    sentence = stoker.refusal(2 if size == "lots" else FAILURE, "verify", large, "--memory", size)
    assert "--memory" in sentence or "need at least" in sentence


@pytest.fixture
def whole(tmp_path):
    """A recipe for which images are decoded as a whole."""
    path = tmp_path / "whole.toml"
    path.write_text("""
[[view]]
name = "image"
operators = [{ op = "decode", mode = "faithful" }, { op = "resize", size = [32, 32] }]
""")
    return path


def test_plan_tells_a_budget_with_which_run_decodes_the_largest_image(stoker, large, shard, whole):
    for data in (large, shard):
        usual = (data, "--recipe", whole, "--batch", 2, "--threads", 2)
        least = stoker.json("plan", *usual)["memory_bytes_min"]
        assert stoker.json("run", *usual, "--memory", least)["samples"] == 4
        sentence = stoker.refusal(FAILURE, "run", *usual, "--memory", least - MB)
        assert "decoding it takes" in sentence
        enough = int(re.search(r"give the loader (\d+)MB of memory$", sentence)[1])
        assert enough == -(-least // MB)
        assert stoker.json("run", *usual, "--memory", f"{enough}MB")["samples"] == 4


def test_run_names_a_budget_for_all_images_and_not_for_the_first_alone(stoker, large, whole, tmp_path):
    folder = tmp_path / "mixed"
    folder.mkdir()
    Image.new("RGB", (6500, 5000)).save(folder / "0.jpg", progressive=True, subsampling=0)
    Image.new("RGB", (5000, 3000)).save(folder / "1.jpg", progressive=True, subsampling=0)
    usual = ("run", folder, "--recipe", whole, "--batch", 1, "--threads", 1, "--order", "none", "--memory")
    for order in (["0.jpg", "1.jpg"], ["1.jpg", "0.jpg"]):
        os.rename(folder / order[0], folder / "a.jpg"), os.rename(folder / order[1], folder / "b.jpg")
        enough = re.search(r"give the loader (\d+MB) of memory$", stoker.refusal(FAILURE, *usual, "40MB"))[1]
        assert stoker.json(*usual, enough)["samples"] == 2
        os.rename(folder / "a.jpg", folder / order[0]), os.rename(folder / "b.jpg", folder / order[1])


@pytest.mark.parametrize("command", ["run", "plan", "view", "verify", "info", "pack", "index"])
def test_images_above_the_limit_are_named_with_the_option_that_takes_them(stoker, shard, large, whole, tmp_path, command):
    rest = {"run": ("--recipe", whole, "--batch", 1, "--bad-sample", "fail"), "plan": ("--recipe", whole, "--bad-sample", "fail"),
            "view": ("--recipe", whole, "--bad-sample", "fail", "--out", tmp_path / "sheet.png"),
            "verify": (), "info": (), "pack": ("--bad-sample", "fail"), "index": ("--index-dir", tmp_path / "out")}
    usual = (command, shard if command == "index" else large, *rest[command])
    to = lambda name: (tmp_path / name,) if command == "pack" else ()
    limited = stoker(*usual, *to("limited"), "--pixels-max", 23_999_999)
    assert "6000 x 4000 pixels is above the limit of 23999999 pixels" in limited.stdout + limited.stderr
    assert "(--pixels-max) to 24000000" in limited.stdout + limited.stderr
    assert limited.returncode == (0 if command == "index" else FAILURE)
    taken = stoker(*usual, *to("taken"), "--pixels-max", 24_000_000)
    assert taken.returncode == 0 and "above the limit" not in taken.stdout + taken.stderr
