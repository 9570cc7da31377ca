"""What a core gives to a loader in another process, an actor of Ray, against what it gives to one's own: of batches of floats, of
half-precision floats, and of pixels. On one machine: there is no network between them."""

import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

import environments
from process import synthetic_images, warm
from table import Figure, report, table

COPIES = 20
LOOP = pathlib.Path(__file__).with_name("actors_loop.py")


def run(build, options):
    data = pathlib.Path(options.data or synthetic_images(build)).resolve()
    try:
        python = environments.make("ray", build.parent / "peers")
    except environments.Unavailable as reason:
        sys.exit(f"dev bench: Ray {reason}")
    own, *others = sorted(os.sched_getaffinity(0))
    if not others:
        sys.exit("dev bench: actors needs two cores")
    with tempfile.TemporaryDirectory(dir=build) as folder:
        loose, packed = pathlib.Path(folder) / "loose", pathlib.Path(folder) / "packed"
        for copy in range(COPIES):  # so that an epoch is some batches long
            shutil.copytree(data, loose / f"{copy:03}")
        subprocess.run([build / "stoker", "pack", loose, packed], check=True, capture_output=True)
        subprocess.run([build / "stoker", "index", packed], check=True, capture_output=True)
        warm(packed)
        done = subprocess.run([python, LOOP, packed, str(others[0]), str(own)], stdout=subprocess.PIPE, text=True,
                              env={**os.environ, "PYTHONPATH": str(build / "python"), "RAY_TMPDIR": tempfile.gettempdir()})
    if done.returncode:
        sys.exit("dev bench: actors ended without an answer")
    rows, figures = [], []
    for answer in map(json.loads, filter(lambda line: line.startswith("{"), done.stdout.splitlines())):
        here, there = (statistics.median(rate for rate, _ in answer[name]) for name in ("here", "there"))
        rows.append([answer["kind"], f"{answer['bytes'] / 1e3:.0f}", f"{here:,.0f}", f"{there:,.0f}", f"{answer['rate']:.2f}",
                     f"{answer['per_core']:.2f}"])
        figures.append(Figure(f"{answer['kind']}, an actor's core", there, "img/s", "own loader's", answer["rate"], 0.85))
        figures.append(Figure(f"{answer['kind']}, for each second of a core", there, "img/s", "own loader's", answer["per_core"], 0.85))
    table("One core, in this process and in an actor", ["output", "KB per image", "here /s", "actor /s", "rate", "for each second of a core"],
          rows)
    report(figures, options.json)
