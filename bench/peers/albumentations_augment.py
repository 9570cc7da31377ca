"""albumentations on OpenCV's images, NumPy for what happens to batches. Usage: albumentations_augment.py FOLDER RECIPE"""

import sys

import albumentations as A
import cv2
import numpy

import augmentations
import peer

PATHS, RECIPE = peer.image_paths(sys.argv[1]), augmentations.RECIPES[sys.argv[2]]
FILTERS = {"bilinear": cv2.INTER_LINEAR, "bicubic": cv2.INTER_CUBIC}  # neither antialiases
CLASSES = 1000


def operators(part):
    """The operators of both policies, up to this part of their largest magnitude."""
    color, warp = (1 - 0.9 * part, 1 + 0.9 * part), {"fill": 0, "p": 1}
    levels = [A.ColorJitter(**{name: color if name == level else (1, 1) for name in ("brightness", "contrast", "saturation")},
                            hue=(0, 0), p=1) for level in ("brightness", "contrast", "saturation")]
    return [A.NoOp(p=1), *levels, A.Sharpen(alpha=(0, part), p=1), A.Posterize(num_bits=(2, 8), p=1),
            A.Solarize(threshold_range=(1 - part, 1), p=1), A.AutoContrast(p=1), A.Equalize(p=1),
            A.Affine(rotate=(-135 * part, 135 * part), **warp), A.Affine(shear={"x": (-45 * part, 45 * part)}, **warp),
            A.Affine(shear={"y": (-45 * part, 45 * part)}, **warp),
            A.Affine(translate_px={"x": (int(-32 * part), int(32 * part))}, **warp),
            A.Affine(translate_px={"y": (int(-32 * part), int(32 * part))}, **warp)]


POLICIES = {"trivial": lambda: [A.OneOf(operators(1), p=1)],
            "rand": lambda: [A.OneOf(operators(RECIPE.magnitude), p=1) for _ in range(2)]}
TRANSFORM = A.Compose([
    A.RandomResizedCrop(size=(RECIPE.side, RECIPE.side), scale=(0.08, 1), interpolation=FILTERS[RECIPE.filter]),
    A.HorizontalFlip(p=augmentations.FLIP), *POLICIES[RECIPE.policy](), A.Normalize(peer.MEAN, peer.STD),
    *([A.Erasing(p=RECIPE.erase)] if RECIPE.erase else [])])


def mixed(images, random):
    """mixup or cutmix, each with half of the chances."""
    others, side = numpy.roll(images, 1, axis=0), RECIPE.side
    if random.random() < 0.5:
        weight = numpy.float32(random.beta(RECIPE.mixup, RECIPE.mixup))
        return weight * images + (1 - weight) * others
    half = int(side * numpy.sqrt(1 - random.beta(RECIPE.cutmix, RECIPE.cutmix)) / 2)
    x, y = random.integers(side, size=2)
    box = (slice(None), slice(None), slice(max(0, y - half), y + half), slice(max(0, x - half), x + half))
    images[box] = others[box]
    return images


def batch_of(paths, random):
    images = numpy.empty((len(paths), 3, RECIPE.side, RECIPE.side), numpy.float32)
    for path, out in zip(paths, images):
        out[:] = TRANSFORM(image=cv2.imread(path, cv2.IMREAD_COLOR_RGB))["image"].transpose(2, 0, 1)
    return mixed(images, random)


def run(epochs):
    random, paths = numpy.random.default_rng(), list(peer.epochs_of(PATHS, epochs))
    batches = len(paths) // peer.BATCH
    return sum(len(batch_of(paths[peer.BATCH * i:peer.BATCH * (i + 1)], random)) for i in range(batches))


def pixels():
    random, batches = numpy.random.default_rng(1), range(len(PATHS) // peer.BATCH)
    return numpy.concatenate([batch_of(PATHS[peer.BATCH * i:peer.BATCH * (i + 1)], random) for i in batches])


cv2.setNumThreads(1)
peer.serve(peer.timed(run), pixels)
