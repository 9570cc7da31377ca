"""Resizing, cropping and flipping are PIL's and torchvision's, bit for bit, on every instruction set."""

import numpy as np
import pytest
import torchvision.transforms as transforms
from PIL import Image

import stoker
from sample_images import FAITHFUL, decoded, encoded, picture, rgb
from stoker import _testing

FILTERS = {
    "nearest": transforms.InterpolationMode.NEAREST,
    "box": transforms.InterpolationMode.BOX,
    "bilinear": transforms.InterpolationMode.BILINEAR,
    "bicubic": transforms.InterpolationMode.BICUBIC,
}
PIL_FILTERS = {name: getattr(Image, name.upper()) for name in FILTERS}
TRANSPOSES = {"horizontal": Image.FLIP_LEFT_RIGHT, "vertical": Image.FLIP_TOP_BOTTOM}
SIZES = [(1, 1), (1, 40), (37, 1), (16, 16), (31, 17), (65, 129), (120, 90), (400, 7), (3, 302)]
every_filter = pytest.mark.parametrize("filter", FILTERS)


@pytest.fixture(params=[*_testing.available_isas(), "reference"])
def run(request):
    """Runs a recipe that ends in pixels, height first."""
    reference = request.param == "reference"
    if not reference:
        _testing.select_isa(request.param)
    yield lambda recipe, data, **where: recipe.layout("nhwc").apply(data, reference=reference, **where)["image"]
    _testing.select_isa("")


@every_filter
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_resize_to_height_and_width_equals_pil(run, filter, size):
    data = encoded(picture(*size), "PNG")
    for height, width in [(1, 1), (24, 24), (15, 33), (64, 63), (size[1], 20), (20, size[0]), (200, 3)]:
        expected = decoded(data).resize((width, height), PIL_FILTERS[filter])
        np.testing.assert_array_equal(run(stoker.recipe().decode(FAITHFUL).resize((height, width), filter), data), expected)


def test_random_resizes_equal_pil(run, rounds):
    random = np.random.default_rng(5)
    for number in range(rounds(60)):
        width, height, to_width, to_height = random.integers(1, 150, 4).tolist()
        if number % 10 == 0:
            height = width % 5 * 100 + 102  # so tall that the order of passes may be another
            width = width % 5 + 1
        filter = random.choice(list(FILTERS))
        data = encoded(picture(width, height), "PNG")
        expected = decoded(data).resize((to_width, to_height), PIL_FILTERS[filter])
        got = run(stoker.recipe().decode(FAITHFUL).resize((to_height, to_width), filter), data)
        np.testing.assert_array_equal(got, expected, f"{filter} of {width} x {height} to {to_width} x {to_height}")


def by_passes(image, size, filter, order):
    """In two calls, of which each has one pass."""
    first, second = {"horizontal": (size[0], image.height), "vertical": (image.width, size[1])}[order], size
    return np.asarray(image.resize(first, filter).resize(second, filter))


# Of shapes on both sides of where versions begin to differ: docs/pixels.md, "Faithful".
@pytest.mark.parametrize("mode, tall_first, squat_first, very_tall_first", [
    ("faithful", "horizontal", "horizontal", "horizontal"),
    ("faithful:12.2", "horizontal", "horizontal", "vertical"),
    ("faithful:13", "vertical", "horizontal", "vertical"),
])
def test_the_order_of_passes_is_that_of_the_version_asked_for(run, mode, tall_first, squat_first, very_tall_first):
    shapes = [((61, 99), (50, 70), tall_first), ((61, 92), (50, 70), squat_first), ((3, 301), (7, 40), very_tall_first)]
    for size, target, order in shapes:
        data = encoded(picture(*size), "PNG")
        got = run(stoker.recipe().decode(mode).resize(target[::-1], "bicubic"), data)
        other = {"horizontal": "vertical", "vertical": "horizontal"}[order]
        np.testing.assert_array_equal(got, by_passes(decoded(data), target, Image.BICUBIC, order))
        assert (got != by_passes(decoded(data), target, Image.BICUBIC, other)).any()


@every_filter
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_resize_of_the_short_side_equals_torchvision(run, filter, size):
    data = encoded(picture(*size), "PNG")
    for side in (1, 13, 32):
        expected = transforms.Resize(side, FILTERS[filter])(decoded(data))
        np.testing.assert_array_equal(run(stoker.recipe().decode(FAITHFUL).resize(side, filter), data), expected)


@pytest.mark.parametrize("subsampling", ["4:4:4", "4:2:2", "4:2:0"])
def test_decode_and_resize_of_a_jpeg_equals_pil(run, subsampling):
    data = encoded(picture(233, 171), subsampling=subsampling)
    expected = decoded(data).resize((64, 48), Image.BILINEAR)
    np.testing.assert_array_equal(run(stoker.recipe().decode(FAITHFUL).resize([48, 64]), data), expected)


@pytest.mark.parametrize("subsampling", ["4:4:4", "4:2:2", "4:2:0"])
def test_crops_of_a_jpeg_equal_pil_at_every_offset(run, subsampling):
    data = encoded(picture(61, 53), subsampling=subsampling)
    whole = rgb(data)
    for x in range(0, 36, 5):
        for y in range(0, 36, 7):
            cropped = run(stoker.recipe().decode(FAITHFUL).crop(x=x, y=y, width=20, height=17), data)
            np.testing.assert_array_equal(cropped, whole[y : y + 17, x : x + 20])


@every_filter
def test_crop_then_resize_equals_pil(run, filter):
    data = encoded(picture(90, 70))
    expected = decoded(data).crop((11, 5, 11 + 41, 5 + 37)).resize((32, 24), PIL_FILTERS[filter])
    recipe = stoker.recipe().decode(FAITHFUL).crop(11, 5, 41, 37).resize((24, 32), filter)
    np.testing.assert_array_equal(run(recipe, data), expected)


@pytest.mark.parametrize("size", [(64, 48), (20, 90), (33, 33), (8, 5)], ids=str)
def test_center_crop_equals_torchvision_also_where_it_pads(run, size):
    data = encoded(picture(*size), "PNG")
    for side in (1, 15, 32, 33, 47):
        expected = transforms.CenterCrop(side)(decoded(data))
        np.testing.assert_array_equal(run(stoker.recipe().decode(FAITHFUL).center_crop(side), data), expected)


def test_flips_mirror(run):
    data = encoded(picture(33, 21), "PNG")
    whole = rgb(data)
    np.testing.assert_array_equal(run(stoker.recipe().decode(FAITHFUL).flip(), data), whole[:, ::-1])
    np.testing.assert_array_equal(run(stoker.recipe().decode(FAITHFUL).flip("vertical"), data), whole[::-1])
    np.testing.assert_array_equal(run(stoker.recipe().decode(FAITHFUL).flip().flip("vertical"), data), whole[::-1, ::-1])


# Pillow's nearest and box break ties towards the right, so that mirroring before is not mirroring after.
@pytest.mark.parametrize("axis", ["horizontal", "vertical"])
@pytest.mark.parametrize(
    "filter, size, side",
    [("nearest", 8, 4), ("nearest", 8, 2), ("nearest", 8, 5), ("box", 64, 33), ("box", 5, 2), ("box", 17, 16)],
)
def test_flip_before_a_resize_equals_pil(run, axis, filter, size, side):
    data = encoded(picture(size, size), "PNG")
    expected = decoded(data).transpose(TRANSPOSES[axis]).resize((side, side), PIL_FILTERS[filter])
    np.testing.assert_array_equal(run(stoker.recipe().decode(FAITHFUL).flip(axis).resize([side, side], filter), data), expected)


def flip_step(random, recipe, image):
    axis = str(random.choice(list(TRANSPOSES)))
    return recipe.flip(axis), image.transpose(TRANSPOSES[axis])


def crop_step(random, recipe, image):
    width, height = (int(random.integers(1, side + 1)) for side in image.size)
    x, y = int(random.integers(image.width - width + 1)), int(random.integers(image.height - height + 1))
    return recipe.crop(x, y, width, height), image.crop((x, y, x + width, y + height))


def resize_step(random, recipe, image):
    filter = str(random.choice(list(FILTERS)))
    # Halves and thirds too: where a filter's edge falls on a pixel's.
    sides = [int(random.choice([random.integers(1, 100), max(1, side // 2), max(1, side // 3)])) for side in image.size]
    return recipe.resize(sides[::-1], filter), image.resize(sides, PIL_FILTERS[filter])


def test_a_chain_of_flips_crops_and_one_resize_equals_pil_step_by_step(run, rounds):
    random = np.random.default_rng(7)
    for _ in range(rounds(150)):
        steps = [*random.choice([flip_step, crop_step], random.integers(1, 6)), resize_step]
        random.shuffle(steps)
        data = encoded(picture(*random.integers(1, 100, 2).tolist()), "PNG")
        recipe, image = stoker.recipe().decode(FAITHFUL), decoded(data)
        for step in steps:
            recipe, image = step(random, recipe, image)
        np.testing.assert_array_equal(run(recipe, data), np.asarray(image), repr(recipe))


def pad_step(random, recipe, image):
    left, top, right, bottom = random.integers(0, 9, 4).tolist()
    padded = Image.new("RGB", (left + image.width + right, top + image.height + bottom), (7, 8, 9))
    padded.paste(image, (left, top))
    return recipe.pad([left, top, right, bottom], fill=[7, 8, 9]), padded


def test_a_chain_of_crops_pads_and_flips_after_a_resize_or_none_equals_pil_step_by_step(run, rounds):
    random = np.random.default_rng(8)
    for _ in range(rounds(150)):
        data = encoded(picture(*random.integers(1, 40, 2).tolist()), "PNG")
        recipe, image = stoker.recipe().decode(FAITHFUL), decoded(data)
        if random.integers(2):
            recipe, image = resize_step(random, recipe, image)
        for step in random.choice([flip_step, crop_step, pad_step, pad_step], random.integers(2, 8)):
            recipe, image = step(random, recipe, image)
        np.testing.assert_array_equal(run(recipe, data), np.asarray(image), repr(recipe))


@every_filter
def test_a_resize_to_the_same_size_changes_nothing_also_between_flips(run, filter):
    data = encoded(picture(30, 21), "PNG")
    small = stoker.recipe().decode(FAITHFUL).resize([9, 13], filter)
    image = decoded(data).resize((13, 9), PIL_FILTERS[filter])
    mirrored = image.transpose(Image.FLIP_LEFT_RIGHT)
    np.testing.assert_array_equal(run(small.flip().resize([9, 13], filter), data), mirrored)
    np.testing.assert_array_equal(run(small.flip().resize([9, 13], "nearest").flip(), data), image)
    np.testing.assert_array_equal(run(small.crop(2, 3, 8, 5).resize([5, 8]), data), image.crop((2, 3, 10, 8)))
    expected = decoded(data).transpose(Image.FLIP_LEFT_RIGHT).resize((13, 9), PIL_FILTERS[filter])
    same = stoker.recipe().decode(FAITHFUL).resize([21, 30], filter)
    np.testing.assert_array_equal(run(same.flip().resize([9, 13], filter), data), expected)


def test_pad_equals_torchvision(run):
    data = encoded(picture(19, 12), "PNG")
    for padding in (3, [2, 5], [1, 2, 3, 4]):
        expected = transforms.Pad(padding, fill=(7, 8, 9))(decoded(data))
        np.testing.assert_array_equal(run(stoker.recipe().decode(FAITHFUL).pad(padding, fill=[7, 8, 9]), data), expected)


@every_filter
def test_random_resized_crop_equals_pil_on_the_drawn_box(run, filter):
    data = encoded(picture(123, 77))
    recipe = stoker.recipe().decode(FAITHFUL).random_resized_crop(32, filter=filter).random_flip()
    boxes = _testing.draw_boxes(recipe, 123, 77, 40, 5)
    assert {bool(box[4]) for box in boxes} == {False, True}
    for position, (left, top, right, bottom, mirrored, _) in enumerate(boxes.tolist()):
        expected = decoded(data).crop((left, top, right, bottom)).resize((32, 32), PIL_FILTERS[filter])
        expected = np.asarray(expected)[:, :: -1 if mirrored else 1]
        np.testing.assert_array_equal(run(recipe, data, seed=5, position=position), expected)
