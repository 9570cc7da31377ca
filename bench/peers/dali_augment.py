"""DALI on the CPU alone, with its own operators and policies. Usage: dali_augment.py FOLDER RECIPE"""

import sys

import numpy
from nvidia.dali import fn, pipeline_def, types
from nvidia.dali.auto_aug import rand_augment, trivial_augment

import augmentations
import peer

PATHS, RECIPE = peer.image_paths(sys.argv[1]), augmentations.RECIPES[sys.argv[2]]
MEAN, STD = ([255 * value for value in values] for values in (peer.MEAN, peer.STD))
FILTERS = {"bilinear": types.INTERP_LINEAR, "bicubic": types.INTERP_CUBIC}
BINS = 31
SHAPE = [RECIPE.side, RECIPE.side]
ONES = numpy.ones([1, *SHAPE], numpy.float32)


def augmented(images):
    if RECIPE.policy == "trivial":
        return trivial_augment.trivial_augment_wide(images, shape=SHAPE, fill_value=0, num_magnitude_bins=BINS)
    return rand_augment.rand_augment(images, n=2, m=round(RECIPE.magnitude * (BINS - 1)), shape=SHAPE, fill_value=0,
                                     num_magnitude_bins=BINS)


def erased(images):
    """Random erasing of 2 to 33% of the area; DALI has no aspect ratio of regions at hand."""
    side = fn.random.uniform(range=[0.14, 0.57], shape=2)
    return fn.erase(images, anchor=fn.random.uniform(range=[0, 1], shape=2) * (1 - side), shape=side, axis_names="HW",
                    normalized=True, fill_value=0)


def mixed(images):
    """mixup or cutmix, each with half of the chances; cutmix pastes a square of the partner, through a mask."""
    others = fn.permute_batch(images, indices=fn.batch_permutation())
    whole = types.Constant(ONES, layout="CHW")
    if fn.random.coin_flip():
        weight = whole * fn.random.beta(alpha=RECIPE.mixup, beta=RECIPE.mixup)
    else:
        side = (1 - fn.random.beta(alpha=RECIPE.cutmix, beta=RECIPE.cutmix)) ** 0.5
        weight = fn.erase(whole, axis_names="HW", normalized=True,
                          anchor=fn.random.uniform(range=[0, 1], shape=2) * (1 - side), shape=fn.stack(side, side))
    return images * weight + others * (1 - weight)


@pipeline_def(batch_size=peer.BATCH, num_threads=1, device_id=None, seed=1, enable_conditionals=True)
def training():
    encoded, _ = fn.readers.file(files=PATHS, random_shuffle=True)
    images = fn.decoders.image_random_crop(encoded, random_area=[0.08, 1], random_aspect_ratio=[3 / 4, 4 / 3])
    images = fn.resize(images, size=SHAPE, interp_type=FILTERS[RECIPE.filter], antialias=True)
    images = augmented(fn.flip(images, horizontal=fn.random.coin_flip(probability=augmentations.FLIP)))
    images = fn.crop_mirror_normalize(images, dtype=types.FLOAT, output_layout="CHW", mean=MEAN, std=STD)
    if RECIPE.erase:
        if fn.random.coin_flip(probability=RECIPE.erase):
            images = erased(images)
    return mixed(images)


PIPELINE = training()
PIPELINE.build()


def pixels():
    return numpy.concatenate([PIPELINE.run()[0].as_array() for _ in range(len(PATHS) // peer.BATCH)])


peer.serve(peer.timed_endless(PIPELINE.run, len(PATHS)), pixels)
