"""Colour operators on pictures against torchvision's, on tensors of bytes.

Stoker's are those of torchvision 0.25 (transforms.v2), bit for bit. Earlier versions such as that of Debian 12 round a
product before it is added where later ones fuse the two, convert bytes to fractions by a division, and stretch contrast
by a product. So values may differ by one from theirs.
"""

import numpy as np
import pytest
import torch
import torchvision
from PIL import Image

import stoker
from sample_images import encoded, picture

EXACT = tuple(int(number) for number in torchvision.__version__.split(".")[:2]) >= (0, 25)
if EXACT:
    import torchvision.transforms.v2.functional as functional
else:
    import torchvision.transforms.functional as functional

SIZES = [(224, 224), (97, 60), (1, 1), (1, 40), (300, 2)]
FACTORS = [0.0, 0.3, 0.5, 0.9, 1.0, 1.1, 1.7362, 3.0]  # with whole numbers torchvision 0.25 multiplies bytes, which overflow


def recipe():
    return stoker.recipe().decode("faithful")


def colored(image, recipe):
    data = encoded(Image.fromarray(np.array(image)), "PNG")
    pixels = recipe.layout("nchw").apply(data)["image"]
    reference = recipe.layout("nchw").apply(data, reference=True)["image"]
    assert np.array_equal(pixels, reference)
    return pixels


def tensor(image):
    return torch.from_numpy(np.array(image)).permute(2, 0, 1)


def grey(image):
    return functional.rgb_to_grayscale(tensor(image), 3).numpy()


def assert_equal(got, expected, off_by_one=0.0):
    """`off_by_one` is the share of values that may differ, by one, from those of earlier versions."""
    off_by_one = 0 if EXACT else off_by_one
    difference = np.abs(got.astype(int) - np.asarray(expected).astype(int))
    assert difference.max() <= (1 if off_by_one else 0)
    assert np.count_nonzero(difference) <= off_by_one * difference.size


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("factor", FACTORS)
def test_adjustments_are_torchvisions(size, factor):
    image = picture(*size, seed=1)
    assert_equal(colored(image, recipe().torchvision_brightness(factor)), functional.adjust_brightness(tensor(image), factor))
    assert_equal(colored(image, recipe().torchvision_contrast(factor)),
                 functional.adjust_contrast(tensor(image), factor), 1)
    assert_equal(colored(image, recipe().torchvision_saturation(factor)),
                 functional.adjust_saturation(tensor(image), factor), 1)


@pytest.mark.parametrize("factor", FACTORS)
def test_contrast_and_saturation_differ_at_few_values(factor):
    image = picture(224, 224, seed=1)
    for own, theirs in [(recipe().torchvision_contrast(factor), functional.adjust_contrast),
                        (recipe().torchvision_saturation(factor), functional.adjust_saturation)]:
        assert_equal(colored(image, own), theirs(tensor(image), factor), 0.01)


@pytest.mark.parametrize("size", SIZES)
def test_hue_is_torchvisions(size):
    image = picture(*size, seed=2)
    for shift in (-0.5, -0.31, -0.05, 0, 0.1, 0.25, 0.5):
        assert_equal(colored(image, recipe().torchvision_hue(shift)), functional.adjust_hue(tensor(image), shift), 1)


@pytest.mark.parametrize("size", SIZES)
def test_grayscale_is_torchvisions(size):
    image = picture(*size, seed=3)
    assert_equal(colored(image, recipe().torchvision_grayscale()), grey(image), 0.001)


@pytest.mark.parametrize("size", SIZES)
def test_tones_are_torchvisions(size):
    image = picture(*size, seed=4)
    assert_equal(colored(image, recipe().invert()), functional.invert(tensor(image)))
    assert_equal(colored(image, recipe().equalize()), functional.equalize(tensor(image)))
    assert_equal(colored(image, recipe().autocontrast()), functional.autocontrast(tensor(image)), 1)
    for bits in range(1, 8):
        assert_equal(colored(image, recipe().posterize(bits)), functional.posterize(tensor(image), bits))
    for threshold in (0, 1, 77, 128, 255):
        assert_equal(colored(image, recipe().solarize(threshold)), functional.solarize(tensor(image), threshold))
    for gamma in (0.4, 1, 1.3, 2.2):
        assert_equal(colored(image, recipe().gamma(gamma)), functional.adjust_gamma(tensor(image), gamma), 0.02)


@pytest.mark.parametrize("factor", FACTORS)
def test_adjustments_of_ones_own_are_close_to_torchvisions(factor):
    """They round to the nearest value, where torchvision cuts off."""
    image = picture(224, 224, seed=5)
    for own, theirs in [(recipe().brightness(factor), functional.adjust_brightness),
                        (recipe().contrast(factor), functional.adjust_contrast),
                        (recipe().saturation(factor), functional.adjust_saturation)]:
        difference = colored(image, own).astype(int) - theirs(tensor(image), factor).numpy().astype(int)
        assert np.abs(difference).max() <= 2


def test_a_run_of_adjustments_is_the_same_in_numpy():
    """Computed in float32 by numpy, clamped after each step, rounded at the end."""
    image = picture(90, 70, seed=6)
    one = np.float32(1)
    value = np.array(image).transpose(2, 0, 1).astype(np.float32)

    def grey_of(rgb):
        return (rgb[0] * np.float32(0.299) + rgb[1] * np.float32(0.587)) + rgb[2] * np.float32(0.114)

    def clamped(rgb):
        return np.clip(rgb, np.float32(0), np.float32(255))

    mean = np.array([plane.astype(np.float64).mean() for plane in value], np.float32)
    brightness, contrast, saturation = np.float32(1.3), np.float32(0.5), np.float32(1.75)
    value, mean = clamped(value * brightness), clamped(mean * brightness)
    added = grey_of(mean) * (one - contrast)
    value = clamped(value * contrast + added)
    value = clamped(value * saturation + grey_of(value) * (one - saturation))
    got = colored(image, recipe().brightness(1.3).contrast(0.5).saturation(1.75))
    assert np.array_equal(got, np.rint(value).astype(np.uint8))


def test_hue_turns_from_red_to_green_and_keeps_luma():
    image = picture(90, 70, seed=7)
    muted = np.array(image) // 4 + 96  # no colour leaves the cube
    got = colored(muted, recipe().hue(0.13)).astype(float)
    weights = np.array([0.299, 0.587, 0.114])
    luma = np.tensordot(weights, muted.transpose(2, 0, 1).astype(float), 1)
    assert np.abs(np.tensordot(weights, got, 1) - luma).max() < 1
    red = np.zeros((4, 4, 3), np.uint8)
    red[..., 0] = 200
    turned = colored(red, recipe().hue(1 / 3))[:, 0, 0].astype(int)
    assert turned[1] > turned[0] and turned[1] > turned[2]
    assert np.array_equal(colored(image, recipe().hue(0)), np.array(image).transpose(2, 0, 1))


def test_channels():
    image = picture(40, 30, seed=8)
    planes = np.array(image).transpose(2, 0, 1)
    permuted = colored(image, recipe().channel_permutation())
    assert sorted(plane.tobytes() for plane in permuted) == sorted(plane.tobytes() for plane in planes)
    got = colored(image, recipe().channel_affine([0.5, 1, -1], [10, 0, 255]))
    assert np.array_equal(got[1], planes[1]) and np.array_equal(got[2], 255 - planes[2])
    assert np.array_equal(got[0], np.rint(planes[0] * 0.5 + 10))
    dropped = colored(image, recipe().channel_dropout(2, 7, 1.0))
    assert sorted((dropped == 7).all(axis=(1, 2))) == [False, True, True]
