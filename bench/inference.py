"""Requests of 1 to 64 images, from bytes, files and a server without latency: how long each takes in the median and at worst of a
hundred, beside torchvision's own way."""

import os
import pathlib
import statistics
import subprocess
import sys

from process import Ended, Process, synthetic_images, warm
from table import Figure, report, table

ROUNDS = 3
BATCHES = (1, 2, 4, 8, 16, 32, 64)
IMAGES_MIN, REQUESTS_MIN = 200, 34  # of a round: a hundred requests of each size in all
LOOP = pathlib.Path(__file__).with_name("inference_loop.py")
NAMES = ("stoker_bytes", "stoker_files", "stoker_urls", "torchvision_bytes")


def run(build, options):
    data = pathlib.Path(options.data or synthetic_images(build)).resolve()
    cores = sorted(os.sched_getaffinity(0))
    server = subprocess.Popen(["taskset", "-c", str(cores[-1]), build / "store_server", data.parent], stdout=subprocess.PIPE, text=True)
    try:
        url = f"http://127.0.0.1:{int(server.stdout.readline())}/{data.name}"
        figures = []
        for count in sorted({1, len(cores)}):
            figures += beside(build, data, url, cores[:count])
        report(figures, options.json)
    except Ended as ended:
        sys.exit(f"bench: {ended}")
    finally:
        server.kill()
        server.wait()


def percentile(values, share):
    return sorted(values)[min(int(share * len(values)), len(values) - 1)]


def beside(build, data, url, cores):
    variables = {"PYTHONPATH": str(build / "python"), "no_proxy": "127.0.0.1"}
    pinned = ",".join(map(str, cores))
    contestants = {name: Process(pinned, "/usr/bin/python3", LOOP, name, data, url, len(cores), variables=variables) for name in NAMES}
    rows, figures = [], []
    for batch in BATCHES:
        count = max(REQUESTS_MIN, IMAGES_MIN // batch)
        medians, took = {name: [] for name in NAMES}, {name: [] for name in NAMES}
        for number in range(ROUNDS):
            warm(data)
            for name in NAMES[number % len(NAMES):] + NAMES[:number % len(NAMES)]:
                answer = contestants[name].run(f"{batch} {count}")
                medians[name].append(statistics.median(answer))
                took[name] += answer
        rows.append([batch] + [f"{statistics.median(took[name]):.2f} / {percentile(took[name], 0.99):.2f}" for name in NAMES])
        ratio = statistics.median(b / a for a, b in zip(medians["stoker_bytes"], medians["torchvision_bytes"]))
        figures.append(Figure(f"batch {batch}, {len(cores)} cores", statistics.median(medians["stoker_bytes"]), "ms", "torchvision", ratio))
    for contestant in contestants.values():
        contestant.close()
    table(f"{len(cores)} core(s): p50 / p99 in ms", ["images", "bytes", "files", "URLs", "torchvision, bytes"], rows)
    return figures
