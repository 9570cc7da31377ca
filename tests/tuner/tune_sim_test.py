"""`stoker tune-sim`: the tuner driven by a program that plays the machine."""

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

from machines import change, random_machine

ROOT = Path(__file__).resolve().parents[2]
NAMES = ("threads", "transfer_index", "prefetch", "io_depth")


@pytest.fixture(scope="module")
def stoker():
    path = Path(os.environ.get("STOKER_BIN", ROOT / "build/release/stoker")).resolve()
    if not path.is_file():
        pytest.fail(f"there is no command {path}: build it (./dev build), or name one in STOKER_BIN")
    return path


class TuneSim:
    """The command, asked line by line."""

    def __init__(self, stoker):
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "bufsize": 1}
        self.process = subprocess.Popen([stoker, "tune-sim"], **pipes)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()

    def ask(self, line: dict) -> dict:
        self.process.stdin.write(json.dumps(line) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


def tune(stoker, machine, windows, seed, changes=()):
    """All knobs that were asked for, one line for the work and each window. Something changes before some of these."""
    random = np.random.default_rng([seed, 1])
    what_changes = np.random.default_rng([seed, 2])
    with TuneSim(stoker) as sim:
        answers = [sim.ask(machine.workload())]
        for window in range(windows):
            for _ in range(changes.count(window)):
                change(machine, what_changes)
            answers.append(sim.ask(machine.window(answers[-1], random)))
    assert sim.process.returncode == 0
    return answers


@pytest.mark.parametrize("seed", [2, 11, 24, 35, 58, 71, 93, 110])
def test_finds_what_is_nearly_the_best_of_the_grid(stoker, seed):
    machine = random_machine(seed)
    answers = tune(stoker, machine, 60, seed)
    rows = np.array([[answer[name] for name in NAMES] for answer in answers])
    assert (rows[:, 0] <= machine.threads_max()).all()
    assert (machine.host_bytes(rows[:, 1], rows[:, 2]) <= machine.memory_bytes).all()
    grid = machine.grid()
    rates = machine.rates(np.vstack([grid, rows[-1:]]))
    assert rates[-1] >= 0.95 * rates[:-1].max(), answers[-1]["why"]
    cheapest = grid[rates[:-1] >= 0.99 * rates[:-1].max()][:, 0].min()
    assert rows[-1, 0] <= max(cheapest + 2, 1.5 * cheapest), answers[-1]["why"]


@pytest.mark.parametrize("seed", [209, 211, 217, 224, 235, 249])
def test_finds_what_is_nearly_the_best_though_it_changes_at_any_moment(stoker, seed):
    machine = random_machine(seed)
    moments = np.random.default_rng([seed, 3])
    changes = sorted(moments.integers(1, 60, moments.integers(1, 4)).tolist())
    answers = tune(stoker, machine, changes[-1] + 60, seed, changes)
    rows = [tuple(answer[name] for name in NAMES) for answer in answers[-15:]]
    settled = max(rows, key=rows.count)  # the last one may be but a look at another setting
    grid = machine.grid()
    rates = machine.rates(np.vstack([grid, [settled]]))
    assert rates[-1] >= 0.95 * rates[:-1].max(), (changes, answers[-1]["why"])


def test_the_same_windows_get_the_same_answers(stoker):
    assert tune(stoker, random_machine(5), 40, 5) == tune(stoker, random_machine(5), 40, 5)


def test_answers_each_line_at_once_and_says_why(stoker):
    machine = random_machine(3)
    with TuneSim(stoker) as sim:
        answer = sim.ask(machine.workload())
        assert list(answer) == [*NAMES, "why"]
        assert "begins with" in answer["why"]


WORK = random_machine(1).workload()


@pytest.mark.parametrize(
    "lines, complaint",
    [
        ([], "standard input is empty"),
        (["cores: 4"], "line 1: this is not a JSON object"),
        ([json.dumps({**WORK, "cores": 0})], "'cores' must be a number, 1 or more"),
        ([json.dumps({**WORK, "batch": 1.5})], "'batch' must be an integer"),
        ([json.dumps({**WORK, "stages": [4]})], "'stages' must be a list of objects"),
        ([json.dumps({k: v for k, v in WORK.items() if k != "prefetch_max"})], "'prefetch_max' is missing"),
        ([json.dumps(WORK), json.dumps({"samples": 1})], "line 2: 'seconds' is missing"),
        (
            [
                json.dumps(WORK),
                json.dumps(
                    {
                        "samples": 1,
                        "seconds": 1,
                        "wait_s": 0,
                        "step_s": 1,
                        "stages": [{"name": "decode", "side": "gpu", "seconds": 1}],
                    }
                ),
            ],
            "line 2: 'gpu' is not a side of a machine; use cpu or device",
        ),
    ],
)
def test_says_what_is_wrong_with_a_line(stoker, lines, complaint):
    ran = subprocess.run([stoker, "tune-sim"], input="\n".join(lines), capture_output=True, text=True)
    assert ran.returncode == 2
    assert complaint in ran.stderr
