"""What the doctor says beside what then happens: its forecasts of configurations that it did not measure, the bottleneck where one
resource after the other is held back, its advice when it is followed, how repeatable it is, and what watching a run costs.

A case is diagnosed and then run, in the same throttle, with the same options. Data are made here; a stage of the bench can be chosen
by --only: forecasts, bottlenecks, advice, repeats, watching, agreement, stories.
"""

import dataclasses
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

import cases
import stories
import throttles
from process import chosen, evict, synthetic_images, warm
from table import Figure, report_with_rows, table

SMALL = 20_000
COPIES = 20              # of the photographs
RUN_SECONDS, RUN_BATCHES_MIN = 8, 24
STEP = 0.0005            # seconds; a GPU that nothing feeds
PATIENCE_S = 600
REPEATS = 5
ROUNDS = 7               # of watching
AGREE_SECONDS = 20       # of each run
AGREE_ON = (("photos", "imagenet-train"), ("photos", "imagenet-val"), ("small", "cifar-train"), ("raw", "imagenet-train"))
GAIN_POINTS, MODEST = 0.15, 1.5
HDD = 160_000_000, 150   # bytes and reads a second
AUGMENTED = """
[[view]]
name = "image"
operators = [
  { op = "decode" },
  { op = "random_resized_crop", size = 224 },
  { op = "random_flip" },
  { op = "rand_augment" },
  { op = "gaussian_blur", kernel_size = [9, 9] },
  { op = "normalize", preset = "imagenet" },
]

[[view]]
name = "label"
"""
# By stage, what is left out to do without it. Not of geometry, which gives the images of a batch one size.
OPERATORS = {"color": ("rand_augment", "gaussian_blur", "normalize")}
STAGES = ("forecasts", "bottlenecks", "advice", "repeats", "watching", "agreement", "stories")


class Failed(Exception):
    """The command did not answer; and what it said last."""


class Bench:
    """The command, the data, and what is reported."""

    def __init__(self, build, folder, images, cases_named=None):
        self.build, self.folder, self.stoker = build, folder, build / "stoker"
        self.bucket = folder / "served" / "bench"
        self.bucket.mkdir(parents=True)
        self.figures, self.rows, self.absent = [], {}, {}
        self.cases = [case for case in cases.cases() if re.search(cases_named or "", case.name)]
        self.diagnosed = {}  # by the case's name
        self.catalogue = folder / "throttled.toml"
        self.catalogue.write_text(cases.CATALOGUE)
        self.make_data(images)

    def say(self, text):
        print(text, file=sys.stderr, flush=True)

    def command(self, *arguments):
        status, _, said = throttles.run(throttles.Throttle(), [self.stoker, *arguments], PATIENCE_S)
        if status:
            raise Failed(said.strip().splitlines()[-1])

    def make_data(self, images):
        self.say(f"making the data in {self.folder}")
        loose = self.path("photos-loose")
        sources = sorted(path for path in pathlib.Path(images).rglob("*") if path.suffix.lower() in (".jpg", ".jpeg"))
        for copy in range(COPIES):
            (loose / f"{copy:03}").mkdir(parents=True)
            for number, source in enumerate(sources):
                shutil.copy(source, loose / f"{copy:03}" / f"{number:06}.jpg")
        self.command("pack", loose, self.path("photos"), "--shard-size", "32MiB")
        self.command("pack", self.path("photos") / "shard-00000[0-5].tar", self.path("few"), "--shard-size", "32MiB")
        self.command("pack", loose, self.path("raw"), "--raw", "--resize-short", "256", "--shard-size", "64MiB")
        self.command("synth", self.folder / "small-loose", "--kind", "tiny", "--count", SMALL, "--classes", 100, "--seed", 1)
        self.command("pack", self.folder / "small-loose", self.path("small"), "--shard-size", "16MiB")

    def path(self, data):
        return self.bucket / data.removeprefix("s3:")

    def location(self, data):
        return f"s3://bench/{data.removeprefix('s3:')}/" if data.startswith("s3:") else self.path(data)

    def half_of(self, data):
        return sum(file.stat().st_size for file in self.path(data).rglob("*") if file.is_file()) // 2

    def store(self, latency_s, link_bytes_per_s):
        return throttles.Store(self.build, self.bucket.parent, latency_s, link_bytes_per_s)

    def recipe(self, name):
        """What the command is given: a recipe of its own, or the file of "aug-heavy" or of "aug-heavy without STAGE"."""
        base, _, stage = name.partition(" without ")
        if base != "aug-heavy":
            return name
        lines = [line for line in AUGMENTED.splitlines() if not any(f'"{one}"' in line for one in OPERATORS.get(stage, ()))]
        file = self.folder / f"{name.replace(' ', '-')}.toml"
        file.write_text("\n".join(lines))
        return file

    def doctor(self, throttle, data, recipe, batch, step, *options):
        status, answer, said = throttles.run(
            throttle, [self.stoker, "doctor", self.location(data), "--recipe", self.recipe(recipe), "--batch", batch, "--step", step,
                       "--quick", "--json", *options], PATIENCE_S)
        if answer is None:
            raise Failed(last_words(status, said))
        return answer

    def rate(self, throttle, data, recipe, batch, step, expected, *options, later=False):
        """Samples a second of a run that lasts about RUN_SECONDS if it is as fast as is expected; or of a second epoch."""
        batches = max(RUN_BATCHES_MIN, round(RUN_SECONDS * expected / batch))
        span = ("--epochs", 2) if later else ("--epochs", 100_000, "--batches", batches)
        is_far = data.startswith("s3:") and not later
        if is_far:
            span = ("--epochs", 1)  # much is read ahead, which would be lost at the end of a shorter run
        status, answer, said = throttles.run(
            throttle, [self.stoker, "run", self.location(data), "--recipe", self.recipe(recipe), "--batch", batch, "--accelerator", step,
                       *(() if "--tune" in options else ("--tune", "off")), *span, "--json", *options], PATIENCE_S)
        if status or answer is None:
            raise Failed(last_words(status, said))
        if is_far and step <= STEP:  # while the first batch came, others were read, too; a slower GPU has them left at the end
            return answer["samples"] / answer["seconds"]
        return answer["epoch_reports"][-1]["samples_per_s"] if later else steady(answer, batch)


def steady(answer, batch):
    """The rate from the first batch's coming to the last one's: a run of a day starts and ends but once."""
    step_s = (answer["utilisation"] or 0) * answer["seconds"] * batch / answer["samples"]
    return (answer["samples"] - batch) / (answer["seconds"] - answer["first_batch_s"] - step_s)


def last_words(status, said):
    """A command that had too little memory is killed without a word."""
    return f"status {status}: {(said.strip() or 'no word').splitlines()[-1]}"


def percent(ratio):
    return f"{100 * ratio:+.0f}%"


def attempt(bench, name, measure):
    """What it gives, or None, with the reason kept."""
    try:
        return measure()
    except (Failed, throttles.Unavailable, subprocess.TimeoutExpired) as reason:
        bench.absent[name] = str(reason)
        bench.say(f"{name} is missing: {reason}")
        return None


def quantile(values, share):
    ranked = sorted(values)
    return ranked[min(len(ranked) - 1, int(share * len(ranked)))]


def foretell(bench, data, recipe, is_direct, held_out):
    what_ifs = [word for one in held_out for word in ("--what-if", one.what_if)]
    with bench.store(0.03, None) if data.startswith("s3:") else throttles.Throttle() as throttle:
        answer = bench.doctor(throttle, data, recipe, 64, STEP, *(cases.DIRECT if is_direct else ()), *what_ifs, "--catalogue",
                              bench.catalogue)
    return [found["samples_per_s"] for found in answer["what_if"]]


def measure(bench, one, foretold):
    step = float(one.what_if.removeprefix("step=")) if one.what_if.startswith("step=") else STEP
    with one.throttle(bench) as throttle:
        return bench.rate(throttle, one.data, one.recipe, 64, step, foretold, *one.options)


def forecasts(bench):
    """Facts are measured once for each data set, without any throttle; each forecast is of a configuration held out of that."""
    groups = {}
    for one in cases.held_out():
        groups.setdefault((one.of, one.recipe, "--direct" in one.options), []).append(one)
    rows, errors = [], []
    for (data, recipe, is_direct), held_out in groups.items():
        for one, foretold in zip(held_out, attempt(bench, f"facts of {data}", lambda: foretell(bench, data, recipe, is_direct, held_out)) or []):
            measured = attempt(bench, one.name, lambda: measure(bench, one, foretold))
            if measured is None:
                continue
            errors.append(abs(foretold / measured - 1))
            rows.append((one.name, one.what_if, f"{foretold:,.0f}", f"{measured:,.0f}", percent(foretold / measured - 1)))
            bench.say(f"{one.name}: foretold {foretold:,.0f}/s, measured {measured:,.0f}/s")
    table("Forecasts of configurations that were not measured", ["configuration", "what-if", "foretold /s", "measured /s", "off"], rows)
    bench.rows["forecasts"] = rows
    if errors:
        bench.figures += [Figure("forecast off, median", 100 * statistics.median(errors), "%", "10%", statistics.median(errors) / 0.1,
                                 ceiling=1),
                          Figure("forecast off, p95", 100 * quantile(errors, 0.95), "%", "20%", quantile(errors, 0.95) / 0.2, ceiling=1)]


def diagnose(bench, case):
    with case.throttle(bench) as throttle:
        if not case.data.startswith("s3:"):
            (warm if case.warm else evict)(bench.path(case.data))
        answer = bench.doctor(throttle, case.data, case.recipe, case.batch, case.step, *case.options)
        measured = bench.rate(throttle, case.data, case.recipe, case.batch, case.step, answer["samples_per_s"], *case.options,
                              later=not case.warm)
    bench.diagnosed[case.name] = answer, measured
    return answer, measured


def bottlenecks(bench):
    rows, right, errors = [], 0, []
    for case in bench.cases:
        found = attempt(bench, case.name, lambda case=case: diagnose(bench, case))
        if not found:
            continue
        answer, measured = found
        holds = answer["bottleneck"] in case.expected
        right += holds
        errors.append(abs(answer["samples_per_s"] / measured - 1))
        rows.append((case.name, answer["bottleneck"], "yes" if holds else f"NO: {' or '.join(sorted(case.expected))}",
                     f"{answer['samples_per_s']:,.0f}", f"{measured:,.0f}", percent(answer["samples_per_s"] / measured - 1)))
        bench.say(f"{case.name}: {answer['verdict']}; measured {measured:,.0f}/s")
    table("One resource after the other is held back", ["case", "bottleneck", "right", "said /s", "measured /s", "off"], rows)
    bench.rows["bottlenecks"] = rows
    if rows:
        bench.figures += [Figure(f"right bottleneck, of {len(rows)}", 100 * right / len(rows), "%", "95%", right / len(rows) / 0.95, 1),
                          Figure("rate said, off, median", 100 * statistics.median(errors), "%", "10%", statistics.median(errors) / 0.1,
                                 ceiling=1)]


def turning_disk(case):
    """As the catalogue has it, with the memory of the case."""
    def throttle(bench):
        path = bench.path(case.data)
        return throttles.disk(path, *HDD) if case.warm else throttles.memory(bench.half_of(case.data), path, *HDD)
    return throttle


def followed(bench, case, what_if):
    """The case with the change made; None if it cannot be made on this machine."""
    words = dict(word.split("=", 1) for word in what_if.split())
    data, recipe, options, throttle = case.data, case.recipe, list(case.options), case.throttle
    for name, value in words.items():
        if name in ("cores", "threads"):
            cores = float(value)
            if cores > len(throttles.os.sched_getaffinity(0)):
                return None
            throttle = (lambda bench: throttles.Cores(int(cores))) if name == "cores" and cores == int(cores) else throttle
            options += ["--threads", value] if name == "threads" else []
        elif name in ("disk", "network", "memory"):
            throttle = turning_disk(case) if value == "hdd" else lambda bench: throttles.Throttle()
            options = [option for option in options if option != "--direct" or value == "hdd"]
            data = data.removeprefix("s3:")
        elif name == "layout" and value == "packed":
            data = {"photos-loose": "photos"}.get(data)
        elif name == "cache" and value in ("ram", "none"):
            options += ["--cache", value]
        elif name in ("io-depth", "prefetch", "order"):
            flag = f"--{name}"
            if flag in options:
                at = options.index(flag)
                del options[at:at + 2]
            options += [flag, value]
        elif name == "without" and recipe == "aug-heavy" and value in OPERATORS:
            recipe += f" without {value}"
        else:
            return None
    return dataclasses.replace(case, throttle=throttle, data=data, recipe=recipe, options=tuple(options)) if data else None


def first_followed(bench, case, answer):
    return followed(bench, case, answer["changes"][0]["what_if"]) if answer["changes"] else None


def advice(bench):
    """The first change is made and measured. Where this machine cannot make it, the case is tried again before a GPU that takes
    half as much again as it gets: what it needs may be had here. A GPU that is fed needs no change."""
    rows, off = [], []
    for case in bench.cases:
        def measure(case=case):
            answer, before = bench.diagnosed.get(case.name) or diagnose(bench, case)
            if answer["fed"]:
                return {"change": "none: the GPU is fed", "gain": 0}, before, None
            made = first_followed(bench, case, answer)
            if made is None:
                case = dataclasses.replace(case, step=case.batch / (MODEST * before))
                answer, before = diagnose(bench, case)
                made = first_followed(bench, case, answer)
            if made is None:
                return (answer["changes"] or [{"change": "none", "gain": 0}])[0], before, None
            change = answer["changes"][0]
            with made.throttle(bench) as active:
                # A cache has what it keeps, and windows are full, once the first epoch is over. Of an epoch the loader tells how
                # fast its batches were taken; a GPU that has some of them waiting takes no more than its steps let it.
                later = any(word in change["what_if"] for word in ("cache", "order"))
                after = min(case.batch / case.step,
                            bench.rate(active, made.data, made.recipe, case.batch, case.step, before * (1 + change["gain"]),
                                       *made.options, later=later))
            if case.expected <= cases.CPU:  # the speed of a virtual machine's cores changes from one minute to the next
                with case.throttle(bench) as active:
                    again = bench.rate(active, case.data, case.recipe, case.batch, case.step, before, *case.options)
                before = (before + again) / 2
            return change, before, after

        found = attempt(bench, f"advice: {case.name}", measure)
        if not found:
            continue
        change, before, after = found
        if after is None:
            rows.append((case.name, change["change"], percent(change["gain"]), "not made"))
            bench.say(f"{case.name}: {change['change']}: it is not made here")
            continue
        gain = after / before - 1
        off.append(abs(change["gain"] - gain) / max(1, change["gain"]))  # points; of a gain of more than 100%, parts of it
        rows.append((case.name, change["change"], percent(change["gain"]), percent(gain)))
        bench.say(f"{case.name}: {change['change']}: {percent(change['gain'])} foretold, {percent(gain)} measured")
    table("The first change, made", ["case", "change", "gain foretold", "gain measured"], rows)
    bench.rows["advice"] = rows
    if off:
        within = sum(one <= GAIN_POINTS for one in off) / len(off)
        bench.figures.append(Figure(f"gain within 15 points, of {len(off)}", 100 * within, "%", "all", within, 1))


def repeats(bench):
    said = {}
    for name, data, options in (("packed", "photos", ()), ("past the cache", "photos", cases.DIRECT)):
        found = [attempt(bench, f"repeats, {name}",
                         lambda data=data, options=options: bench.doctor(throttles.Throttle(), data, "imagenet-train", 64, STEP, *options))
                 for _ in range(REPEATS)]
        said[name] = [answer["samples_per_s"] for answer in found if answer]
    rows = [(name, ", ".join(f"{rate:,.0f}" for rate in rates)) for name, rates in said.items()]
    table("The same diagnosis again", ["case", "samples/s"], rows)
    bench.rows["repeats"] = rows
    for name, rates in said.items():
        if rates:
            spread = max(abs(rate / statistics.median(rates) - 1) for rate in rates)
            bench.figures.append(Figure(f"repeats off, {name}", 100 * spread, "%", "5%", spread / 0.05, ceiling=1))


def watching(bench):
    """A run that is watched in every way against one that is not, in turns."""
    ratios = []
    with tempfile.TemporaryDirectory(dir=bench.folder) as scratch:
        watched = ("--trace", pathlib.Path(scratch) / "trace.json", "--dashboard", "127.0.0.1:0", "--metrics", "127.0.0.1:0")
        with throttles.Cores(1) as one_core:
            expected = bench.rate(one_core, "photos", "imagenet-train", 64, STEP, 1000)
            for number in range(ROUNDS):
                both = [(), watched]
                rates = {len(options): bench.rate(one_core, "photos", "imagenet-train", 64, STEP, expected, *options)
                         for options in (both if number % 2 else both[::-1])}
                ratios.append(rates[len(watched)] / rates[0])
    bench.figures.append(Figure("watched", statistics.median(ratios), "", "not watched", statistics.median(ratios), 0.99))


def agreement(bench):
    """What `plan`, `run`, a run that tunes itself, and `doctor` say of one core and the same data."""
    rows, apart = [], []
    for data, recipe in AGREE_ON:
        def measure(data=data, recipe=recipe):
            warm(bench.path(data))
            with throttles.Cores(1) as one_core:
                plan = throttles.run(one_core, [bench.stoker, "plan", bench.path(data), "--recipe", recipe, "--batch", 64, "--json"], PATIENCE_S)[1]
                said = {"plan": plan["samples_per_s"]}
                expected = said["plan"] * AGREE_SECONDS / RUN_SECONDS
                said["doctor"] = bench.doctor(one_core, data, recipe, 64, STEP)["samples_per_s"]
                said["run"] = bench.rate(one_core, data, recipe, 64, STEP, expected)
                said["run, tuned"] = bench.rate(one_core, data, recipe, 64, STEP, expected, "--tune", "on")
            return said

        said = attempt(bench, f"agreement: {data}, {recipe}", measure)
        if said:
            apart.append(max(said.values()) / min(said.values()) - 1)
            rows.append((f"{data}, {recipe}", *(f"{rate:,.0f}" for rate in said.values()), percent(apart[-1])))
            bench.say(f"{data}, {recipe}: {', '.join(f'{name} {rate:,.0f}/s' for name, rate in said.items())}")
    table("One core, said four times", ["data and recipe", "plan /s", "doctor /s", "run /s", "run, tuned /s", "most against least"], rows)
    bench.rows["agreement"] = rows
    bench.figures += [Figure(f"agree, {row[0]}", 100 * ratio, "%", "10%", ratio / 0.1, ceiling=1) for row, ratio in zip(rows, apart)]


def told(bench, folder):
    rows = stories.tell(bench, folder, attempt)
    table("Seven stories", ["story", "verdict", "foretold /s", "measured /s", "after the change /s"], rows)
    bench.rows["stories"] = rows


def run(build, options):
    only = chosen(options, STAGES)
    parent = build / "bench-data"
    parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="doctor-", dir=parent) as folder:
        bench = Bench(build, pathlib.Path(folder), options.data or synthetic_images(build), options.cases)
        for stage in only:
            if stage == "stories":
                told(bench, options.write or folder)
            else:
                globals()[stage](bench)
    report_with_rows(bench, options.json)
