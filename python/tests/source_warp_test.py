"""Warps before the resize, against Pillow and torchvision doing one step after the other.

Stoker resizes what the output shows to the scale of the output, then warps that. So pixels differ, in proportion to the
finest detail; how little is asserted, and that what is wrong differs more.
"""

import json

import numpy as np
import pytest
import torch
import torchvision.transforms.functional as functional
from PIL import Image, ImageOps
from torchvision.transforms import InterpolationMode

import stoker
from sample_images import FAITHFUL, decoded, encoded, picture

GREY = (128, 128, 128)
SIZES = [(640, 480), (400, 600), (900, 420)]


def smooth(width, height):
    """Waves of 150 pixels and more."""
    y, x = np.mgrid[0:height, 0:width]
    waves = [np.sin(x / 31 + y / 47), np.cos(x / 23.9 - y / 37), np.sin(x / 29 - y / 53)]
    return Image.fromarray((128 + 100 * np.stack(waves, -1)).round().astype(np.uint8))


def photo_like(width, height):
    """Noise with the spectrum of photographs: the amplitude falls with the frequency."""
    rng = np.random.default_rng(1)
    frequency = np.hypot(np.fft.fftfreq(height)[:, None], np.fft.fftfreq(width))
    amplitude = 1 / np.maximum(frequency, 1 / max(width, height))
    channels = []
    for _ in range(3):
        noise = np.fft.ifft2(np.fft.fft2(rng.normal(size=(height, width))) * amplitude).real
        channels.append(128 + 50 * noise / noise.std())
    return Image.fromarray(np.stack(channels, -1).clip(0, 255).astype(np.uint8))


def psnr(a, b):
    return 10 * np.log10(255**2 / max(1e-9, np.mean((a.astype(float) - b.astype(float)) ** 2)))


def pixels(recipe, image):
    data = encoded(image, "PNG")
    result = recipe.layout("nhwc").apply(data)["image"]
    assert np.array_equal(result, recipe.layout("nhwc").apply(data, reference=True)["image"])
    return result


def inner(picture):
    """Without the rim of the warped image: Pillow cuts it off sharply before it resizes, Stoker blends it."""
    height, width = picture.shape[:2]
    return picture[height // 4 : height - height // 4, width // 4 : width - width // 4]


def turned_by_pillow(image, angle, box, size, resample=Image.Resampling.BILINEAR, center=None):
    turned = image.rotate(angle, Image.Resampling.BILINEAR, fillcolor=GREY, center=center)
    return np.asarray(turned.resize((size, size), resample, box=box))


# What is asserted, in dB, and what is wrong falls short of.
BOUNDS = [(smooth, 48, 42), (photo_like, 29.5, 28)]


@pytest.mark.parametrize("make, bound, short", BOUNDS)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("angle", [10, -37, 90, 155])
def test_rotate_before_a_crop_and_resize_is_close_to_pillow(make, bound, short, size, angle):
    image = make(*size)
    x, y, side = size[0] // 4, size[1] // 4, min(size) // 2
    box = (x, y, x + side, y + side)
    for target in (side // 3, side // 2, side * 3 // 4, side):
        recipe = stoker.recipe().decode(FAITHFUL).rotate(angle, "bilinear", 128).crop(x, y, side, side)
        got = inner(pixels(recipe.resize([target, target]), image))

        def against(angle, **change):
            return psnr(got, inner(turned_by_pillow(image, angle, box, target, **change)))

        assert against(angle) > bound
        assert against(-angle) < short
        assert against(angle + 1.5) < short
        assert against(angle, center=(size[0] / 2 + 16, size[1] / 2)) < short
        if make is photo_like and target < side:
            assert against(angle, resample=Image.Resampling.NEAREST) < short


AFFINES = [
    dict(angle=31.7, translate=[30, -20], scale=1.37, shear=[0, 0]),
    dict(angle=-12.1, translate=[-30, 20], scale=0.7, shear=[11.3, 0]),
    dict(angle=5.9, translate=[0, 0], scale=2.3, shear=[-21.3, 9.7]),
]


@pytest.mark.parametrize("make, bound, short", BOUNDS)
@pytest.mark.parametrize("affine", AFFINES)
def test_affine_before_a_resize_is_close_to_torchvision(make, bound, short, affine):
    image = make(640, 480)
    tensor = torch.from_numpy(np.array(image)).permute(2, 0, 1)

    def by_torchvision(target, **change):
        warped = functional.affine(
            tensor, **(affine | change), interpolation=InterpolationMode.BILINEAR, fill=list(GREY)
        )
        return functional.resize(warped, [target, target], antialias=True).permute(1, 2, 0).numpy()

    for target in (112, 224, 400):
        recipe = stoker.recipe().decode(FAITHFUL)
        recipe = recipe.affine(**affine, filter="bilinear", fill=128).resize([target, target])
        got = inner(pixels(recipe, image))
        assert psnr(got, inner(by_torchvision(target))) > bound
        assert psnr(got, inner(by_torchvision(target, angle=-affine["angle"]))) < short
        assert psnr(got, inner(by_torchvision(target, scale=1 / affine["scale"]))) < short
        assert psnr(got, inner(by_torchvision(target, shear=[25, -15]))) < short


def test_perspective_before_a_resize_is_close_to_torchvision():
    image = smooth(640, 480)
    corners = [[0, 0], [639, 0], [639, 479], [0, 479]]
    moved = [[60, 30], [600, 80], [560, 440], [20, 400]]
    tensor = torch.from_numpy(np.array(image)).permute(2, 0, 1)

    def by_torchvision(start, end):
        warped = functional.perspective(tensor, start, end, InterpolationMode.BILINEAR, list(GREY))
        return inner(functional.resize(warped, [150, 200], antialias=True).permute(1, 2, 0).numpy())

    flat = [float(number) for point in moved for number in point]
    got = inner(pixels(stoker.recipe().decode(FAITHFUL).perspective(flat, fill=128).resize([150, 200]), image))
    assert psnr(got, by_torchvision(corners, moved)) > 46
    assert psnr(got, by_torchvision(moved, corners)) < 30


def test_the_rim_is_blended_with_the_fill():
    # torchvision darkens rims, which shows where the fill is bright.
    image = Image.new("RGB", (300, 300), (255, 255, 255))
    got = pixels(stoker.recipe().decode(FAITHFUL).rotate(20, "bilinear", 255).resize([100, 100]), image)
    assert got.min() == 255


@pytest.mark.parametrize("mode", ["L", "RGBA", "LA", "CMYK"])
@pytest.mark.parametrize("size", [(1, 1), (1, 90), (200, 2), (33, 48)])
def test_any_image_may_be_warped_before_the_resize(mode, size):
    image = picture(*size, seed=3, mode=mode)
    for decode in ("planar", FAITHFUL):
        for filter in ("nearest", "bilinear", "bicubic"):
            recipe = stoker.recipe().decode(decode).random_rotation(90, filter, 77).random_resized_crop(24)
            data = encoded(image, "JPEG" if mode == "CMYK" else "PNG")
            assert np.array_equal(recipe.apply(data)["image"], recipe.apply(data, reference=True)["image"])


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("decode", ["planar", FAITHFUL])
def test_the_upright_image_is_warped(decode, orientation):
    exif = Image.Exif()
    exif[0x0112] = orientation
    data = encoded(smooth(640, 480), quality=100, subsampling=0, exif=exif)
    upright = ImageOps.exif_transpose(decoded(data))
    x, y, side = upright.width // 4, upright.height // 4, 200
    recipe = stoker.recipe().decode(decode, "apply").rotate(25, "bilinear", 128).crop(x, y, side, side)
    got = recipe.resize([90, 90]).layout("nhwc").apply(data)["image"]
    box = (x, y, x + side, y + side)
    assert psnr(got, turned_by_pillow(upright, 25, box, 90)) > 46
    assert psnr(got, turned_by_pillow(upright, -25, box, 90)) < 30


def test_planar_pixels_are_close_to_faithful_ones():
    data = encoded(photo_like(500, 375), quality=95)
    results = [
        stoker.recipe().decode(mode).rotate(25, "bilinear").resize([224, 224]).layout("nhwc").apply(data)["image"]
        for mode in ("planar", FAITHFUL)
    ]
    assert psnr(*results) > 40


def corners_of(box, size, degrees, output):
    """The smallest box around the corners, turned about the middle of the image and resized, cut off at the output's border."""
    (left, top, width, height), angle = box, np.deg2rad(degrees)
    x, y = (np.array(each) for each in zip(*((left + a * width, top + b * height) for a in (0, 1) for b in (0, 1))))
    x, y = x - size[0] / 2, y - size[1] / 2
    turned_x = (np.cos(angle) * x + np.sin(angle) * y + size[0] / 2) * output / size[0]
    turned_y = (np.cos(angle) * y - np.sin(angle) * x + size[1] / 2) * output / size[1]
    return np.clip([turned_x.min(), turned_y.min(), turned_x.max(), turned_y.max()], 0, output)


@pytest.mark.parametrize("reference", [False, True])
def test_boxes_are_cut_off_at_the_output_and_not_at_what_was_resized_for_it(reference):
    rng = np.random.default_rng(5)
    recipe = (stoker.recipe().decode("faithful").rotate(48.4).resize([33, 33])
              .view("boxes", field="json").like("image").decode_boxes("coco", min_size=0))
    seen = 0
    for _ in range(150):
        width, height = (int(side) for side in rng.integers(5, 100, 2))
        left, top, across, down = (float(number) for number in rng.random(4) * [width, height, width, height])
        box = (left, top, min(across, width - left), min(down, height - top))
        data = {"png": encoded(Image.new("RGB", (width, height)), "PNG"), "json": json.dumps([dict(id=1, category_id=1, bbox=box)]).encode()}
        found = recipe.apply(data, reference=reference)["boxes"]
        want = corners_of(box, (width, height), 48.4, 33)
        if len(found):
            seen += 1
            assert np.abs(found[0] - want).max() < 0.01, (width, height, box)
        else:
            assert min(want[2] - want[0], want[3] - want[1]) < 0.01
    assert seen > 100


def test_all_executors_fill_and_cut_alike(tmp_path):
    rng = np.random.default_rng(2)
    for number in range(24):
        width, height = (int(side) for side in rng.integers(5, 90, 2))
        left, top, across, down = (float(each) for each in rng.random(4) * [width, height, width, height])
        Image.fromarray(rng.integers(0, 256, (height, width, 3), dtype=np.uint8)).save(tmp_path / f"{number:03}.jpg")
        (tmp_path / f"{number:03}.json").write_text(json.dumps([dict(id=1, category_id=number, bbox=[left, top, across, down])]))
    data = stoker.open(tmp_path)
    samples = {sample["key"]: sample for sample in data}
    warped = stoker.recipe().decode().random_rotation(60, filter="bilinear", fill=[255, 0, 0])
    for image in warped.random_resized_crop(40), warped.resize([33, 33]).pad(2, fill=[1, 200, 30]):
        recipe = (image.layout("nchw").view("boxes", field="json").like("image").decode_boxes("coco", min_size=0)
                  .view("labels").like("boxes").box_labels())
        seen = {}
        for options in {}, *({"device": "emulated:execute", "transfer_index": index} for index in range(4)):
            with stoker.Loader(data, recipe, batch=8, seed=3, threads=2, **options) as loader:
                for batch in loader:
                    for slot, key in enumerate(batch.key):
                        made = (np.asarray(batch.image)[slot].tobytes(), batch.boxes.as_list()[slot].tobytes(), batch.labels.as_list()[slot].tobytes())
                        assert made == seen.setdefault(key, made), (options, key)
                        for reference in False, True:
                            alone = recipe.apply(samples[key], seed=3, position=int(batch.position[slot]), reference=reference)
                            assert made == tuple(alone[name].tobytes() for name in ("image", "boxes", "labels")), (reference, key)
        assert len(seen) == 24


def test_a_mask_shares_the_warp_and_keeps_its_labels():
    y, x = np.mgrid[0:200, 0:300]
    labels = np.where((x - 150) ** 2 + (y - 100) ** 2 < 60**2, 200, 50).astype(np.uint8)
    recipe = stoker.recipe().decode(FAITHFUL).random_rotation(30, "nearest", 255)
    mask = pixels(recipe.resize([64, 96], filter="nearest"), Image.fromarray(labels).convert("RGB"))
    assert set(np.unique(mask)) == {50, 200, 255}
