"""The benchmarks that make the tables of networks and of machines, with settings so small that only their working is seen."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

from launchers import ROOT, only_full

BUILD = pathlib.Path(os.environ.get("STOKER_BIN", ROOT / "build/release/stoker")).resolve().parent
HANG_S = 1200
# As bench/run begins one, but with the Python that runs this in place of an environment from PyPI, or without one.
BEGIN = """
import argparse, json, pathlib, sys
root, build, data, out, made, *names = sys.argv[1:]
sys.path[:0] = [f"{root}/bench/{folder}" for folder in ("", "train", "platform", "doctor", "peers", "gpu")]
import environments
def make(*_):
    if made: return made
    raise environments.Unavailable("is not wanted here")
environments.make = make
module, only = names
__import__(module).run(pathlib.Path(build), argparse.Namespace(data=data, only=only, device=None, seconds=0.2, svg=f"{out}.svg", json=out))
"""


@pytest.fixture(scope="module")
def photographs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data") / "photographs"
    subprocess.run([BUILD / "stoker", "synth", folder, "--kind", "imagenet", "--count", "30", "--classes", "3", "--seed", "1"], check=True,
                   capture_output=True)
    return folder


def tables(photographs, tmp_path, module, only, made=""):
    out = tmp_path / "figures.json"
    done = subprocess.run([sys.executable, "-c", BEGIN, ROOT, BUILD, photographs, out, made, module, only], capture_output=True, text=True,
                          timeout=HANG_S)
    assert done.returncode == 0, done.stderr
    return json.loads(out.read_text()), done


@only_full
def test_networks_are_trained_from_memory_and_fed(photographs, tmp_path):
    figures, done = tables(photographs, tmp_path, "train", "FCN-R,LSTM", made=sys.executable)
    threads = range(1, len(os.sched_getaffinity(0)) + 1)
    assert [one["name"] for one in figures] == [f"{name}, {count} threads" for name in ("FCN-R", "LSTM")
                                                for count in threads], done.stderr
    assert all(one["value"] > 0 and one["ratio"] > 0 for one in figures)


@only_full
def test_machines_are_compared_and_judged(photographs, tmp_path):
    figures, done = tables(photographs, tmp_path, "platform_tables", "cores,preprocessing,index,conclusions")
    assert {name for name, reason in figures["absent"].items() if "control group" not in reason} == {"lmdb"}, figures["absent"]
    rows = figures["rows"]
    assert [(row[0], row[2]) for row in rows["cores"]] == [
        (name, mode) for name in ("AlexNet", "GoogLeNet", "ResNet-50", "VGG-16", "Inception-v3", "LSTM") for mode in ("training", "inference")]
    assert len(rows["index"]) == 2 * 2 * 3, done.stderr
    for row in rows["index"]:
        assert all(0 <= int(index) <= 3 and int(threads) > 0 for threads, index in (pair.split("/") for pair in (row[4], row[6])))
    assert [row[0] for row in rows["conclusions"]] == ["AlexNet", "GoogLeNet", "ResNet-50", "VGG-16", "Inception-v3", "LSTM"], done.stderr
    assert all(float(row[1]) > 0 and row[3] for row in rows["conclusions"])
    assert (tmp_path / "figures.json.svg").read_text().startswith("<svg")
