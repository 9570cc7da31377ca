"""Functions in Python: what it costs to reach them, beside calling them in a bare loop, and a training's samples with them, beside a
DataLoader of PyTorch with as many workers."""

import os
import pathlib
import statistics
import sys

from process import Ended, Process, rounds, synthetic_images, warm
from table import Figure, report

ROUNDS = 5
FUNCTIONS = (("light", "samples"), ("noise", "samples"), ("pillow", "samples"), ("light", "batches"), ("noise", "batches"))
LOOP = pathlib.Path(__file__).with_name("function_loop.py")


def run(build, options):
    data = options.data or synthetic_images(build)
    try:
        report(figures_of(build, data), options.json)
    except Ended as ended:
        sys.exit(f"bench: {ended}")


def figures_of(build, data):
    cores = sorted(os.sched_getaffinity(0))
    variables = {"PYTHONPATH": f"{build / 'python'}:{LOOP.parent}"}
    figures = []
    for function, calls in FUNCTIONS:
        for count in (1, len(cores)) if len(cores) > 1 else (1,):
            figures += beside(function, calls, data, ",".join(map(str, cores[:count])), count, variables)
    return figures


def beside(function, calls, data, cores, workers, variables):
    """The overhead is what a sample takes more than without the function, and than the function alone."""
    names = ("bare", "without", "stoker", "dataloader") if workers == 1 else ("stoker", "dataloader")
    contestants = {name: Process(cores, "/usr/bin/python3", LOOP, name, function, calls, data, workers, variables=variables)
                   for name in names}
    rates, overheads = {name: [] for name in names}, []
    for number, answers in enumerate(rounds(contestants, 1 + ROUNDS, lambda: warm(data))):
        if number == 0:
            continue  # to warm up
        for name, answer in answers.items():
            rates[name].append(answer["samples"] / answer["seconds"])
        if workers == 1:
            seconds = {name: answer["seconds"] / answer["samples"] for name, answer in answers.items()}
            overheads.append((seconds["stoker"] - seconds["without"]) / seconds["bare"])

    def figure(name, against=None, floor=None):
        ratio = statistics.median(a / b for a, b in zip(rates[name], rates[against])) if against else None
        return Figure(f"{function} of {calls}, {name}, {workers}", statistics.median(rates[name]), "1/s", against, ratio, floor)

    found = [figure(name) for name in names if name != "stoker"] + [figure("stoker", "dataloader", 1.5)]
    if overheads:
        found.append(Figure(f"{function} of {calls}, with the way to it", 1e6 * statistics.median(overheads) / statistics.median(rates["bare"]), "us",
                            "bare", statistics.median(overheads), ceiling=1.1))
    return found
