"""What the doctor is tried on: what is held back, and what it has to find. None of the model's figures come from these cases:
cases() throttles while the doctor measures, and held_out() has configurations that it only hears of."""

import dataclasses
from typing import Callable

import throttles


@dataclasses.dataclass
class Case:
    name: str
    throttle: Callable               # of a bench, to a throttles.Throttle
    data: str                        # a data set of the bench
    expected: set                    # limits that are right
    step: float = 0.0005             # seconds; a GPU that nothing feeds
    recipe: str = "imagenet-train"
    batch: int = 64
    options: tuple = ()              # of `run` and `doctor` alike
    warm: bool = True                # the page cache has the data; else it has none at first, and the second epoch counts


CPU = {"cpu decode", "cpu transform"}
DECODE, TRANSFORM = {"cpu decode"}, {"cpu transform"}
BANDWIDTH, REQUESTS = {"storage bandwidth"}, {"storage requests"}
DIRECT = ("--direct",)
SMALL_BATCH = 16  # where memory is held back: three of the usual ones would not fit


def cases():
    found = []

    def add(name, throttle, data, expected, **more):
        found.append(Case(name, throttle, data, expected, **more))

    # Of the smallest images decoding is about half of the work.
    for data, expected in (("photos", DECODE), ("photos-loose", DECODE), ("small", CPU)):
        add(f"one core, {data}", lambda bench: throttles.Cores(1), data, expected)
        add(f"two cores, {data}", lambda bench: throttles.Cores(2), data, expected)
        for share in (0.3, 0.6, 1.2):
            add(f"{share} of the cores' time, {data}", lambda bench, share=share: throttles.quota(share), data, expected)
    for recipe, batch in (("imagenet-val", 64), ("resnet50-v2", 256)):  # which mixes blocks of as many
        add(f"one core, {recipe}", lambda bench: throttles.Cores(1), "photos", CPU, recipe=recipe, batch=batch)
        add(f"half a core, {recipe}", lambda bench: throttles.quota(0.5), "photos", CPU, recipe=recipe, batch=batch)
    for recipe in ("aug-heavy",):
        for cores in (1, 2):
            add(f"{cores} cores, raw pixels, {recipe}", lambda bench, cores=cores: throttles.Cores(cores), "raw", TRANSFORM, recipe=recipe)
        for share in (0.4, 0.8):
            add(f"{share} of the cores' time, raw pixels, {recipe}", lambda bench, share=share: throttles.quota(share), "raw", TRANSFORM,
                recipe=recipe)
    for megabytes in (4, 8, 15, 25):
        for data in ("photos", "small"):
            add(f"disk of {megabytes} MB/s, {data}",
                lambda bench, rate=megabytes, data=data: throttles.disk(bench.path(data), bytes_per_s=rate * 1_000_000), data, BANDWIDTH,
                options=DIRECT)
    for reads in (50, 100, 200, 400):
        add(f"disk of {reads} reads/s, photos", lambda bench, rate=reads: throttles.disk(bench.path("photos"), reads_per_s=rate), "photos",
            REQUESTS, options=DIRECT)
        add(f"disk of {reads} reads/s, memory for half of the loose photos",
            lambda bench, rate=reads: throttles.memory(bench.half_of("photos"), bench.path("photos-loose"), reads_per_s=rate),
            "photos-loose", REQUESTS, warm=False, batch=SMALL_BATCH)
    for megabytes in (4, 8, 15, 25):
        for latency in (0.0, 0.03):
            add(f"link of {megabytes} MB/s, first byte after {1000 * latency:.0f} ms",
                lambda bench, rate=megabytes, latency=latency: bench.store(latency, rate * 1_000_000), "s3:few", {"network"})
    for latency, depth in ((0.1, 2), (0.1, 8), (0.3, 8), (0.5, 16)):
        add(f"first byte after {1000 * latency:.0f} ms, {depth} requests at a time",
            lambda bench, latency=latency: bench.store(latency, None), "s3:few", {"storage requests", "network"},
            options=("--io-depth", str(depth)))
    for step in (0.5, 0.8, 1.2):
        for data in ("photos", "small"):
            add(f"a step of {step} s, {data}", lambda bench: throttles.Throttle(), data, {"step"}, step=step)
        add(f"a step of {step} s, raw pixels", lambda bench: throttles.Throttle(), "raw", {"step"}, step=step)
    for megabytes in (6, 12, 20):
        add(f"memory for half of the data, disk of {megabytes} MB/s",
            lambda bench, rate=megabytes: throttles.memory(bench.half_of("photos"), bench.path("photos"), rate * 1_000_000), "photos",
            BANDWIDTH | {"memory"}, warm=False, batch=SMALL_BATCH)
    for count in (1, 2):
        add(f"{count} busy neighbours", lambda bench, count=count: throttles.Neighbour(count), "photos", DECODE)
    return found


@dataclasses.dataclass
class HeldOut:
    """A configuration whose rate is foretold from facts that were measured in another one."""

    name: str
    what_if: str
    throttle: Callable
    data: str                        # that is run; the facts are of `of`
    of: str
    options: tuple = ()              # of the run
    recipe: str = "imagenet-train"


def held_out():
    found = []
    for data in ("photos", "small", "raw"):
        found.append(HeldOut(f"{data}: one core", "cores=1 threads=1", lambda bench: throttles.Cores(1), data, data))
        for share in (0.4, 0.7, 1.4):
            found.append(HeldOut(f"{data}: {share} cores", f"cores={share}", lambda bench, share=share: throttles.quota(share), data, data))
        found.append(HeldOut(f"{data}: one thread", "threads=1", lambda bench: throttles.Throttle(), data, data, ("--threads", "1")))
    found.append(HeldOut("loose, packed", "layout=packed", lambda bench: throttles.Throttle(), "photos", "photos-loose"))
    for megabytes in (5, 10, 20):
        for data in ("photos", "small"):
            found.append(HeldOut(f"{data}: disk of {megabytes} MB/s", f"disk=throttled-{megabytes}",
                                 lambda bench, rate=megabytes, data=data: throttles.disk(bench.path(data), bytes_per_s=rate * 1_000_000),
                                 data, data, DIRECT))
    for reads in (60, 150, 300):
        found.append(HeldOut(f"disk of {reads} reads/s", f"disk=reads-{reads}",
                             lambda bench, rate=reads: throttles.disk(bench.path("photos"), reads_per_s=rate), "photos", "photos", DIRECT))
    for step in (0.3, 0.6, 1.0):
        found.append(HeldOut(f"a step of {step} s", f"step={step}", lambda bench: throttles.Throttle(), "photos", "photos"))
    for depth in (1, 4):
        found.append(HeldOut(f"I/O depth {depth}", f"io-depth={depth}", lambda bench: bench.store(0.03, None), "s3:few", "s3:few",
                             ("--io-depth", str(depth))))
    return found


# The disks of held_out(), as a user's catalogue has them.
CATALOGUE = "".join(
    f'[disk.{name}]\ngb_per_s = {rate / 1e9}\nreads_per_s = {reads}\nlatency_ms = 0.2\n'
    for name, rate, reads in ([(f"throttled-{megabytes}", megabytes * 1_000_000, 100_000) for megabytes in (5, 10, 20)]
                              + [(f"reads-{reads}", 2_000_000_000, reads) for reads in (60, 150, 300)]))
