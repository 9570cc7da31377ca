""".beton files, written here byte by byte as FFCV lays them out (its own writer needs a compiler, OpenCV and Numba): what runs
deliver from them is what they deliver from the same images in a folder."""

import numpy
import pytest
from PIL import Image

from foreign_formats import audit, beton


def folder_of(tmp_path, images, extension):
    """The images of the classes 0, 1, 2, 0, ... in a folder, and (bytes, label) in its order."""
    files = []
    for number, image in enumerate(images):
        name = tmp_path / "loose" / f"class{number % 3}" / f"{number:08}.{extension}"
        name.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(image).save(name)
        files.append((name, number))
    return [(name.read_bytes(), number) for name, number in sorted(files)]


@pytest.fixture
def images():
    return numpy.random.default_rng(3).integers(0, 256, (9, 24, 32, 3), dtype=numpy.uint8)


def hashes(stoker, tmp_path, data, *options):
    return [line["hash"] for line in audit(stoker, tmp_path, data, *options)]


def test_jpegs_give_the_pixels_of_the_folder(stoker, images, tmp_path):
    files = folder_of(tmp_path, images, "jpg")
    (tmp_path / "train.beton").write_bytes(beton({"image": 2, "label": 1}, [
        {"image": (0, 32, 24, data), "label": number % 3} for data, number in files]))
    expected = hashes(stoker, tmp_path, tmp_path / "loose")
    assert hashes(stoker, tmp_path, tmp_path / "train.beton", "--no-index") == expected
    for kept in (False, True):  # in the cache
        assert hashes(stoker, tmp_path, tmp_path / "train.beton") == expected, kept
    stoker.text("index", tmp_path / "train.beton")
    delivered = audit(stoker, tmp_path, tmp_path / "train.beton")
    assert [line["hash"] for line in delivered] == expected
    assert sorted({line["key"] for line in delivered}) == [f"train/{number:08}" for number in range(9)]
    info = stoker.json("info", tmp_path / "train.beton")
    assert info["format"] == "beton" and info["fields"] == ["jpg"] and info["labelled"] == 9 and info["problems"] == []
    stoker.text("pack", tmp_path / "train.beton", tmp_path / "packed")
    assert audit(stoker, tmp_path, tmp_path / "packed") == delivered


def test_pictures_stored_raw_give_the_pixels_of_the_folder(stoker, images, tmp_path):
    files = folder_of(tmp_path, images, "png")
    (tmp_path / "train.beton").write_bytes(beton({"label": 1, "image": 2}, [
        {"image": (1, 32, 24, images[number].tobytes()), "label": number % 3} for _, number in files]))
    expected = hashes(stoker, tmp_path, tmp_path / "loose")
    assert hashes(stoker, tmp_path, tmp_path / "train.beton", "--no-index") == expected
    stoker.text("index", tmp_path / "train.beton")
    assert hashes(stoker, tmp_path, tmp_path / "train.beton") == expected
    info = stoker.json("info", tmp_path / "train.beton")
    assert info["fields"] == ["npy"] and info["labelled"] == 9 and info["classes"] == 3
    assert stoker.json("verify", tmp_path / "train.beton")["bad"] == []


def test_a_cut_file_is_named(stoker, images, tmp_path):
    data = beton({"image": 2}, [{"image": (1, 32, 24, images[0].tobytes())}])
    (tmp_path / "cut.beton").write_bytes(data[:-1])
    said = stoker.refusal(1, "run", tmp_path / "cut.beton", "--recipe", "imagenet-val", "--batch", 4)
    assert "cut.beton' is truncated" in said
