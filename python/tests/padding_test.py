"""pad_to: rows that differ in number from sample to sample, as one tensor of as many rows of each."""

import io
import tarfile

import numpy as np
import pytest

import stoker
from objects_of_coco import HEIGHT, WIDTH, annotations, box_around, outlines_of, png, with_boxes

COUNT, SAMPLES, DAMAGED = 4, 18, 7


def objects_of(number):
    return outlines_of(number, number % 7)


def fields_of(number):
    objects = objects_of(number)
    points = [[5 + number, 6 + k, 2, 20, 30, 1] for k in range(len(objects))]
    text = b"{" if number == DAMAGED else annotations(objects, [box_around(each) for each in objects], keypoints=points)
    return {"png": png(np.full((HEIGHT, WIDTH, 3), number, np.uint8)), "json": text, "txt": b"x" * number}


@pytest.fixture(scope="module")
def shard(tmp_path_factory):
    """Of samples with 0 to 6 objects, one of which has damaged ones."""
    at = tmp_path_factory.mktemp("padding") / "a.tar"
    with tarfile.open(at, "w") as tar:
        for number in range(SAMPLES):
            for field, content in fields_of(number).items():
                member = tarfile.TarInfo(f"{number:04}.{field}")
                member.size = len(content)
                tar.addfile(member, io.BytesIO(content))
    return at


def ragged():
    recipe = with_boxes(stoker.recipe().decode().resize((26, 38)).random_flip())
    recipe = recipe.view("points").like("boxes").decode_keypoints(2, "0-1").view("instances").like("boxes").decode_instances()
    return recipe.view("caption", field="txt").decode_text()


FILLS = {"boxes": -1, "labels": -100, "points": 0.5, "instances": 2, "caption": 32}


def padded(count=COUNT, longer="cut"):
    recipe = ragged()
    for name, fill in FILLS.items():
        recipe = recipe.view(name).pad_to(count, fill, longer)
    return recipe


def check(rows, values, count, fill, most=COUNT):
    """`rows` is all that the sample has."""
    assert count == len(rows) and values.shape == (most, *rows.shape[1:]) and values.dtype == rows.dtype
    np.testing.assert_array_equal(values[:count], rows[:most])
    assert (values[count:] == fill).all()


@pytest.mark.parametrize("index", [None, 0, 3])
@pytest.mark.parametrize("threads", [1, 3])
def test_values_are_filled_or_cut_and_counts_tell(shard, index, threads):
    options = {} if index is None else {"device": "emulated:execute", "transfer_index": index}
    options |= {"batch": 6, "seed": 5, "tune": "off", "threads": threads, "bad_sample": "skip"}
    seen = 0
    with stoker.Loader(shard, ragged(), **options) as loose, stoker.Loader(shard, padded(), **options) as fixed:
        for before, after in zip(loose, fixed):
            assert before.key == after.key and "boxes=Padded(values=Tensor(shape=(6, 4, 4), dtype='float32')" in repr(after)
            for name, fill in FILLS.items():
                values, counts = np.asarray(after[name].values), np.asarray(after[name].counts)
                assert counts.dtype == np.int64 and len(after[name]) == len(counts) == len(list(after[name])) == 6
                for slot, rows in enumerate(after[name]):
                    np.testing.assert_array_equal(rows, before[name][slot][:COUNT])
                    np.testing.assert_array_equal(after[name][slot - 6], rows)
                with pytest.raises(IndexError):
                    after[name][6]
                for slot, rows in enumerate(before[name].as_list()):
                    assert after.valid[slot] or len(rows) == 0
                    check(rows, values[slot], counts[slot], fill)
                    seen += len(rows) > COUNT
    assert seen > 10 and fixed.metrics()["bad_samples"] == 1


def test_more_rows_than_there_are_to_be_make_a_bad_sample(shard):
    many = fields_of(6)
    with pytest.raises(stoker.Error, match=r"it has 6 rows, and pad_to has count=4: use a larger one, or longer='cut'"):
        with_boxes(stoker.recipe().decode().resize((26, 38))).pad_to(COUNT).apply({"image": many["png"], "json": many["json"]})
    recipe = with_boxes(stoker.recipe().decode().resize((26, 38)), min_size=0).pad_to(COUNT, longer="refuse")
    with stoker.Loader(shard, recipe, batch=6, bad_sample="skip", tune="off") as loader:
        bad = {key for batch in loader for key, valid in zip(batch.key, batch.valid) if not valid}
    assert bad == {f"{number:04}" for number in range(SAMPLES) if number % 7 > COUNT or number == DAMAGED}


def test_a_single_sample_has_as_many_rows():
    for number in (0, 2, 4, 6):
        fields = fields_of(number)
        data = {"image": fields["png"], "json": fields["json"], "txt": fields["txt"]}
        loose = ragged().apply(data)
        for reference in (False, True):
            fixed = padded().apply(data, reference=reference)
            for name, fill in FILLS.items():
                check(loose[name], fixed[name], len(loose[name]), fill)


def test_rows_of_functions_are_filled_too(shard):
    recipe = ragged().map(words, "caption", {"numbers": ("i64", (2,), 20, -3)})
    assert "most = 20, fill = -3" in recipe.to_toml()
    with stoker.Loader(shard, recipe, batch=6, bad_sample="skip", tune="off") as loader:
        for batch in loader:
            values, counts = np.asarray(batch.numbers.values), np.asarray(batch.numbers.counts)
            assert values.shape == (6, 20, 2)
            for slot, key in enumerate(batch.key):
                length = int(key) if batch.valid[slot] else 0
                assert counts[slot] == length
                np.testing.assert_array_equal(values[slot, :length, 1], np.arange(length))
                assert (values[slot, length:] == -3).all()


def words(text):
    return np.stack([np.full(len(text), len(text)), np.arange(len(text))], 1).astype(np.int64)


def test_toml_and_python_say_the_same(tmp_path):
    recipe = padded()
    (tmp_path / "padded.toml").write_text(recipe.to_toml())
    assert stoker.recipe(str(tmp_path / "padded.toml")) == recipe and recipe.to_toml().count('op = "pad_to"') == 5


def test_torch_is_given_tensors(shard):
    torch = pytest.importorskip("torch")
    import stoker.torch

    with stoker.torch.Loader(shard, padded(), batch=6, bad_sample="skip") as loader:
        batch = next(iter(loader))
        assert batch.boxes.values.shape == (6, COUNT, 4) and batch.boxes.counts.dtype == torch.int64
        assert "boxes=padded [6, 4, 4]" in repr(batch)
        half = batch.map(lambda tensor: tensor.half())
        assert half.boxes.values.dtype == torch.float16 and half.boxes.counts.dtype == torch.int64


def test_what_makes_no_sense_is_refused():
    def refusal(recipe):
        with pytest.raises(stoker.Error) as error:
            recipe.apply({})
        return str(error.value)

    base = stoker.recipe().decode().resize((26, 38))
    boxes = with_boxes(base)
    assert "view 'labels': its values are i64, so fill cannot be 0.5" in refusal(boxes.pad_to(3, 0.5))
    assert "view 'caption': its values are u8, so fill cannot be -1" in refusal(
        base.view("caption", field="txt").decode_text().pad_to(3, -1))
    assert "it takes rows" in refusal(base.pad_to(3))
    assert "objects go where their image goes" in refusal(boxes.pad_to(3).pad_to(4))
    assert "view 'caption': digest cannot follow decode_text: only pad_to can" in refusal(base.view("caption", field="txt").decode_text().digest())
    assert "function 'words' takes as many rows as a sample has: leave out pad_to" in refusal(
        base.view("caption", field="txt").decode_text().pad_to(3).map(words, "caption", {"numbers": ("i64", (2,), 20)}))
    assert "fill is 'x', but must be a number" in refusal_of_call(
        lambda: base.map(words, "image", {"numbers": ("i64", (2,), 5, "x")}))
    assert "pad_to: count is 0" in refusal_of_call(lambda: boxes.pad_to(0))
    for dtype, fill in (("u16", -1.5), ("u32", -1), ("i8", 128), ("bool", 2), ("f16", 70000)):
        wrong = stoker.recipe().view("x", field="x.npy").decode_array(dtype, shape=(-1, 2)).pad_to(3, fill)
        assert f"view 'x': its values are {dtype}, so fill cannot be {fill}" in refusal(wrong)
    assert "view 'numbers': its values are i32, so fill cannot be 3000000000" in refusal(
        base.map(words, "image", {"numbers": ("i32", (2,), 5, 3e9)}))


def refusal_of_call(call):
    with pytest.raises(stoker.Error) as error:
        call()
    return str(error.value)


FILLS_BY_TYPE = {"u8": 255, "i8": -128, "u16": 65535, "i16": -32768, "u32": 10**9, "i32": -10**9, "u64": 10**9,
                 "i64": -10**9, "f16": -0.5, "bf16": -0.5, "f32": 0.5, "f64": 0.1, "bool": 1}


def in_numpy(tensor, dtype):
    if dtype != "bf16":
        return np.asarray(tensor)
    return pytest.importorskip("torch").from_dlpack(tensor).float().numpy()


@pytest.mark.parametrize("dtype, fill", FILLS_BY_TYPE.items())
def test_rows_of_every_type_are_filled(tmp_path, dtype, fill):
    """Whatever was in the memory before, which a loader uses for batch after batch."""
    arrays = [io.BytesIO() for _ in range(16)]
    with tarfile.open(tmp_path / "a.tar", "w") as tar:
        for number, array in enumerate(arrays):
            np.save(array, np.ones((number % 5, 2), np.uint8))
            member = tarfile.TarInfo(f"{number:04}.x.npy")
            member.size = array.tell()
            tar.addfile(member, io.BytesIO(array.getvalue()))
    recipe = stoker.recipe().view("x", field="x.npy").decode_array(dtype, shape=(-1, 2), most=4).pad_to(4, fill)
    with stoker.Loader(tmp_path / "a.tar", recipe, batch=4, seed=5, threads=1, tune="off") as loader:
        for batch in (batch for epoch in range(2) for batch in loader.epoch(epoch)):
            for key, values in zip(batch.key, in_numpy(batch.x.values, dtype)):
                count = int(key) % 5
                assert (values[:count] == 1).all() and (values[count:] == fill).all()
    if dtype != "bf16":
        for reference in (False, True):
            alone = recipe.apply({"x.npy": arrays[3].getvalue()}, reference=reference)["x"]
            assert (alone[:3] == 1).all() and (alone[3:] == fill).all()


NUMBERS = {name: (name, ()) for name in FILLS_BY_TYPE if name != "bf16"}


def ones(image):
    return (1,) * len(NUMBERS)


def test_numbers_of_functions_in_slots_without_a_sample(shard):
    recipe = stoker.recipe().decode().resize((26, 38)).map(ones, "image", NUMBERS)
    with stoker.Loader(shard, recipe, batch=10, tail="pad", threads=1, tune="off") as loader:
        for batch in loader:
            for name in NUMBERS:
                has_none = name.startswith("u") or name == "bool"
                want = np.where(np.asarray(batch.valid), 1, 0 if has_none else -100)
                np.testing.assert_array_equal(np.asarray(batch[name]), want)
        assert not batch.valid.all()
