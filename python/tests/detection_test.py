"""What detectors and segmentation are trained on: parts that hold objects, and the recipes that make them."""

import io
import json
import tarfile

import numpy as np
import pytest

import stoker
from objects_of_coco import HEIGHT, WIDTH, box_around, outlines_of, png, sample, with_boxes

PART = 128


def cropped(**arguments):
    return with_boxes(stoker.recipe().decode().iou_crop(PART, **arguments), min_size=0)


def square_objects(seed, count=3):
    rng = np.random.default_rng(seed)
    size = rng.integers(15, 70, (count, 2))
    corner = (rng.random((count, 2)) * (np.array([WIDTH, HEIGHT]) - size)).astype(int)
    boxes = np.hstack([corner, size]).tolist()
    return boxes, json.dumps([{"bbox": box, "category_id": number} for number, box in enumerate(boxes)]).encode()


def test_a_part_holds_enough_of_one_object():
    """As the boxes of the output tell: they are the objects' in the part, which is all of the output."""
    for least, more in ((0.1, {}), (0.3, {}), (0.5, {"trials": 1000})):
        recipe = cropped(sampler_options=[least], **more)
        for position in range(40):
            boxes, text = square_objects(position)
            out = recipe.apply(sample([]) | {"json": text}, seed=1, position=position)
            kept = dict(zip(out["labels"], out["boxes"]))
            assert kept, "at least one object is seen"
            # The seen share of an object, and of the part: their union is more than either.
            shares = [np.prod(box[2:] - box[:2]) / PART**2 for box in kept.values()]
            assert max(shares) >= least - 0.02 or len(kept) == len(boxes), (least, position)


def test_both_executors_draw_the_same_parts():
    recipe = cropped(side_range=(1, 3)).view("mask", field="mask.png").like("image").decode_mask(fill=9)
    recipe = recipe.view("points").like("boxes").decode_keypoints(2, "0-1")
    parts = set()
    for position in range(30):
        boxes, _ = square_objects(position)
        points = [[box[0], box[1], 2, box[0] + box[2] - 1, box[1] + box[3] - 1, 2] for box in boxes]
        mask = np.zeros((HEIGHT, WIDTH), np.uint8)
        for number, (x, y, w, h) in enumerate(boxes):
            mask[y:y + h, x:x + w] = number + 1
        data = sample([]) | {"mask.png": png(mask), "json": json.dumps(
            [{"bbox": box, "category_id": number, "keypoints": each} for number, (box, each) in enumerate(zip(boxes, points))]).encode()}
        fast, plain = (recipe.apply(data, seed=4, position=position, reference=slow) for slow in (False, True))
        for name in ("image", "mask", "boxes", "labels"):
            np.testing.assert_array_equal(fast[name], plain[name], err_msg=name)
        np.testing.assert_allclose(fast["points"], plain["points"], atol=2e-4)
        parts.add(fast["mask"].tobytes())
    assert len(parts) > 20


def test_only_objects_whose_middle_is_seen_may_be_kept():
    boxes = [[0, 0, 40, 40], [30, 30, 40, 40], [50, 0, 40, 40]]
    text = json.dumps([{"bbox": box, "category_id": number} for number, box in enumerate(boxes)]).encode()
    image = stoker.recipe().decode().crop(25, 0, 40, 60)
    for middle_seen, labels in ((False, [0, 1, 2]), (True, [1])):
        out = with_boxes(image, middle_seen=middle_seen).apply(sample([]) | {"json": text})
        np.testing.assert_array_equal(out["labels"], labels)


def test_what_looks_at_objects_needs_them():
    def refusal(recipe):
        with pytest.raises(stoker.Error) as error:
            recipe.apply(sample([]))
        return str(error.value)

    image = stoker.recipe().decode().iou_crop(64)
    assert "add a view with decode_boxes that is like = 'image'" in refusal(image)
    other = image.view("other", field="other.png").decode().center_crop(9)
    assert "add a view with decode_boxes" in refusal(other.view("boxes", field="json").like("other").decode_boxes("coco"))
    assert "a warp before it moves them" in refusal(with_boxes(stoker.recipe().decode().rotate(3).iou_crop(64)))
    assert "its JSON is damaged" in str(pytest.raises(stoker.Error, cropped().apply, sample([]) | {"json": b"{"}).value)


def write_shard(at, count=8):
    with tarfile.open(at, "w") as tar:
        for number in range(count):
            objects = outlines_of(number, 3)
            ids = np.random.default_rng(number).integers(0, 21, (HEIGHT, WIDTH), dtype=np.uint8)
            yolo = "".join(f"{n} {(x + w / 2) / WIDTH} {(y + h / 2) / HEIGHT} {w / WIDTH} {h / HEIGHT}\n"
                           for n, (x, y, w, h) in enumerate(map(box_around, objects)))
            picture = np.random.default_rng(number).integers(0, 256, (HEIGHT, WIDTH, 3), dtype=np.uint8)
            for field, content in (("png", png(picture)), ("json", sample(objects)["json"]), ("mask.png", png(ids)), ("txt", yolo.encode())):
                member = tarfile.TarInfo(f"{number:04}.{field}")
                member.size = len(content)
                tar.addfile(member, io.BytesIO(content))
    return at


RECIPES = {  # the size of the image, and what else comes
    "ssd-train": (300, {"boxes", "labels"}), "lsj": (1024, {"boxes", "labels", "instances"}), "coco-val": (1024, {"boxes", "labels"}),
    "yolo-letterbox": (640, {"boxes", "labels"}), "deeplab-train": (480, {"mask"}), "mask2former-train": (512, {"mask"}),
}


@pytest.mark.parametrize("name", RECIPES)
def test_recipes_make_what_their_models_take(name, tmp_path):
    side, others = RECIPES[name]
    recipe = stoker.recipe(name)
    with stoker.Loader(stoker.open(write_shard(tmp_path / "a.tar")), recipe, batch=4, seed=1) as loader:
        seen = 0
        for batch in loader:
            assert set(batch.outputs) == {"image"} | others
            assert np.asarray(batch.image).shape == (4, 3, side, side) and np.asarray(batch.image).dtype == np.float32
            if "mask" in others:
                assert np.asarray(batch.mask).shape == (4, side, side)
                assert len(np.unique(np.asarray(batch.mask))) > 3
            if "boxes" in others:
                most = 1 if name.startswith("yolo") else side
                values = np.asarray(batch.boxes.values)
                assert values.shape[0] > 0 and (values >= 0).all() and (values <= most).all()
            if "instances" in others:
                assert np.asarray(batch.instances.values).shape[1:] == (side, side)
            seen += 1
    assert seen == 2


@pytest.mark.parametrize("name", RECIPES)
def test_both_executors_agree_on_recipes(name, tmp_path):
    data = stoker.open(write_shard(tmp_path / "a.tar"))
    for position in range(2):
        fast, plain = (stoker.recipe(name).apply(data[position], seed=2, position=position, reference=slow) for slow in (False, True))
        for output, value in fast.items():
            np.testing.assert_array_equal(value, plain[output], err_msg=output)


def test_letterbox_is_undone_by_its_boxes():
    """A box of the whole image says where the image is; its colours are there, and the fill elsewhere."""
    for width, height in ((200, 100), (100, 201), (64, 64), (33, 60)):
        picture = np.full((height, width, 3), 200, np.uint8)
        text = f'[{{"bbox": [0, 0, {width}, {height}], "category_id": 1}}]'.encode()
        for place in ("center", "top_left"):
            out = with_boxes(stoker.recipe().decode().letterbox((80, 160), place, fill=114)).apply({"image": png(picture), "json": text})
            left, top, right, bottom = out["boxes"][0].astype(int)
            inside = np.zeros((80, 160), bool)
            inside[top:bottom, left:right] = True
            np.testing.assert_array_equal(out["image"][0], np.where(inside, 200, 114))
            assert right - left == 160 or bottom - top == 80
            assert (left, top) == (0, 0) or place == "center"
