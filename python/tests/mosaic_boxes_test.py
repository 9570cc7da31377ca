"""Boxes of samples whose pictures come together in a mosaic: each is cut to the part in which its picture is seen."""

import io
import json
import tarfile

import numpy as np
import pytest

import stoker
from objects_of_coco import png

WIDTH, HEIGHT, SIDE, SAMPLES = 90, 70, 32, 32
MEAN = {"min_size": 1, "min_visible": 0.2}


@pytest.fixture(scope="module")
def shard(tmp_path_factory):
    """Each picture is of one colour, which tells the sample."""
    at, rng = tmp_path_factory.mktemp("mosaic") / "a.tar", np.random.default_rng(5)
    with tarfile.open(at, "w") as tar:
        for number in range(SAMPLES):
            size = rng.integers(10, 60, (number % 6, 2))
            corner = rng.random((number % 6, 2)) * ([WIDTH, HEIGHT] - size)
            objects = [{"bbox": [*c, *map(int, s)], "category_id": 100 * number + k} for k, (c, s) in enumerate(zip(corner, size))]
            picture = np.full((HEIGHT, WIDTH, 3), number, np.uint8)
            for field, content in (("png", png(picture)), ("json", json.dumps(objects).encode())):
                member = tarfile.TarInfo(f"{number:04}.{field}")
                member.size = len(content)
                tar.addfile(member, io.BytesIO(content))
    return at


def plain(**arguments):
    recipe = stoker.recipe().decode().resize((SIDE, SIDE)).random_flip()
    recipe = recipe.view("boxes", field="json").like("image").decode_boxes("coco", most=8, **(MEAN | arguments))
    return recipe.view("classes").like("boxes").box_labels()


def samples_of(shard, recipe, **options):
    """By position: image, boxes and classes."""
    options = {"batch": 8, "seed": 3, "tune": "off"} | options
    found = {}
    with stoker.Loader(shard, recipe, **options) as loader:
        for epoch in (0, 1):
            for batch in loader.epoch(epoch):
                boxes, classes = batch.boxes.as_list(), batch.classes.as_list()
                for slot, position in enumerate(batch.position):
                    found[epoch, int(position)] = np.asarray(batch.image)[slot, 0].copy(), boxes[slot].copy(), classes[slot].copy()
    return found


def corners(boxes, form, fractions):
    boxes = boxes * SIDE if fractions else boxes
    if form == "xywh":
        return np.hstack([boxes[:, :2], boxes[:, :2] + boxes[:, 2:]])
    return np.hstack([boxes[:, :2] - boxes[:, 2:] / 2, boxes[:, :2] + boxes[:, 2:] / 2]) if form == "cxcywh" else boxes


@pytest.mark.parametrize("form, fractions, middle_seen", [("xyxy", False, False), ("xywh", False, True), ("cxcywh", True, False)])
def test_boxes_are_cut_to_what_is_seen_of_their_picture(shard, form, fractions, middle_seen):
    recipe = plain(form=form, fractions=fractions, middle_seen=middle_seen)
    before = samples_of(shard, recipe)
    after = samples_of(shard, recipe.mosaic(1, p=0.9, mode="elem"))
    cut = whole = 0
    for (epoch, position), (image, boxes, classes) in after.items():
        want = []
        for partner in range(4):
            other_image, other_boxes, other_classes = before[epoch, position ^ partner]
            rows, columns = np.nonzero(image == other_image[0, 0])
            if not len(rows):
                continue
            part = np.array([columns.min(), rows.min(), columns.max() + 1, rows.max() + 1])
            assert len(rows) == np.prod(part[2:] - part[:2])
            for box, stored, category in zip(corners(other_boxes, form, fractions), other_boxes, other_classes):
                seen = np.hstack([np.maximum(box[:2], part[:2]), np.minimum(box[2:], part[2:])])
                size, middle = seen[2:] - seen[:2], (box[:2] + box[2:]) / 2
                is_whole = np.abs(seen - box).max() < 1e-5
                share = np.prod(np.maximum(size, 0)) / np.prod(box[2:] - box[:2])
                inside = ((middle >= part[:2]) & (middle < part[2:])).all()
                if is_whole or ((size >= MEAN["min_size"]).all() and share >= MEAN["min_visible"] and (inside or not middle_seen)):
                    want.append((category, seen))
                    cut, whole = cut + (not is_whole), whole + is_whole
        np.testing.assert_array_equal(classes, [category for category, _ in want])
        np.testing.assert_allclose(corners(boxes, form, fractions), np.reshape([seen for _, seen in want], (-1, 4)), atol=1e-4)
    assert cut > 20 and whole > 20


def test_any_number_of_threads_ranks_and_devices_make_the_same(shard):
    recipe = plain().mosaic(1)
    want = samples_of(shard, recipe)
    assert len(want) == 2 * SAMPLES
    others = [samples_of(shard, recipe, threads=3)]
    others += [samples_of(shard, recipe, device="emulated:execute", transfer_index=index) for index in range(4)]
    others.append({key: value for rank in (0, 1) for key, value in samples_of(shard, recipe, batch=4, rank=rank, world=2).items()})
    for other in others:
        assert other.keys() == want.keys()
        for key, values in want.items():
            for mine, theirs in zip(values, other[key]):
                np.testing.assert_array_equal(mine, theirs)


def test_mixed_boxes_are_padded_too(shard):
    recipe = plain().view("boxes").pad_to(5, -1, "cut").view("classes").pad_to(5, -7, "cut").mosaic(1)
    loose = samples_of(shard, plain().mosaic(1))
    with stoker.Loader(shard, recipe, batch=8, seed=3, tune="off") as loader:
        for batch in loader.epoch(0):
            for slot, position in enumerate(batch.position):
                _, boxes, classes = loose[0, int(position)]
                assert np.asarray(batch.boxes.counts)[slot] == np.asarray(batch.classes.counts)[slot] == len(boxes)
                rows = np.asarray(batch.boxes.values)[slot]
                np.testing.assert_array_equal(rows[:len(boxes)], boxes[:5])
                assert (rows[len(boxes):] == -1).all() and (np.asarray(batch.classes.values)[slot][len(boxes):] == -7).all()


def test_what_cannot_be_mixed_is_refused(shard):
    def refusal(recipe):
        with pytest.raises(stoker.Error) as error:
            stoker.Loader(shard, recipe, batch=8).close()
        return str(error.value)

    assert "only mosaic mixes boxes" in refusal(plain().cutmix())
    assert "masks, keypoints and masks of objects cannot be mixed" in refusal(
        plain().view("instances").like("boxes").decode_instances().mosaic())
    assert "give pad_to longer='cut'" in refusal(plain().view("boxes").pad_to(5).mosaic())
