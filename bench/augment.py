"""Recipes of training with augmentation beside the libraries that people use for them, on one core, in rounds."""

import json
import pathlib
import statistics
import sys

import environments
import numpy
from augmentations import RECIPES, Supervised
from contestants import Contestant
from environments import Unavailable
from process import Ended, synthetic_images
from side_by_side import Stage, ratio, run_rounds
from table import Figure, report

# What Stoker's rate must be of each library's.
FLOORS = {
    "resnet50-v2": {"torchvision": 4, "dali": 3, "albumentations": 3, "kornia": 4},
    "timm-a1": {"torchvision": 4, "dali": 3, "albumentations": 3, "kornia": 4},
    "simclr": {"torchvision": 5},
    "dino": {"torchvision": 6},
}


LOOSE = "stoker-loose"  # on the peers' files, for the reader: no floor


def contestants(recipe):
    stoker, loose = (Contestant(f"{recipe} {name}", "", (environments.PYTHON, "{here}/stoker_augment.py", data, recipe))
                     for name, data in (("stoker", "{pack}"), (LOOSE, "{folder}")))
    peers = [Contestant(f"{recipe} {name}", "", (f"{{here}}/{name}_augment.py", "{folder}", recipe), environment=name)
             for name in FLOORS[recipe]]
    return [stoker, loose, *peers]


def statistics_of(planes):
    """Mean and deviation over all pixels: a library that left something out would show another."""
    return float(numpy.mean(planes)), float(numpy.std(planes))


def enter(stage, contestant, side, absent):
    """The contestant, ready to run, with the statistics of its pixels; None if it is missing."""
    try:
        entry = stage.entry(contestant)
        entry.pixels = statistics_of(stage.pixels(entry, side))
        entry.prepare()
        return entry
    except Unavailable as reason:
        absent[contestant.name] = str(reason)
    except Ended:
        absent[contestant.name] = f"does not run: {environments.last_line(stage.log(contestant.name))}"
    return None


def measure(stage, recipe, absent):
    """The figures of one recipe, and a row for each library."""
    parts = RECIPES[recipe]
    side = parts.side if isinstance(parts, Supervised) else parts[0].side
    entries = []
    try:
        for contestant in contestants(recipe):
            print(f"{contestant.name} ...", file=sys.stderr, flush=True)
            if entry := enter(stage, contestant, side, absent):
                entries.append(entry)
        run_rounds(stage, entries)
    finally:
        for entry in entries:
            entry.process.kill()
    if not entries or entries[0].name != f"{recipe} stoker":
        sys.exit(f"bench: {absent[f'{recipe} stoker']}")
    stoker, *others = entries
    peers = [entry for entry in others if entry.name != f"{recipe} {LOOSE}"]
    figures = [Figure(recipe, statistics.median(stoker.rates), "img/s", peer.name.split()[1], ratio(stoker, peer),
                      FLOORS[recipe][peer.name.split()[1]], cpu_ms=1e3 * statistics.median(stoker.cpu)) for peer in peers]
    rows = [{"recipe": recipe, "library": entry.name.split()[1], "rate": statistics.median(entry.rates),
             "cpu_ms": 1e3 * statistics.median(entry.cpu), "mean": entry.pixels[0], "deviation": entry.pixels[1],
             "rates": entry.rates, "cpu_seconds": entry.cpu} for entry in entries]
    return figures, rows


def run(build, options):
    recipes = options.only.split(",") if options.only else list(RECIPES)
    if unknown := set(recipes) - set(RECIPES):
        sys.exit(f"dev bench: no recipe {', '.join(sorted(unknown))}; there are: {', '.join(RECIPES)}")
    stage = Stage(build, options.data or synthetic_images(build), packs={"pack": []})
    figures, rows, absent = [], [], {}
    for recipe in recipes:
        more_figures, more_rows = measure(stage, recipe, absent)
        figures += more_figures
        rows += more_rows
    print("| recipe | library | img/s | CPU ms | mean | deviation |")
    print("|---|---|---|---|---|---|")
    for row in rows:
        print(f"| {row['recipe']} | {row['library']} | {row['rate']:.0f} | {row['cpu_ms']:.2f} | {row['mean']:.2f} | "
              f"{row['deviation']:.2f} |")
    for name, reason in absent.items():
        print(f"{name} is missing: it {reason}")
    print()
    report(figures)
    if options.json:
        written = {"rows": rows, "absent": absent, "aims": [vars(figure) | {"holds": figure.holds} for figure in figures]}
        pathlib.Path(options.json).write_text(json.dumps(written, indent=2))
