"""Stoker's recipes by name, one worker, packed. Usage: stoker_augment.py PACK RECIPE"""

import sys

import numpy

import peer
import stoker

DATA, RECIPE = sys.argv[1:]
# No peer repeats samples within a batch.
LOADER = stoker.Loader(DATA, RECIPE, batch=peer.BATCH, seed=1, threads=1, prefetch=peer.LEAD_IN - 2, tune="off", tail="drop",
                       batch_repeats=1)
SAMPLES = len(LOADER) * peer.BATCH


def endless():
    while True:
        yield from LOADER


def first_output(batch):
    return numpy.array(getattr(batch, batch.outputs[0]), numpy.float32)


def pixels():
    return numpy.concatenate([first_output(batch) for batch in LOADER.epoch(0)])


BATCHES = endless()
peer.serve(peer.timed_endless(lambda: next(BATCHES), SAMPLES), pixels)
