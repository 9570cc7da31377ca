"""DALI on the CPU alone: its file reader, decoder of random crops, antialiased resize and crop_mirror_normalize."""

import sys

import numpy
from nvidia.dali import fn, pipeline_def, types

import peer

PATHS = peer.image_paths(sys.argv[1])
MEAN, STD = ([255 * value for value in values] for values in (peer.MEAN, peer.STD))
ONE_THREAD = {"batch_size": peer.BATCH, "num_threads": 1, "device_id": None}


def finish(images, **mirror):
    images = fn.resize(images, size=[peer.SIDE, peer.SIDE], interp_type=types.INTERP_LINEAR, antialias=True)
    return fn.crop_mirror_normalize(images, dtype=types.FLOAT, output_layout="CHW", mean=MEAN, std=STD, **mirror)


@pipeline_def(**ONE_THREAD, seed=1)
def training():
    encoded, _ = fn.readers.file(files=PATHS, random_shuffle=True)
    images = fn.decoders.image_random_crop(encoded, random_area=[0.08, 1], random_aspect_ratio=[3 / 4, 4 / 3])
    return finish(images, mirror=fn.random.coin_flip())


@pipeline_def(**ONE_THREAD)
def centre_boxes():
    encoded, _ = fn.readers.file(files=PATHS[:peer.PIXEL_IMAGES])
    shape = fn.cast(fn.peek_image_shape(encoded)[:2], dtype=types.INT32)
    side = fn.cast(0.875 * fn.reductions.min(shape), dtype=types.INT32)  # casts round
    side = side - fn.cast(side > 0.875 * fn.reductions.min(shape), dtype=types.INT32)
    return finish(fn.decoders.image_slice(encoded, start=(shape - side) // 2, shape=fn.stack(side, side), axes=[0, 1]))


def pixels():
    pipeline, count = centre_boxes(), len(PATHS[:peer.PIXEL_IMAGES])
    pipeline.build()
    batches = [pipeline.run()[0].as_array() for _ in range(-(-count // peer.BATCH))]
    return numpy.concatenate(batches)[:count]


PIPELINE = training()
PIPELINE.build()
peer.serve(peer.timed_endless(PIPELINE.run, len(PATHS)), pixels)
