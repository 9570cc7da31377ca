"""Sequences of tokens with their targets on one core, shuffled: beside a DataLoader of PyTorch over a memory map, beside
mosaicml-streaming, and beside a plain copy in memory."""

import os
import pathlib
import statistics
import sys
import tempfile

import numpy as np

import environments
from process import Ended, Process, rounds, warm
from table import Figure, report

ROUNDS = 5
TOKENS = 1 << 27  # 256 MB
LENGTHS = (256, 1024, 4096)
LOOP = pathlib.Path(__file__).with_name("token_loop.py")


def run(build, options):
    with tempfile.TemporaryDirectory(dir=options.data or build) as folder:
        try:
            report(figures_of(build, pathlib.Path(folder)), options.json)
        except Ended as ended:
            sys.exit(f"bench: {ended}")


def figures_of(build, folder):
    sys.path.insert(0, str(build / "python"))
    from stoker import tokens

    rng = np.random.default_rng(1)
    tokens.write(folder / "corpus", (rng.integers(0, 50_000, 1 << 20, np.uint16) for _ in range(TOKENS >> 20)), vocab=50_257)
    core = str(min(os.sched_getaffinity(0)))
    variables = {"PYTHONPATH": str(build / "python")}
    pythons = {"stoker": environments.PYTHON, "copy": environments.PYTHON}
    try:
        pythons["memmap"] = pythons["streaming"] = environments.make("remote", build.parent / "peers")
    except environments.Unavailable as reason:
        print(f"the peers are missing: {reason}", file=sys.stderr)
    figures = []
    for length in LENGTHS:
        contestants = {name: Process(core, python, LOOP, name, folder, length, variables=variables) for name, python in pythons.items()}
        _, *measured = rounds(contestants, 1 + ROUNDS, lambda: warm(folder))  # the first to warm up
        rates = {name: [answers[name]["samples"] / answers[name]["seconds"] for answers in measured] for name in contestants}

        def ratio(against):
            return statistics.median(a / b for a, b in zip(rates["stoker"], rates[against]))

        for name in contestants:
            figures.append(Figure(f"{name}, {length}", statistics.median(rates[name]) / 1e6, "MB/s", "copy" if name == "stoker" else None,
                                  ratio("copy") if name == "stoker" else None, 0.25 if name == "stoker" else None))
        figures += [Figure(f"stoker, {length}", statistics.median(rates["stoker"]) / 1e6, "MB/s", name, ratio(name), 5)
                    for name in ("memmap", "streaming") if name in contestants]
    return figures
