"""Warps of pictures against torchvision's, on tensors of bytes.

torchvision computes places in float32 and sums up in float32; Stoker keeps places in 1/32768 of a pixel and sums up in
integers. So a value may be rounded the other way, and of places that lie just between two pixels, `nearest` may take the
other one.
"""

import numpy as np
import pytest
import torch
import torchvision.transforms.functional as functional
from PIL import Image
from torchvision.transforms import InterpolationMode

import stoker
from sample_images import encoded, picture

SIZES = [(224, 224), (97, 60), (33, 48), (300, 20), (2, 5)]
FILLS = [0, 255, [10, 200, 90]]
FILTERS = ["nearest", "bilinear"]
# The share of values that may differ: by `nearest` at all, by `bilinear` by one. In any picture a few may.
SHARE = {"nearest": 0.002, "bilinear": 0.03}
FEW = 3


def warped(image, recipe):
    pixels = recipe.layout("nchw").apply(encoded(image, "PNG"))["image"]
    reference = recipe.layout("nchw").apply(encoded(image, "PNG"), reference=True)["image"]
    assert np.array_equal(pixels, reference)
    return pixels


def recipe():
    return stoker.recipe().decode()


def tensor(image):
    return torch.from_numpy(np.array(image)).permute(2, 0, 1)


def mode(filter):
    return InterpolationMode.NEAREST if filter == "nearest" else InterpolationMode.BILINEAR


def fill_of(fill):
    return fill if isinstance(fill, list) else [fill] * 3


def assert_close(got, expected, filter):
    difference = np.abs(got.astype(int) - expected.numpy().astype(int))
    if filter == "bilinear":
        assert difference.max() <= 1
    assert np.count_nonzero(difference) <= FEW + SHARE[filter] * difference.size


@pytest.mark.parametrize("filter", FILTERS)
@pytest.mark.parametrize("size", SIZES)
def test_rotate_turns_as_torchvision_does(size, filter):
    image = picture(*size, seed=1)
    for angle, fill, center in [(17.3, 0, None), (-121.7, 255, None), (64.9, [10, 200, 90], [5, 12]), (359.1, 128, [30, -7])]:
        got = warped(image, recipe().rotate(angle, filter, fill, center or ()))
        expected = functional.rotate(tensor(image), angle, mode(filter), fill=fill_of(fill), center=center)
        assert_close(got, expected, filter)


@pytest.mark.parametrize("filter", FILTERS)
def test_quarter_turns_are_exact(filter):
    image = picture(40, 40, seed=2)
    for turns in range(-4, 5):
        got = warped(image, recipe().rotate(90 * turns, filter))
        assert np.array_equal(got, np.rot90(np.array(image), turns).transpose(2, 0, 1))


@pytest.mark.parametrize("filter", FILTERS)
@pytest.mark.parametrize("size", SIZES)
def test_affine_warps_as_torchvision_does(size, filter):
    image = picture(*size, seed=3)
    # No shift by half pixels: nearest neighbours of places just between two are a matter of float32's rounding.
    for angle, translate, scale, shear, center in [
        (0, [3, -2], 1, [0, 0], None),
        (31.7, [3, -2], 1.37, [0, 0], None),
        (-12.1, [-7, 5], 0.61, [11.3, 0], None),
        (5.9, [0, 0], 0.9, [-21.3, 9.7], [3.3, 8.1]),
        (201.3, [1, 1], 2.3, [0, 33.1], None),
    ]:
        for fill in FILLS:
            got = warped(image, recipe().affine(angle, translate, scale, shear, filter, fill, center or ()))
            expected = functional.affine(tensor(image), angle, translate, scale, shear, mode(filter), fill_of(fill), center)
            assert_close(got, expected, filter)


@pytest.mark.parametrize("filter", FILTERS)
@pytest.mark.parametrize("size", SIZES)
def test_shear_and_translate_are_those_of_torchvisions_policies(size, filter):
    image = picture(*size, seed=4)
    plain = dict(interpolation=mode(filter), fill=[0, 128, 255])
    for factor in (0.31379, -0.17123):  # of round numbers, many values lie just between two bytes
        degrees = float(np.degrees(np.arctan(factor)))
        got = warped(image, recipe().shear_x(factor, filter, [0, 128, 255]))
        assert_close(got, functional.affine(tensor(image), 0, [0, 0], 1, [degrees, 0], center=[0, 0], **plain), filter)
        got = warped(image, recipe().shear_y(factor, filter, [0, 128, 255]))
        assert_close(got, functional.affine(tensor(image), 0, [0, 0], 1, [0, degrees], center=[0, 0], **plain), filter)
    for pixels in (7, -31):
        got = warped(image, recipe().translate_x(pixels, filter=filter, fill=[0, 128, 255]))
        assert_close(got, functional.affine(tensor(image), 0, [pixels, 0], 1, [0, 0], **plain), filter)
        got = warped(image, recipe().translate_y(fraction=pixels / size[1] / 40, filter="bilinear", fill=[0, 128, 255]))
        way = pixels / 40
        assert_close(got, functional.affine(tensor(image), 0, [0, way], 1, [0, 0], **(plain | {"interpolation": mode("bilinear")})), "bilinear")


@pytest.mark.parametrize("filter", FILTERS)
@pytest.mark.parametrize("size", [size for size in SIZES if min(size) > 10])
def test_perspective_moves_points_as_torchvision_does(size, filter):
    image = picture(*size, seed=5)
    width, height = size
    right, bottom = width - 1, height - 1
    corners = [[0, 0], [right, 0], [right, bottom], [0, bottom]]
    inward = [[width // 5, height // 7], [right - width // 9, 2], [right - 3, bottom - height // 3], [width // 4, bottom]]
    outward = [[-9, 4], [width + 11, -6], [width, height + 3], [5, height]]
    for start, end in [(corners, inward), (corners, outward), (inward, outward)]:
        for fill in FILLS:
            got = warped(image, recipe().perspective(sum(end, []), sum(start, []) if start != corners else (), filter, fill))
            expected = functional.perspective(tensor(image), start, end, mode(filter), fill_of(fill))
            assert_close(got, expected, filter)


@pytest.mark.parametrize("size", SIZES)
def test_bicubic_is_pillows(size):
    """But for Pillow's cutting off where Stoker rounds, and a place that is an edge's, which is a matter of rounding."""
    image = picture(*size, seed=9)
    fill = (10, 200, 90)
    for factor in (0.31379, -0.57123):
        got = warped(image, recipe().shear_x(factor, "bicubic", list(fill))).astype(int)
        plain = image.transform(size, Image.AFFINE, (1, factor, 0, 0, 1, 0), Image.BICUBIC, fillcolor=fill)
        difference = got - np.array(plain).transpose(2, 0, 1)
        assert (difference >= 0).mean() > 0.999
        assert difference.max() <= 1
    for angle in (33.3, -171.9):
        got = warped(image, recipe().rotate(angle, "bicubic", list(fill))).astype(int)
        difference = got - np.array(image.rotate(angle, Image.BICUBIC, fillcolor=fill)).transpose(2, 0, 1)
        assert np.count_nonzero((difference < 0) | (difference > 1)) <= FEW + 0.002 * difference.size


def test_points_on_a_line_leave_the_picture_as_it_is():
    image = picture(30, 20, seed=6)
    got = warped(image, recipe().perspective([0, 0, 10, 10, 20, 20, 0, 19]))
    assert np.array_equal(got, np.array(image).transpose(2, 0, 1))


def test_neighbouring_warps_read_the_picture_once():
    image = picture(64, 64, seed=7)
    there_and_back = warped(image, recipe().rotate(30, "bilinear", 9).rotate(-30, "bilinear", 9))
    assert np.array_equal(there_and_back, np.array(image).transpose(2, 0, 1))
    shifted = warped(image, recipe().translate_x(20).rotate(90).translate_y(20))
    assert np.array_equal(shifted, np.rot90(np.array(image)).transpose(2, 0, 1))


def test_warps_that_fill_with_other_colours_are_separate():
    image = picture(64, 64, seed=8)
    got = warped(image, recipe().translate_x(20, fill=1).translate_x(-20, fill=2))
    expected = np.array(image).transpose(2, 0, 1).copy()
    expected[:, :, 44:] = 2
    assert np.array_equal(got, expected)


def displacements(image, alpha, sigma, count):
    """How far pixels were moved along x, from pictures that show their own columns."""
    for position in range(count):
        chain = recipe().elastic(alpha, sigma)
        yield chain.layout("nchw").apply(image, position=position)["image"][0].astype(float)


def test_elastic_moves_pixels_as_far_as_torchvision_does():
    side, alpha, sigma = 224, 400.0, 5.0
    columns = np.broadcast_to(np.arange(side, dtype=np.uint8), (side, side))
    image = encoded(stoker_image(columns), "PNG")
    inner = slice(40, side - 40)
    moves = [shown[inner, inner] - np.arange(side)[inner] for shown in displacements(image, alpha, sigma, 12)]
    ours = np.std(moves)

    torch.manual_seed(1)
    kernel = [int(8 * sigma + 1) | 1] * 2
    noise = [functional.gaussian_blur(torch.rand(1, side, side) * 2 - 1, kernel, [sigma] * 2) for _ in range(12)]
    theirs = float(torch.cat(noise).std()) * alpha / side * side / 2
    assert ours == pytest.approx(theirs, rel=0.08)

    # Neighbours move together as far as they do there: by the correlation of pixels sigma, and 3 sigma apart.
    moves, noise = np.stack(moves), torch.cat(noise).numpy()
    for apart, tolerance in [(5, 0.04), (10, 0.08), (15, 0.1)]:
        assert correlation(moves, apart) == pytest.approx(correlation(noise, apart), abs=tolerance)


def correlation(fields, apart):
    return np.corrcoef(fields[:, :, apart:].ravel(), fields[:, :, :-apart].ravel())[0, 1]


def stoker_image(columns):
    return Image.fromarray(np.stack([columns] * 3, -1), "RGB")


@pytest.mark.parametrize("call, message", [
    (lambda r: r.rotate([3, -3]), "degrees is \\[3, -3\\]"),
    (lambda r: r.random_rotation(-5), "must not be negative"),
    (lambda r: r.rotate(5, center=[1]), "0 or 2 numbers"),
    (lambda r: r.random_affine(0, shear=[5, -5, 0, 1]), "least of x"),
    (lambda r: r.affine(scale=0), "scale is 0"),
    (lambda r: r.perspective([0, 0, 1, 1]), "8 numbers"),
    (lambda r: r.elastic(sigma=0.2), "sigma is 0.2"),
    (lambda r: r.rotate(5, "lanczos"), "nearest, bilinear, bicubic"),
])
def test_bad_arguments_are_refused_with_a_sentence(call, message):
    with pytest.raises(stoker.Error, match=message):
        call(recipe()).apply(encoded(picture(9, 9), "PNG"))
