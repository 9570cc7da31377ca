#!/usr/bin/env python3
"""When a loader's batches come: prints the seconds from the beginning to each batch, for each epoch, as JSON.

Usage: batches.py DATA RECIPE JSON, with keyword arguments of the loader, `epochs`, how often the data are
`repeated` in an epoch, and the seconds of a `step`, which each batch is followed by, as a GPU's."""

import json
import resource
import sys
import time

import stoker


def main(data, recipe, options):
    epochs, repeated, step = options.pop("epochs"), options.pop("repeated"), options.pop("step", 0)
    began, cpu = time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF)
    times, samples = [], 0
    opened = stoker.open([data] * repeated)
    made = time.perf_counter() - began
    with stoker.Loader(opened, stoker.recipe(recipe), **options) as loader:
        for epoch in range(epochs):
            times.append([])
            for batch in loader.epoch(epoch):
                times[-1].append(time.perf_counter() - began)
                samples += len(batch.image)
                time.sleep(step)
    after = resource.getrusage(resource.RUSAGE_SELF)
    print(json.dumps({"opened": made, "times": times, "samples": samples,
                      "cpu_seconds": after.ru_utime + after.ru_stime - cpu.ru_utime - cpu.ru_stime}))


main(sys.argv[1], sys.argv[2], json.loads(sys.argv[3]))
