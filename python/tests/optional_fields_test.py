"""Samples that lack a field which their recipe calls optional: images without objects, without a caption, without tokens."""

import io
import logging
import tarfile

import numpy as np
import pytest
from PIL import Image

import stoker

COUNT = 12


def image(number):
    out = io.BytesIO()
    Image.fromarray(np.full((30, 40, 3), 10 * number, np.uint8)).save(out, "PNG")
    return out.getvalue()


def files_of(number):
    files = {"png": image(number)}
    if number % 2 == 0:
        files["txt"] = f"{number} 0.5 0.5 0.25 0.5\n".encode()
    if number % 3 == 0:
        files["json"] = f'{{"caption": "image {number}"}}'.encode()
    if number % 4 == 0:
        files["ids.u16"] = np.arange(number + 1, dtype=np.uint16).tobytes()
    return files


def as_folder(path):
    for number in range(COUNT):
        for name, content in files_of(number).items():
            (path / f"{number:02}.{name}").write_bytes(content)
    return path


def as_tar(path):
    with tarfile.open(path / "data.tar", "w") as tar:
        for number in range(COUNT):
            for name, content in files_of(number).items():
                member = tarfile.TarInfo(f"{number:02}.{name}")
                member.size = len(content)
                tar.addfile(member, io.BytesIO(content))
    return path / "data.tar"


def recipe(optional=lambda view: view.optional()):
    made = stoker.recipe().decode().resize((16, 32))
    made = optional(made.view("boxes", field="txt").like("image")).decode_boxes("yolo")
    made = made.view("labels").like("boxes").box_labels()
    made = optional(made.view("caption", field="json")).decode_text("caption")
    return optional(made.view("ids", field="ids.u16")).decode_tokens(length=20)


def check(number, boxes, labels, caption, ids):
    assert labels.tolist() == ([number] if number % 2 == 0 else [])
    assert boxes.tolist() == ([[12, 4, 20, 12]] if number % 2 == 0 else [])
    assert caption == (f"image {number}" if number % 3 == 0 else "")
    tokens = list(range(number + 1)) if number % 4 == 0 else []
    assert ids.tolist() == tokens + [0] * (20 - len(tokens))


@pytest.mark.parametrize("make", [as_folder, as_tar])
@pytest.mark.parametrize("options", [{}, {"cache": "ram"}], ids=["read", "from memory"])
def test_what_samples_lack_is_empty(tmp_path, make, options):
    loader = stoker.Loader(make(tmp_path), recipe(), batch=5, tail="keep", **options)
    for epoch in range(2):
        seen = set()
        for batch in loader.epoch(epoch):
            assert not batch.errors
            captions, ids = batch.caption.as_texts(), batch.ids.numpy()
            for slot, key in enumerate(batch.key):
                check(int(key), batch.boxes[slot], batch.labels[slot], captions[slot], ids[slot])
                seen.add(key)
        assert len(seen) == COUNT


@pytest.mark.parametrize("reference", [False, True])
def test_a_dict_may_lack_it_too(reference):
    for number in range(COUNT):
        made = recipe().apply(files_of(number), reference=reference)
        check(number, made["boxes"], made["labels"], bytes(made["caption"]).decode(), made["ids"])
    batch = stoker.Preprocessor(recipe())([files_of(number) for number in range(COUNT)])
    captions, ids = batch.caption.as_texts(), batch.ids.numpy()
    for number in range(COUNT):
        check(number, batch.boxes[number], batch.labels[number], captions[number], ids[number])


def test_without_it_a_sample_is_bad_and_told_how_to_be_good(tmp_path):
    loader = stoker.Loader(as_folder(tmp_path), recipe(lambda view: view), batch=COUNT, order="none", bad_sample="fail")
    with pytest.raises(stoker.Error, match="it has no field 'txt', only png .a view of boxes, a text or tokens may be optional"):
        next(iter(loader))


def test_a_field_is_optional_if_it_is_for_all_views_that_read_it(tmp_path):
    both = recipe().view("bytes", field="txt").decode_bytes()
    loader = stoker.Loader(as_folder(tmp_path), both, batch=COUNT, order="none", bad_sample="fail")
    with pytest.raises(stoker.Error, match="it has no field 'txt'"):
        next(iter(loader))
    loader = stoker.Loader(tmp_path, recipe().view("bytes", field="txt").optional().decode_bytes(), batch=COUNT, order="none")
    assert [len(value) for value in next(iter(loader)).bytes.as_bytes()][:2] == [len(files_of(0)["txt"]), 0]


def test_bytes_alone_are_the_field_that_is_not_optional():
    want = recipe().apply({"png": image(3)})
    assert (recipe().apply(image(3))["image"] == want["image"]).all()
    batch = stoker.Preprocessor(recipe())(image(3))
    assert (batch.image.numpy()[0] == want["image"]).all() and len(batch.boxes[0]) == 0
    strict = recipe(lambda view: view)
    with pytest.raises(stoker.Error, match="give a dict of bytes"):
        strict.apply(image(3))


def test_null_in_json_stands_for_nothing():
    made = stoker.recipe().decode().resize((16, 32))
    boxes = made.view("boxes", field="json").like("image").optional().decode_boxes("coco")
    for nothing in (b"null", b'{"annotations": null}', b""):
        assert len(boxes.apply({"png": image(1), "json": nothing})["boxes"]) == 0
    with pytest.raises(stoker.Error, match="its JSON has no objects"):
        boxes.apply({"png": image(1), "json": b'{"objects": []}'})
    text = made.view("text", field="json").optional().decode_text("caption")
    assert len(text.apply({"png": image(1), "json": b'{"caption": null}'})["text"]) == 0
    with pytest.raises(stoker.Error, match="has no 'caption'"):
        text.apply({"png": image(1), "json": b"{}"})


def test_what_no_sample_has_is_told(tmp_path, caplog):
    (tmp_path / "a.png").write_bytes(image(1))
    optional = stoker.recipe().decode().resize((16, 32)).view("boxes", field="txt").like("image").optional()
    with caplog.at_level(logging.WARNING, logger="stoker"):
        with stoker.Loader(tmp_path, optional.decode_boxes("yolo"), batch=1) as loader:
            assert len(next(iter(loader)).boxes[0]) == 0
    told = "\n".join(record.getMessage() for record in caplog.records)
    assert "reads the field 'txt', which no sample has; the data set's fields are png" in told


def test_mistakes(tmp_path):
    boxes = stoker.recipe().decode().resize((16, 16)).view("boxes", field="text").like("image").decode_boxes("yolo")
    with pytest.raises(stoker.Error, match="reads the field 'text', which no sample has; the data set's fields are .*txt; is 'txt' meant"):
        stoker.Loader(as_folder(tmp_path), boxes, batch=2)
    for wrong in (stoker.recipe().optional().decode().resize((16, 16)),
                  stoker.recipe().decode().resize((16, 16)).view("label").optional(),
                  stoker.recipe().decode().resize((16, 16)).view("mask", field="png").like("image").optional().decode_mask(),
                  recipe().view("labels").optional()):
        with pytest.raises(stoker.Error, match="cannot be optional: that is for views that begin with decode_boxes"):
            stoker.Loader(tmp_path, wrong, batch=2)


def test_an_empty_file_is_damage_without_it():
    image_alone = {"png": image(1), "json": b""}
    boxes = stoker.recipe().decode().resize((16, 16)).view("boxes", field="json").like("image")
    with pytest.raises(stoker.Error, match="JSON"):
        boxes.decode_boxes("coco").apply(image_alone)
    assert len(boxes.optional().decode_boxes("coco").apply(image_alone)["boxes"]) == 0


def test_its_text_says_so():
    text = recipe().to_toml()
    assert text.count("optional = true") == 3 and stoker.Recipe.from_toml(text) == recipe()
    assert "optional" not in recipe(lambda view: view).to_toml()
    with pytest.raises(stoker.Error, match="optional must be true or false"):
        stoker.Recipe.from_toml(text.replace("optional = true", "optional = 1"))
