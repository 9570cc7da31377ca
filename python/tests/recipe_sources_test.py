"""Recipes by name beside the transforms of the programs that they are named after: what is drawn for one photograph is
distributed alike. Each pipeline is written as its source writes it, for torchvision's and timm's transforms of PIL images."""

import io
import random

import numpy as np
import pytest
import torch
from PIL import Image
from torchvision import transforms as T

import stoker
from fit import P_MIN, p_of_kolmogorov_smirnov
from sample_images import encoded, picture
from timm_source import timm_file

DRAWS = 250
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
CIFAR_MEAN, CIFAR_STD = (0.4914, 0.4822, 0.4465), (0.2470, 0.2435, 0.2616)
BILINEAR, BICUBIC = T.InterpolationMode.BILINEAR, T.InterpolationMode.BICUBIC

IMAGENET = [T.ToTensor(), T.Normalize(MEAN, STD)]


def resized_crop(side, filter=BILINEAR, scale=(0.08, 1)):
    return [T.RandomResizedCrop(side, scale, interpolation=filter), T.RandomHorizontalFlip()]


def distorted(b, s, h):
    return [T.RandomApply([T.ColorJitter(b, b, s, h)], 0.8), T.RandomGrayscale(0.2)]


def blurred(p, kernel):
    return [T.RandomApply([T.GaussianBlur(kernel, (0.1, 2.0))], p)]


# references/classification/presets.py of torchvision, and the options that made the weights.
def torchvision_preset(side, policy=None, erase=0.0):
    return [*resized_crop(side), *([policy] if policy else []), *IMAGENET, *([T.RandomErasing(erase)] if erase else [])]


# train.py of timm makes this of --aa, by create_transform.
def timm_training(side, policy):
    crop = timm_file("transforms").RandomResizedCropAndInterpolation(side, interpolation="random")
    given = {"translate_const": int(side * 0.45), "img_mean": (124, 116, 104)}
    return [crop, T.RandomHorizontalFlip(), timm_file("auto_augment").rand_augment_transform(policy, given), *IMAGENET]


THREE_AUGMENT = [T.RandomChoice([T.Grayscale(3), T.RandomSolarize(128, 1), T.GaussianBlur(13, (0.1, 2.0))])]
MOCO = distorted(0.4, 0.2, 0.1)

SOURCES = {
    ("resnet50-v1", "image"): torchvision_preset(224),
    ("resnet50-v2", "image"): torchvision_preset(176, T.TrivialAugmentWide(), 0.1),
    ("efficientnet", "image"): torchvision_preset(300, T.TrivialAugmentWide(), 0.1),
    ("vit-b16", "image"): torchvision_preset(224, T.RandAugment(magnitude=9, interpolation=BILINEAR)),
    ("deit3", "image"): [*resized_crop(224, BICUBIC), *THREE_AUGMENT, T.ColorJitter(0.3, 0.3, 0.3), *IMAGENET],
    ("timm-a1", "image"): timm_training(224, "rand-m7-mstd0.5-inc1"),
    ("timm-a2", "image"): timm_training(224, "rand-m7-mstd0.5-inc1"),
    ("timm-a3", "image"): timm_training(160, "rand-m6-mstd0.5-inc1"),
    ("simclr", "view_1"): [*resized_crop(224), *distorted(0.8, 0.8, 0.2), *blurred(0.5, 23), T.ToTensor()],
    ("mocov3", "first"): [*resized_crop(224), *MOCO, *blurred(1, 13), *IMAGENET],
    ("mocov3", "second"): [*resized_crop(224), *MOCO, *blurred(0.1, 13), T.RandomSolarize(128, 0.2), *IMAGENET],
    ("dino", "global_0"): [*resized_crop(224, BICUBIC, (0.4, 1)), *MOCO, *blurred(1, 13), *IMAGENET],
    ("dino", "global_1"): [*resized_crop(224, BICUBIC, (0.4, 1)), *MOCO, *blurred(0.1, 13), T.RandomSolarize(128, 0.2),
                           *IMAGENET],
    ("dino", "local_5"): [*resized_crop(96, BICUBIC, (0.05, 0.4)), *MOCO, *blurred(0.5, 13), *IMAGENET],
    ("mae", "image"): [*resized_crop(224, BICUBIC, (0.2, 1)), *IMAGENET],
    ("cifar-randaugment", "image"): [T.RandomCrop(32, padding=4), T.RandomHorizontalFlip(), T.RandAugment(), T.ToTensor(),
                                     T.Normalize(CIFAR_MEAN, CIFAR_STD)],
}


def features_of(tensor):
    """What tells one distortion from another: level, contrast, colourfulness, sharpness, and how much about one value fills."""
    red, green, blue = tensor
    sharp = np.abs(np.diff(tensor, axis=2)).mean()
    spread = tensor.std()
    _, counts = np.unique(np.round(tensor[0], 1), return_counts=True)
    return (red.mean(), green.mean(), blue.mean(), spread, np.abs(red - blue).mean(), sharp / (spread + 1e-6),
            counts.max() / tensor[0].size)


def photograph(recipe):
    side = 32 if recipe.startswith("cifar") else 300
    return encoded(picture(side, side, seed=4), "PNG")


def drawn_by(recipe, view, data):
    return np.array([features_of(recipe.apply(data, label=1, seed=5, position=i)[view]) for i in range(DRAWS)])


def drawn_from(pipeline, data):
    for seed in (torch.manual_seed, random.seed, np.random.seed):  # timm draws from the latter two
        seed(7)
    transform, image = T.Compose(pipeline), Image.open(io.BytesIO(data)).convert("RGB")
    return np.array([features_of(transform(image).numpy()) for _ in range(DRAWS)])


@pytest.mark.parametrize("name, view", SOURCES, ids=["-".join(key) for key in SOURCES])
def test_a_recipe_draws_as_its_source(name, view):
    data = photograph(name)
    ours, theirs = drawn_by(stoker.recipe(name), view, data), drawn_from(SOURCES[name, view], data)
    ps = [p_of_kolmogorov_smirnov(a, b) for a, b in zip(ours.T, theirs.T)]
    assert min(ps) > P_MIN, f"the features are distributed alike with probabilities {ps}"


def test_another_recipe_is_told_apart():
    """That the comparison sees a distortion that is missing, or too strong."""
    data = photograph("mocov3")
    first = drawn_from(SOURCES["mocov3", "first"], data)
    for name, view in (("mocov3", "second"), ("simclr", "view_0"), ("mae", "image")):
        ours = drawn_by(stoker.recipe(name), view, data)
        assert min(p_of_kolmogorov_smirnov(a, b) for a, b in zip(ours.T, first.T)) < P_MIN


def test_recipes_carry_what_belongs_to_the_batch():
    v2 = stoker.recipe("resnet50-v2").to_toml()
    assert "batch_repeats = 4" in v2 and "mixup_alpha = 0.2" in v2 and "cutmix_alpha = 1" in v2
    assert "smoothing = 0.1" in stoker.recipe("timm-a1").to_toml()
    assert "batch_repeats" not in stoker.recipe("timm-a3").to_toml()
