"""Time per mini-batch of seven networks in PyTorch, by number of threads: with a batch that is in memory, and fed by Stoker, which
decodes and augments on the same cores. On a GPU with --device."""

import io
import os
import pathlib
import statistics
import subprocess
import sys
import tarfile
import tempfile

import numpy as np

import environments
from process import Ended, Process, chosen, synthetic_images, warm
from table import Figure, report, table

ROUNDS, SECONDS = 3, 4.0
NAMES = ("FCN-S", "AlexNet-S", "ResNet-50", "FCN-R", "AlexNet-R", "ResNet-56", "LSTM")
VECTORS, DIGITS, SMALL, WORDS, VOCABULARY = (512, 26_752), (20_000, 784), 20_000, 1 << 22, 10_000
LOOP = pathlib.Path(__file__).with_name("train_loop.py")


def write_arrays(path, shape, random):
    """Samples of `shape[1]` numbers each, with labels of ten classes, as a tar shard."""
    with tarfile.open(path, "w") as tar:
        for number in range(shape[0]):
            file = io.BytesIO()
            np.save(file, random.standard_normal(shape[1], np.float32))
            for name, content in ((f"{number:06}.npy", file.getvalue()), (f"{number:06}.cls", str(number % 10).encode())):
                entry = tarfile.TarInfo(name)
                entry.size = len(content)
                tar.addfile(entry, io.BytesIO(content))


def make_data(build, images, folder):
    random = np.random.default_rng(1)
    for name, shape in (("vectors", VECTORS), ("digits", DIGITS)):
        (folder / name).mkdir()
        write_arrays(folder / name / "0.tar", shape, random)
    for command in (("pack", images, folder / "photos"), ("synth", folder / "small-loose", "--kind", "tiny", "--count", SMALL, "--seed", 1),
                    ("pack", folder / "small-loose", folder / "small"), ("index", folder / "photos", folder / "vectors", folder / "digits")):
        subprocess.run(list(map(str, (build / "stoker", *command))), check=True, capture_output=True)
    sys.path.insert(0, str(build / "python"))
    from stoker import tokens

    tokens.write(folder / "words", [random.integers(0, VOCABULARY, WORDS, np.uint16)], vocab=VOCABULARY)


def beside(build, python, folder, name, threads, device, seconds):
    """Medians in milliseconds: with the batch in memory, fed; and the ratio of the two in pairs."""
    cores = sorted(os.sched_getaffinity(0))
    pinned = ",".join(map(str, cores if device != "cpu" else cores[:threads]))
    process = Process(pinned, python, LOOP, name, folder, threads, device, seconds, variables={"PYTHONPATH": str(build / "python")})
    try:
        times = {"memory": [], "fed": []}
        for number in range(ROUNDS):
            for how in sorted(times, reverse=number % 2):
                times[how].append(1e3 * statistics.median(process.run(how)))
    finally:
        process.kill()
    return (*(statistics.median(times[how]) for how in ("memory", "fed")),
            statistics.median(fed / memory for memory, fed in zip(times["memory"], times["fed"])))


def run(build, options):
    names = chosen(options, NAMES)
    device = options.device or "cpu"
    try:
        python = environments.make("torchvision", build.parent / "peers")
    except environments.Unavailable as reason:
        if device == "cpu":
            sys.exit(f"dev bench: PyTorch {reason}")
        python = sys.executable  # a machine with a GPU has its own
    rows, figures = [], []
    parent = build / "bench-data"
    parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="train-", dir=parent) as made:
        folder = pathlib.Path(made)
        make_data(build, options.data or synthetic_images(build), folder)
        for name in names:
            warm(folder)
            for threads in range(1, len(os.sched_getaffinity(0)) + 1) if device == "cpu" else (len(os.sched_getaffinity(0)),):
                try:
                    memory, fed, ratio = beside(build, python, folder, name, threads, device, options.seconds or SECONDS)
                except Ended as ended:
                    print(f"{name}, {threads} threads: {ended}", file=sys.stderr)
                    continue
                rows.append([name, threads, f"{memory:,.1f}", f"{fed:,.1f}", f"{ratio:.2f}"])
                figures.append(Figure(f"{name}, {threads} threads", fed, "ms", "in memory", ratio))
                print(f"{name}, {threads} threads: {memory:,.1f} ms in memory, {fed:,.1f} ms fed", file=sys.stderr, flush=True)
    table(f"Time per mini-batch on {device}", ["network", "threads", "batch in memory, ms", "fed by Stoker, ms", "ratio"], rows)
    report(figures, options.json)
