"""Opening data sets and looking at single samples."""

import io
import os
import pickle
import tarfile
from pathlib import Path

import numpy
import pytest

import stoker
from sample_images import encoded, picture


def test_a_folder_is_numbered_as_imagefolder_does(folder):
    from torchvision.datasets import ImageFolder

    theirs = ImageFolder(folder)
    data = stoker.open(folder)
    assert len(data) == len(theirs) == 50
    assert data.classes == theirs.classes
    assert data.fields == ["jpg"]
    for number, (path, label) in enumerate(theirs.samples):
        sample = data[number]
        assert sample["key"] == str(Path(path).relative_to(folder).with_suffix(""))
        assert sample["label"] == label
        assert sample["jpg"] == Path(path).read_bytes()


def test_samples_are_counted_from_the_end_too(folder):
    data = stoker.open(str(folder))
    assert data[-1] == data[49] and data[-50] == data[0]
    assert len(list(data)) == 50
    for outside in (50, -51, 2**70):
        with pytest.raises(IndexError):
            data[outside]
    with pytest.raises(stoker.Error, match="index is 'a'"):
        data["a"]
    assert repr(data) == "Dataset(50 samples, 3 classes)"


def test_a_tar_has_its_members_fields(tmp_path):
    image = encoded(picture(20, 20))
    with tarfile.open(tmp_path / "shard.tar", "w") as tar:
        for name, content in [("a/0.jpg", image), ("a/0.cls", b"3"), ("a/1.jpg", image), ("a/1.cls", b"5"), ("a/1.json", b"{}")]:
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    data = stoker.open(tmp_path / "shard.tar")
    assert data[0] == {"jpg": image, "cls": b"3", "label": 3, "key": "a/0"}
    assert data[1] == {"jpg": image, "cls": b"5", "json": b"{}", "label": 5, "key": "a/1"}
    assert data.fields == ["jpg", "cls", "json"] and data.classes == []
    joined = stoker.open([tmp_path / "shard.tar", str(tmp_path / "shard.tar")])
    assert len(joined) == 4 and joined[3] == data[1]


def tar_of(path, contents):
    with tarfile.open(path, "w") as tar:
        for name, content in contents.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return path


def test_a_shard_is_the_same_however_it_is_read(tmp_path):
    shard = tar_of(tmp_path / "shard.tar", {"a.jpg": encoded(picture(20, 20)), "a.cls": b"3"})
    want = stoker.open(shard)[0]
    for way in ({"io": "pread"}, {"io": "auto", "direct": True}, {"use_index": False}, {"index_dir": tmp_path}):
        assert stoker.open(shard, **way)[0] == want, way


@pytest.mark.parametrize("options, message", [
    ({"io": "mmap"}, "'mmap' is not a way to read; use auto, uring or pread"),
    ({"io": None}, "io is None"),
    ({"direct": 2}, "direct is 2"),
    ({"use_index": "no"}, "use_index is 'no'"),
    ({"index_dir": 5}, "index_dir is 5"),
    ({"index_dir": "x", "use_index": False}, "leave one of them out"),
])
def test_ways_to_read_are_checked(folder, options, message):
    with pytest.raises(stoker.Error, match=message) as caught:
        stoker.open(folder, **options)
    assert caught.value.kind == "usage"


def test_names_that_are_not_utf8_survive(tmp_path):
    name = os.fsdecode(b"caf\xe9")
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / f"{name}.jpg").write_bytes(encoded(picture(9, 9)))
    data = stoker.open(tmp_path)
    assert data[0]["key"] == f"one/{name}"


@pytest.mark.parametrize("make, kinds, message", [
    (lambda path: path / "missing", {"not_found"}, "missing"),
    (lambda path: [path / "one", 5], {"usage"}, "data is 5"),
    (lambda path: 5, {"usage"}, "data is 5, but must be a path or a list of paths"),
    (lambda path: None, {"usage"}, "data is None"),
    (lambda path: [], {"usage"}, "data is \\[\\]"),
], ids=["missing", "number in list", "number", "None", "empty list"])
def test_what_cannot_be_opened_is_named(tmp_path, make, kinds, message):
    with pytest.raises(stoker.Error, match=message) as caught:
        stoker.open(make(tmp_path))
    assert caught.value.kind in kinds


def test_an_empty_folder_opens_and_cannot_be_loaded(tmp_path, recipe):
    data = stoker.open(tmp_path)
    assert len(data) == 0 and data.fields == []
    for empty in (data, tmp_path, [tmp_path]):
        with pytest.raises(stoker.Error) as caught:
            stoker.Loader(empty, recipe, batch=1)
        assert (caught.value.kind, str(caught.value)) == ("data", f"there are no samples in {tmp_path}: Stoker looks for images and shards")


def test_a_file_that_vanished_is_named(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "x.jpg").write_bytes(encoded(picture(9, 9)))
    data = stoker.open(tmp_path)
    (tmp_path / "a" / "x.jpg").unlink()
    with pytest.raises(stoker.Error, match="x.jpg") as caught:
        data[0]
    assert caught.value.kind == "not_found"


def test_an_image_is_not_a_data_set_but_may_be_listed(tmp_path):
    (tmp_path / "x.jpg").write_bytes(encoded(picture(9, 9)))
    with pytest.raises(stoker.Error, match="not a kind of data.*write a CSV file with the heading path,label"):
        stoker.open(tmp_path / "x.jpg")
    (tmp_path / "list.csv").write_text("path,label\nx.jpg,3\n")
    assert stoker.open(tmp_path / "list.csv")[0]["label"] == 3


def test_the_image_and_the_label_may_be_other_fields(tmp_path):
    first, second = encoded(picture(20, 20)), encoded(picture(30, 20))
    tar_of(tmp_path / "shard.tar", {"0.jpg": first, "0.photo": second, "0.kind": b"dog", "1.jpg": first, "1.photo": second,
                                    "1.kind": b"cat"})
    data = stoker.open(tmp_path / "shard.tar", image_field="photo", label_field="kind")
    assert data.classes == ["cat", "dog"] and [data[0]["label"], data[1]["label"]] == [1, 0]
    assert data[0]["photo"] == second
    tar_of(tmp_path / "usual.tar", {"0.jpg": second, "0.cls": b"1", "1.jpg": second, "1.cls": b"0"})
    recipe = stoker.recipe().decode().center_crop(16)
    batches = [next(iter(stoker.Loader(given, recipe, batch=2, order="none")))
               for given in (data, tmp_path / "usual.tar", tmp_path / "shard.tar")]
    images = [numpy.asarray(batch.image).copy() for batch in batches]
    assert (images[0] == images[1]).all() and (images[0] != images[2]).any()
    assert list(numpy.asarray(batches[0].label)) == list(numpy.asarray(batches[1].label)) == [1, 0]
    again = pickle.loads(pickle.dumps(data))
    assert again.classes == data.classes and again[0] == data[0]
    for choice in ({"image_field": "picture"}, {"label_field": "picture"}):
        with pytest.raises(stoker.Error, match="no field 'picture' in the data set, which has 'jpg', 'photo', 'kind'"):
            stoker.open(tmp_path / "shard.tar", **choice)


@pytest.mark.parametrize("dtype, ending", [("i1", "i8"), ("<i2", "i16"), ("<i4", "i32"), ("<i8", "i64"), ("u1", "u8"), ("<u2", "u16"), ("<u4", "u32"),
                                           ("<u8", "u64"), ("<f2", "f16"), ("<f4", "f32"), ("<f8", "f64")])
def test_labels_are_numbers_of_any_type(tmp_path, dtype, ending):
    numbers = [53, 7, 49, 110, 0]
    image = encoded(picture(20, 20))
    fields = {f"{number}.{field}": content for number, label in enumerate(numbers)
              for field, content in (("jpg", image), (f"digit.{ending}", numpy.array(label, dtype).tobytes()))}
    tar_of(tmp_path / "shard.tar", fields)
    for name in ("digit", f"digit.{ending}"):
        data = stoker.open(tmp_path / "shard.tar", label_field=name)
        assert data.labels.tolist() == numbers and data.classes == []
    if numpy.dtype(dtype).kind != "u":
        tar_of(tmp_path / "unknown.tar", {**fields, f"2.digit.{ending}": numpy.array(-1, dtype).tobytes()})
        assert stoker.open(tmp_path / "unknown.tar", label_field="digit").labels.tolist() == [53, 7, -1, 110, 0]
    if numpy.dtype(dtype).kind == "f":
        tar_of(tmp_path / "half.tar", {**fields, f"2.digit.{ending}": numpy.array(2.5, dtype).tobytes()})
        with pytest.raises(stoker.Error, match=f"'digit.{ending}' is not one whole number"):
            stoker.open(tmp_path / "half.tar", label_field="digit")
