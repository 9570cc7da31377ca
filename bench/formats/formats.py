"""Every shard format beside its own reader, on one core: opening, the first batch, samples in order and at random, without
decoding; and how fast shards are indexed, beside `cat`.

The same images are in each format, as the format's own library wrote them where it has one, and in the page cache. A pass is a
process of its own, whose figures begin after its imports; rounds interleave the contestants of a format, and ratios are
medians of ratios within rounds. Stoker takes part as other readers do, with samples as Python's bytes from the calling
thread, and as the loader's own reader, which puts them into the loader's memory. Before anything counts, each contestant
gives the sum of its images' checksums, which has to be that of the files.
"""

import dataclasses
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import zlib

import environments
from process import chosen, synthetic_images
from table import Figure, report_with_rows, table

HERE = pathlib.Path(__file__).resolve().parent
ROUNDS = 3
COPIES = 16             # of the photographs: half a gigabyte
TINY = 20_000           # images of 32 x 32
SHARD = "64MiB"
IN_FLIGHT = 32          # of the loader's reader
PATIENCE_S = 300        # no pass takes a tenth of it
INDEX_FLOOR, FASTER = 0.8, 2
INDEX_BYTES = 200_000_000  # of less than that a program's start is too large a part
MEGABYTE = 1_000_000


class Failed(Exception):
    """A contestant did not run, and what it said last."""


@dataclasses.dataclass
class Format:
    shards: str = ""                 # pattern of the files, if they can be indexed
    written_by: str | None = None    # an environment; none: `stoker pack`
    suffix: str = ""                 # of a format that is one file
    peers: dict = dataclasses.field(default_factory=dict)  # readers, and their environments


FORMATS = {
    "folder": Format(peers={"files": None}),
    "tar": Format("*.tar", peers={"webdataset": "remote"}),
    "tfrecord": Format("*.tfrecord", peers={"tf.data": "formats"}),
    "recordio": Format("*.rec"),
    "mds": Format("*.mds", "remote", peers={"streaming": "remote"}),
    "litdata": Format("*.bin", "litdata", peers={"litdata": "litdata"}),
    "parquet": Format("*.parquet", "formats", ".parquet", peers={"datasets": "formats", "pyarrow": "formats"}),
    "arrow": Format("*.arrow", "formats", peers={"datasets, saved": "formats", "pyarrow, mapped": "formats"}),
    "lmdb": Format("data.mdb", "formats", peers={"lmdb": "formats"}),
    "hdf5": Format("*.hdf5", "formats", ".hdf5", peers={"h5py": "formats"}),
    "zip": Format("*.zip", None, ".zip", peers={"zipfile": None}),
}
PACKED = ("tar", "tfrecord", "recordio")  # by Stoker
LOADERS = "stoker's loader"


class ImageSet:
    """Images in a folder of folders, and what every contestant has to find of them."""

    def __init__(self, name, folder):
        self.name, self.folder = name, folder
        files = [file for file in folder.rglob("*") if file.is_file()]
        images = [file.read_bytes() for file in files]
        self.samples, self.bytes, self.sum = len(images), sum(map(len, images)), sum(map(zlib.crc32, images))
        self.field = files[0].suffix[1:]


class Bench:
    """The programs, the data, and what is reported."""

    def __init__(self, build, folder, only):
        self.build, self.folder = build, folder
        self.core = str(min(os.sched_getaffinity(0)))
        self.formats = {name: one for name, one in FORMATS.items() if not only or name in only}
        self.figures, self.absent, self.rows = [], {}, {}

    def say(self, text):
        print(text, file=sys.stderr, flush=True)

    def run(self, *command, stdin="", stdout=subprocess.PIPE):
        """What the command printed. Throws Failed with the last that it said."""
        env = os.environ | {"STOKER_CACHE_DIR": str(self.folder / "cache"), "HF_HOME": str(self.folder / "huggingface"),
                            "HF_HUB_OFFLINE": "1", "TF_CPP_MIN_LOG_LEVEL": "2"}
        with tempfile.TemporaryFile("w+") as errors:
            done = subprocess.run(["taskset", "-c", self.core, *map(str, command)], input=stdin, text=True,
                                  stdout=stdout, stderr=errors, env=env, timeout=PATIENCE_S)
            errors.seek(0)
            if done.returncode:
                lines = [line for line in errors.read().splitlines() if line.strip()] or ["nothing"]
                raise Failed(f"{lines[-1].strip()} (status {done.returncode})")
        return done.stdout

    def python(self, environment):
        if environment is None:
            return environments.PYTHON
        try:
            return environments.make(environment, self.build.parent / "peers")
        except environments.Unavailable as reason:
            raise Failed(str(reason)) from None

    def place(self, images, name):
        return self.folder / images.name / (name + FORMATS[name].suffix)

    def shards(self, images, name):
        at = self.place(images, name)
        return sorted(at.glob(FORMATS[name].shards)) if at.is_dir() else [at]

    def write(self, images, name):
        """Throws Failed."""
        out = self.place(images, name)
        if name == "folder":
            out.symlink_to(images.folder)
        elif name in PACKED:
            self.run(self.build / "stoker", "pack", images.folder, out, "--format", name, "--shard-size", SHARD)
        else:
            python = self.python(FORMATS[name].written_by)
            self.run(python, HERE / "writers.py", name, images.folder, out, images.field)

    def read(self, images, name, reader, environment, check):
        with tempfile.TemporaryDirectory(dir=self.folder) as scratch:
            options = {"path": str(self.place(images, name)), "field": images.field, "samples": images.samples,
                       "check": check, "scratch": scratch}
            answer = json.loads(self.run(self.python(environment), HERE / "readers.py", reader, stdin=json.dumps(options)))
        for order in ("in order", "random"):
            found = answer[order]
            if found and (found["samples"], found["bytes"]) != (images.samples, images.bytes):
                raise Failed(f"found {found['samples']} images of {found['bytes']} bytes, not {images.samples} of {images.bytes}")
        if check and answer["sum"] != images.sum:
            raise Failed("its images are not those of the files")
        return answer

    def loaders(self, images, name):
        """The same by the loader's reader, which is opened with `stoker`."""
        answer = {"open": None, "first": None}
        for key, order in (("in order", "none"), ("random", "global")):
            printed = self.run(self.build / "bench_storage", "packed", self.place(images, name), order, IN_FLIGHT, PATIENCE_S, 0,
                               "auto", 0, 64, stdin="go\n")
            answer[key] = json.loads(printed.splitlines()[-1])
            if answer[key]["bytes"] != images.bytes:
                raise Failed(f"it read {answer[key]['bytes']} bytes, not {images.bytes}")
        return answer


def median_of(values):
    found = [value for value in values if value is not None]
    return statistics.median(found) if found else None


def rate(answer, order):
    return answer[order]["samples"] / answer[order]["seconds"] if answer[order] else None


def speedup(ours, theirs, of):
    """The median over the rounds of `of(ours) / of(theirs)`; none where either has no figure."""
    return median_of(a / b for a, b in zip(map(of, ours), map(of, theirs)) if a is not None and b is not None)


def contestants_of(bench, images, name, is_ours):
    """Each by its name: called with whether to check, it answers with its figures or throws Failed. Stoker is among them if
    it reads the format."""
    def reader(reader_name, environment):
        return lambda check: bench.read(images, name, reader_name, environment, check)

    found = {}
    if is_ours:
        found = {"stoker": reader("stoker", None), LOADERS: lambda _: bench.loaders(images, name)}
    if is_ours and bench.formats[name].shards:
        found["stoker, no index"] = reader("stoker, no index", None)
    return found | {peer: reader(peer, environment) for peer, environment in bench.formats[name].peers.items()}


def rounds(bench, where, contestants):
    """Answers by name, a list in the order of the rounds, after one that is checked and does not count."""
    answers = {name: [] for name in contestants}
    for number in range(-1, ROUNDS):
        names = list(answers)
        for name in names[number % len(names):] + names[:number % len(names)]:
            try:
                answer = contestants[name](number < 0)
            except (Failed, subprocess.TimeoutExpired) as reason:
                bench.absent[f"{where}, {name}"] = str(reason)
                bench.say(f"{where}, {name} does not run: {reason}")
                del answers[name]
                continue
            if number >= 0:
                answers[name].append(answer)
        if not answers:
            break
    return answers


def note_ratios(bench, where, name, answers):
    """What Stoker is to be compared with each of the format's own readers."""
    for peer in bench.formats[name].peers:
        if peer not in answers or "stoker" not in answers:
            continue
        ours, theirs = answers["stoker"], answers[peer]
        for what in ("open", "first"):
            # As rates, so that more is better everywhere.
            ratio = speedup(ours, theirs, lambda answer, what=what: 1 / answer[what])
            bench.figures.append(Figure(f"{where}, {what}", 1e3 * median_of(answer[what] for answer in ours), "ms", peer, ratio,
                                        FASTER))
        for order in ("in order", "random"):
            for who in ("stoker", LOADERS):
                if who not in answers:
                    continue
                ratio = speedup(answers[who], theirs, lambda answer, order=order: rate(answer, order))
                if ratio is None:
                    continue  # theirs has no random access
                value = median_of(rate(answer, order) for answer in answers[who])
                bench.figures.append(Figure(f"{where}, {order}" + (", loader" if who == LOADERS else ""), value, "/s", peer, ratio,
                                            FASTER))


def row_of(name, who, answers):
    def cell(value, pattern):
        return "" if value is None else format(value, pattern)

    cpu = median_of(1e6 * answer["in order"].get("cpu_seconds", 0) / answer["in order"]["samples"] or None for answer in answers)
    return [name, who, *(cell(median_of(1e3 * answer[what] if answer[what] is not None else None for answer in answers), ".1f")
                         for what in ("open", "first")),
            *(cell(median_of(rate(answer, order) for answer in answers), ",.0f") for order in ("in order", "random")),
            cell(cpu, ".1f")]


def forget(files):
    """Takes them out of the page cache."""
    for file in files:
        descriptor = os.open(file, os.O_RDONLY)
        try:
            os.fsync(descriptor)
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        finally:
            os.close(descriptor)


def measure_index(bench, images, name):
    """MB/s of `cat` and of `index`, of a file that the page cache has not, by rounds; empty if it cannot be indexed."""
    files = bench.shards(images, name)
    size = sum(file.stat().st_size for file in files)
    commands = {"cat": ["cat", *files],
                "index, no decoding": [bench.build / "stoker", "index", "--no-decode"],
                "index": [bench.build / "stoker", "index"]}
    rates = {what: [] for what in commands}
    for _ in range(ROUNDS):
        for what, command in commands.items():
            with tempfile.TemporaryDirectory(dir=bench.folder) as indexes:
                options = [] if what == "cat" else ["--threads", "1", "--index-dir", indexes, *files]
                forget(files)
                began = time.perf_counter()
                bench.run(*command, *options, stdout=subprocess.DEVNULL)
                rates[what].append(size / (time.perf_counter() - began) / MEGABYTE)
    return rates


def measure_format(bench, images, name):
    """The format's rows of both tables."""
    where = f"{images.name}, {name}"
    bench.say(f"measuring {where}")
    written = indexed = False
    try:
        bench.write(images, name)
        written = True
        if bench.formats[name].shards and name not in PACKED:
            bench.run(bench.build / "stoker", "index", "--no-decode", *bench.shards(images, name))
        indexed = True
    except (Failed, subprocess.TimeoutExpired) as reason:
        bench.absent[where + (", stoker" if written else "")] = str(reason)
        bench.say(f"{where} is missing: {reason}")
    if not written:
        return [], []
    answers = rounds(bench, where, contestants_of(bench, images, name, indexed))
    note_ratios(bench, where, name, answers)
    rows = [row_of(name, who, found) for who, found in answers.items()]
    indexing = []
    if bench.formats[name].shards and "stoker" in answers and images.bytes >= INDEX_BYTES:
        rates = measure_index(bench, images, name)
        middle = {what: median_of(found) for what, found in rates.items()}
        ratio = median_of(a / b for a, b in zip(rates["index, no decoding"], rates["cat"]))
        bench.figures.append(Figure(f"{where}, index", middle["index, no decoding"], "MB/s", "cat", ratio, INDEX_FLOOR))
        indexing = [[name, *(f"{middle[what]:,.0f}" for what in rates), f"{ratio:.2f}"]]
    place = bench.place(images, name)
    shutil.rmtree(place) if place.is_dir() and not place.is_symlink() else place.unlink()
    return rows, indexing


def measure_set(bench, images):
    (bench.folder / images.name).mkdir()
    rows, indexing = [], []
    for name in bench.formats:
        of_format, of_index = measure_format(bench, images, name)
        rows += of_format
        indexing += of_index
    title = f"{images.name}: {images.samples:,} images of {images.bytes / images.samples:,.0f} bytes, on one core"
    table(title, ["format", "reader", "open, ms", "first 64, ms", "in order, /s", "random, /s", "CPU µs a sample in order"], rows)
    if indexing:
        table(f"{images.name}: indexing with one worker, MB/s; files that the page cache has not",
              ["format", "cat", "index --no-decode", "index", "index --no-decode to cat"], indexing)
    bench.rows[images.name] = {"readers": rows, "indexing": indexing}


def make_sets(bench, data):
    """Photographs several times over, and tiny images."""
    photographs, tiny = bench.folder / "photographs-files", bench.folder / "tiny-files"
    sources = sorted(path for path in pathlib.Path(data).rglob("*") if path.suffix.lower() in (".jpg", ".jpeg"))
    for copy in range(COPIES):
        (photographs / f"{copy:03}").mkdir(parents=True)
        for number, source in enumerate(sources):
            shutil.copy(source, photographs / f"{copy:03}" / f"{number:06}.jpg")
    bench.run(bench.build / "stoker", "synth", tiny, "--kind", "tiny", "--count", TINY, "--classes", 100, "--seed", 1)
    return [ImageSet("photographs", photographs), ImageSet("tiny", tiny)]


def run(build, options):
    only = chosen(options, FORMATS) if options.only else []
    parent = build / "bench-data"
    parent.mkdir(parents=True, exist_ok=True)
    data = options.data or synthetic_images(build)
    with tempfile.TemporaryDirectory(prefix="formats-", dir=parent) as folder:
        bench = Bench(build, pathlib.Path(folder), only)
        bench.say(f"making the data in {folder}")
        for images in make_sets(bench, data):
            measure_set(bench, images)
    report_with_rows(bench, options.json)
