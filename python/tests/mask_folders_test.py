"""Trees of images and masks as data sets come: of the lists that docs/formats.md makes of them, each image has its mask."""

import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import stoker

WIDTH, HEIGHT = 48, 32
PAGE = Path(__file__).resolve().parents[2] / "docs/formats.md"
# cityscapesScripts' labels.py.
TRAIN_IDS = {7: 0, 8: 1, 11: 2, 12: 3, 13: 4, 17: 5, 19: 6, 20: 7, 21: 8, 22: 9, 23: 10, 24: 11, 25: 12, 26: 13, 27: 14, 28: 15,
             31: 16, 32: 17, 33: 18}


def command(word):
    """Of the page, the one that has this word."""
    (block,) = [block for block in re.findall(r"```sh\n(.*?)```", PAGE.read_text(), re.DOTALL) if "leftImg8bit" in block]
    (found,) = [each for each in re.split(r"\n(?=\()", block) if word in each]
    return found


def listed(root, word):
    subprocess.run(["sh", "-ec", command(word)], cwd=root, check=True, timeout=60)
    return stoker.open(root / "train.csv")


def put(path, array, mode=None):
    path.parent.mkdir(parents=True, exist_ok=True)
    image = Image.fromarray(array, mode)
    if mode == "P":
        image.putpalette(np.random.default_rng(0).integers(0, 256, 768, np.uint8).tobytes())
    image.save(path)


def scene(number):
    """An image of one colour, which tells whose mask it is, and the ids of its mask."""
    ids = np.random.default_rng(number).integers(0, 35, (HEIGHT, WIDTH), np.uint8)
    return np.full((HEIGHT, WIDTH, 3), 20 * number, np.uint8), ids


def whole(recipe):
    return recipe.decode("faithful").resize((HEIGHT, WIDTH)).layout("nhwc")


def test_cityscapes(tmp_path):
    """With what else its folders hold, and the part that is not asked for."""
    keys, number = [], 0
    for part, city in (("train", "zurich"), ("train", "aachen"), ("val", "munster")):
        for frame in ("000001_000019", "000000_000019"):
            image, ids = scene(number := number + 1)
            put(tmp_path / f"leftImg8bit/{part}/{city}/{city}_{frame}_leftImg8bit.png", image)
            for name, content in (("labelIds", ids), ("instanceIds", ids * 0), ("color", image)):
                put(tmp_path / f"gtFine/{part}/{city}/{city}_{frame}_gtFine_{name}.png", content)
            (tmp_path / f"gtFine/{part}/{city}/{city}_{frame}_gtFine_polygons.json").write_text("{}")
            keys += [f"leftImg8bit/{part}/{city}/{city}_{frame}_leftImg8bit"] if part == "train" else []
    data = listed(tmp_path, "gtFine")
    assert data.keys == sorted(keys) and set(data.fields) == {"png", "mask.png"}
    recipe = whole(stoker.recipe()).view("mask", field="mask.png").like("image").decode_mask(classes="cityscapes")
    (batch,) = stoker.Loader(data, recipe, batch=4, order="none", bad_sample="fail")
    numbers = [int(image[0, 0, 0]) // 20 for image in batch.image.numpy()]
    assert numbers == [4, 3, 2, 1]
    for at, mask in zip(numbers, batch.mask.numpy()):
        image, ids = scene(at)
        np.testing.assert_array_equal(mask, [[TRAIN_IDS.get(each, 255) for each in row] for row in ids.tolist()])


VOC = """<annotation><filename>{name}.jpg</filename><size><width>48</width><height>32</height><depth>3</depth></size>
<object><name>{object}</name><difficult>0</difficult>
<bndbox><xmin>1</xmin><ymin>2</ymin><xmax>{right}</xmax><ymax>20</ymax></bndbox></object>
</annotation>"""


@pytest.fixture
def voc(tmp_path):
    """Six images, of which the list for segmentation names three."""
    chosen, objects = [], ("dog", "cat", "sofa", "train", "bus", "car")
    for number, of in enumerate(objects, 1):
        name = f"2007_{37 * number % 100:06}"
        image, ids = scene(number)
        ids[ids > 20] = 255
        put(tmp_path / f"JPEGImages/{name}.jpg", image)
        (tmp_path / "Annotations").mkdir(exist_ok=True)
        (tmp_path / f"Annotations/{name}.xml").write_text(VOC.format(name=name, object=of, right=10 + number))
        if number % 2:
            put(tmp_path / f"SegmentationClass/{name}.png", ids, "P")
            put(tmp_path / f"SegmentationObject/{name}.png", ids * 0 + 1, "P")
            chosen.append((name, number, of, ids))
    (tmp_path / "ImageSets/Segmentation").mkdir(parents=True)
    (tmp_path / "ImageSets/Segmentation/train.txt").write_text("".join(f"{name}\n" for name, *_ in chosen))
    return tmp_path, chosen


def test_pascal_voc(voc):
    root, chosen = voc
    data = listed(root, "ImageSets")
    assert data.keys == [f"JPEGImages/{name}" for name, *_ in chosen] and set(data.fields) == {"jpg", "mask.png", "xml"}
    recipe = whole(stoker.recipe()).view("mask", field="mask.png").like("image").decode_mask()
    recipe = recipe.view("boxes", field="xml").like("image").decode_boxes("voc").view("labels").like("boxes").box_labels()
    (batch,) = stoker.Loader(data, recipe, batch=3, order="none", bad_sample="fail")
    for slot, (_, number, of, ids) in enumerate(chosen):
        assert abs(batch.image.numpy()[slot].astype(int) - 20 * number).max() <= 2
        np.testing.assert_array_equal(batch.mask.numpy()[slot], ids)
        np.testing.assert_array_equal(batch.boxes[slot], [[0, 1, 10 + number, 20]])
        assert batch.labels[slot].tolist() == [{"dog": 11, "sofa": 17, "bus": 5}[of]]


def test_ade20k(tmp_path):
    """With the part that is not asked for. Class 0 is what has no class."""
    names = ("training/ADE_train_00000002", "training/ADE_train_00000001", "validation/ADE_val_00000001")
    for number, name in enumerate(names, 1):
        image, ids = scene(number)
        put(tmp_path / f"images/{name}.jpg", image)
        put(tmp_path / f"annotations/{name}.png", ids)
    data = listed(tmp_path, "annotations")
    assert data.keys == ["images/training/ADE_train_00000001", "images/training/ADE_train_00000002"]
    recipe = whole(stoker.recipe()).view("mask", field="mask.png").like("image").decode_mask(classes="from_one")
    (batch,) = stoker.Loader(data, recipe, batch=2, order="none", bad_sample="fail")
    for number, image, mask in zip((2, 1), batch.image.numpy(), batch.mask.numpy()):
        assert abs(image.astype(int) - 20 * number).max() <= 2
        np.testing.assert_array_equal(mask, scene(number)[1] - np.uint8(1))


def test_a_recipe_by_name_takes_the_list(voc):
    root, chosen = voc
    listed(root, "ImageSets")
    (batch,) = stoker.Loader(root / "train.csv", "deeplab-train", batch=3, bad_sample="fail")
    assert batch.image.shape == (3, 3, 480, 480) and batch.mask.shape == (3, 480, 480)
    for key, mask in zip(batch.key, batch.mask.numpy()):
        (ids,) = [ids for name, _, _, ids in chosen if key.endswith(name)]
        assert set(np.unique(mask)) <= set(np.unique(ids)) | {255} and len(np.unique(mask)) > 5
