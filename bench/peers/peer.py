"""What the contestants in Python share: they are told over stdin what to do, and answer with one line of JSON each.

    run EPOCHS     works through all images so many times: samples, seconds, cpu_seconds
    pixels FILE    writes the first images, cut to their centre box, as float32 NCHW: samples
"""

import json
import math
import os
import pathlib
import random
import resource
import sys
import time

SIDE, BATCH = 224, 64
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
PIXEL_IMAGES = 128  # how many are compared
LEAD_IN = 4  # batches


def image_paths(folder):
    return sorted(str(p) for p in pathlib.Path(folder).rglob("*") if p.suffix.lower() in (".jpg", ".jpeg"))


def centre_box(width, height):
    """The box in which pixels are compared: every peer can be told it, and FFCV knows no other."""
    side = int(0.875 * min(width, height))
    return (width - side) // 2, (height - side) // 2, side, side


def random_box(width, height, scale=(0.08, 1), ratio=(3 / 4, 4 / 3)):
    """x, y, width, height, of RandomResizedCrop: for peers that have none."""
    for _ in range(10):
        area, aspect = width * height * random.uniform(*scale), math.exp(random.uniform(*map(math.log, ratio)))
        w, h = round(math.sqrt(area * aspect)), round(math.sqrt(area / aspect))
        if 0 < w <= width and 0 < h <= height:
            return random.randint(0, width - w), random.randint(0, height - h), w, h
    w, h = min(width, round(height * ratio[1])), min(height, round(width / ratio[0]))
    return (width - w) // 2, (height - h) // 2, w, h


def epochs_of(paths, epochs):
    """All paths, so many times, each time in another order."""
    for _ in range(epochs):
        yield from random.sample(paths, len(paths))


def scale_and_bias():
    """What turns 8-bit pixels into normalised ones, by channel, for arrays of C, H, W."""
    import numpy
    mean, std = (numpy.array(values, numpy.float32).reshape(3, 1, 1) for values in (MEAN, STD))
    return 1 / (255 * std), -mean / std


def cpu_seconds():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


class Clock:
    def __init__(self):
        self.began, self.cpu_began = time.perf_counter(), cpu_seconds()

    def answer(self, samples):
        return {"samples": samples, "seconds": time.perf_counter() - self.began,
                "cpu_seconds": cpu_seconds() - self.cpu_began}


def timed(run):
    """`run` is given the epochs and returns how many samples it made."""
    def answer(epochs):
        clock = Clock()
        return clock.answer(run(epochs))
    return answer


def timed_endless(next_batch, samples):
    """For pipelines that never end and fetch ahead: `next_batch` gives one batch of BATCH. The clock runs from one
    batch's arrival to another's, after so many that nothing is left of what was fetched before."""
    def answer(epochs):
        for _ in range(LEAD_IN):
            next_batch()
        batches = max(1, round(epochs * samples / BATCH))
        clock = Clock()
        for _ in range(batches):
            next_batch()
        return clock.answer(batches * BATCH)
    return answer


def serve(answer_run, pixels):
    """Answers until stdin ends. `pixels` returns the images in their centre boxes: an array N, C, H, W."""
    import numpy
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print is not an answer
    for line in sys.stdin:
        command, argument = line.split(maxsplit=1)
        if command == "run":
            answer = answer_run(int(argument))
        else:
            images = numpy.ascontiguousarray(pixels(), numpy.float32)
            images.tofile(argument.strip())
            answer = {"samples": len(images)}
        print(json.dumps(answer), file=answers, flush=True)
    os._exit(0)  # not every library's threads that fetch ahead would end


def serve_images(paths, transform):
    """serve() for a peer that works image by image: `transform` is told the file, what gives the box of a width and
    height, whether to flip, and where to put the planes."""
    import numpy

    def new_batch(count):
        return numpy.empty((count, 3, SIDE, SIDE), numpy.float32)

    batch = new_batch(BATCH)

    def run(epochs):
        samples = 0
        for path in epochs_of(paths, epochs):
            transform(path, random_box, random.random() < 0.5, batch[samples % BATCH])
            samples += 1
        return samples

    def pixels():
        images = new_batch(len(paths[:PIXEL_IMAGES]))
        for path, out in zip(paths, images):
            transform(path, centre_box, False, out)
        return images

    serve(timed(run), pixels)
