"""Blur, sharpness, noise, JPEG artefacts and erasing, beside torchvision, Pillow and numpy."""

import io

import numpy
import pytest
import stoker
from PIL import Image

SIZES = [(224, 224), (97, 71), (33, 130), (16, 16), (3, 50), (1, 1)]  # width, height


def photograph(width, height, seed=0):
    """Smooth colours with edges and some noise, height x width x 3."""
    rng = numpy.random.default_rng(seed)
    y, x = numpy.mgrid[0:height, 0:width]
    waves = [127 + 120 * numpy.sin(x / 9 + y / 17), 127 + 120 * numpy.cos(x / 5 - y / 30), (3 * x + 2 * y) % 256]
    return (numpy.stack(waves, axis=-1) + rng.normal(0, 6, (height, width, 3))).clip(0, 255).astype(numpy.uint8)


def png(pixels):
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "png")
    return buffer.getvalue()


def applied(recipe, pixels, **draw):
    """What the recipe makes of an image with these pixels."""
    return numpy.asarray(recipe.apply(png(pixels), **draw)["image"])


@pytest.mark.parametrize("quality", [1, 10, 50, 75, 90, 100])
@pytest.mark.parametrize("width, height", SIZES)
def test_jpeg_degrade_is_what_pillow_makes(width, height, quality):
    pixels = photograph(width, height, quality)
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "jpeg", quality=quality, subsampling="4:2:0")
    want = numpy.asarray(Image.open(buffer).convert("RGB"))
    got = applied(stoker.recipe().decode().jpeg_degrade(quality).layout("nhwc"), pixels)
    assert numpy.array_equal(got, want)


def gaussian(length, sigma):
    weights = numpy.exp(-0.5 * ((numpy.arange(length) - length // 2) / sigma) ** 2)
    return weights / weights.sum()


@pytest.mark.parametrize("kernel_size, sigma", [((3, 3), 0.5), ((23, 23), 2.0), ((9, 5), 1.3), ((127, 1), 30.0), ((5, 5), 0.05)])
@pytest.mark.parametrize("width, height", SIZES)
def test_gaussian_blur_is_a_convolution_with_reflected_borders(width, height, kernel_size, sigma):
    pixels = photograph(width, height)
    across, down = kernel_size
    # numpy's "reflect" mirrors as often as it takes; of one sample it can only make copies.
    padded = numpy.pad(pixels.astype(float), ((down // 2, down // 2), (across // 2, across // 2), (0, 0)), "reflect")
    rows = sum(weight * padded[:, i:i + width] for i, weight in enumerate(gaussian(across, sigma)))
    want = sum(weight * rows[i:i + height] for i, weight in enumerate(gaussian(down, sigma)))
    got = applied(stoker.recipe().decode().gaussian_blur(kernel_size, sigma).layout("nhwc"), pixels)
    assert numpy.abs(got - want).max() < 0.5 + 0.2
    assert (got != numpy.rint(want)).mean() < 0.04 or pixels.size < 500


@pytest.mark.parametrize("kernel_size, sigma", [((3, 3), 0.5), ((23, 23), 2.0), ((9, 5), 1.3)])
def test_gaussian_blur_is_torchvisions(kernel_size, sigma):
    torch = pytest.importorskip("torch")
    functional = pytest.importorskip("torchvision.transforms.functional")
    pixels = photograph(224, 160)
    planes = torch.from_numpy(pixels.transpose(2, 0, 1).copy())
    want = functional.gaussian_blur(planes, list(kernel_size), [sigma, sigma]).numpy().transpose(1, 2, 0)
    got = applied(stoker.recipe().decode().gaussian_blur(kernel_size, sigma).layout("nhwc"), pixels)
    difference = numpy.abs(got.astype(int) - want)
    assert difference.max() <= 1
    assert (difference > 0).mean() < 0.02


@pytest.mark.parametrize("kernel_size", [2, [3, 4]])
def test_gaussian_blur_needs_an_odd_kernel(kernel_size):
    with pytest.raises(stoker.Error, match="must be odd"):
        stoker.recipe().decode().gaussian_blur(kernel_size).apply(png(photograph(8, 8)))


@pytest.mark.parametrize("factor", [0, 0.37, 1, 1.9, 2])
@pytest.mark.parametrize("width, height", SIZES)
def test_sharpness_blends_with_a_smoothed_picture(width, height, factor):
    pixels = photograph(width, height)
    want = pixels.copy()
    if width > 2 and height > 2:
        values = pixels.astype(int)
        sums = sum(values[j:j + height - 2, i:i + width - 2] for j in range(3) for i in range(3)) + 4 * values[1:-1, 1:-1]
        smooth = numpy.rint(sums / 13)
        change = numpy.float32(1 - factor) * (smooth - values[1:-1, 1:-1]).astype(numpy.float32)
        blended = values[1:-1, 1:-1].astype(numpy.float32) + change
        want[1:-1, 1:-1] = blended.clip(0, 255).astype(numpy.uint8)  # cut off, as torchvision's cast
    got = applied(stoker.recipe().decode().sharpness(factor).layout("nhwc"), pixels)
    assert numpy.array_equal(got, want)


def test_noise_differs_by_position_epoch_and_seed_alone():
    recipe = stoker.recipe().decode().gaussian_noise()
    pixels = numpy.full((40, 40, 3), 128, numpy.uint8)
    first = applied(recipe, pixels, seed=1, epoch=0, position=0)
    assert numpy.array_equal(first, applied(recipe, pixels, seed=1, epoch=0, position=0))
    for other in ({"seed": 2}, {"epoch": 1}, {"position": 1}):
        assert not numpy.array_equal(first, applied(recipe, pixels, **{"seed": 1, "epoch": 0, "position": 0, **other}))
    assert abs(first.std() - 25.5) < 1.5


def boxes(values, background):
    """The rows and columns in which an array differs from its background."""
    changed = (values != background).any(axis=-1)
    return numpy.flatnonzero(changed.any(axis=1)), numpy.flatnonzero(changed.any(axis=0)), changed


def test_random_erasing_writes_exactly_the_value():
    pixels = photograph(64, 48)
    before = applied(stoker.recipe().decode().normalize("imagenet").layout("nhwc"), pixels)
    seen = set()
    for position in range(30):
        recipe = stoker.recipe().decode().normalize("imagenet").random_erasing(p=1, scale=(0.1, 0.2)).layout("nhwc")
        after = applied(recipe, pixels, position=position)
        rows, columns, changed = boxes(after, before)
        assert changed.sum() == len(rows) * len(columns)
        assert 0.09 < changed.mean() < 0.21
        assert (after[changed] == 0).all()
        seen.add((rows[0], columns[0], len(rows), len(columns)))
    assert len(seen) == 30


def test_random_erasing_by_pixel_writes_normal_deviates():
    recipe = stoker.recipe().decode().normalize("imagenet").random_erasing(p=1, scale=(0.3, 0.33), mode="pixel").layout("nhwc")
    pixels = numpy.full((224, 224, 3), 255, numpy.uint8)
    white = applied(stoker.recipe().decode().normalize("imagenet").layout("nhwc"), pixels)
    after = applied(recipe, pixels)
    values = after[(after != white).all(axis=-1)]
    assert values.shape[0] > 0.25 * 224 * 224
    assert abs(values.mean()) < 0.02 and abs(values.std() - 1) < 0.02
    with pytest.raises(stoker.Error, match="bytes cannot hold"):
        stoker.recipe().decode().random_erasing(mode="pixel").apply(png(pixels))


def test_erasing_comes_after_normalize():
    with pytest.raises(stoker.Error, match="must come before"):
        stoker.recipe().decode().random_erasing(p=1).normalize("imagenet").apply(png(photograph(8, 8)))


def test_cutout_and_grid_mask_erase_their_share():
    pixels = numpy.full((120, 120, 3), 200, numpy.uint8)
    cut = applied(stoker.recipe().decode().cutout(20, count=2, value=7).layout("nhwc"), pixels)
    assert set(numpy.unique(cut)) == {7, 200}
    assert 0 < (cut == 7).all(axis=-1).sum() <= 2 * 20 * 20
    masked = applied(stoker.recipe().decode().grid_mask(d=12, ratio=0.5).layout("nhwc"), pixels)
    assert (masked == 0).all(axis=-1).mean() == 0.25
    turned = applied(stoker.recipe().decode().grid_mask(d=12, ratio=0.5, rotate=360).layout("nhwc"), pixels)
    assert abs((turned == 0).all(axis=-1).mean() - 0.25) < 0.02
    assert not numpy.array_equal(turned, masked)
