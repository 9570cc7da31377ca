"""Runs all contestants side by side on one core, in rounds, and says how they compare.

Each is a process that is pinned to the core and stopped while others run. Ratios are medians of ratios within rounds, so
that a noisy machine disturbs all alike: of rates, and of processor time, which other work on the core disturbs less.
What is read is brought into the page cache before each pass.
"""

import dataclasses
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys

import numpy

import environments
import plot
from contestants import AIMS, CONTESTANTS, LARGE, LARGE_AIMS, ONLY_LARGE, REFERENCE, UNIT
from environments import Unavailable
from large_images import large_images
from process import Ended, Process, synthetic_images, warm
from table import Figure, report

HERE = pathlib.Path(__file__).resolve().parent
ROUNDS = 9
SIDE = 224
PASS_SECONDS = 1.0  # about; each pass is of whole epochs
PACKS = {"pack": [], "raw": ["--raw"]}  # what is made of the images, with these options of `stoker pack`
PSNR_MAX = 99.0  # more is the same pixels, but for the rounding of floats
STD_LEVELS = 255 * numpy.array((0.229, 0.224, 0.225), numpy.float32).reshape(3, 1, 1)


@dataclasses.dataclass
class Pixels:
    """Decibels, image by image, between a contestant's centre boxes and Pillow's."""
    mean: float
    worst: float


class Entry:
    """A contestant that takes part, with what was measured."""

    def __init__(self, contestant, start):
        self.contestant, self.name, self.start = contestant, contestant.name, start
        self.process, self.epochs, self.memory_peak, self.pixels = None, 1, None, None
        self.rates, self.cpu = [], []

    def prepare(self):
        """Starts it and finds how many epochs make a pass."""
        self.process = self.start()
        self.process.run("run 1")
        rate, _ = self.process.rate("run 1")
        samples = self.process.run("run 1")["samples"]
        self.epochs = max(1, round(PASS_SECONDS * rate / samples))
        self.process.pause()

    def measure(self):
        self.process.resume()
        rate, cpu = self.process.rate(f"run {self.epochs}")
        self.process.pause()
        self.rates.append(rate)
        self.cpu.append(cpu)

    def measure_memory(self):
        self.memory_peak = self.process.memory_peak()


class Stage:
    """Where all happens: the core, the data in every contestant's form, the programs."""

    def __init__(self, build, folder, packs=PACKS):
        self.build, self.folder = build, pathlib.Path(folder)
        self.core = str(sorted(os.sched_getaffinity(0))[0])
        self.peers = build.parent / "peers"
        self.made = self.peers / "data"
        shutil.rmtree(self.made, ignore_errors=True)
        self.made.mkdir(parents=True)
        for name, more in packs.items():
            command = [build / "stoker", "pack", *more, self.folder, self.made / name]
            if subprocess.run(command, stdout=subprocess.DEVNULL).returncode:
                sys.exit("bench: the images cannot be packed")

    def entry(self, contestant):
        """Throws Unavailable."""
        places = {"folder": self.folder, "build": self.build, "here": HERE, "made": self.made, "pack": self.made / "pack",
                  "raw": self.made / "raw"}
        command = [part.format(**places) for part in contestant.command]
        if contestant.environment:
            command.insert(0, environments.make(contestant.environment, self.peers))
        elif not pathlib.Path(command[0]).exists():
            raise Unavailable("was not built: its library's headers are missing")

        def start():
            with open(self.log(contestant.name), "w") as log:
                return Process(self.core, *command, variables=contestant.variables, errors=log)
        return Entry(contestant, start)

    def log(self, name):
        return self.peers / f"run-{name}.log"

    def pixels(self, entry, side=SIDE):
        """The planes that it makes for comparison, by a process of its own: the memory they take is not the loader's."""
        process, path = entry.start(), self.made / f"{entry.name}.f32"
        process.run(f"pixels {path}")
        process.close()
        planes = numpy.fromfile(path, numpy.float32).reshape(-1, 3, side, side)
        path.unlink()
        return planes


def compare(planes, reference):
    squares = numpy.square((planes - reference) * STD_LEVELS).mean(axis=(1, 2, 3))
    decibels = numpy.minimum(PSNR_MAX, 10 * numpy.log10(255**2 / numpy.maximum(squares, 1e-9)))
    return Pixels(float(decibels.mean()), float(decibels.min()))


def enter_all(stage, contestants, entries, absent):
    """Adds those that take part, compared with the reference and ready to run, and why others do not, by name."""
    reference = None
    # The reference comes first, whether it takes part or not.
    for contestant in sorted([c for c in CONTESTANTS if c in contestants or c.name == REFERENCE],
                             key=lambda c: c.name != REFERENCE):
        print(f"{contestant.name} ...", file=sys.stderr, flush=True)
        try:
            entry = stage.entry(contestant)
            if contestant.name == REFERENCE:
                reference = stage.pixels(entry)
            if contestant not in contestants:
                continue
            if contestant.has_pixels and reference is not None:
                entry.pixels = compare(stage.pixels(entry), reference)
            entry.prepare()
            entries.append(entry)
        except Unavailable as reason:
            absent[contestant.name] = str(reason)
        except Ended:
            absent[contestant.name] = f"does not run: {environments.last_line(stage.log(contestant.name))}"


def ratio(entry, against, by_cpu=False):
    if by_cpu:
        return statistics.median(b / a for a, b in zip(entry.cpu, against.cpu))
    return statistics.median(a / b for a, b in zip(entry.rates, against.rates))


def rows(entries):
    """What the table shows, for people and programs."""
    by_name = {entry.name: entry for entry in entries}
    unit, stoker = by_name.get(UNIT), by_name.get("stoker")
    order = [contestant.name for contestant in CONTESTANTS]
    return [{"name": e.name, "about": e.contestant.about, "rate": statistics.median(e.rates),
             "cpu_ms": 1e3 * statistics.median(e.cpu),
             "ratio": ratio(e, unit) if unit else None, "ratio_by_cpu": ratio(e, unit, True) if unit else None,
             "stoker": ratio(stoker, e) if stoker else None, "stoker_by_cpu": ratio(stoker, e, True) if stoker else None,
             "psnr": e.pixels.mean if e.pixels else None, "psnr_worst": e.pixels.worst if e.pixels else None,
             "memory_mb": e.memory_peak / 1e6, "rates": e.rates, "cpu_seconds": e.cpu}
            for e in sorted(entries, key=lambda e: order.index(e.name))]


def print_table(table):
    def cell(value, pattern="{:.2f}"):
        return "" if value is None else pattern.format(value)

    print(f"| | img/s | CPU ms | against {UNIT} | by CPU | Stoker against it | by CPU | PSNR | worst | MB |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for row in table:
        ratios = [cell(row[key]) for key in ("ratio", "ratio_by_cpu", "stoker", "stoker_by_cpu")]
        decibels = [">99" if row[key] == PSNR_MAX else cell(row[key], "{:.1f}") for key in ("psnr", "psnr_worst")]
        cells = [row["about"], cell(row["rate"], "{:.0f}"), cell(row["cpu_ms"]), *ratios, *decibels,
                 cell(row["memory_mb"], "{:.0f}")]
        print("|", " | ".join(cells), "|")


def aims(entries, wanted):
    by_name = {entry.name: entry for entry in entries}
    return [Figure(aim.name, statistics.median(by_name[aim.name].rates), "img/s",
                   aim.against + (" (CPU)" if aim.by_cpu else ""),
                   ratio(by_name[aim.name], by_name[aim.against], aim.by_cpu), aim.floor, aim.goal,
                   cpu_ms=1e3 * statistics.median(by_name[aim.name].cpu))
            for aim in wanted if aim.name in by_name and aim.against in by_name]


def run(build, options, large=False):
    usual = [c.name for c in CONTESTANTS if (c.name in LARGE if large else c.name not in ONLY_LARGE)]
    names = options.only.split(",") if options.only else usual
    unknown = set(names) - {c.name for c in CONTESTANTS}
    if unknown:
        sys.exit(f"dev bench: no contestant {', '.join(sorted(unknown))}; there are: {', '.join(c.name for c in CONTESTANTS)}")
    folder = options.data or synthetic_images(build)
    stage = Stage(build, large_images(build, folder) if large else folder, {"pack": []} if large else PACKS)
    entries, absent = [], {}
    try:
        enter_all(stage, [c for c in CONTESTANTS if c.name in names], entries, absent)
        run_rounds(stage, entries)
    except Ended as ended:
        sys.exit(f"bench: {ended}")
    finally:
        for entry in entries:
            entry.process.kill()
    tell(rows(entries), absent, aims(entries, LARGE_AIMS if large else AIMS), stage.peers / "peers.svg", options.json)


def run_rounds(stage, entries):
    for number in range(ROUNDS):
        print(f"round {number + 1} of {ROUNDS}", file=sys.stderr, flush=True)
        first = number * len(entries) // ROUNDS  # the first one changes from round to round
        for entry in entries[first:] + entries[:first]:
            warm(stage.folder), warm(stage.made)
            entry.measure()
    for entry in entries:
        entry.measure_memory()


def tell(table, absent, figures, picture, json_path):
    print_table(table)
    for name, reason in absent.items():
        print(f"{name} is missing: it {reason}")
    print()
    if figures:
        report(figures)
    plot.draw(table, UNIT, picture)
    print(f"\nThe picture: {picture}")
    if json_path:
        written = {"contestants": table, "absent": absent, "aims": [dataclasses.asdict(f) for f in figures]}
        pathlib.Path(json_path).write_text(json.dumps(written, indent=2))
