"""Benchmarks that call the command and the module with many options, as briefly as they can: that they run, and what their tables
have; no figure of them is asked for. With --full, which fetches what they compare with."""

import itertools
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
COMMAND = Path(os.environ.get("STOKER_BIN", ROOT / "build/release/stoker")).resolve()
CORES = len(os.sched_getaffinity(0))
SECONDS_MAX = 1200  # a guard against hanging: the first run fetches PyTorch

pytestmark = pytest.mark.skipif("STOKER_TEST_FULL" not in os.environ, reason="only with ./dev test --full, which fetches PyTorch")

PLATFORM = """
NETWORKS = {name: dataclasses.replace(NETWORKS[name], batch=32) for name in ("AlexNet", "ResNet-50", "VGG-16", "LSTM")}
COPIES, BATCHES_MIN, TUNED_SECONDS, WORDS = 5, 2, 1, 1 << 16
INDICES, INDEX_BATCHES, APPETITE = (0, 3), (64,), {"v100": APPETITE["v100"]}
DISKS = {"network SSD, 250 MB/s": DISKS["network SSD, 250 MB/s"], "no limit": None}
MEMORY = (60,)  # of so few data: a loader takes more than they have
"""
TRAIN = """
ROUNDS = 1
VECTORS, DIGITS, SMALL, WORDS = (1, 26_752), (1024, 784), 1024, 1 << 16
"""
SCALING = """
run_in, at = run, {!r}
run = lambda _, options: run_in(pathlib.Path(at), options)
GPUS, SECONDS, BATCHES_MIN = (1, 2), 0.2, 2
doctor.COPIES, doctor.SMALL = 2, 200
every_resource = resources
resources = lambda bench: every_resource(bench)[:1]
"""


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    folder = tmp_path_factory.mktemp("photos")
    subprocess.run([COMMAND, "synth", folder / "in", "--kind", "imagenet", "--format", "folder", "--count", "20"], check=True,
                   capture_output=True)
    return folder / "in"


@pytest.fixture
def build(tmp_path):
    """A folder with the command and the module, where the benchmark puts its data. Beside it are the environments of the peers."""
    import stoker

    at = tmp_path / "build"
    at.mkdir()
    (at / "stoker").symlink_to(COMMAND)
    (at / "python").symlink_to(Path(stoker.__file__).parents[1])
    (ROOT / "build/peers").mkdir(parents=True, exist_ok=True)
    (tmp_path / "peers").symlink_to(ROOT / "build/peers")
    return at


def run(module, statements, build, photos, *arguments):
    """What is printed, and what is written as JSON."""
    figures = build / "figures.json"
    command = [sys.executable, Path(__file__).with_name("small_bench.py"), ROOT / "bench", module, statements, *arguments,
               "--data", photos, "--json", figures]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=SECONDS_MAX)
    assert done.returncode == 0, done.stderr
    return done, json.loads(figures.read_text())


def of_machine(found):
    """What is missing although this machine could have it."""
    return {name: reason for name, reason in found["absent"].items()
            if "control group" not in reason and "not on a disk" not in reason}


def test_the_tables_of_platforms_are_whole(build, photos):
    _, found = run("platform_tables", PLATFORM, build, photos, "platform", "--build", build, "--seconds", 0.05, "--only",
                   "cores,disk,memory,preprocessing,index", "--svg", build / "index.svg")
    assert of_machine(found) == {}
    rows = found["rows"]
    of_images = itertools.product(("AlexNet", "ResNet-50", "VGG-16"), ("recordio", "lmdb"), ("training", "inference"))
    of_words = [("LSTM", "words", "training"), ("LSTM", "words", "inference")]
    assert {tuple(row[:3]) for row in rows["cores"]} == {*of_images, *of_words}
    assert all(len(row) == 4 + 2 * CORES and all(row) for row in rows["cores"])
    assert len(rows["disk"]) == 2 * (3 + 1 + 1) and len(rows["memory"]) == 2
    assert len(rows["preprocessing"]) == CORES + 3 and all(rate for _, rate in rows["preprocessing"][:CORES])
    assert [row[:2] for row in rows["index"]] == [["v100", "raw"], ["v100", "recordio"]]
    assert "<svg" in (build / "index.svg").read_text()


def test_the_doctor_concludes_what_is_enough(build, photos):
    only_alexnet = 'NETWORKS = {"AlexNet": NETWORKS["AlexNet"]}'
    _, found = run("platform_tables", PLATFORM + only_alexnet, build, photos, "platform", "--build", build, "--only", "conclusions")
    assert of_machine(found) == {}
    ((name, *cells),) = found["rows"]["conclusions"]
    assert name == "AlexNet" and len(cells) == 6 and all(cells)


def test_networks_are_trained_from_memory_and_fed(build, photos):
    names = ("FCN-R", "AlexNet-S")
    done, figures = run("train", TRAIN, build, photos, "train", "--build", build, "--seconds", 0.05, "--only", ",".join(names))
    measured = [f"{name}, {threads} threads" for name in names for threads in range(1, CORES + 1)]
    assert [figure["name"] for figure in figures] == measured, done.stderr
    assert all(figure["value"] > 0 and figure["ratio"] > 0 for figure in figures)


def test_gpus_that_share_cores_are_measured_and_foretold(build, photos):
    _, found = run("scaling", SCALING.format(str(build)), build, photos, "scaling")
    assert found["absent"] == {}
    assert [row[:2] for row in found["rows"]["scaling"]] == [["cores", 1], ["cores", 2]]
