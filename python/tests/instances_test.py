"""The mask of an object goes where a picture of classes goes, of which it is one."""

import io
import json
import tarfile

import numpy as np
import pytest

import stoker
from objects_of_coco import HEIGHT, WIDTH, annotations, box_around, coded, outlines_of, png, runs_of, sample, with_boxes


def with_instances(recipe, field="json", source="shapes", **arguments):
    return with_boxes(recipe, **arguments).view("instances", field=field).like("boxes").decode_instances(source)


def whole(data, width=WIDTH, height=HEIGHT, **arguments):
    """At the size of the image."""
    return with_instances(stoker.recipe().decode().center_crop((height, width)), min_size=0, **arguments).apply(data)["instances"]


OPERATORS = {
    "crop": lambda r: r.center_crop(100),
    "padded": lambda r: r.center_crop(240),
    "random_resized_crop": lambda r: r.random_resized_crop(96, scale=(0.3, 1)).random_flip(),
    "resize, flips": lambda r: r.resize((60, 90)).flip().flip("vertical"),
    "enlarged": lambda r: r.flip("vertical").resize((300, 410)),
    "flip, crop, resize": lambda r: r.flip().random_crop(110).resize((300, 200)),
    "pad": lambda r: r.resize((60, 90)).pad([3, 4, 5, 6]),
    "zoom_out": lambda r: r.zoom_out(128, p=0.9),
    "scale_jitter": lambda r: r.scale_jitter(128, scale=(0.5, 2)),
    "rotation": lambda r: r.resize((120, 120)).random_rotation(30),
    "rotation first": lambda r: r.random_rotation(20).random_resized_crop(100, scale=(0.5, 1)),
    "rotation, then padding": lambda r: r.random_rotation(20).resize((50, 50)).pad(3),
    "perspective": lambda r: r.resize((120, 120)).random_perspective(0.4, p=1),
    "elastic": lambda r: r.resize((90, 110)).elastic(alpha=60),
    "a policy": lambda r: r.resize((90, 110)).rand_augment(),
}


@pytest.mark.parametrize("name", OPERATORS)
def test_it_goes_where_a_mask_of_classes_goes(name):
    recipe = OPERATORS[name](stoker.recipe().decode())
    for number in range(4):
        recipe = recipe.view(f"mask{number}", field=f"mask{number}.png").like("image").decode_mask(fill=0)
    recipe = with_instances(recipe, min_size=0)
    seen = 0
    for position in range(5):
        data = sample(outlines_of(position))
        masks = {f"mask{number}.png": png(mask) for number, mask in enumerate(whole(data))}
        assert len(masks) == 4
        out = recipe.apply(data | masks, seed=3, position=position)
        assert out["instances"].dtype == np.uint8
        assert out["instances"].shape == (len(out["labels"]), *out["mask0"].shape)
        for label, mask in zip(out["labels"], out["instances"]):
            np.testing.assert_array_equal(mask, out[f"mask{label - 10}"])
            seen += mask.any()
    assert seen > 5


@pytest.mark.parametrize("source", ["shapes", "ids", "rgb_ids"])
@pytest.mark.parametrize("name", OPERATORS)
def test_both_executors_make_the_same_masks(name, source):
    recipe = with_instances(OPERATORS[name](stoker.recipe().decode()), "ids.png", source)
    for position in range(3):
        data = sample(outlines_of(position))
        if position == 1:
            masks = whole(data)
            runs = [{"size": [HEIGHT, WIDTH], "counts": runs_of(mask) if number % 2 else coded(runs_of(mask))}
                    for number, mask in enumerate(masks)]
            data["json"] = annotations(runs, [box_around(outlines) for outlines in outlines_of(position)])
        ids = np.random.default_rng(position).integers(98, 106, (HEIGHT // 5, WIDTH // 5), dtype=np.uint8).repeat(5, 0).repeat(5, 1)
        data["ids.png"] = png(ids if source == "ids" else np.stack([ids, ids * 0, ids * 0], axis=2))
        fast, plain = (recipe.apply(data, seed=5, position=position, reference=slow)["instances"] for slow in (False, True))
        np.testing.assert_array_equal(fast, plain)


def test_both_executors_agree_on_outlines_of_any_kind(rounds):
    recipe = with_instances(stoker.recipe().decode().center_crop((60, 70)), min_size=0)
    rng = np.random.default_rng(7)
    image = png(np.zeros((60, 70, 3), np.uint8))
    for _ in range(rounds(30)):
        outlines = [[(rng.uniform(-20, 90, 2 * rng.integers(3, 9)) * 2).round(int(rng.integers(0, 3))) / 2 for _ in range(2)]
                    for _ in range(3)]
        data = {"image": image, "json": annotations([[o.tolist() for o in each] for each in outlines], [[0, 0, 70, 60]] * 3)}
        fast, plain = (recipe.apply(data, reference=slow)["instances"] for slow in (False, True))
        np.testing.assert_array_equal(fast, plain)


def test_sources_say_the_same():
    objects = outlines_of(11)
    data = sample(objects)
    masks, boxes = whole(data), [box_around(outlines) for outlines in objects]
    assert masks.shape == (4, HEIGHT, WIDTH) and masks.any(axis=(1, 2)).all()
    for runs in ([runs_of(mask) for mask in masks], [coded(runs_of(mask)) for mask in masks]):
        shapes = [{"counts": counts, "size": [HEIGHT, WIDTH]} for counts in runs]
        np.testing.assert_array_equal(whole(data | {"json": annotations(shapes, boxes)}), masks)
    ids = np.zeros((HEIGHT, WIDTH), np.uint8)
    for number, mask in enumerate(masks):
        ids[mask == 1] = 100 + number
    apart = [ids == 100 + number for number in range(4)]
    np.testing.assert_array_equal(whole(data | {"ids.png": png(ids)}, field="ids.png", source="ids"), apart)
    colors = np.stack([ids, ids * 0, (ids > 0).astype(np.uint8)], axis=2)
    wide = [each | {"id": each["id"] + 65536} for each in json.loads(data["json"])]
    panoptic = {"json": json.dumps([{"segments_info": wide}]).encode(), "ids.png": png(colors)}
    np.testing.assert_array_equal(whole(data | panoptic, field="ids.png", source="rgb_ids"), apart)


def test_ids_of_pascal_voc_are_places_in_its_list():
    one = "<object><name>dog</name><bndbox><xmin>1</xmin><ymin>1</ymin><xmax>9</xmax><ymax>9</ymax></bndbox></object>"
    ids = np.arange(12, dtype=np.uint8).reshape(3, 4)
    data = {"image": png(np.zeros((3, 4, 3), np.uint8)), "xml": f"<annotation>{one * 3}</annotation>".encode(), "ids.png": png(ids)}
    recipe = stoker.recipe().decode().center_crop((3, 4)).view("boxes", field="xml").like("image").decode_boxes("voc", min_size=0)
    out = recipe.view("instances", field="ids.png").like("boxes").decode_instances("ids").apply(data)
    np.testing.assert_array_equal(out["instances"], [ids == 1, ids == 2, ids == 3])
    with pytest.raises(stoker.Error, match="not read from COCO's JSON.*use source='ids'"):
        recipe.view("instances").like("boxes").decode_instances().apply(data)


def test_objects_that_are_left_out_have_no_mask():
    objects = outlines_of(3)
    recipe = with_instances(stoker.recipe().decode().crop(0, 0, 60, 60), min_visible=0.5)
    out = recipe.apply(sample(objects, iscrowd=[0, 1, 0, 0]))
    assert len(out["instances"]) == len(out["boxes"]) < 4
    everything = with_instances(stoker.recipe().decode().crop(0, 0, 60, 60), min_size=0).apply(sample(objects))
    for label, mask in zip(out["labels"], out["instances"]):
        np.testing.assert_array_equal(mask, everything["instances"][list(everything["labels"]).index(label)])
    nothing = recipe.apply(sample(objects) | {"json": b"[]"})["instances"]
    assert nothing.shape == (0, 60, 60)


BOX = [70, 40, 30, 40]


@pytest.mark.parametrize("shape, words", [
    (3, "neither outlines of numbers"), ("abc", "neither outlines of numbers"), ([1, 2, 3, 4, 5, 6], "neither outlines"),
    ([["1", 2]], "neither outlines of numbers"), ([[[1, 2]]], "neither outlines of numbers"),
    ([[1, 2, 3, 4, 5, 6, 7]], "a corner without y"), ([[1e300, 2, 3, 4, 5, 6]], "not a place near the image"),
    (None, "no segmentation, and masks of its objects are asked for"),
    ({"counts": [1, 2], "size": [HEIGHT, WIDTH]}, f"3 pixels, and the image has {WIDTH} x {HEIGHT}"),
    ({"counts": [], "size": [HEIGHT, WIDTH]}, "0 pixels"), ({"size": [HEIGHT, WIDTH]}, "0 pixels"),
    ({"counts": [-1], "size": [HEIGHT, WIDTH]}, "do not fit"), ({"counts": [1.5], "size": [HEIGHT, WIDTH]}, "neither outlines"),
    ({"counts": {"0": 1}, "size": [HEIGHT, WIDTH]}, "neither outlines"), ({"counts": "P", "size": [HEIGHT, WIDTH]}, "damaged"),
    ({"counts": [WIDTH * HEIGHT], "size": [WIDTH, HEIGHT]}, "another size than its image"),
    ({"counts": [WIDTH * HEIGHT]}, "another size than its image"), ({"counts": [1], "size": 3}, "neither outlines"),
])
def test_what_is_not_its_mask_is_a_bad_sample(shape, words):
    data = sample([]) | {"json": annotations([shape], [BOX])}
    for reference in (False, True):
        recipe = with_instances(stoker.recipe().decode().center_crop(64))
        with pytest.raises(stoker.Error, match=words):
            recipe.apply(data, reference=reference)


def test_the_last_of_equal_keys_counts():
    square, all_of_it = "[[1, 1, 9, 1, 9, 9, 1, 9]]", f'{{"counts": [0, {WIDTH * HEIGHT}], "size": [{HEIGHT}, {WIDTH}]}}'
    for shapes, pixels in (((square, all_of_it), WIDTH * HEIGHT), ((all_of_it, square), 64), ((square, square), 64)):
        text = '[{"bbox": [1, 2, 3, 4], "category_id": 1, ' + ", ".join(f'"segmentation": {shape}' for shape in shapes) + "}]"
        assert whole(sample([]) | {"json": text.encode()}).sum() == pixels


def test_a_picture_of_ids_is_as_large_as_its_image():
    data = sample(outlines_of(1)) | {"ids.png": png(np.zeros((HEIGHT, WIDTH - 1), np.uint8))}
    with pytest.raises(stoker.Error, match="the mask has 189 x 130 pixels, and its image 190 x 130"):
        whole(data, field="ids.png", source="ids")


def test_what_makes_no_sense_is_refused_at_once():
    def refusal(recipe):
        with pytest.raises(stoker.Error) as error:
            recipe.apply(sample([]))
        return str(error.value)

    boxes = with_boxes(stoker.recipe().decode().center_crop(64))
    assert "masks of objects belong to boxes" in refusal(boxes.view("instances").decode_instances())
    assert "no view 'image' has boxes" in refusal(boxes.view("instances").like("image").decode_instances())
    assert "cannot follow decode_instances" in refusal(boxes.view("instances").like("boxes").decode_instances().flip())
    assert "only mosaic mixes boxes" in refusal(with_instances(stoker.recipe().decode().center_crop(64)).mixup())


def test_a_recipe_with_instances_is_read_back_as_it_was_written():
    recipe = with_instances(stoker.recipe().decode().center_crop(64), "ids.png", "rgb_ids")
    assert stoker.Recipe.from_toml(recipe.to_toml()) == recipe


@pytest.fixture(scope="module")
def shard(tmp_path_factory):
    """Of 20 samples with 0 to 6 objects, one of which has a damaged mask."""
    at = tmp_path_factory.mktemp("instances") / "a.tar"
    with tarfile.open(at, "w") as tar:
        for number in range(20):
            data = sample(outlines_of(number, number % 7))
            if number == 13:
                data["json"] = annotations([{"counts": "P", "size": [HEIGHT, WIDTH]}], [BOX])
            for field, content in (("png", png(np.full((HEIGHT, WIDTH, 3), number, np.uint8))), ("json", data["json"])):
                member = tarfile.TarInfo(f"{number:04}.{field}")
                member.size = len(content)
                tar.addfile(member, io.BytesIO(content))
    return at


@pytest.mark.parametrize("index", [None, 0, 3])
def test_batches_hold_the_masks_of_all_objects(shard, index):
    recipe = with_instances(stoker.recipe().decode().random_resized_crop((48, 64), scale=(0.5, 1)).random_flip(), most=8)
    options = {} if index is None else {"device": "emulated:execute", "transfer_index": index}
    total = 0
    with stoker.Loader(stoker.open(shard), recipe, batch=5, seed=2, tune="off", **options) as loader:
        for batch in loader:
            offsets = np.asarray(batch.instances.offsets)
            np.testing.assert_array_equal(offsets, np.asarray(batch.boxes.offsets))
            assert np.asarray(batch.instances.values).shape == (offsets[-1], 48, 64)
            for slot, masks in enumerate(batch.instances.as_list()):
                number = int(np.asarray(batch.image)[slot].max())
                fields = {"image": png(np.full((HEIGHT, WIDTH, 3), number, np.uint8)), "json": sample(outlines_of(number, number % 7))["json"]}
                alone = recipe.apply(fields, seed=2, epoch=batch.epoch, position=int(batch.position[slot]))
                np.testing.assert_array_equal(masks, alone["instances"])
                total += len(masks)
    assert total > 20 and loader.metrics()["bad_samples"] == 1


def test_a_batch_has_room_for_most_of_them(shard):
    recipe = with_instances(stoker.recipe().decode().center_crop(1024), most=2048)
    with pytest.raises(stoker.Error, match="2048 masks of 1024 x 1024 pixels take more than the limit.*a smaller most"):
        stoker.Loader(stoker.open(shard), recipe, batch=2)


def test_outlines_and_runs_are_pycocotools(rounds):
    """Which ./dev test --full fetches."""
    theirs = pytest.importorskip("pycocotools.mask")
    for seed in range(rounds(20)):
        rng = np.random.default_rng(seed)
        width, height = rng.integers(8, 90, 2).tolist()
        objects = [[(rng.uniform(-9, 99, 2 * rng.integers(3, 12)) * 8).round(int(rng.integers(0, 3))) / 8 for _ in range(rng.integers(1, 4))]
                   for _ in range(6)]
        objects = [[outline.tolist() for outline in outlines] for outlines in objects]
        coded_masks = [theirs.merge(theirs.frPyObjects(outlines, height, width)) for outlines in objects]
        want = np.stack([theirs.decode(mask) for mask in coded_masks])
        image = {"image": png(np.zeros((height, width, 3), np.uint8))}
        boxes = [[0, 0, width, height]] * 6
        np.testing.assert_array_equal(whole(image | {"json": annotations(objects, boxes)}, width, height), want)
        runs = [mask | {"counts": mask["counts"].decode()} for mask in coded_masks]
        np.testing.assert_array_equal(whole(image | {"json": annotations(runs, boxes)}, width, height), want)
        assert [coded(runs_of(mask)) for mask in want] == [theirs.encode(np.asfortranarray(mask))["counts"].decode() for mask in want]


@pytest.mark.parametrize("name", ["padded", "random_resized_crop", "rotation, then padding"])
def test_a_mask_of_classes_may_be_made_of_objects(name):
    """Categories where one object is, fill where several are; as of a picture of the same."""
    for position in range(4):
        data = sample(outlines_of(position, 6))
        objects = json.loads(data["json"])
        for each in objects:
            each |= {"category_id": each["category_id"] % 3 + 1, "bbox": [0, 0, WIDTH, HEIGHT]}
        data["json"] = json.dumps(objects).encode()
        classes = np.zeros((HEIGHT, WIDTH), np.uint8)
        for each, mask in zip(objects, whole(data)):
            own = each["category_id"]
            classes = np.where(mask == 1, np.where((classes == 0) | (classes == own), own, 200), classes).astype(np.uint8)
        assert len(np.unique(classes)) > 3
        recipe = OPERATORS[name](stoker.recipe().decode())
        recipe = recipe.view("made", field="json").like("image").decode_mask("objects", fill=200)
        recipe = recipe.view("mask", field="mask.png").like("image").decode_mask(fill=200)
        for reference in (False, True):
            out = recipe.apply(data | {"mask.png": png(classes)}, seed=6, position=position, reference=reference)
            np.testing.assert_array_equal(out["made"], out["mask"])
    with pytest.raises(stoker.Error, match="the category -1, which is no class"):
        recipe.apply(data | {"json": data["json"].replace(b'"category_id": 1', b'"category_id": -1'), "mask.png": png(classes)})
