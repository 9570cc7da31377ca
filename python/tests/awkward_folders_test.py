"""Folders as people have them: the samples, labels and classes that torchvision's ImageFolder finds."""

import logging
import os
import random

import numpy as np
import pytest

import stoker
from sample_images import encoded, picture, rgb

EXTENSIONS = ["jpg", "JPG", "jpeg", "JPEG", "png", "webp", "bmp", "tif", "ppm", "PGM"]  # of those that ImageFolder knows
STEMS = ["cd1", "cd1.1", "cd1.2", "flower", "x", "x.mask", "IMG 2019-06-01 12.34.56", "a.b.c", "caf\u00e9.\u4e2d", "-", "x y",
         "%2E", "image", "x.jpg", "UPPER", "n" * 240, "tab\tand\nline", "trailing.", "__init__"]


def image_of(extension, seed):
    kind = {"png": "PNG", "webp": "WEBP", "bmp": "BMP", "tif": "TIFF", "ppm": "PPM", "pgm": "PPM"}.get(extension.lower(), "JPEG")
    return encoded(picture(9, 7, seed=seed), kind)


def awkward_folder(path, seed):
    """Random names of few kinds, so that many share their beginnings; sidecars and other files among them."""
    chance = random.Random(seed)
    for name in ["b", "a-b", "a", "a.b", "B", "\u00e9t\u00e9", "x.jpg"][: chance.randint(2, 7)]:
        for below in ["", "deep", "cd1.1", "x/y.jpg"]:
            folder = path / name / below
            folder.mkdir(parents=True, exist_ok=True)
            for stem in chance.sample(STEMS, chance.randint(1 if below == "" else 0, 9)):
                for extension in chance.sample(EXTENSIONS, chance.randint(1, 3)):
                    (folder / f"{stem}.{extension}").write_bytes(image_of(extension, chance.randint(0, 9)))
                if chance.random() < 0.4:
                    (folder / f"{stem}.{chance.choice(['json', 'txt', 'JSON'])}").write_text("{}")
    return path


def contents(data):
    return [(data[i]["label"], next(value for name, value in data[i].items() if name.split(".")[-1] in
                                    ("jpg", "jpeg", "png", "webp", "bmp", "tif", "ppm", "pgm"))) for i in range(len(data))]


@pytest.mark.parametrize("seed", range(12))
def test_a_folder_of_awkward_names_has_the_samples_that_imagefolder_finds(tmp_path, seed):
    from torchvision.datasets import ImageFolder

    folder = awkward_folder(tmp_path / "data", seed)
    theirs, data = ImageFolder(folder), stoker.open(folder)
    assert data.classes == theirs.classes
    assert len(data) == len(theirs)
    expected = [(label, open(path, "rb").read()) for path, label in theirs.samples]
    assert sorted(contents(data)) == sorted(expected)
    keys = [data[i]["key"].encode("utf-8", "surrogateescape") for i in range(len(data))]
    assert keys == sorted(keys) and len(set(keys)) == len(keys)
    names = [os.path.relpath(path, folder) for path, _ in theirs.samples]
    assert len(data.subset(names)) == len(data)


def test_jpegs_are_read_whatever_they_are_called(tmp_path):
    jpeg = encoded(picture(20, 16, seed=1))
    for extension in ("jpe", "jfif", "JFIF", "jpg"):
        (tmp_path / f"a_{extension}.{extension}").write_bytes(jpeg)
    picture(20, 16, seed=1).save(tmp_path / "b.mpo", "MPO", save_all=True, append_images=[picture(20, 16, seed=2)])
    data = stoker.open(tmp_path)
    assert len(data) == 5
    assert sorted(data.fields) == ["jfif", "jpe", "jpg", "mpo"]
    recipe = stoker.recipe().decode("faithful").layout("nhwc")
    for i in range(5):
        image = next(value for value in data[i].values() if isinstance(value, bytes))
        np.testing.assert_array_equal(recipe.apply(image)["image"], rgb(image))


def test_what_is_passed_over_is_counted_and_named_once_for_each_kind(tmp_path, caplog):
    (tmp_path / "a").mkdir()
    (tmp_path / "a/x.jpg").write_bytes(encoded(picture(9, 9, seed=1)))
    for name in ("1.jxl", "2.jxl", "3.heic", "4.ico", "5.tga", "6.psd"):
        (tmp_path / "a" / name).write_bytes(b"")
    (tmp_path / "a/x.png").symlink_to("nowhere")
    os.mkfifo(tmp_path / "a/pipe.jpg")
    with caplog.at_level(logging.WARNING, logger="stoker"):
        data = stoker.open(tmp_path)
        assert len(data) == 1 and data[0]["key"] == "a/x"
    told = "\n".join(record.getMessage() for record in caplog.records)
    for part in ("2 JXL pictures", "1 HEIC picture", "1 ICO picture", "1 TGA picture", "1 PSD picture", "1 broken link", "1 pipe",
                 "a/1.jxl", "a/x.png"):
        assert part in told
