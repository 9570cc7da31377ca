"""Runs an example's main() several times, and writes down which samples its first loader gave in each run:

    python watch_example.py SCRIPT SEEN KILL_BEFORE RUNS

SEEN is the file, RUNS a list in JSON of the words of each run. The process is killed when a run is about to get batch number
KILL_BEFORE; 0: never.
"""

import importlib
import json
import os
import pathlib
import signal
import sys

import stoker

script, out, kill_before, runs = sys.argv[1:]
seen = []  # of each run, of each batch: epoch, and position in its order


def write():
    with open(out, "w") as file:
        json.dump(seen, file)


class Batches:
    """Of an epoch."""

    def __init__(self, batches):
        self.batches = batches

    def __iter__(self):
        return self

    def __len__(self):
        return len(self.batches)

    def __next__(self):
        batch = next(self.batches)
        if len(seen[-1]) + 1 == int(kill_before):
            write()
            os.kill(os.getpid(), signal.SIGKILL)
        seen[-1].append([(batch.epoch, position) for position in batch.position.tolist()])
        return batch


class Watched:
    def __init__(self, loader):
        self.loader = loader

    def __getattr__(self, name):
        return getattr(self.loader, name)

    def __len__(self):
        return len(self.loader)

    def __iter__(self):
        return Batches(iter(self.loader))

    def epoch(self, number):
        return Batches(self.loader.epoch(number))


def watch_first(make):
    loaders = []

    def made(*arguments, **named):
        loaders.append(make(*arguments, **named))
        return Watched(loaders[0]) if len(loaders) == 1 else loaders[-1]

    return made


script = pathlib.Path(script)
sys.path.insert(0, str(script.parent))
main = importlib.import_module(script.stem).main
make = stoker.Loader
for words in json.loads(runs):
    seen.append([])
    stoker.Loader = watch_first(make)
    main(words)
write()
