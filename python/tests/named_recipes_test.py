"""The recipes that ship with Stoker do what the programs they are named after do."""

import numpy as np
import pytest
import torchvision.transforms as transforms
from PIL import Image

import stoker
from sample_images import FAITHFUL, decoded, encoded, picture, rgb
from stoker import _testing

MEAN, STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]
both_executors = pytest.mark.parametrize("reference", [False, True], ids=["fast", "reference"])


@both_executors
@pytest.mark.parametrize("size", [(500, 375), (333, 500), (256, 256), (64, 48), (900, 230)], ids=str)
def test_imagenet_val_equals_torchvision(size, reference):
    data = encoded(picture(*size), subsampling="4:2:0")
    resized = transforms.Compose([transforms.Resize(256), transforms.CenterCrop(224)])
    whole = transforms.Compose([resized, transforms.ToTensor(), transforms.Normalize(MEAN, STD)])
    bytes_only = stoker.recipe().decode(FAITHFUL).resize(256).center_crop(224).layout("nhwc")
    np.testing.assert_array_equal(bytes_only.apply(data, reference=reference)["image"], resized(decoded(data)))

    outputs = stoker.recipe("imagenet-val").apply(data, label=7, reference=reference)
    assert outputs["image"].dtype == np.float32 and outputs["image"].shape == (3, 224, 224)
    np.testing.assert_allclose(outputs["image"], whole(decoded(data)).numpy(), rtol=1e-6, atol=1e-6)
    assert outputs["label"].dtype == np.int64 and outputs["label"] == 7


@both_executors
@pytest.mark.parametrize("mode", ["faithful", "planar"])
def test_imagenet_train_is_torchvisions_pipeline_on_the_drawn_box(mode, reference):
    data = encoded(picture(320, 240))
    recipe = stoker.recipe("imagenet-train")
    if mode == "faithful":
        recipe = stoker.recipe().decode(FAITHFUL).random_resized_crop(224).random_flip().normalize("imagenet")
    finish = transforms.Compose([transforms.ToTensor(), transforms.Normalize(MEAN, STD)])
    boxes = _testing.draw_boxes(recipe, 320, 240, 6, 1)
    for position, (left, top, right, bottom, mirrored, _) in enumerate(boxes.tolist()):
        image = decoded(data).crop((left, top, right, bottom)).resize((224, 224), Image.BILINEAR)
        expected = finish(image.transpose(Image.FLIP_LEFT_RIGHT) if mirrored else image).numpy()
        got = recipe.apply(data, seed=1, position=position, reference=reference)["image"]
        if mode == "faithful":
            np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-6)
        else:
            levels = (got - expected) * np.reshape(STD, (3, 1, 1)) * 255
            assert 10 * np.log10(255**2 / np.mean(levels**2)) > 34, "noise in colour is the worst there is for it"


@both_executors
def test_alexnet_caffe_is_a_mirrored_crop_of_the_256_square_in_bgr_less_the_mean(reference):
    data = encoded(picture(300, 200))
    recipe = stoker.recipe("alexnet-caffe")
    square = np.asarray(decoded(data).resize((256, 256), Image.BILINEAR))
    less_mean = square[..., ::-1].astype(np.float32) - np.float32([104, 117, 123])
    seen = set()
    for position in range(12):
        got = recipe.apply(data, position=position, reference=reference)["image"].transpose(1, 2, 0)
        assert got.shape == (227, 227, 3)
        seen.add(place_of(got, less_mean))
    assert len(seen) > 6 and {mirrored for _, _, mirrored in seen} == {False, True}


@both_executors
def test_cifar_train_crops_from_the_padded_image(reference):
    data = encoded(picture(32, 32), "PNG")
    mean, std = np.float32([0.4914, 0.4822, 0.4465]), np.float32([0.2470, 0.2435, 0.2616])
    padded = (np.pad(rgb(data), ((4, 4), (4, 4), (0, 0))) / np.float32(255) - mean) / std
    recipe = stoker.recipe("cifar-train")
    seen = set()
    for position in range(60):
        seen.add(place_of(recipe.apply(data, position=position, reference=reference)["image"].transpose(1, 2, 0), padded))
    assert {mirrored for _, _, mirrored in seen} == {False, True}
    assert {x for x, _, _ in seen} == set(range(9)) == {y for _, y, _ in seen}


def place_of(window, whole):
    """Where in `whole` the window lies: (x, y, mirrored); it must lie somewhere."""
    height, width = window.shape[:2]
    for mirrored in (False, True):
        upright = window[:, ::-1] if mirrored else window
        for y in range(whole.shape[0] - height + 1):
            for x in range(whole.shape[1] - width + 1):
                if np.allclose(whole[y, x : x + width], upright[0], rtol=1e-5, atol=1e-5):
                    if np.allclose(whole[y : y + height, x : x + width], upright, rtol=1e-5, atol=1e-5):
                        return x, y, mirrored
    raise AssertionError("the window is nowhere in the image")


@both_executors
def test_dtypes_are_rounded_from_float32(reference):
    data = encoded(picture(40, 30))
    recipe = stoker.recipe().decode("faithful").normalize("imagenet")
    whole = recipe.apply(data, reference=reference)["image"]
    half = recipe.cast("f16").apply(data, reference=reference)["image"]
    assert half.dtype == np.float16
    np.testing.assert_array_equal(half, whole.astype(np.float16))
    levels = stoker.recipe().decode("faithful").normalize(mean=0, std=1, scale=2).cast("u8").apply(data, reference=reference)["image"]
    expected = np.rint(rgb(data).astype(np.float32) / 2).astype(np.uint8)  # ties to even
    np.testing.assert_array_equal(levels.transpose(1, 2, 0), expected)
