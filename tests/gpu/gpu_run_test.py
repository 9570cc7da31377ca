"""tests/gpu/run itself: on the emulated device, where there is no GPU, and when a step fails."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
RUN = HERE / "run"
BUILD = pathlib.Path(os.environ.get("STOKER_BIN", HERE.parent.parent / "build/release/stoker")).resolve().parent

# A stand-in for the command that works on the CPU, and gives a device's audit another hash.
LYING_COMMAND = """#!/bin/sh
"{stoker}" "$@" || exit
case "$*" in *--device*) ;; *) exit 0 ;; esac
while [ "$1" != --audit ]; do shift; done
sed -i 's/"hash": *"./&_/' "$2"
"""


def gpu_test(*options, build=BUILD):
    return subprocess.run([sys.executable, RUN, "--build", build, "--bench-build", BUILD, *options], capture_output=True,
                          text=True, timeout=3000)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    for command in (["synth", folder / "images", "--kind", "imagenet", "--format", "folder", "--count", "40", "--classes", "4"],
                    ["pack", folder / "images", folder / "packed"]):
        subprocess.run([BUILD / "stoker", *command], check=True, capture_output=True)
    return folder / "packed"


@pytest.mark.skipif("STOKER_TEST_FULL" not in os.environ, reason="only with ./dev test --full")
def test_what_takes_no_gpu_passes_on_the_emulated_device(data, tmp_path):
    done = gpu_test("--device", "emulated:execute", "--data", data, "--json", tmp_path / "found.json",
                    "--only", "machine,agreement,audits,nvjpeg,sanitizer,module,changing index")
    assert done.returncode == 0, done.stdout + done.stderr
    found = {step["step"]: step for step in json.loads((tmp_path / "found.json").read_text())["steps"]}
    outcomes = {name: step["outcome"] for name, step in found.items()}
    assert outcomes == {"machine": "not there", "agreement": "passed", "audits": "passed", "nvjpeg": "passed",
                        "sanitizer": "not there", "module": "passed", "changing index": "passed"}
    assert found["audits"]["figures"] == {"planar samples": 64, "faithful samples": 64}
    assert found["nvjpeg"]["figures"] == {"samples": 64} and found["nvjpeg"]["note"].endswith("which are the CPU's")
    assert min(found["agreement"]["figures"].values()) > 0
    assert min(found["changing index"]["figures"].values()) > 0
    for name, outcome in outcomes.items():
        assert any(line.startswith(name) and outcome in line for line in done.stdout.splitlines())


def test_the_benchmark_of_the_device_runs_on_the_emulated_one(data, tmp_path):
    report = tmp_path / "figures.json"
    subprocess.run([sys.executable, HERE.parent.parent / "bench/run", "device", "--build", BUILD, "--data", data, "--device",
                    "emulated:execute", "--seconds", "1", "--json", report], check=True, capture_output=True, timeout=300)
    figures = json.loads(report.read_text())
    assert {key for figure in figures for key in figure} == {"name", "value", "unit", "against", "ratio", "floor", "goal",
                                                             "holds"}
    rates = [figure for figure in figures if figure["unit"] == "img/s"]
    assert rates and all(figure["value"] > 0 for figure in rates)
    crossing = {figure["name"]: figure["value"] for figure in figures if figure["name"].endswith("to device")}
    # Finished float16 pixels of 224 x 224 take 2 x 3 x 224 x 224 bytes; resized ones half of that, and a little. On a busy
    # machine a pass has few batches, and the first bytes of the next one count as well.
    finished = 16 * 2 * 3 * 224 * 224 / 1e6
    assert 0.95 * finished < crossing["index 3, 16: to device"] < 1.6 * finished
    assert 0.95 * finished / 2 < crossing["index 2, 16: to device"] < 1.6 * finished / 2
    assert crossing["index 0, 16: to device"] < crossing["index 1, 16: to device"]


def test_bytes_that_differ_fail_and_are_named(data, tmp_path):
    (tmp_path / "stoker").write_text(LYING_COMMAND.format(stoker=BUILD / "stoker"))
    (tmp_path / "stoker").chmod(0o755)
    done = gpu_test("--device", "emulated:execute", "--data", data, "--only", "audits", "--json", tmp_path / "found.json",
                    build=tmp_path)
    assert done.returncode == 1
    step, = json.loads((tmp_path / "found.json").read_text())["steps"]
    assert step["outcome"] == "failed"
    assert "planar at transfer index 0" in step["note"]
    assert "64 of 64 samples differ" in step["note"]


def test_a_program_that_is_not_there_is_a_failure(data, tmp_path):
    done = gpu_test("--device", "emulated:execute", "--data", data, "--only", "agreement", build=tmp_path)
    assert done.returncode == 1
    assert "failed" in done.stdout and "device_test" in done.stdout


def test_a_machine_without_a_gpu_is_told_so():
    if subprocess.run([sys.executable, RUN, "--check"], capture_output=True).returncode == 0:
        pytest.skip("this machine has a GPU")
    done = gpu_test(build=pathlib.Path(os.devnull))
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1 and done.stderr.startswith("gpu-test: ")


def test_steps_that_there_are_not_are_refused():
    done = gpu_test("--only", "audits,audit")
    assert done.returncode == 2
    assert "there is no step audit" in done.stderr
