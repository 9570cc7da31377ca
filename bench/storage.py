"""The storage benchmark: packed shards beside loose files and beside fio, opening very large data sets, and how fast shards
are indexed and packed.

Every pass is a process that gets ready, then the page cache is emptied (by root; without it the figures are of warm data,
and none counts), then it reads. Rounds interleave the contestants; ratios are medians of ratios within rounds. A pass
whose device read less than 90% of what was wanted is void: something else had the data.
"""

import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

from table import Figure, report

THREADS = (1, 2, 4, 8, 16, 32, 64)
DEPTH = 32            # of fio and of ours where both are compared
READ_AHEAD = {"global": 8, "none": 16}  # MiB, about twice what is in flight: stays in the processor's caches, as fio's buffers do
LOADER_READ_AHEAD = 64                  # what the loader takes, to be prepared for a disk that pauses
LOOSE_ROUNDS, RANDOM_ROUNDS, OPEN_ROUNDS, PACK_ROUNDS = 3, 7, 5, 5
SECONDS = 2           # a pass ends by then
SMALL_SAMPLES, SMALL_BYTES = 200_000, 5_000
LARGE_SAMPLES, LARGE_BYTES = 40_000, 110 << 10
LISTED_SAMPLES, LISTED_SHARDS = 10_000_000, 1_000
MEGABYTE = 1_000_000


class Device:
    """The block device that a folder lies on."""

    def __init__(self, folder):
        number = os.stat(folder).st_dev
        self.stat = pathlib.Path(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}/stat")
        self.name = self.stat.parent.resolve().name if self.stat.exists() else "no block device"

    def bytes_read(self):
        return int(self.stat.read_text().split()[2]) * 512 if self.stat.exists() else 0


class Passes:
    """Runs single passes, cold, and says what each did."""

    def __init__(self, build, folder):
        self.build, self.folder, self.device = build, folder, Device(folder)
        self.root = os.geteuid() == 0
        self.void = 0

    def empty_cache(self):
        if self.root:
            os.sync()
            pathlib.Path("/proc/sys/vm/drop_caches").write_text("3")

    def note(self, name, wanted, seconds, device, process):
        void = self.root and device < 0.9 * wanted
        self.void += void
        text = f"{name:34} {wanted / MEGABYTE:8.1f} MB in {seconds:6.2f} s; device {device / MEGABYTE:8.1f} MB"
        text += f", process {process / MEGABYTE:8.1f} MB" if process is not None else ""
        print(text + (" VOID" if void else ""), file=sys.stderr, flush=True)
        return not void

    def ours(self, name, *arguments):
        """What bench_storage printed, with `device_bytes` and whether the pass is `good`."""
        command = [self.build / "bench_storage", *map(str, arguments)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            if process.stdout.readline() != "ready\n":
                sys.exit(f"bench: {command} ended early with status {process.wait()}")
            self.empty_cache()
            before = self.device.bytes_read()
            line, _ = process.communicate("go\n")
        if process.returncode != 0:
            sys.exit(f"bench: {command} failed")
        answer = json.loads(line)
        answer["device_bytes"] = self.device.bytes_read() - before
        read = answer.get("process_read_bytes")
        answer["good"] = read is None or self.note(name, answer["bytes"], answer["seconds"], answer["device_bytes"], read)
        answer["rate"] = answer["bytes"] / answer["seconds"]
        return answer

    def command(self, name, wanted, *arguments):
        """Seconds of a command that reads `wanted` bytes; None when the pass is void."""
        self.empty_cache()
        before = self.device.bytes_read()
        began = os.times().elapsed
        subprocess.run(list(map(str, arguments)), check=True, stdout=subprocess.DEVNULL)
        seconds = os.times().elapsed - began
        return seconds if self.note(name, wanted, seconds, self.device.bytes_read() - before, None) else None

    def fio(self, name, pattern, files, block):
        """Bytes per second, directly."""
        self.empty_cache()
        before = self.device.bytes_read()
        done = subprocess.run(
            ["fio", "--name=peer", "--filename=" + ":".join(map(str, files)), f"--rw={pattern}", f"--bs={block}",
             "--blockalign=4096", "--direct=1", "--readonly", "--ioengine=libaio", f"--iodepth={DEPTH}",
             "--file_service_type=" + ("random" if pattern == "randread" else "sequential"), f"--runtime={SECONDS}",
             "--time_based", "--output-format=json"], check=True, capture_output=True, text=True)
        job = json.loads(done.stdout[done.stdout.index("{"):])["jobs"][0]["read"]
        good = self.note(name, job["io_bytes"], job["runtime"] / 1e3, self.device.bytes_read() - before, None)
        return job["bw_bytes"] if good else None


def ratios(ours, theirs):
    """Of the rounds in which both passes are good; none if there is none."""
    both = [(a, b) for a, b in zip(ours, theirs) if a and b]
    return statistics.median(a / b for a, b in both) if both else None


def median(values):
    values = [value for value in values if value]
    return statistics.median(values) if values else 0.0


def make(passes, what, samples, size, shards):
    print(f"making {what}: {samples} samples of {size} bytes in {shards} shards", file=sys.stderr, flush=True)
    subprocess.run([passes.build / "bench_storage_data", what, passes.folder, str(samples), str(size), str(shards)], check=True)


def discard(passes, *names):
    for name in names:
        shutil.rmtree(passes.folder / name, ignore_errors=True)


def loose_and_packed(passes):
    """a: small files one by one, and the same samples in shards."""
    make(passes, "loose", SMALL_SAMPLES, SMALL_BYTES, 1000)
    make(passes, "shards", SMALL_SAMPLES, SMALL_BYTES, 100)
    packed, loose = passes.folder / "packed" / "*.tar", passes.folder / "loose"

    ways = {"packed none": ("none", 0), "packed none direct": ("none", 1), "packed global": ("global", 0)}
    whole = passes.ours("check loose", "loose", loose, 8, 1000, 1)
    for name, (order, direct) in ways.items():
        same = passes.ours(f"check {name}", "packed", packed, order, 32, 1000, 1, "auto", direct, READ_AHEAD[order])
        if (same["hash"], same["samples"]) != (whole["hash"], SMALL_SAMPLES):
            sys.exit("bench: the packed samples are not the loose ones")
    rates = {}
    for _ in range(LOOSE_ROUNDS):
        for threads in THREADS:
            contestants = {"loose": ("loose", loose, threads, SECONDS, 0)}
            for name, (order, direct) in ways.items():
                contestants[name] = ("packed", packed, order, threads, SECONDS, 0, "auto", direct, READ_AHEAD[order])
            for name, arguments in contestants.items():
                answer = passes.ours(f"{name}, {threads}", *arguments)
                rates.setdefault((name, threads), []).append(answer["samples"] / answer["seconds"] if answer["good"] else None)
    discard(passes, "loose", "packed")
    figures = []
    for threads in THREADS:
        base = rates["loose", threads]
        figures.append(Figure(f"loose, {threads} threads", median(base), "/s"))
        for name in ways:
            own = rates[name, threads]
            floor = 5 if name == "packed none direct" and threads <= 8 else None
            figures.append(Figure(f"{name}, {threads}", median(own), "/s", "loose", ratios(own, base), floor))
    return figures


def large_samples(passes):
    """b: samples of a photograph's size beside fio; d: what packing and indexing make of the same shards."""
    make(passes, "shards", LARGE_SAMPLES, LARGE_BYTES, 8)
    shards = sorted((passes.folder / "packed").glob("*.tar"))
    data = passes.folder / "packed" / "*.tar"
    contestants = {(order, io, direct, ahead): ("packed", data, order, DEPTH, SECONDS, 0, io, direct, ahead)
                   for order in ("global", "none") for io in ("uring", "pread")
                   for direct, ahead in ((0, READ_AHEAD[order]), (1, READ_AHEAD[order]), (1, LOADER_READ_AHEAD))}
    rates, excess = {}, {}
    for _ in range(RANDOM_ROUNDS):
        for order, pattern in (("global", "randread"), ("none", "read")):
            rates.setdefault((order, "fio"), []).append(passes.fio(f"fio {pattern}", pattern, shards, LARGE_BYTES))
            for key, arguments in contestants.items():
                if key[0] != order:
                    continue
                answer = passes.ours(" ".join(map(str, key)), *arguments)
                rates.setdefault(key, []).append(answer["rate"] if answer["good"] else None)
                excess.setdefault(key, []).append(answer["process_read_bytes"] / answer["bytes"])
    figures = []
    for order, word, floor in (("global", "random", 0.9), ("none", "sequential", 0.95)):
        peer = rates[order, "fio"]
        figures.append(Figure(f"fio, {word}", median(peer) / MEGABYTE, "MB/s"))
        for key in contestants:
            if key[0] != order:
                continue
            name = f"{word}, {key[1]}{', direct' if key[2] else ''}, {key[3]} MiB"
            # fio is direct and has small buffers; what the page cache and a long read-ahead cost is shown beside it.
            figures.append(Figure(name, median(rates[key]) / MEGABYTE, "MB/s", "fio", ratios(rates[key], peer),
                                  floor if key[2] and key[3] < LOADER_READ_AHEAD else None))
            figures.append(Figure(f"{name}: bytes", statistics.median(excess[key]), "x", "bytes used",
                                  statistics.median(excess[key]), ceiling=1.1))
    figures += pack_and_index(passes, shards)
    discard(passes, "packed")
    return figures


def pack_and_index(passes, shards):
    """Beside cat, which reads the shards through the page cache as these do, or copies them and waits for the disk; and
    beside fio, which reads them past it, and hashing, of which packing does both kinds. The samples are not images."""
    size = sum(shard.stat().st_size for shard in shards)
    stoker, folder = passes.build / "stoker", passes.folder
    copying = 'cat "$@" > "$0" && sync "$0"'
    commands = {"cat": ("sh", "-c", 'cat "$@" > /dev/null', "cat", *shards),
                "index": (stoker, "index", "--no-decode", "--index-dir", folder / "indexes", *shards),
                "cat and sync": ("sh", "-c", copying, folder / "copy", *shards),
                "pack": (stoker, "pack", folder / "packed" / "*.tar", folder / "repacked")}
    rates = {name: [] for name in ("hashes", "fio", *commands)}
    for number in range(PACK_ROUNDS):
        rates["hashes"].append(passes.ours("hashes", "hashes", 1)["rate"])
        rates["fio"].append(passes.fio("fio read", "read", shards, 1 << 20))
        turn = list(commands.items())[number % len(commands):] + list(commands.items())[:number % len(commands)]
        for name, command in turn:  # what one leaves behind on the disk is not always the same other's
            seconds = passes.command(name, size, *command)
            rates[name].append(size / seconds if seconds else None)
            discard(passes, "repacked", "indexes")
            (folder / "copy").unlink(missing_ok=True)
    figures = [Figure("CRC-32C and XXH3, a core", median(rates["hashes"]) / MEGABYTE, "MB/s"),
               Figure("fio, sequential, 1 MiB", median(rates["fio"]) / MEGABYTE, "MB/s")]
    for name, against in (("index", "cat"), ("pack", "cat and sync")):
        figures.append(Figure(against, median(rates[against]) / MEGABYTE, "MB/s"))
        figures.append(Figure(f"stoker {name}", median(rates[name]) / MEGABYTE, "MB/s", against,
                              ratios(rates[name], rates[against]), 0.9))
        figures.append(Figure(f"stoker {name}", median(rates[name]) / MEGABYTE, "MB/s", "fio",
                              ratios(rates[name], rates["fio"])))
    return figures


def many_samples(passes):
    """c: a data set of ten million samples, of which only the manifest and the indexes are there."""
    make(passes, "listed", LISTED_SAMPLES, SMALL_BYTES, LISTED_SHARDS)
    answers = []
    for _ in range(OPEN_ROUNDS):
        answers.append(passes.ours("open", "open", passes.folder / "listed", 256))
        if answers[-1]["data_samples"] != LISTED_SAMPLES:
            sys.exit("bench: the listed data set is not whole")
    discard(passes, "listed")

    def limited(name, values, unit, limit):
        value = statistics.median(values)
        return Figure(name, value, unit, f"limit {limit}", value / limit, ceiling=1.0)

    return [limited("open 10 M samples", [1e3 * a["open_seconds"] for a in answers], "ms", 1000),
            limited("  memory", [a["open_memory_bytes"] / MEGABYTE for a in answers], "MB", 100),
            limited("  256 samples, random", [1e3 * a["seconds"] for a in answers], "ms", 2000),
            limited("  memory by then", [a["memory_bytes"] / MEGABYTE for a in answers], "MB", 100)]


def run(build, options):
    parent = pathlib.Path(options.data) if options.data else build / "bench-data"
    parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="storage-", dir=parent) as folder:
        passes = Passes(build, pathlib.Path(folder))
        print(f"data on {passes.device.name}" + ("" if passes.root else "; not root: the page cache stays, nothing here counts"),
              file=sys.stderr)
        figures = many_samples(passes) + loose_and_packed(passes) + large_samples(passes)
        print(f"{passes.void} passes were void", file=sys.stderr)
    report(figures, options.json)
