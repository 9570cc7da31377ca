"""random_resized_crop is distributed as torchvision's, by the two-sample Kolmogorov-Smirnov test."""

import numpy as np
import pytest
import torch
import torchvision.transforms as transforms

import stoker
from sample_images import picture
from stoker import _testing

DRAWS = 100_000
SCALE, RATIO = (0.08, 1.0), (3 / 4, 4 / 3)
SIGNIFICANCE = 1e-4  # of a single comparison; seeds are fixed, so it either holds or not
SIZES = [(500, 375), (333, 500)]
TOO_LONG = [(480, 10), (10, 480), (1000, 1), (1, 1000)]  # no box of a permitted shape and area fits


def stoker_boxes(width, height):
    boxes = _testing.draw_boxes(stoker.recipe().decode().random_resized_crop(224), width, height, DRAWS, 1)
    left, top, right, bottom = boxes[:, :4].T
    return left, top, right - left, bottom - top


def torchvision_boxes(width, height):
    torch.manual_seed(2)
    image = picture(width, height)
    draw = transforms.RandomResizedCrop.get_params
    top, left, rows, columns = np.array([draw(image, SCALE, RATIO) for _ in range(DRAWS)]).T
    return left, top, columns, rows


def boxes_without_rejection(width, height):
    """As torchvision's, but a box that does not fit is cut to the image instead of drawn again."""
    rng = np.random.default_rng(3)
    area = width * height * rng.uniform(*SCALE, DRAWS)
    ratio = np.exp(rng.uniform(*np.log(RATIO), DRAWS))
    columns = np.clip(np.rint(np.sqrt(area * ratio)), 1, width).astype(int)
    rows = np.clip(np.rint(np.sqrt(area / ratio)), 1, height).astype(int)
    return rng.integers(0, width - columns + 1), rng.integers(0, height - rows + 1), columns, rows


def differing(one, other):
    """Which of area, aspect, x and y are distributed differently."""
    return {
        name
        for name, a, b in zip(("area", "aspect", "x", "y"), marginals(*one), marginals(*other))
        if ks_distance(a, b) > np.sqrt(-np.log(SIGNIFICANCE / 2) / 2) * np.sqrt(1 / len(a) + 1 / len(b))
    }


def marginals(left, top, columns, rows):
    return columns * rows, columns / rows, left, top


def ks_distance(a, b):
    """The largest distance between two empirical distribution functions."""
    a, b = np.sort(a), np.sort(b)
    everywhere = np.concatenate([a, b])
    below_a = np.searchsorted(a, everywhere, side="right") / len(a)
    below_b = np.searchsorted(b, everywhere, side="right") / len(b)
    return np.abs(below_a - below_b).max()


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_boxes_are_distributed_as_torchvisions(size):
    theirs = torchvision_boxes(*size)
    assert differing(stoker_boxes(*size), theirs) == set()
    assert {"area", "aspect"} <= differing(boxes_without_rejection(*size), theirs)


@pytest.mark.parametrize("size", TOO_LONG, ids=str)
def test_where_no_box_fits_the_middle_is_taken_as_by_torchvision(size):
    ours = {tuple(map(int, box)) for box in zip(*stoker_boxes(*size))}
    top, left, rows, columns = transforms.RandomResizedCrop.get_params(picture(*size), SCALE, RATIO)
    assert ours == {(left, top, columns, rows)}


def test_mirroring_is_as_frequent_as_asked_and_independent_of_the_box():
    recipe = stoker.recipe().decode().random_resized_crop(224).random_flip(p=0.3)
    boxes = _testing.draw_boxes(recipe, 500, 375, DRAWS, 1)
    mirrored = boxes[:, 4].astype(bool)
    assert abs(mirrored.mean() - 0.3) < 4 * np.sqrt(0.3 * 0.7 / DRAWS)
    columns = boxes[:, 2] - boxes[:, 0]
    assert ks_distance(columns[mirrored], columns[~mirrored]) < 0.02
