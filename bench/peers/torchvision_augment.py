"""torchvision v2 on uint8 tensors, in a DataLoader that works in the process itself. Usage: torchvision_augment.py FOLDER
RECIPE"""

import sys

import torch
from torch.utils.data import DataLoader, Dataset, default_collate
from torchvision.io import ImageReadMode, decode_image
from torchvision.transforms import InterpolationMode, v2

import augmentations
import peer

CLASSES, BINS = 1000, 31
PATHS, RECIPE = peer.image_paths(sys.argv[1]), augmentations.RECIPES[sys.argv[2]]
TO_FLOAT = v2.ToDtype(torch.float32, scale=True)
NORMALIZE = v2.Normalize(peer.MEAN, peer.STD)


def resized_crop(side, scale, filter):
    return v2.RandomResizedCrop(side, scale=scale, interpolation=InterpolationMode(filter), antialias=True)


def sometimes(p, transform):
    return [v2.RandomApply([transform], p)] if p else []


def supervised(recipe):
    policies = {"trivial": v2.TrivialAugmentWide,
                "rand": lambda: v2.RandAugment(2, round(recipe.magnitude * (BINS - 1)), BINS)}
    return v2.Compose([resized_crop(recipe.side, (0.08, 1), recipe.filter), v2.RandomHorizontalFlip(augmentations.FLIP),
                       policies[recipe.policy](), TO_FLOAT, NORMALIZE,
                       *([v2.RandomErasing(recipe.erase)] if recipe.erase else [])])


def of_view(view):
    return v2.Compose([resized_crop(view.side, view.scale, view.filter), v2.RandomHorizontalFlip(augmentations.FLIP),
                       v2.RandomApply([v2.ColorJitter(*view.jitter)], 0.8), v2.RandomGrayscale(view.gray),
                       *sometimes(view.blur, v2.GaussianBlur(view.kernel, augmentations.SIGMA)),
                       *([v2.RandomSolarize(128, view.solarize)] if view.solarize else []),
                       TO_FLOAT, *([NORMALIZE] if view.normalized else [])])


if isinstance(RECIPE, augmentations.Supervised):
    TRANSFORMS = [supervised(RECIPE)]
    MIX = v2.RandomChoice([v2.MixUp(alpha=RECIPE.mixup, num_classes=CLASSES),
                           v2.CutMix(alpha=RECIPE.cutmix, num_classes=CLASSES)])
else:
    TRANSFORMS, MIX = [of_view(view) for view in RECIPE], None


class Images(Dataset):
    def __init__(self, paths):
        self.paths = paths

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, i):
        image = decode_image(self.paths[i], mode=ImageReadMode.RGB)
        return *(transform(image) for transform in TRANSFORMS), i % CLASSES


def collate(samples):
    batch = default_collate(samples)
    return MIX(*batch) if MIX else batch


def loader(paths):
    return DataLoader(Images(paths), batch_size=peer.BATCH, shuffle=True, collate_fn=collate, drop_last=True)


def run(epochs):
    return sum(len(batch[0]) for batch in loader(PATHS * epochs))


def pixels():
    return torch.cat([batch[0] for batch in loader(PATHS)]).numpy()


torch.set_num_threads(1)
peer.serve(peer.timed(run), pixels)
