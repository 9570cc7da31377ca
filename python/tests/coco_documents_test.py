"""COCO's own documents parse whole: recipes make of one what pycocotools reads from it, which ./dev test --full fetches."""

import json

import numpy as np
import pytest

import objects_of_coco
import sample_images
import stoker

CATEGORIES = {1: "person", 3: "car", 18: "dog", 90: "toothbrush"}
# By id, in the document's order, width and height.
IMAGES = {139: (64, 48), 9: (51, 70), 522418: (80, 60), 37: (33, 33), 285: (48, 64)}
EMPTY = 37
POINTS = 17


def image_of(number):
    width, height = IMAGES[number]
    name = f"{number:012}.jpg"
    return {"license": 3, "file_name": name, "coco_url": f"http://images.cocodataset.org/val2017/{name}", "height": height,
            "width": width, "date_captured": "2013-11-14 17:02:52", "flickr_url": "http://staticflickr.com/a_z.jpg", "id": number}


def write(folder, name, annotations, **more):
    """With the images beside it, and the annotations in no order, as in COCO's."""
    shuffled = [annotations[at] for at in np.random.default_rng(1).permutation(len(annotations))]
    document = {"info": {"description": "COCO 2017 Dataset", "version": "1.0", "year": 2017},
                "licenses": [{"id": 3, "name": "A \"licence\""}], "images": [image_of(number) for number in IMAGES],
                "annotations": shuffled} | more
    (folder / "annotations").mkdir()
    (folder / "val2017").mkdir()
    for number, (width, height) in IMAGES.items():
        image = sample_images.encoded(sample_images.picture(width, height, seed=number))
        (folder / "val2017" / f"{number:012}.jpg").write_bytes(image)
    path = folder / "annotations" / f"{name}_val2017.json"
    path.write_text(json.dumps(document))
    return path


def keypoints_of(rng, width, height):
    points = np.stack([rng.integers(0, width, POINTS), rng.integers(0, height, POINTS), rng.integers(0, 3, POINTS)], axis=1)
    points[points[:, 2] == 0] = 0
    return points


def instances():
    """Outlines of one to three parts; of every image one crowd, of runs as numbers or as text."""
    masks = pytest.importorskip("pycocotools.mask")
    made, rng = [], np.random.default_rng(5)
    for at, (number, (width, height)) in enumerate(IMAGES.items()):
        if number == EMPTY:
            continue
        for k in range(4):
            if k == 3:
                spots = (rng.random((height // 4 + 1, width // 4 + 1)) < 0.5).astype(np.uint8).repeat(4, 0).repeat(4, 1)
                coded = masks.encode(np.asfortranarray(spots[:height, :width]))
                runs = objects_of_coco.runs_of(masks.decode(coded))
                shape = {"counts": coded["counts"].decode() if at % 2 else runs, "size": [height, width]}
            else:
                shape = [[round(float(n), 2) for n in (rng.random((6, 2)) * [width, height]).ravel()] for _ in range(k + 1)]
                coded = masks.merge(masks.frPyObjects(shape, height, width))
            points = keypoints_of(rng, width, height) if k < 2 else np.zeros((POINTS, 3), int)
            made.append({"segmentation": shape, "area": float(masks.area(coded)), "iscrowd": int(k == 3), "image_id": number,
                         "bbox": masks.toBbox(coded).tolist(), "category_id": list(CATEGORIES)[(at + k) % 4],
                         "id": 900100 + 10 * at + k, "keypoints": points.ravel().tolist(),
                         "num_keypoints": int((points[:, 2] > 0).sum())})
    return made


@pytest.fixture(scope="module")
def document(tmp_path_factory):
    categories = [{"supercategory": "all", "id": number, "name": name} for number, name in CATEGORIES.items()]
    return write(tmp_path_factory.mktemp("coco"), "instances", instances(), categories=categories)


@pytest.fixture(scope="module")
def theirs(document):
    return pytest.importorskip("pycocotools.coco").COCO(document)


def with_objects(crowds, image=stoker.recipe().decode()):
    recipe = image.view("boxes", field="json").like("image").decode_boxes("coco", form="xywh", crowds=crowds, min_size=0)
    recipe = recipe.view("labels").like("boxes").box_labels().view("instances").like("boxes").decode_instances()
    return recipe.view("keypoints").like("boxes").decode_keypoints(POINTS)


def test_every_image_has_its_annotations_unchanged(document, theirs):
    data = stoker.open(document)
    assert data.keys == [f"{number:012}" for number in IMAGES]
    for at, number in enumerate(IMAGES):
        assert json.loads(data[at]["json"]) == theirs.loadAnns(theirs.getAnnIds(imgIds=number))


@pytest.mark.parametrize("crowds", ["drop", "keep"])
def test_objects_are_those_of_pycocotools(document, theirs, crowds):
    data, seen = stoker.open(document), 0
    for at, number in enumerate(IMAGES):
        objects = theirs.loadAnns(theirs.getAnnIds(imgIds=number, iscrowd=None if crowds == "keep" else False))
        out = with_objects(crowds).apply(data[at])
        np.testing.assert_allclose(out["boxes"], np.reshape([each["bbox"] for each in objects], (-1, 4)), atol=1e-4)
        assert out["labels"].tolist() == [each["category_id"] for each in objects]
        width, height = IMAGES[number]
        masks = np.reshape([theirs.annToMask(each) for each in objects], (-1, height, width))
        np.testing.assert_array_equal(out["instances"], masks)
        np.testing.assert_array_equal(out["keypoints"], np.reshape([each["keypoints"] for each in objects], (-1, POINTS, 3)))
        assert (out["keypoints"][:, :, 2] > 0).sum(axis=1).tolist() == [each["num_keypoints"] for each in objects]
        seen += len(objects)
    assert seen == (16 if crowds == "keep" else 12)


def test_batches_hold_the_objects_of_every_image(document, theirs):
    """Where an image has none, no row."""
    recipe = with_objects("drop", stoker.recipe().decode().resize((96, 96)))
    (batch,) = stoker.Loader(document, recipe, batch=len(IMAGES), order="none", bad_sample="fail")
    for slot, (number, (width, height)) in enumerate(IMAGES.items()):
        objects = theirs.loadAnns(theirs.getAnnIds(imgIds=number, iscrowd=False))
        assert (len(objects) == 0) == (number == EMPTY)
        assert batch.labels[slot].tolist() == [each["category_id"] for each in objects]
        want = np.reshape([each["bbox"] for each in objects], (-1, 4)) * np.array([96 / width, 96 / height] * 2)
        np.testing.assert_allclose(batch.boxes[slot], want, atol=1e-3)
        assert len(batch.instances[slot]) == len(batch.keypoints[slot]) == len(objects)


def captions():
    return [{"image_id": number, "id": 7000 + 10 * at + k, "caption": f"Picture {number}, \"told\" for the {k}. time: Größe 🐕 \n"}
            for at, number in enumerate(IMAGES) for k in range(5)]


def one_of(annotations, rng):
    """As a function of the user's draws it."""
    return json.loads(annotations)[rng.integers(5)]["caption"]


def test_each_of_five_captions_has_its_place(tmp_path):
    theirs = pytest.importorskip("pycocotools.coco").COCO(document := write(tmp_path, "captions", captions()))
    want = {f"{number:012}": [each["caption"] for each in theirs.loadAnns(theirs.getAnnIds(imgIds=number))] for number in IMAGES}
    recipe = stoker.recipe().decode().resize((24, 24))
    for k in range(5):
        recipe = recipe.view(f"caption_{k}", field="json").decode_text(f"/{k}/caption")
    (batch,) = stoker.Loader(document, recipe, batch=len(IMAGES), bad_sample="fail")
    for key, *texts in zip(batch.key, *(batch[f"caption_{k}"].as_texts() for k in range(5))):
        assert texts == want.pop(key)
    assert not want


def test_a_function_draws_one_of_the_captions(tmp_path):
    document = write(tmp_path, "captions", captions())
    recipe = stoker.recipe().decode().resize((24, 24)).view("captions", field="json").decode_text(most=4000)
    recipe = recipe.map(one_of, "captions", {"caption": ("u8", (), 200)})
    loader = stoker.Loader(document, recipe, batch=len(IMAGES), seed=3, threads=1, bad_sample="fail")
    drawn = set()
    for epoch in range(6):
        for batch in loader.epoch(epoch):
            for key, text in zip(batch.key, batch.caption.as_texts()):
                assert text in [each["caption"] for each in captions() if each["image_id"] == int(key)]
                drawn.add(text)
    assert len(drawn) > len(IMAGES)
