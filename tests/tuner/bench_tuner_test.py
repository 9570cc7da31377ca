"""The benchmark of the tuner, as briefly as it can: that it measures what it says it does; no figure of it is asked for."""

import json
import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
KEYS = {"name", "value", "unit", "against", "ratio", "floor", "goal", "holds"}


@pytest.fixture(scope="module")
def bench():
    command = Path(os.environ.get("STOKER_BIN", ROOT / "build/release/stoker")).resolve()
    path = command.with_name("bench_tuner")
    if not path.is_file():
        pytest.skip(f"there is no {path}: a build with STOKER_BUILD_BENCH has it")
    return path


def test_each_configuration_is_measured_beside_the_grid_and_beside_fixed_knobs(bench, tmp_path):
    report = tmp_path / "figures.json"
    done = subprocess.run([bench, "--quick", "--explain", "--json", report], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    figures = json.loads(report.read_text())
    assert all(set(figure) == KEYS for figure in figures)
    assert len({figure["name"] + figure["against"] for figure in figures}) == len(figures)
    rates = [figure for figure in figures if figure["unit"] == "img/s"]
    assert {figure["against"] for figure in rates} == {"the grid's best", "the same knobs fixed"}
    assert all(figure["value"] > 0 and figure["ratio"] > 0 for figure in rates)
    for figure in figures:
        if figure["floor"] is not None:
            assert figure["holds"] == (figure["ratio"] >= figure["floor"])
    worst, = (figure for figure in figures if figure["name"] == "all: worst" and figure["against"] == "the grid's best")
    of_best = [figure["ratio"] for figure in rates if figure["against"] == "the grid's best"]
    assert worst["ratio"] == min(of_best) and worst["value"] == len(of_best) == 2
    assert "equal those of fixed knobs" in done.stdout
    assert done.stdout.count("grid:") == len(of_best) * (1 + 2 * 4 * 3), "each best, and each point of each grid"


@pytest.mark.parametrize("arguments", [["--seconds", "none"], ["--seconds", "0"], ["--data"], ["--fast"]])
def test_what_it_does_not_take_is_bad_usage(bench, arguments):
    done = subprocess.run([bench, *arguments], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert done.stderr.startswith("bench_tuner: ")


def test_a_folder_with_too_few_images_is_named(bench, tmp_path):
    images = tmp_path / "images"
    subprocess.run([bench.with_name("stoker"), "synth", images, "--kind", "tiny", "--format", "folder", "--count", "5", "--classes",
                    "1"], check=True, capture_output=True)
    done = subprocess.run([bench, "--quick", "--data", images], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert str(images) in done.stderr and "fewer than 32" in done.stderr
