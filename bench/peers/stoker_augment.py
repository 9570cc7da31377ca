"""Stoker's recipes by name, one worker, packed. Usage: stoker_augment.py PACK RECIPE"""

import sys

import numpy

import peer
import stoker

DATA, RECIPE = sys.argv[1:]
LOADER = stoker.Loader(DATA, RECIPE, batch=peer.BATCH, seed=1, threads=1, prefetch=peer.LEAD_IN - 2, tune="off", tail="drop")
SAMPLES = len(LOADER) * peer.BATCH


def endless():
    while True:
        yield from LOADER


def pixels():
    return numpy.concatenate([numpy.asarray(batch[0], numpy.float32).copy() for batch in LOADER.epoch(0)])


BATCHES = endless()
peer.serve(peer.timed_endless(lambda: next(BATCHES), SAMPLES), pixels)
