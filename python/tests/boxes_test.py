"""Boxes go where their images go. A mask that is filled where an object is tells where it went: its extent has to be that of the
box, as far as pixels can tell."""

import io
import json
import tarfile

import numpy as np
import pytest
from PIL import Image

import stoker

WIDTH, HEIGHT = 190, 130


def png(array):
    out = io.BytesIO()
    Image.fromarray(array).save(out, "PNG")
    return out.getvalue()


def objects_of(seed, count=4, width=WIDTH, height=HEIGHT):
    """Left, top, width and height in whole pixels."""
    rng = np.random.default_rng(seed)
    size = rng.integers(12, 60, (count, 2))
    corner = (rng.random((count, 2)) * (np.array([width, height]) - size)).astype(int)
    return np.hstack([corner, size])


def coco(objects, **more):
    return json.dumps([{"bbox": [int(n) for n in box], "category_id": 10 + number, **more}
                       for number, box in enumerate(objects)]).encode()


def mask_of(box, width=WIDTH, height=HEIGHT):
    x, y, w, h = box
    mask = np.zeros((height, width), np.uint8)
    mask[y:y + h, x:x + w] = 1
    return png(mask)


def sample(objects, boxes=None, width=WIDTH, height=HEIGHT):
    data = {"image": png(np.zeros((height, width, 3), np.uint8)), "json": coco(objects) if boxes is None else boxes}
    return data | {f"mask{number}.png": mask_of(box, width, height) for number, box in enumerate(objects)}


def with_boxes(recipe, source="coco", masks=0, **arguments):
    for number in range(masks):
        recipe = recipe.view(f"mask{number}", field=f"mask{number}.png").like("image").decode_mask(fill=0)
    recipe = recipe.view("boxes", field="json").like("image").decode_boxes(source, **arguments)
    return recipe.view("labels").like("boxes").box_labels()


def extent(mask):
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    return None if len(rows) == 0 else np.array([columns[0], rows[0], columns[-1] + 1, rows[-1] + 1])


OPERATORS = {
    "crop": lambda r: r.center_crop(100),
    "padded": lambda r: r.center_crop(240),
    "random_crop": lambda r: r.random_crop(96, padding=20),
    "random_resized_crop": lambda r: r.random_resized_crop(96, scale=(0.3, 1)).random_flip(),
    "resize, flips": lambda r: r.resize((60, 90)).flip().flip("vertical"),
    "flip, crop, resize": lambda r: r.flip().random_crop(110).resize((300, 200)),
    "pad": lambda r: r.resize((60, 90)).pad([3, 4, 5, 6]),
    "zoom_out": lambda r: r.zoom_out(128, p=0.9),
    "scale_jitter": lambda r: r.scale_jitter(128, scale=(0.5, 2)),
    "elastic": lambda r: r.resize((90, 110)).elastic(alpha=60),
}
TURNED = {  # of which a box holds what is seen, and more
    "rotation": lambda r: r.resize((120, 120)).random_rotation(30),
    "rotation first": lambda r: r.random_rotation(20).random_resized_crop(100, scale=(0.5, 1)),
    "affine": lambda r: r.resize((120, 120)).random_affine(20, [0.1, 0.1], [0.8, 1.3], [10]),
    "perspective": lambda r: r.resize((120, 120)).random_perspective(0.4, p=1),
}


@pytest.mark.parametrize("name", OPERATORS)
def test_a_box_is_the_extent_of_what_it_holds(name):
    recipe = with_boxes(OPERATORS[name](stoker.recipe().decode()), masks=4, min_size=0)
    seen = 0
    for position in range(8):
        objects = objects_of(position)
        out = recipe.apply(sample(objects), seed=3, position=position)
        assert (out["boxes"].dtype, out["labels"].dtype) == (np.float32, np.int64)
        assert out["boxes"].shape == (len(out["labels"]), 4)
        found = dict(zip(out["labels"] - 10, out["boxes"]))
        for number in range(4):
            want = extent(out[f"mask{number}"])
            if want is None:  # less than a pixel may be left
                assert number not in found or (found[number][2:] - found[number][:2]).min() <= 1.01
            else:
                seen += 1
                assert np.abs(found[number] - want).max() <= 1.01, (position, number)
        height, width = out["mask0"].shape
        assert (out["boxes"] >= 0).all() and (out["boxes"] <= [width, height, width, height]).all()
    assert seen > 8


@pytest.mark.parametrize("name", TURNED)
def test_a_turned_box_holds_all_of_its_object(name):
    recipe = with_boxes(TURNED[name](stoker.recipe().decode()), masks=4, min_size=0)
    looser = 0
    for position in range(8):
        out = recipe.apply(sample(objects_of(position)), seed=3, position=position)
        found = dict(zip(out["labels"] - 10, out["boxes"]))
        for number in range(4):
            want = extent(out[f"mask{number}"])
            if want is None:
                continue
            box = found[number]
            assert (box[:2] <= want[:2] + 1.01).all() and (box[2:] >= want[2:] - 1.01).all()
            looser += np.abs(box - want).max() > 1.01
    assert looser < 16, "corners of rectangles touch the sides, unless the output cuts them off"


def test_a_box_holds_what_is_seen_beyond_the_horizon():
    """A strong perspective shows the image on both sides of its horizon, as torchvision's does; and its objects there, too."""
    objects = np.array([[0, 0, 100, 100], [30, 30, 40, 40]])
    recipe = with_boxes(stoker.recipe().decode().center_crop(100).random_perspective(0.9, p=1), masks=2, min_size=0)
    for position in range(40):
        out = recipe.apply(sample(objects, width=100, height=100), seed=3, position=position)
        found = dict(zip(out["labels"] - 10, out["boxes"]))
        for number in range(2):
            want = extent(out[f"mask{number}"])
            if want is not None:
                box = found[number]
                assert (box[:2] <= want[:2] + 1.01).all() and (box[2:] >= want[2:] - 1.01).all(), (position, number)


def test_boxes_that_are_left_out_leave_no_label():
    objects = np.array([[0, 0, 20, 20], [95, 40, 50, 50], [150, 100, 30, 20], [60, 60, 0, 9], [60, 60, 9, -3]])
    recipe = with_boxes(stoker.recipe().decode().crop(90, 30, 40, 40))
    out = recipe.apply(sample(objects[:3], coco(objects)))
    np.testing.assert_array_equal(out["labels"], [11])
    np.testing.assert_array_equal(out["boxes"], [[5, 10, 40, 40]])
    for arguments, kept in (({"min_visible": 0.41}, 1), ({"min_visible": 0.43}, 0), ({"min_size": 30}, 1), ({"min_size": 31}, 0)):
        out = with_boxes(stoker.recipe().decode().crop(90, 30, 40, 40), **arguments).apply(sample(objects[:3]))
        assert len(out["labels"]) == len(out["boxes"]) == kept


def test_a_box_has_the_form_that_was_asked_for():
    objects = np.array([[20, 30, 40, 50]])
    image = stoker.recipe().decode().resize((2 * HEIGHT, WIDTH))
    for form, want in (("xyxy", [20, 60, 60, 160]), ("xywh", [20, 60, 40, 100]), ("cxcywh", [40, 110, 40, 100])):
        np.testing.assert_allclose(with_boxes(image, form=form).apply(sample(objects))["boxes"], [want])
        fractions = np.array(want) / np.array([WIDTH, 2 * HEIGHT] * 2)
        out = with_boxes(image, form=form, fractions=True).apply(sample(objects))
        np.testing.assert_allclose(out["boxes"], [fractions], rtol=1e-6)


VOC = """<annotation><size><width>190</width><height>130</height><depth>3</depth></size>
<object><name>dog</name><bndbox><xmin>21</xmin><ymin>31</ymin><xmax>60</xmax><ymax>80</ymax></bndbox></object>
<object><name>person</name><difficult>1</difficult><bndbox><xmin>1</xmin><ymin>1</ymin><xmax>9</xmax><ymax>9</ymax></bndbox></object>
</annotation>"""


def test_sources_say_the_same():
    objects = np.array([[20, 30, 40, 50]])
    image = stoker.recipe().decode().center_crop((HEIGHT, WIDTH))
    want = [[20, 30, 60, 80]]
    yolo = f"7 {40 / WIDTH} {55 / HEIGHT} {40 / WIDTH} {50 / HEIGHT}\r\n\n".encode()
    whole = json.dumps({"info": {}, "annotations": json.loads(coco(objects))}).encode()
    for source, text, label in (("coco", coco(objects), 10), ("coco", whole, 10), ("voc", VOC.encode(), 11), ("yolo", yolo, 7)):
        out = with_boxes(image, source).apply(sample(objects, text))
        np.testing.assert_allclose(out["boxes"], want, rtol=1e-6)
        np.testing.assert_array_equal(out["labels"], [label])
    outline = f"7 {20 / WIDTH} {50 / HEIGHT} {60 / WIDTH} {30 / HEIGHT} {40 / WIDTH} {80 / HEIGHT}"  # of a "-seg" set
    old_ends = f"{outline}\r7 0.5 0.5 0 0".encode()  # the second is no box
    np.testing.assert_allclose(with_boxes(image, "yolo").apply(sample(objects, old_ends))["boxes"], want, rtol=1e-6)
    spaced = VOC.replace("<difficult>1<", "<difficult> 1\n<").replace(">dog<", "> dog <").replace(">60<", "> 60 <")
    np.testing.assert_array_equal(with_boxes(image, "voc").apply(sample(objects, spaced.encode()))["boxes"], want)
    for crowd in True, 1.0, "1":
        assert len(with_boxes(image).apply(sample(objects, coco(objects, iscrowd=crowd)))["boxes"]) == 0
    for number in "10", 10.0:
        np.testing.assert_array_equal(with_boxes(image).apply(sample(objects, coco(objects, category_id=number)))["labels"], [10])
    kept = with_boxes(image, "voc", crowds="keep", names="person, dog").apply(sample(objects, VOC.encode()))
    np.testing.assert_array_equal(kept["labels"], [1, 0])
    np.testing.assert_array_equal(kept["boxes"][1], [0, 0, 9, 9])
    crowd = coco(objects, iscrowd=1, segmentation={"counts": [1, 2], "size": [3, 4]})
    assert len(with_boxes(image).apply(sample(objects, crowd))["boxes"]) == 0
    assert len(with_boxes(image, crowds="keep").apply(sample(objects, crowd))["boxes"]) == 1
    assert len(with_boxes(image).apply(sample(objects, b"[]"))["boxes"]) == 0
    beside = b'{"0": {"bbox": [1, 2, 3, 4], "category_id": 1}, "annotations": [], "77777777777": {"bbox": [1]}}'
    assert len(with_boxes(image).apply(sample(objects, beside))["boxes"]) == 0
    twice = b'{"annotations": [{"bbox": [1, 2, 3, 4], "category_id": 1}], "annotations": ' + coco(objects) + b"}"
    np.testing.assert_array_equal(with_boxes(image).apply(sample(objects, twice))["labels"], [10])


@pytest.mark.parametrize("names", ["category", "categories", "category_id"])
@pytest.mark.parametrize("nested", [False, True])
def test_members_may_be_lists_as_hugging_face_has_them(names, nested):
    """Of all objects, in a line of metadata.jsonl in an object of their own."""
    objects = objects_of(1, 3)
    recipe = with_boxes(stoker.recipe().decode().center_crop((HEIGHT, WIDTH)))
    want = recipe.apply(sample(objects))

    def read(**columns):
        lists = {"id": [1, 2, 3], "area": [9, 9, 9], names: [10, 11, 12], "bbox": objects.tolist()} | columns
        text = json.dumps({"file_name": "a.png", "objects": lists} if nested else lists)
        return recipe.apply(sample(objects, text.encode()))

    for out in read(), read(iscrowd=[0, 0, 0]):
        np.testing.assert_array_equal(out["boxes"], want["boxes"])
        np.testing.assert_array_equal(out["labels"], want["labels"])
    np.testing.assert_array_equal(read(iscrowd=[0, 1, 0])["labels"], [10, 12])
    assert len(read(**{"bbox": [], names: []})["boxes"]) == 0
    for columns, words in (({names: [1]}, "3 boxes in 'bbox', but 1 classes"), ({names: [1, "dog", 2]}, "no category_id or category"),
                           ({"bbox": [[1, 2, 3, 4]] * 2 + [[1, 2, 3]]}, "no bbox of four numbers"), ({"bbox": 5}, "or lists 'bbox' and 'category'"),
                           ({"bbox": {"0": [1, 2, 3, 4]}}, "or lists 'bbox' and 'category'"), ({"bbox": [1, 2, 3, 4]}, "4 boxes in 'bbox'")):
        with pytest.raises(stoker.Error, match=words):
            read(**columns)


def test_a_list_of_hugging_faces_has_boxes(tmp_path):
    for name in "ab":
        (tmp_path / f"{name}.png").write_bytes(sample(objects_of(1))["image"])
    lines = [{"file_name": f"{name}.png", "objects": {"bbox": objects_of(1, count).tolist(), "categories": [7] * count}}
             for name, count in (("a", 2), ("b", 0))]
    (tmp_path / "metadata.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    recipe = with_boxes(stoker.recipe().decode().center_crop((HEIGHT, WIDTH)))
    (batch,) = stoker.Loader(tmp_path / "metadata.jsonl", recipe, batch=2, order="none")
    assert [rows.tolist() for rows in batch.labels.as_list()] == [[7, 7], []]


@pytest.mark.parametrize("source, text, words", [
    ("coco", b"{", "its JSON is damaged"), ("coco", b"{}", "its JSON has no objects"),
    ("coco", b"3", "its JSON has no objects"), ("coco", b'{"99999999999": {"bbox": [1, 2, 3, 4]}}', "its JSON has no objects"),
    ("coco", b'{"annotations": {"0": {"bbox": [1, 2, 3, 4], "category_id": 1}}}', "its JSON has no objects"),
    ("coco", b"[{}]", "no bbox"), ("coco", b'[{"bbox": [1, 2, 3], "category_id": 1}]', "no bbox"),
    ("coco", b'[{"bbox": [1, 2, 3, 4]}]', "no category_id"),
    ("coco", b'[{}, {"bbox": [1, 2, 3, 4], "category_id": 1}]', "no bbox"),
    ("voc", b"<annotation>", "its XML is damaged"), ("voc", b"<a></a>", "not an <annotation>"), ("voc", b"", "its XML is damaged"),
    ("voc", VOC.replace("dog", "cart").encode(), "of the class 'cart', which is not in names"),
    ("voc", VOC.replace("<xmax>60</xmax>", "").encode(), "no bndbox of four numbers"),
    ("yolo", b"1 0.5 0.5 0.1", "not a class and four numbers"), ("yolo", b"dog 0.5 0.5 0.1 0.1", "not a class and four numbers"),
    ("yolo", b"1 95 65 40 50", "has 95, which is not a fraction of the image"),
    ("yolo", b"1 0.5 0.5 0.2 0.2 0.4 0.4 2 0.6 0.4 2 0.6 0.6 2 0.4 0.6 1", "has 2, which is not a fraction"),
    ("yolo", b"1 0.5 0.5 0.2 0.2" + b" 0.4 0.4 1 0.6 0.4 0" * 2, "a line of its boxes has keypoints"),
    ("yolo", b"-1 0.5 0.5 0.1 0.1", "not a class and four numbers"),
    ("yolo", b"1 0.5 0.5 0.1 0.1 0.9", "nor a class and the corners"), ("yolo", b"1 nan 0.5 0.1 0.1", "not a class and four numbers"),
    ("voc", VOC.replace("60", "inf").encode(), "no bndbox of four numbers"), ("coco", coco(objects_of(1), category_id=1.5), "no category_id"),
    ("coco", coco(objects_of(1), category_id=2**63), "no category_id"),
    ("coco", coco(objects_of(1, 5)), "it has 5 boxes, and there is room for 4"),
])
def test_what_is_not_boxes_is_a_bad_sample(source, text, words):
    recipe = with_boxes(stoker.recipe().decode().center_crop((HEIGHT, WIDTH)), source, most=4)
    with pytest.raises(stoker.Error, match=words):
        recipe.apply(sample(objects_of(1), text))


def test_what_makes_no_sense_is_refused_at_once():
    def refusal(recipe):
        with pytest.raises(stoker.Error) as error:
            recipe.apply(sample(objects_of(1)))
        return str(error.value)

    image = stoker.recipe().decode().center_crop(64)
    boxes = image.view("boxes", field="json")
    assert "boxes belong to an image" in refusal(boxes.decode_boxes("coco"))
    assert "no view 'label' makes an image" in refusal(boxes.like("label").decode_boxes("coco"))
    assert "objects go where their image goes" in refusal(boxes.like("image").decode_boxes("coco").center_crop(3))
    assert "labels belong to boxes" in refusal(with_boxes(image).view("more").box_labels())
    assert "did you mean 'boxes'?" in refusal(with_boxes(image).view("more").like("boxs").box_labels())
    assert "only mosaic mixes boxes" in refusal(with_boxes(image).mixup())
    assert "'dog' twice" in refusal(with_boxes(image, "voc", names="dog, cat,dog"))


def test_a_recipe_with_boxes_is_read_back_as_it_was_written():
    recipe = with_boxes(stoker.recipe().decode().center_crop(64), "voc", names="dog,cat", fractions=True, min_visible=0.3)
    assert 'like = "boxes"' in recipe.to_toml() and stoker.Recipe.from_toml(recipe.to_toml()) == recipe


@pytest.fixture(scope="module")
def shard(tmp_path_factory):
    """Of 20 samples with 0 to 6 objects, one of which has damaged boxes."""
    at = tmp_path_factory.mktemp("boxes") / "a.tar"
    with tarfile.open(at, "w") as tar:
        for number in range(20):
            boxes = b"{" if number == 13 else coco(objects_of(number, number % 7))
            for field, content in (("png", png(np.full((HEIGHT, WIDTH, 3), number, np.uint8))), ("json", boxes)):
                member = tarfile.TarInfo(f"{number:04}.{field}")
                member.size = len(content)
                tar.addfile(member, io.BytesIO(content))
    return at


@pytest.mark.parametrize("index", [None, 0, 3])
def test_batches_hold_the_boxes_of_all_samples(shard, index):
    recipe = with_boxes(stoker.recipe().decode().random_resized_crop(96, scale=(0.5, 1)).random_flip())
    options = {} if index is None else {"device": "emulated:execute", "transfer_index": index}
    data, total = stoker.open(shard), 0
    with stoker.Loader(data, recipe, batch=5, seed=2, tune="off", **options) as loader:
        for batch in loader:
            boxes, labels = batch.boxes, batch.labels
            assert len(boxes) == len(labels) == 5 and "Ragged(values=" in repr(batch)
            offsets = np.asarray(boxes.offsets)
            np.testing.assert_array_equal(offsets, np.asarray(labels.offsets))
            assert offsets[0] == 0 and offsets[-1] == len(boxes.values) == len(labels.values)
            for slot, (rows, numbers) in enumerate(zip(boxes.as_list(), labels.as_list())):
                number = int(np.asarray(batch.image)[slot].max())
                fields = {"image": png(np.full((HEIGHT, WIDTH, 3), number, np.uint8)),
                          "json": coco(objects_of(number, number % 7))}
                alone = recipe.apply(fields, seed=2, epoch=batch.epoch, position=int(batch.position[slot]))
                np.testing.assert_array_equal(rows, alone["boxes"])
                np.testing.assert_array_equal(numbers, alone["labels"])
                total += len(rows)
    assert total > 20 and loader.metrics()["bad_samples"] == 1


def test_torch_is_given_tensors(shard):
    torch = pytest.importorskip("torch")
    import stoker.torch

    recipe = with_boxes(stoker.recipe().decode().resize((64, 64)))
    with stoker.torch.Loader(stoker.open(shard), recipe, batch=5) as loader:
        batch = next(iter(loader))
        assert isinstance(batch.boxes.values, torch.Tensor) and batch.boxes.values.shape[1] == 4
        rows = batch.boxes.as_list()
        assert len(rows) == 5 and sum(map(len, rows)) == len(batch.boxes.values) == len(batch.labels.values)
        half = batch.map(lambda tensor: tensor.half())
        assert half.boxes.values.dtype == torch.float16 and half.boxes.offsets.dtype == torch.int64
        assert "boxes=ragged [" in repr(batch)


@pytest.mark.parametrize("name, make, arguments", [
    ("crop", lambda r: r.random_resized_crop((80, 100), scale=(0.3, 1)), {"min_size": 0}),
    ("half seen", lambda r: r.random_resized_crop((80, 100), scale=(0.3, 1)), {"min_visible": 0.5}),
    ("resize", lambda r: r.resize(70).random_crop((50, 50)), {}),
    ("turned", lambda r: r.random_resized_crop((80, 100)).random_rotation(30), {"min_size": 0})])
def test_both_executors_agree_on_boxes_that_end_at_a_border(name, make, arguments):
    objects = np.array([[x, y, w, h] for x in range(0, 150, 10) for y in range(0, 100, 10) for w, h in ((10, 20), (30, 10))])
    recipe = with_boxes(make(stoker.recipe().decode()), most=1000, **arguments)
    data = sample(objects)
    for position in range(100):
        fast, slow = (recipe.apply(data, position=position, reference=reference) for reference in (False, True))
        assert fast["labels"].tolist() == slow["labels"].tolist()
        np.testing.assert_allclose(fast["boxes"], slow["boxes"], atol=1e-4)
        assert (fast["boxes"][:, 2] > fast["boxes"][:, 0]).all() and (slow["boxes"][:, 3] > slow["boxes"][:, 1]).all()
