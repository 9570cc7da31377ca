"""The steps that take a GPU, with stand-ins for the programs that they call; and what the benchmark makes of figures."""

import json
import pathlib
import sys
import time
import xml.etree.ElementTree

import pytest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent

MACHINE = {"gpu": "Made-up 1", "copy_to_gpu_bytes_per_s": 50e9, "memory_bytes_per_s": 2e12}


@pytest.fixture
def steps(monkeypatch):
    monkeypatch.syspath_prepend(str(HERE))
    import gpu_steps

    return gpu_steps


@pytest.fixture
def device_bench(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "bench"))
    import device

    yield device
    del sys.modules["device"]


@pytest.fixture
def places(steps, tmp_path):
    return steps.Places(ROOT, tmp_path, tmp_path, tmp_path, "cuda:0", tmp_path / "data")


@pytest.fixture
def stand_in(tmp_path, monkeypatch):
    """Makes a program of a few lines of shell, first in PATH."""
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")

    def made(name, lines):
        (tmp_path / name).write_text(f"#!/bin/sh\n{lines}\n")
        (tmp_path / name).chmod(0o755)

    return made


def soon():
    return time.monotonic() + 60


def test_the_machine_is_what_its_program_says(steps, places, stand_in):
    stand_in("gpu_bandwidth", f"echo '{json.dumps(MACHINE)}'")
    stand_in("nvidia-smi", "echo 600.1")
    outcome, note, figures = steps.machine(places, soon())
    assert outcome == steps.PASSED
    assert note.startswith("Made-up 1, driver 600.1,") and "50.0 GB/s from pinned memory, 2000 GB/s of its own" in note
    assert figures["driver"] == "600.1"


def test_each_index_is_sanitized_both_ways(steps, places, stand_in, tmp_path):
    stand_in("compute-sanitizer", f'echo "$*" >> "{tmp_path}/calls"')
    outcome, _, figures = steps.sanitizer(places, soon())
    calls = (tmp_path / "calls").read_text().splitlines()
    assert (outcome, figures) == (steps.PASSED, {"runs": 14})
    for tool, indices in (("memcheck", "0123"), ("racecheck", "012")):
        for mode in ("planar", "faithful"):
            for index in indices:
                assert sum(f"--tool {tool} " in call and f"/{mode}.toml " in call and call.endswith(f"--transfer-index {index}")
                           for call in calls) == 1


def test_what_the_sanitizer_finds_is_a_failure(steps, places, stand_in):
    stand_in("compute-sanitizer", 'case "$*" in *racecheck*) echo "a hazard"; exit 9 ;; esac')
    with pytest.raises(steps.Ended) as caught:
        steps.sanitizer(places, soon())
    assert caught.value.outcome == steps.FAILED
    assert "it ended with 9" in str(caught.value) and "a hazard" in str(caught.value)


def test_a_step_ends_with_its_time(steps, places, stand_in):
    stand_in("gpu_bandwidth", "echo begun; exec tail -f /dev/null")
    with pytest.raises(steps.Ended) as caught:
        steps.machine(places, time.monotonic() + 0.3)
    assert caught.value.outcome == steps.FAILED
    assert "not done in time" in str(caught.value)


class Contestant:
    """As the benchmark's, but its figures are given."""

    def __init__(self, index, batch, threads, rate, kernel_s, bytes_in):
        self.index, self.batch, self.threads, self.rate, self.rates = index, batch, threads, rate, [rate]
        self.kernel_s, self.bytes_per_batch = [kernel_s], [bytes_in]

    def gap(self, seconds):
        return 80e-6


def test_figures_stand_beside_what_the_gpu_does_at_best(device_bench):
    batch, out = 64, 64 * 2 * 3 * 224 * 224
    contestants = [Contestant(0, batch, 1, 8000.0, 4e-3, 6.4e6), Contestant(0, batch, 4, 20000.0, 3e-3, 6.4e6),
                   Contestant(2, batch, 4, 10000.0, 25e-6, out / 2), Contestant(3, batch, 1, 2000.0, 0.0, out),
                   Contestant(3, batch, 4, 5000.0, 0.0, out)]
    nvjpeg = {"back_end": "hardware", "batch": 64, "streams": 2, "images_per_s": 5000.0}
    figures = device_bench.figures_of(contestants, MACHINE, nvjpeg, soon())

    def figure(name, against=None):
        found, = [f for f in figures if f.name == name and (against is None or f.against == against)]
        return found

    assert figure("index 0, 64, 4 thr.").ratio == 4.0
    assert figure("index 0, 64: link").ratio == pytest.approx(6.4e6 * 20000 / 64 / 50e9)
    memory = figure("index 2, 64: memory")
    assert memory.ratio == pytest.approx((out / 2 + out) / 25e-6 / 2e12) and memory.holds is False
    assert figure("index 0, 64: gap").holds
    assert not any(f.name == "index 0, 64: memory" for f in figures)
    assert figure("index 0, best", "nvJPEG").ratio == 4.0 and figure("index 0, best", "nvJPEG").holds is False
    assert figure("index 0, best", "50,000").ratio == 0.4


def test_the_heat_map_shows_every_share(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(str(ROOT / "bench/gpu"))
    import heat_map

    results = [{"network": network, "batch": batch, "ceiling": 100.0,
                "rates": [{"threads": threads, "index": index, "images_per_s": 10.0 * threads + index}
                          for threads in (1, 3) for index in range(4)]}
               for network in ("a", "b") for batch in (32, 64)]
    results[-1]["ceiling"], results[-1]["rates"] = None, []
    heat_map.draw(results, "speed & share", tmp_path / "map.svg")
    root = xml.etree.ElementTree.parse(tmp_path / "map.svg").getroot()
    shown = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert sorted(text for text in shown if text.endswith("%")) == sorted(3 * [f"{10 * t + i}%" for t in (1, 3) for i in range(4)])
    assert shown.count("out of memory") == 1 and shown.count("of 100 images/s") == 3
    assert (heat_map.colour(0.0), heat_map.colour(0.5), heat_map.colour(1.0)) == ("#b2182b", "#ffffff", "#2166ac")
