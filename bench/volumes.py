"""Crops of volumes on one core, from the page cache and from the disk: beside plain reads of the same bytes, and beside a DataLoader
of PyTorch that crops numpy's memory maps."""

import functools
import os
import pathlib
import statistics
import sys
import tempfile

import numpy as np

from process import Ended, Process, evict, rounds, warm
from table import Figure, report

ROUNDS = 5
CASES = 10
SHAPES = ((190, 380, 380), (220, 400, 400))  # of KiTS19 as MLPerf resamples it
LOOP = pathlib.Path(__file__).with_name("volume_loop.py")
NAMES = ("stoker", "pread", "pread x16", "dataloader")


def run(build, options):
    with tempfile.TemporaryDirectory(dir=options.data or build) as folder:
        write(pathlib.Path(folder))
        try:
            report(figures_of(build, pathlib.Path(folder)), options.json)
        except Ended as ended:
            sys.exit(f"bench: {ended}")


def write(folder):
    rng = np.random.default_rng(1)
    lines = ["path,file:y.npy"]
    for number in range(CASES):
        shape = (1, *SHAPES[number % len(SHAPES)])
        volume = rng.standard_normal(shape, np.float32)
        names = [f"case_{number:05d}_{part}.npy" for part in "xy"]
        np.save(folder / names[0], volume)
        np.save(folder / names[1], (volume > 1).astype(np.uint8))
        lines.append(",".join(names))
    (folder / "cases.csv").write_text("\n".join(lines) + "\n")


def figures_of(build, folder):
    core = str(min(os.sched_getaffinity(0)))
    variables = {"PYTHONPATH": str(build / "python")}
    figures = []
    for state, prepare in (("warm", warm), ("cold", evict)):
        contestants = {name: Process(core, "/usr/bin/python3", LOOP, name, folder, variables=variables) for name in NAMES}
        measured = list(rounds(contestants, ROUNDS, functools.partial(prepare, folder)))
        rates = {name: [answers[name]["samples"] / answers[name]["seconds"] for answers in measured] for name in NAMES}

        def figure(name, against=None, floor=None):
            ratio = statistics.median(a / b for a, b in zip(rates[name], rates[against])) if against else None
            return Figure(f"{name}, {state}", statistics.median(rates[name]), "1/s", against, ratio, floor)

        megabytes = [answers["pread"]["bytes"] / answers["pread"]["seconds"] / 1e6 for answers in measured]
        figures += [figure("pread"), Figure(f"pread, {state}", statistics.median(megabytes), "MB/s"), figure("pread x16"),
                    figure("dataloader"), figure("stoker", "pread", 0.9), figure("stoker", "pread x16"), figure("stoker", "dataloader")]
    return figures
