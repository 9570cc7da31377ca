"""One loader, and one whose batches an actor of Ray makes, each on the same core in turn: images a second, and for each second of
that core. Prints a JSON line for each kind of output."""

import contextlib
import json
import os
import statistics
import sys
import time

import ray
import stoker
import stoker.ray

KINDS = {"f32": lambda recipe: recipe.normalize("imagenet"), "f16": lambda recipe: recipe.normalize("imagenet").cast("f16"),
         "u8": lambda recipe: recipe}
BATCH, ROUNDS, SECONDS = 128, 5, 6.0
STORE, TOUCHED = 1 << 30, 4  # Ray's memory, and how often it is written to before anything is measured: its first pages are slow


def pin(core):
    """All threads of this process, and those that they start."""
    for thread in os.listdir("/proc/self/task"):
        with contextlib.suppress(ProcessLookupError):  # which has ended meanwhile
            os.sched_setaffinity(int(thread), {core})


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def endless(loader):
    while True:
        yield from loader


def rate(loader, pid, first=4):
    """Images a second, and images for each second of the process's processors; after the first batches."""
    batches = endless(loader)
    for _ in range(first):
        next(batches)
    count, cpu, began = 0, cpu_seconds(pid), time.monotonic()
    while time.monotonic() - began < SECONDS:
        count += len(next(batches))
    return count / (time.monotonic() - began), count / (cpu_seconds(pid) - cpu)


def main():
    data, core, own = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    ray.init(num_cpus=2, include_dashboard=False, logging_level="error", log_to_driver=False, object_store_memory=STORE)
    for kind, finish in KINDS.items():
        recipe = finish(stoker.recipe().decode().random_resized_crop(224).random_flip())
        options = dict(batch=BATCH, seed=1, order="global", pin_threads=False)
        here, there = [], []
        for _ in range(ROUNDS):
            pin(core)
            with stoker.Loader(data, recipe, threads=1, tune="off", **options) as loader:
                here.append(rate(loader, os.getpid()))
            pin(own)
            with stoker.ray.Loader(data, recipe, actors=1, here=False, **options) as loader:
                bytes_each = next(iter(loader))._bytes
                (member,) = loader._members
                pid = ray.get(member.actor.__ray_call__.remote(lambda self: (pin(core), os.getpid())[1]))
                there.append(rate(loader, pid, first=TOUCHED * STORE // bytes_each))
        print(json.dumps({"kind": kind, "here": here, "there": there, "bytes": bytes_each / BATCH,
                          "rate": statistics.median(b[0] / a[0] for a, b in zip(here, there)),
                          "per_core": statistics.median(b[1] / a[1] for a, b in zip(here, there))}), flush=True)


main()
