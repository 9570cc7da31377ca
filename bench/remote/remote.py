"""Objects behind a link with latency: Stoker beside a plain reader of ranges, which shows what the link gives, and beside
other readers of object stores.

tests/store_server serves a folder as S3 on one core; every contestant has the other to itself, and reads the same objects.
Rounds interleave the contestants, and ratios are medians of ratios within rounds. The server is ours, for its latency and
its rate are then known: what an object store far away does besides, it does not.
"""

import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

import environments
import heat_map
from process import chosen, synthetic_images
from table import Figure, report_with_rows, table

HERE = pathlib.Path(__file__).resolve().parent
ROUNDS = 3
LATENCY_S = 0.030
LINK = 200_000_000      # bytes a second, of all connections together, where a link is compared with
COPIES = 8              # of the images: an epoch takes seconds
SHARD = "32MiB"
BATCH = 64
EPOCHS, REPEATED = 2, 8  # an epoch is several times what is read ahead
LINKS = 8               # of each shard, where samples are counted: a pass is several times what is read ahead, too
IN_FLIGHT = 512         # as a loader has them by itself; the stores send as many of them as the link is worth
PLAIN_IN_FLIGHT = 128   # of a megabyte each
# Of the CPU's time: the size of reads, how many at a time, and how often all data are read.
READS = (("8 MB", 8 << 20, 16, 16), ("a sample's size", 128 << 10, 64, 4))
SWEEP_SECONDS, SWEEP_PASSES = 1.0, 16
SWEEP_IN_FLIGHT = (1, 4, 16, 64, 128)
SWEEP_BLOCKS = (16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20)
WORKERS = (1, 4, 8)  # that peers with workers are tried with
SMALL, SMALL_BYTES, SMALL_SHARDS = 20_000, 5_000, 20
SMALL_ALL = 2_000_000
SMALL_READ_AHEAD_MIB = 8  # with what a loader has, all of them would be in memory at once, as two million never are
PATIENCE_S = 120        # no pass takes a tenth of it
MEGABYTE = 1_000_000
DIGESTS = """
[[view]]
name = "digest"
field = "record"
operators = [{ op = "digest" }]
"""


class Failed(Exception):
    """A contestant did not run, and what it said last."""


class Store:
    """The server, to be used in a `with`."""

    def __init__(self, bench, *options, latency=LATENCY_S):
        self.bench, self.options = bench, ("--latency", latency, *options)

    def __enter__(self):
        command = ["taskset", "-c", self.bench.server_core, self.bench.build / "store_server", self.bench.folder, *self.options]
        self.process = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline())
        self.url = f"http://127.0.0.1:{self.port}"
        self.env = {"AWS_ENDPOINT_URL": self.url, "S3_ENDPOINT_URL": self.url, "AWS_ACCESS_KEY_ID": "bench",
                    "AWS_SECRET_ACCESS_KEY": "bench", "AWS_REGION": "us-east-1", "AWS_DEFAULT_REGION": "us-east-1",
                    "AWS_EC2_METADATA_DISABLED": "true", "no_proxy": "127.0.0.1", "NO_PROXY": "127.0.0.1"}
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def requests(self):
        done = subprocess.run(["curl", "-s", "--noproxy", "*", f"{self.url}/counts"], check=True, capture_output=True)
        return json.loads(done.stdout).get("requests", 0)

    def run(self, *command, stdin=None, cores=None):
        """What the contestant printed as JSON, with the requests that it made."""
        before = self.requests()
        with tempfile.TemporaryFile("w+") as errors:
            done = subprocess.run(["taskset", "-c", cores or self.bench.core, *map(str, command)], input=stdin, text=True,
                                  stdout=subprocess.PIPE, stderr=errors, env=os.environ | self.env,
                                  timeout=PATIENCE_S)
            errors.seek(0)
            if done.returncode:
                lines = [line for line in errors.read().splitlines() if line.strip()] or ["nothing"]
                raise Failed(f"{lines[-1]} (status {done.returncode})")
        answer = json.loads(done.stdout[done.stdout.index("{"):])
        answer["requests"] = self.requests() - before
        return answer


class Bench:
    """The programs, the data, and what is reported."""

    def __init__(self, build, folder, images, svg):
        self.build, self.folder, self.images, self.svg = build, folder, images, svg
        cores = sorted(os.sched_getaffinity(0))
        if len(cores) < 2:
            sys.exit("bench: remote takes two cores: one for the server, one for the reader")
        self.core, self.server_core = map(str, cores[:2])
        self.figures, self.absent, self.rows = [], {}, {}
        self.bucket = folder / "bench"
        self.python = None

    def peer(self, store, reader, **options):
        """Throws Failed, also if the peers cannot be installed."""
        if self.python is None:
            try:
                self.python = environments.make("remote", self.build.parent / "peers")
            except environments.Unavailable as reason:
                raise Failed(str(reason)) from None
        return store.run(self.python, HERE / "peers.py", reader, stdin=json.dumps(options))

    def objects(self, name, pattern="*.tar"):
        """Key and size of each, as its readers take them."""
        files = sorted((self.bucket / name).glob(pattern))
        return [(f"{name}/{file.name}", file.stat().st_size) for file in files]

    def plain(self, store, in_flight, block, seconds):
        return store.run(self.build / "bench_remote_plain", store.port, in_flight, block, seconds,
                         *(f"/bench/{key}:{size}" for key, size in self.objects("packed")))

    def blocks(self, store, in_flight, block, seconds, passes):
        urls = [f"s3://bench/{key}" for key, _ in passes * self.objects("packed")]
        return store.run(self.build / "bench_remote_blocks", in_flight, block, seconds, *urls)

    def samples(self, store, data, order, read_ahead_mib=256, direct=0, cores=None):
        """All samples of a packed data set, read as the loader reads them, and not decoded."""
        return store.run(self.build / "bench_storage", "packed", data, order, IN_FLIGHT, 600, 0, "auto", direct, read_ahead_mib,
                         stdin="go\n", cores=cores)

    def batches(self, store, data="s3://bench/packed/", **options):
        options = {"batch": BATCH, "tune": "off", "epochs": EPOCHS, "repeated": REPEATED, **options}
        return store.run("/usr/bin/python3", HERE / "batches.py", data, "imagenet-train", json.dumps(options))

    def say(self, text):
        print(text, file=sys.stderr, flush=True)


def make_data(bench):
    """The images several times over, packed and as loose files; small objects, loose and packed."""
    bench.say(f"making the data in {bench.folder}")
    loose = bench.folder / "images"
    sources = sorted(path for path in pathlib.Path(bench.images).rglob("*") if path.suffix.lower() in (".jpg", ".jpeg"))
    for copy in range(COPIES):
        (loose / f"{copy:03}").mkdir(parents=True)
        for number, source in enumerate(sources):
            shutil.copy(source, loose / f"{copy:03}" / f"{number:06}.jpg")
    subprocess.run([bench.build / "stoker", "pack", loose, bench.bucket / "packed", "--shard-size", SHARD],
                   check=True, stdout=subprocess.DEVNULL)
    link_repeatedly(bench.bucket / "packed", bench.bucket / "long", "*.tar")
    bench.count = COPIES * len(sources)
    bench.sample_bytes = COPIES * sum(source.stat().st_size for source in sources) / bench.count
    subprocess.run([bench.build / "bench_storage_data", "shards", bench.folder, str(SMALL), str(SMALL_BYTES), str(SMALL_SHARDS)],
                   check=True, stdout=subprocess.DEVNULL)
    (bench.folder / "packed").rename(bench.bucket / "small")
    (bench.bucket / "loose").mkdir()
    for number in range(SMALL):
        (bench.bucket / "loose" / f"{number:07}.bin").write_bytes(os.urandom(SMALL_BYTES))


def link_repeatedly(shards, into, pattern):
    """LINKS files for each, which take no room; the names that there were, with their new ones."""
    into.mkdir()
    links = [(shard.name, f"{number:03}-{shard.name}") for number in range(LINKS) for shard in sorted(shards.glob(pattern))]
    for name, link in links:
        (into / link).hardlink_to(shards / name)
    return links


def make_mds(bench, store):
    """The same shards as often for mosaicml-streaming, which reads what its index says."""
    once = bench.folder / "mds"
    bench.peer(store, "make_mds", folder=str(bench.folder / "images"), out=str(once), size_limit=32 << 20)
    index = json.loads((once / "index.json").read_text())
    shards = {shard["raw_data"]["basename"]: shard for shard in index["shards"]}
    links = link_repeatedly(once, bench.bucket / "mds", "*.mds")
    index["shards"] = [{**shards[name], "raw_data": {**shards[name]["raw_data"], "basename": link}} for name, link in links]
    (bench.bucket / "mds" / "index.json").write_text(json.dumps(index))


def rounds(bench, contestants):
    """Answers by name, a list in the order of the rounds; a contestant that fails is absent, with the reason."""
    answers = {name: [] for name in contestants}
    for number in range(ROUNDS):
        names = list(contestants)
        for name in names[number % len(names):] + names[:number % len(names)]:
            if name in bench.absent:
                continue
            try:
                answers[name].append(contestants[name]())
            except (Failed, subprocess.TimeoutExpired) as reason:
                bench.absent[name] = str(reason)
                bench.say(f"{name} does not run: {reason}")
    return {name: found for name, found in answers.items() if len(found) == ROUNDS}


def ratio(ours, theirs, value):
    return statistics.median(value(a) / value(b) for a, b in zip(ours, theirs))


def rate(answer):
    return answer["bytes"] / answer["seconds"]


def cpu_per_gigabyte(answer):
    return 1e9 * answer["cpu_seconds"] / answer["bytes"]


def measure_sweep(bench):
    with Store(bench) as store:
        rates = [[rate(bench.blocks(store, in_flight, block, SWEEP_SECONDS, SWEEP_PASSES)) / MEGABYTE for block in SWEEP_BLOCKS]
                 for in_flight in SWEEP_IN_FLIGHT]
    heads = [f"{block >> 10} KB" for block in SWEEP_BLOCKS]
    table(f"MB/s by blocks, and by requests at a time; {1e3 * LATENCY_S:.0f} ms to the first byte, no limit on the link",
          ["", *heads], [[count, *(f"{value:.0f}" for value in row)] for count, row in zip(SWEEP_IN_FLIGHT, rates)])
    bench.rows["sweep"] = {"in_flight": SWEEP_IN_FLIGHT, "blocks": SWEEP_BLOCKS, "mb_per_s": rates}
    if bench.svg:
        heat_map.draw(SWEEP_IN_FLIGHT, heads, rates, bench.svg)


class Epochs:
    """What came of a loader's batches."""

    def __init__(self, bench, answer):
        times = [at for epoch in answer["times"] for at in epoch]
        # From where on the loader is as far ahead as it is at the end.
        steady = times[len(times) // 4:]
        self.rate = (len(steady) - 1) * BATCH * bench.sample_bytes / (steady[-1] - steady[0])
        self.first, self.opened = times[0], answer["opened"]
        gaps = [after - before for before, after in zip(times, times[1:])]
        ends = [sum(map(len, answer["times"][:epoch])) for epoch in range(1, len(answer["times"]))]
        self.gap_median = statistics.median(gaps)
        self.gap_at_ends = max((gap for end in ends for gap in gaps[end - 20:end + 20]), default=0)
        self.requests, self.cpu_seconds = answer["requests"], answer["cpu_seconds"]
        self.cpu_per_gigabyte = 1e9 * answer["cpu_seconds"] / (answer["samples"] * bench.sample_bytes)


def measure_link(bench):
    """The loader, which decodes, beside the plain reader on a link that both can fill; then before a GPU that takes nine
    tenths of what the link carries."""
    batch_bytes = BATCH * bench.sample_bytes
    step = batch_bytes / LINK / 0.9
    orders = ("global", "windowed")
    with Store(bench, "--link", LINK) as store:
        contestants = {"plain": lambda: bench.plain(store, PLAIN_IN_FLIGHT, 1 << 20, 3),
                       "local": lambda: bench.batches(store, str(bench.bucket / "packed"), order="global", epochs=1)}
        for order in orders:
            contestants[order] = lambda order=order: bench.batches(store, order=order)
            contestants[f"{order}, before a GPU"] = lambda order=order: bench.batches(store, order=order, step=step)
        contestants["local"]()  # from now on its first batch waits for no disk
        done = rounds(bench, contestants)
    plain, local = done["plain"], [Epochs(bench, answer) for answer in done["local"]]
    rows = [["plain reader", f"{statistics.median(map(rate, plain)) / MEGABYTE:.1f}", "", "", "", "",
             f"{statistics.median(answer['requests'] for answer in plain):.0f}",
             f"{statistics.median(map(cpu_per_gigabyte, plain)):.2f}"]]
    trips = 3 * LATENCY_S + batch_bytes / LINK
    bench.figures.append(Figure("link, plain reader", statistics.median(map(rate, plain)) / MEGABYTE, "MB/s"))
    for name in (name for name in done if name not in ("plain", "local")):
        epochs = [Epochs(bench, answer) for answer in done[name]]
        middle = {key: statistics.median(getattr(one, key) for one in epochs) for key in vars(epochs[0])}
        if name in orders:
            later = statistics.median(one.first - here.first for one, here in zip(epochs, local))
            bench.figures += [
                Figure(f"link, {name}", middle["rate"] / MEGABYTE, "MB/s", "plain",
                       statistics.median(one.rate / rate(other) for one, other in zip(epochs, plain)), 0.95),
                Figure(f"first batch, {name}", 1e3 * later, "ms", "3 trips", later / trips, ceiling=1)]
        else:
            bench.figures.append(Figure(f"epochs' ends, {name}", 1e3 * middle["gap_at_ends"], "ms", "median",
                                        middle["gap_at_ends"] / middle["gap_median"], ceiling=2))
        rows.append([name, f"{middle['rate'] / MEGABYTE:.1f}", f"{1e3 * middle['opened']:.0f}", f"{1e3 * middle['first']:.0f}",
                     f"{1e3 * middle['gap_median']:.0f}", f"{1e3 * middle['gap_at_ends']:.0f}", f"{middle['requests']:.0f}",
                     f"{middle['cpu_per_gigabyte']:.2f}"])
    here = statistics.median(one.first for one in local)
    table(f"A link of {LINK / MEGABYTE:.0f} MB/s; three round trips and a batch's bytes take {1e3 * trips:.0f} ms, the first "
          f"batch of local files {1e3 * here:.0f} ms; a GPU takes a batch each {1e3 * step:.0f} ms",
          ["", "MB/s", "opened, ms", "first batch, ms", "interval, ms", "longest at an epoch's end, ms", "requests",
           "CPU s per GB, with decoding"], rows)
    bench.rows["link"] = rows


def measure_cpu(bench):
    """Reading into memory, and nothing else."""
    rows = []
    for size, block, parallel, passes in READS:
        objects = passes * bench.objects("packed")
        ranges = {"objects": objects, "bucket": "bench", "block": block, "parallel": parallel}
        with Store(bench) as store:
            done = rounds(bench, {
                "stoker": lambda: bench.blocks(store, parallel, block, 600, passes),
                "plain reader": lambda: bench.plain(store, parallel, block, 1),
                "obstore": lambda: bench.peer(store, "obstore_ranges", **ranges),
                # It chooses its own reads.
                "s3torchconnector": lambda: bench.peer(store, "s3torch_objects", bucket="bench", objects=objects),
                "boto3": lambda: bench.peer(store, "boto3_ranges", **ranges),
            })
        ours = done["stoker"]
        for name, ceiling in (("obstore", 0.6), ("s3torchconnector", 0.6), ("boto3", 0.3), ("plain reader", None)):
            if name in done:
                bench.figures.append(Figure(f"CPU per GB, {size}", statistics.median(map(cpu_per_gigabyte, ours)), "s", name,
                                            ratio(ours, done[name], cpu_per_gigabyte), ceiling=ceiling))
        rows += [[size, name, f"{statistics.median(map(rate, answers)) / MEGABYTE:.0f}",
                  f"{statistics.median(map(cpu_per_gigabyte, answers)):.2f}",
                  f"{statistics.median(answer['requests'] for answer in answers):.0f}"] for name, answers in done.items()]
    table("Ranges into memory", ["reads of", "", "MB/s", "CPU s per GB", "requests"], rows)
    bench.rows["cpu"] = rows


def best_workers(bench, name, read):
    """The number of workers with which the peer is fastest; it is absent if it does not run."""
    found = {}
    for workers in WORKERS:
        try:
            answer = read(workers)
            found[workers] = answer["samples"] / answer["seconds"]
        except Failed as reason:
            bench.absent[name] = str(reason)
            bench.say(f"{name} does not run: {reason}")
            return WORKERS[0]
    return max(found, key=found.get)


def measure_samples(bench):
    """Samples in memory, encoded: the same JPEGs in tars for Stoker and webdataset, in MDS for streaming."""
    with Store(bench) as store:
        urls = [f"{store.url}/bench/{key}" for key, _ in bench.objects("long")]

        def webdataset(workers):
            return bench.peer(store, "webdataset_pipe", urls=urls, workers=workers)

        def streaming(workers):
            with tempfile.TemporaryDirectory(dir=bench.folder) as local:
                return bench.peer(store, "streaming_mds", remote="s3://bench/mds", local=local, workers=workers)

        best = {"webdataset": best_workers(bench, "webdataset", webdataset)}
        try:
            make_mds(bench, store)
            best["streaming"] = best_workers(bench, "streaming", streaming)
        except Failed as reason:
            bench.absent["streaming"] = str(reason)
        done = rounds(bench, {
            "stoker, global": lambda: bench.samples(store, "s3://bench/long/", "global"),
            "stoker, windowed": lambda: bench.samples(store, "s3://bench/long/", "windowed"),
            "stoker, in order": lambda: bench.samples(store, "s3://bench/long/", "none"),
            "webdataset": lambda: webdataset(best["webdataset"]),
            "streaming": lambda: streaming(best["streaming"]),
        })

    def samples_rate(answer):
        return answer["samples"] / answer["seconds"]

    for name in ("webdataset", "streaming"):
        for ours in ("stoker, global", "stoker, windowed", "stoker, in order"):
            if name in done and ours in done:
                bench.figures.append(Figure(f"samples, {ours.split(', ')[1]}", statistics.median(map(samples_rate, done[ours])),
                                            "/s", name, ratio(done[ours], done[name], samples_rate), 3))
    rows = [[name + (f", {best[name]} workers" if name in best else ""), f"{statistics.median(map(samples_rate, answers)):.0f}",
             f"{statistics.median(answer['requests'] for answer in answers):.0f}"] for name, answers in done.items()]
    table("Samples, not decoded, no limit on the link", ["", "samples/s", "requests"], rows)
    bench.rows["samples"] = rows


def measure_cache(bench):
    """The second epoch of a run with a cache on the disk, of samples that are read and not decoded, beside the same reads of the shards
    themselves; all past the page cache. Both have all cores, since the server has nothing to do by then: what the disk gives is
    asked here, not what a core carries."""
    cores = f"{bench.core},{bench.server_core}"
    recipe = bench.folder / "digests.toml"
    recipe.write_text(DIGESTS)

    def cached():
        with tempfile.TemporaryDirectory(dir=bench.folder) as cache:
            return store.run(bench.build / "stoker", "run", "s3://bench/long/", "--recipe", recipe, "--batch", BATCH, "--epochs", 2,
                             "--tune", "off", "--direct", "--cache", f"disk={cache}:16GiB", "--json", cores=cores)

    def disk():
        return bench.samples(store, bench.bucket / "long", "global", read_ahead_mib=64, direct=1, cores=cores)

    with Store(bench, "--link", LINK) as store:
        done = rounds(bench, {"files": disk, "cache": cached})
    files = [answer["samples"] / answer["seconds"] for answer in done["files"]]
    later = [answer["epoch_reports"][-1]["samples_per_s"] for answer in done["cache"]]
    fetched = statistics.median(2 * answer["cache"]["bytes_from_store"] / answer["bytes_read"] for answer in done["cache"])
    megabytes = bench.sample_bytes / MEGABYTE
    bench.figures += [Figure("second epoch, cached", statistics.median(later) * megabytes, "MB/s", "disk", ratio(later, files, float), 0.9),
                      Figure("both epochs, from the store", fetched, "times the data")]
    rows = [["files, past the page cache", f"{statistics.median(files) * megabytes:.0f}", ""],
            ["second epoch from the cache", f"{statistics.median(later) * megabytes:.0f}", f"{fetched:.3f}"]]
    table("The cache on a disk, against the disk", ["", "MB/s", "of the data, read from the store in both epochs"], rows)
    bench.rows["cache"] = rows


def measure_small(bench):
    """Small objects one by one beside the same in shards, and what that is for two million."""
    loose = bench.objects("loose", "*.bin")
    with Store(bench) as store:
        def loose_by(reader, count, parallel):
            return lambda: bench.peer(store, reader, bucket="bench", objects=loose[:count], block=SMALL_BYTES, parallel=parallel)

        ways = {
            "loose, boto3, one at a time": loose_by("boto3_ranges", 100, 1),
            "loose, boto3, 64 at a time": loose_by("boto3_ranges", 5000, 64),
            "loose, obstore, 128 at a time": loose_by("obstore_ranges", SMALL, 128),
            "packed, Stoker, global": lambda: bench.samples(store, "s3://bench/small/", "global", SMALL_READ_AHEAD_MIB),
            "packed, Stoker, windowed": lambda: bench.samples(store, "s3://bench/small/", "windowed"),
        }
        done = rounds(bench, ways)
    rows = []
    for name, answers in done.items():
        per_s = statistics.median(answer["samples"] / answer["seconds"] for answer in answers)
        minutes = SMALL_ALL / per_s / 60
        rows.append([name, f"{answers[0]['samples']}", f"{per_s:.0f}", f"{statistics.median(a['requests'] for a in answers):.0f}",
                     f"{minutes / 60:.1f} hours" if minutes > 100 else f"{minutes:.1f} minutes"])
    table(f"Samples of {SMALL_BYTES} bytes; the last column is extrapolated from what was read",
          ["", "samples read", "samples/s", "requests", f"for {SMALL_ALL:,}"], rows)
    bench.rows["small"] = rows


STAGES = {"sweep": measure_sweep, "link": measure_link, "cpu": measure_cpu, "samples": measure_samples,
          "cache": measure_cache, "small": measure_small}


def run(build, options):
    only = chosen(options, STAGES)
    parent = build / "bench-data"
    parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="remote-", dir=parent) as folder:
        bench = Bench(build, pathlib.Path(folder), options.data or synthetic_images(build), options.svg)
        make_data(bench)
        for stage in only:
            bench.say(f"measuring: {stage}")
            STAGES[stage](bench)
    report_with_rows(bench, options.json)
