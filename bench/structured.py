"""Recipes of detectors and segmentation on one core and on two: beside torchvision v2 in a DataLoader of PyTorch with as many worker
processes as Stoker has threads, as its references have it and in faster forms, and beside albumentations."""

import os
import pathlib
import statistics
import sys
import tempfile

import environments
import structured_data
from process import Ended, Process, synthetic_images, warm
from table import Figure, report

ROUNDS = 3
HERE = pathlib.Path(__file__).parent
# And how many samples make a batch.
RECIPES = {"ssd-train": 32, "lsj-boxes": 4, "lsj": 4, "deeplab-train": 16, "mask2former-train": 16}
TORCHVISION = {"ssd-train": ("pil", "tensor", "late"), "mask2former-train": ("pil", "tensor", "late")}  # else without colours
ALBUMENTATIONS = ("lsj-boxes", "lsj", "deeplab-train", "mask2former-train")  # it has no crop as SSD's
MEAN_APART_MAX, OBJECTS_APART_MAX = 0.5, 0.3  # of pixels, in standard deviations; of objects, as a part


def run(build, options):
    images = options.data or synthetic_images(build)
    with tempfile.TemporaryDirectory(dir=build) as folder:
        structured_data.make(images, folder)
        try:
            report(figures_of(build, folder), options.json)
        except Ended as ended:
            sys.exit(f"bench: {ended}")


def figures_of(build, folder):
    cores = sorted(os.sched_getaffinity(0))
    figures = []
    for count in (1, 2) if len(cores) > 1 else (1,):
        for recipe in RECIPES:
            figures += beside(build, recipe, folder, ",".join(map(str, cores[:count])), count)
    return figures


def contestants_of(build, recipe, folder, cores, workers):
    batch, variables = RECIPES[recipe], {"PYTHONPATH": f"{build / 'python'}:{HERE}", "NO_ALBUMENTATIONS_UPDATE": "1"}
    found = {"stoker": Process(cores, environments.PYTHON, HERE / "structured_loop.py", recipe, folder, batch, workers,
                               variables=variables)}
    for kind in (*TORCHVISION.get(recipe, ("pil", "tensor")), *(["albumentations"] if recipe in ALBUMENTATIONS else [])):
        try:
            python = environments.make("structured", build.parent / "peers")
        except environments.Unavailable as reason:
            sys.exit(f"bench: the peers {reason}")
        found[kind] = Process(cores, python, HERE / "structured_peers.py", kind, recipe, folder, batch, workers, variables=variables)
    return found


def beside(build, recipe, folder, cores, workers):
    contestants = contestants_of(build, recipe, folder, cores, workers)
    check({name: contestant.run("facts") for name, contestant in contestants.items()}, recipe)
    names, rates = [*contestants], {name: [] for name in contestants}
    for number in range(ROUNDS):
        warm(folder)
        for name in names[number % len(names):] + names[:number % len(names)]:
            answer = contestants[name].run("run")
            rates[name].append(answer["samples"] / answer["seconds"])
    for contestant in contestants.values():
        contestant.close()
    peers = [name for name in names if name != "stoker"]
    fastest = max((name for name in peers if name != "albumentations"), key=lambda name: statistics.median(rates[name]))

    def figure(name, against=None, floor=None):
        ratio = statistics.median(a / b for a, b in zip(rates[name], rates[against])) if against else None
        return Figure(f"{recipe}, {name}, {workers}", statistics.median(rates[name]), "1/s", against, ratio, floor)

    return [*map(figure, peers), *(figure("stoker", name, 4 if name == fastest else None) for name in peers)]


def check(facts, recipe):
    """All make the same: tensors of one shape and type, pixels about as bright, about as many objects."""
    ours = facts["stoker"]
    for name, theirs in facts.items():
        apart = abs(theirs["mean"] - ours["mean"]) / (1 if ours["shapes"][0][0] == "float32" and recipe != "ssd-train" else 64)
        few = abs(theirs["objects"] - ours["objects"]) > OBJECTS_APART_MAX * ours["objects"]
        if theirs["shapes"] != ours["shapes"] or apart > MEAN_APART_MAX or few:
            sys.exit(f"bench: {recipe}: stoker and {name} do not make the same: {ours} and {theirs}")
