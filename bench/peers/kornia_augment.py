"""kornia on batches of float32, on the CPU: decoding and the resized crop are torchvision's, image by image, as kornia's
documentation has it. Usage: kornia_augment.py FOLDER RECIPE"""

import sys

import kornia.augmentation as K
import torch
from kornia.augmentation import auto
from torchvision.io import ImageReadMode, decode_image
from torchvision.transforms import InterpolationMode, v2

import augmentations
import peer

BINS = 31
PATHS, RECIPE = peer.image_paths(sys.argv[1]), augmentations.RECIPES[sys.argv[2]]
POLICIES = {"trivial": auto.TrivialAugment, "rand": lambda: auto.RandAugment(2, round(RECIPE.magnitude * (BINS - 1)))}
CROP = v2.RandomResizedCrop(RECIPE.side, interpolation=InterpolationMode(RECIPE.filter), antialias=True)
FLIP, POLICY = K.RandomHorizontalFlip(p=augmentations.FLIP), POLICIES[RECIPE.policy]()
NORMALIZE = K.Normalize(torch.tensor(peer.MEAN), torch.tensor(peer.STD))
ERASE = K.RandomErasing(p=RECIPE.erase)
MIXES = [K.RandomMixUpV2(p=1, data_keys=["input", "class"]),
         K.RandomCutMixV2(p=1, data_keys=["input", "class"], beta=torch.tensor(RECIPE.cutmix))]


def batch_of(paths, number):
    crops = torch.stack([CROP(decode_image(path, mode=ImageReadMode.RGB)) for path in paths])
    images = NORMALIZE(POLICY(FLIP(crops.float() / 255)))
    if RECIPE.erase:
        images = ERASE(images)
    return MIXES[number % 2](images, torch.zeros(len(paths), dtype=torch.int64))[0]


def run(epochs):
    paths = list(peer.epochs_of(PATHS, epochs))
    batches = len(paths) // peer.BATCH
    return sum(len(batch_of(paths[peer.BATCH * i:peer.BATCH * (i + 1)], i)) for i in range(batches))


def pixels():
    batches = range(len(PATHS) // peer.BATCH)
    return torch.cat([batch_of(PATHS[peer.BATCH * i:peer.BATCH * (i + 1)], i) for i in batches]).numpy()


torch.set_num_threads(1)
with torch.inference_mode():
    peer.serve(peer.timed(run), pixels)
