"""Arrays of numbers: of any type and shape, cropped, flipped and scaled, read as a whole or in parts."""

import io
import tarfile

import numpy as np
import pytest
from PIL import Image

import stoker

DTYPES = {"u8": "u1", "i8": "i1", "u16": "u2", "i16": "i2", "u32": "u4", "i32": "i4", "u64": "u8", "i64": "i8", "f16": "f2",
          "f32": "f4", "f64": "f8", "bool": "?"}


def npy(array):
    out = io.BytesIO()
    np.save(out, array)
    return out.getvalue()


def view(name="x", field="x.npy"):
    return stoker.recipe().view(name, field=field)


def applied(recipe, array, name="x", **arguments):
    return recipe.apply({"x.npy": npy(array)}, **arguments)[name]


def volume(*shape, dtype="f4", seed=0):
    return (np.random.default_rng(seed).integers(0, 100, shape)).astype(dtype)


@pytest.mark.parametrize("ours, numpys", DTYPES.items())
def test_an_array_is_given_as_it_is(ours, numpys):
    array = volume(3, 4, 5, dtype=numpys)
    for order in "<>":
        for laid in (np.ascontiguousarray, np.asfortranarray):
            given = applied(view().decode_array(ours, shape=(3, 4, 5)), laid(array.astype(array.dtype.newbyteorder(order))))
            assert given.dtype == np.dtype(numpys) and np.array_equal(given, array)


@pytest.mark.parametrize("stored", ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "f32", "f64"])
def test_a_field_named_after_a_type_holds_numbers_alone(stored):
    numbers = np.arange(1, 6).astype(np.dtype(DTYPES[stored]).newbyteorder("<"))
    given = view(field=f"x.{stored}").decode_array("f32", shape=(5,)).apply({f"x.{stored}": numbers.tobytes()})["x"]
    assert given.dtype == np.float32 and np.array_equal(given, numbers)
    one = view(field=f"x.{stored}").decode_array("i64").apply({f"x.{stored}": numbers[:1].tobytes()})["x"]
    assert one.shape == () and one == 1
    stored_by_numpy = view(field=f"x.{stored}").decode_array("f32", shape=(5,)).apply({f"x.{stored}": npy(numbers)})["x"]
    assert np.array_equal(stored_by_numpy, numbers)
    for content in (b"", numbers.tobytes()[:-1] if numbers.itemsize > 1 else b""):
        with pytest.raises(stoker.Error, match=f"field 'x.{stored}' is not an array: its [0-9]+ bytes? are not numbers of"):
            view(field=f"x.{stored}").decode_array("f32", shape=(5,)).apply({f"x.{stored}": content})


@pytest.mark.parametrize("stored", DTYPES.values())
@pytest.mark.parametrize("ours", DTYPES)
def test_numbers_become_those_of_another_type_or_their_sample_is_bad(ours, stored):
    rng = np.random.default_rng(3)
    array = rng.integers(0, 2, (5, 300)).astype(stored)
    assert np.array_equal(applied(view().decode_array(ours, shape=(5, 300)), array), array.astype(DTYPES[ours]))
    wide = rng.integers(-128, 128, 1500).reshape(5, 300).astype(stored)
    recipe = view().decode_array(ours, shape=(5, 300))
    with np.errstate(all="ignore"):
        want = wide.astype(DTYPES[ours])
        fits = ours in ("f16", "f32", "f64") or DTYPES[ours] == stored or np.array_equal(want.astype("f8"), wide.astype("f8"))
    if not fits:
        with pytest.raises(stoker.Error, match=f"'x.npy' holds .*, which dtype='{ours}' does not have"):
            applied(recipe, wide)
    else:
        given = applied(recipe, wide)
        assert np.array_equal(given, want)


def test_a_byte_that_is_no_truth_value_makes_its_sample_bad():
    recipe = view().decode_array("bool", shape=(4,))
    for number in (2, 7, 255):
        data = {"x.npy": npy(np.array([0, 1, number, 1], "u1").view(bool))}
        for reference in (False, True):
            with pytest.raises(stoker.Error) as caught:
                recipe.apply(data, reference=reference)
            assert caught.value.kind == "bad_sample"
        with pytest.raises(stoker.Error, match=f"'x.npy' holds {number}, which dtype='bool' does not have"):
            recipe.apply(data)


def test_an_output_that_no_memory_can_hold_is_refused():
    for recipe in (view().decode_array("f32").array_crop([2**30] * 3), view().decode_array("f64").array_crop([4, 2**30, 2**30])):
        with pytest.raises(stoker.Error, match="its output takes more than the limit of .* bytes a sample") as caught:
            applied(recipe, volume(3, 4, 5))
        assert caught.value.kind == "limit"


def test_a_crop_is_of_the_array_and_both_executors_make_it():
    array = volume(30, 40, 50)
    recipe = view().decode_array().array_crop([8, 9, 10])
    seen = set()
    for position in range(20):
        given = applied(recipe, array, position=position)
        assert np.array_equal(given, applied(recipe, array, position=position, reference=True))
        places = np.argwhere(array == given[0, 0, 0])
        found = [p for p in places if np.array_equal(array[p[0]:p[0] + 8, p[1]:p[1] + 9, p[2]:p[2] + 10], given)]
        assert len(found) == 1
        seen.add(tuple(found[0]))
    assert len(seen) > 15
    center = applied(view().decode_array().array_crop([8, 9, 10], place="center"), array)
    assert np.array_equal(center, array[11:19, 15:24, 20:30])


def test_a_smaller_array_is_padded():
    array = volume(3, 4)
    recipe = view().decode_array(fill=-7).array_crop([6, 4])
    assert np.array_equal(applied(recipe, array), np.pad(array, ((1, 2), (0, 0)), constant_values=-7))
    at_end = view().decode_array(fill=-7).array_crop([6, 6], place="begin")
    assert np.array_equal(applied(at_end, array), np.pad(array, ((0, 3), (0, 2)), constant_values=-7))
    with pytest.raises(stoker.Error, match="is 3 long, and the crop 6"):
        applied(view().decode_array().array_crop([6, 4], smaller="refuse"), array)


def test_flips_are_drawn_for_each_axis():
    array = volume(3, 4, 5)
    recipe = view().decode_array(shape=(3, 4, 5)).array_flip([0, -1], p=0.5)
    flips = {(): array, (0,): array[::-1], (2,): array[:, :, ::-1], (0, 2): array[::-1, :, ::-1]}
    seen = {axes for position in range(40) for axes, want in flips.items()
            if np.array_equal(applied(recipe, array, position=position), want)}
    assert seen == set(flips)
    assert np.array_equal(applied(view().decode_array(shape=(3, 4, 5)).array_flip([1], p=1), array), array[:, ::-1])


def test_numbers_are_scaled_as_numpy_scales_them():
    array = volume(3, 40, 50) * np.float32(1.37) - 20
    base = view().decode_array(shape=(3, 40, 50))
    assert np.array_equal(applied(base.array_clip(-5, 60.5), array), np.clip(array, np.float32(-5), np.float32(60.5)))
    mean, std = np.array([1, 2, 3.0]), np.array([2, 4, 8.0])
    want = array * (1 / std).astype("f4")[:, None, None] + (-mean / std).astype("f4")[:, None, None]
    assert np.array_equal(applied(base.array_normalize([1, 2, 3], [2, 4, 8]), array), want)
    given = applied(base.array_standardize(), array)
    assert np.allclose(given, (array - array.mean(dtype="f8")) / array.std(dtype="f8"), atol=1e-5)
    each = applied(base.array_standardize("channel"), array)
    assert np.allclose(each.mean((1, 2)), 0, atol=1e-5) and np.allclose(each.std((1, 2)), 1, atol=1e-5)
    assert not applied(base.array_standardize(), np.full_like(array, 7)).any()


def test_brightness_and_noise_happen_as_often_as_they_should():
    array = np.ones((20, 50), "f4")
    bright = view().decode_array(shape=(20, 50)).array_brightness([0.7, 1.3], p=0.25)
    factors = [applied(bright, array, position=position) for position in range(400)]
    assert all((made == made[0, 0]).all() and 0.7 <= made[0, 0] < 1.3 for made in factors)
    assert 60 < sum(made[0, 0] != 1 for made in factors) < 140
    noise = view().decode_array(shape=(20, 50)).array_noise([0.5, 0.5], mean=2)
    made = applied(noise, array)
    assert abs(made.mean() - 3) < 0.1 and abs(made.std() - 0.5) < 0.05


def test_a_label_goes_where_its_image_goes():
    array = volume(1, 20, 21, 22)
    recipe = (view("image").decode_array(shape=(1, -1, -1, -1)).array_crop([8, 9, 30]).array_flip([1, 2, 3]).array_noise()
              .view("label", field="y.npy").like("image").decode_array("u8", shape=(1, -1, -1, -1)))
    plain = (view("image").decode_array(shape=(1, -1, -1, -1)).array_crop([8, 9, 30]).array_flip([1, 2, 3]))
    for position in range(10):
        both = recipe.apply({"x.npy": npy(array), "y.npy": npy(array[0].astype("u1"))}, position=position)
        assert both["label"].dtype == np.uint8 and both["label"].shape == (1, 8, 9, 30)
        assert np.array_equal(both["label"], plain.apply({"x.npy": npy(array)}, position=position)["image"])
        assert not np.array_equal(both["image"], both["label"])


@pytest.mark.parametrize("content, words", [
    (b"", "does not begin as an npy array"), (b"\x93NUMPY\1\0", "cut short"), (npy(np.ones(3, "c8")), "of type '<c8'"),
    (npy(np.ones((3, 3)))[:-1], "its shape needs other than"), (npy(np.ones((1,) * 6)), "6 axes, and 5 are possible")])
def test_what_is_not_an_array_is_a_bad_sample(content, words):
    with pytest.raises(stoker.Error, match=words):
        view().decode_array().array_crop([2]).apply({"x.npy": content})


def write_tar(at, fields):
    """A tar of fields, by the names of its members."""
    with tarfile.open(at, "w") as tar:
        for name, content in fields.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return at


@pytest.fixture(scope="module")
def shard(tmp_path_factory):
    """Of 9 volumes of several depths, with their labels."""
    fields = {}
    for number in range(9):
        image = volume(1, 24 + number, 60, 70, seed=number)
        fields |= {f"case_{number:05d}.x.npy": npy(image), f"case_{number:05d}.y.npy": npy((image > 50).astype("u1"))}
    return write_tar(tmp_path_factory.mktemp("arrays") / "a.tar", fields)


def test_a_loader_gives_what_apply_gives(shard):
    recipe = stoker.recipe("unet3d-train")
    data = stoker.open(str(shard))
    samples = {}
    with tarfile.open(shard) as tar:
        for member in tar:
            key, field = member.name.split(".", 1)
            samples.setdefault(key, {})[field] = tar.extractfile(member).read()
    loader = stoker.Loader(data, recipe, batch=3, seed=7, tune="off")
    for batch in loader.epoch(0):
        image, label = np.asarray(batch.image), np.asarray(batch.label)
        assert image.shape == label.shape == (3, 1, 128, 128, 128) and label.dtype == np.uint8
        for slot in range(3):
            want = recipe.apply(samples[batch.key[slot]], seed=7, position=int(batch.position[slot]))
            assert np.array_equal(image[slot], want["image"]) and np.array_equal(label[slot], want["label"])


def test_a_crop_around_numbers_of_a_label_shows_them_and_other_crops_are_read_in_part(tmp_path):
    samples = {}
    for number in range(12):
        label = np.zeros((40, 100, 110), "u1")  # 440 KB: read in part where that is enough
        if number % 4:  # some have nothing
            label[np.random.default_rng(number).integers(0, label.shape)[0], 3:6, 90:99] = 1 + number % 3
        image = volume(*label.shape, dtype="f4", seed=number)
        samples[f"{number:05d}"] = {"x.npy": npy(image), "y.npy": npy(label)}
    write_tar(tmp_path / "a.tar", {f"{key}.{field}": content for key, fields in samples.items() for field, content in fields.items()})
    recipe = (view("image").decode_array().array_crop([9, 11, 13], around="y.npy", p=0.6).array_flip([0], p=0.5)
              .view("label", field="y.npy").like("image").decode_array("u8"))
    data = stoker.open(str(tmp_path / "a.tar"))
    shown = 0
    for threads in 1, 2:
        loader = stoker.Loader(data, recipe, batch=4, seed=7, threads=threads, order="none")
        for epoch in range(4):
            for batch in loader.epoch(epoch):
                for slot in range(4):
                    draw = dict(seed=7, epoch=epoch, position=int(batch.position[slot]))
                    want = recipe.apply(samples[batch.key[slot]], **draw)
                    assert np.array_equal(np.asarray(batch.image)[slot], want["image"])
                    assert np.array_equal(np.asarray(batch.label)[slot], want["label"])
                    assert all(np.array_equal(each, want[name]) for name, each in
                               recipe.apply(samples[batch.key[slot]], reference=True, **draw).items())
                    shown += want["label"].any()
        read, whole = loader.metrics()["bytes_read"], 4 * sum(len(content) for fields in samples.values() for content in fields.values())
        assert read < 0.75 * whole
    assert 2 * 48 * 0.3 < shown < 2 * 48 * 0.7  # of those three in four that have something


def test_a_state_goes_on_within_an_epoch(shard):
    recipe = view("image").decode_array(shape=(1, -1, -1, -1)).array_crop([8, 40, 40]).array_standardize()
    data = stoker.open(str(shard))
    whole = [np.asarray(batch.image).copy() for batch in stoker.Loader(data, recipe, batch=2, seed=7, tune="off").epoch(0)]
    loader = stoker.Loader(data, recipe, batch=2, seed=7, tune="off")
    epoch = iter(loader.epoch(0))
    next(epoch)
    state = loader.state_dict()
    resumed = stoker.Loader(data, recipe, batch=2, seed=7, tune="off")
    resumed.load_state_dict(state)
    rest = [np.asarray(batch.image).copy() for batch in resumed]
    assert len(rest) == len(whole) - 1 and all(np.array_equal(a, b) for a, b in zip(rest, whole[1:]))


def test_rows_of_any_number_are_ragged(tmp_path):
    arrays = [volume(n, 3, seed=n) for n in (4, 0, 7)]
    write_tar(tmp_path / "a.tar", {f"{number}.points.npy": npy(array) for number, array in enumerate(arrays)})
    recipe = stoker.recipe().view("points", field="points.npy").decode_array("f32", shape=(-1, 3), most=8)
    loader = stoker.Loader(stoker.open(str(tmp_path / "a.tar")), recipe, batch=3, tune="off", order="none")
    (batch,) = loader.epoch(0)
    assert np.array_equal(np.asarray(batch.points.values), np.concatenate(arrays))
    assert np.asarray(batch.points.offsets).tolist() == [0, 4, 4, 11]
    with pytest.raises(stoker.Error, match="its array 'points.npy' has 7 rows, and there is room for 5"):
        recipe = stoker.recipe().view("points", field="points.npy").decode_array("f32", shape=(-1, 3), most=5)
        list(stoker.Loader(stoker.open(str(tmp_path / "a.tar")), recipe, batch=3, tune="off", bad_sample="fail").epoch(0))


@pytest.mark.parametrize("index", range(4))
def test_rows_of_any_number_are_filled_up_or_cut_off(tmp_path, index):
    arrays = [volume(n, 3, seed=n) for n in (4, 0, 7)]
    write_tar(tmp_path / "a.tar", {f"{number}.points.npy": npy(array) for number, array in enumerate(arrays)})
    data = stoker.open(str(tmp_path / "a.tar"))
    points = stoker.recipe().view("points", field="points.npy").decode_array("f32", shape=(-1, 3), most=8).array_brightness(2)
    for count, longer in (9, "refuse"), (7, "refuse"), (5, "cut"):
        recipe = points.pad_to(count, -1, longer)
        with stoker.Loader(data, recipe, batch=3, tune="off", order="none", device="emulated:execute", transfer_index=index) as loader:
            (batch,) = loader.epoch(0)
            values, counts = np.asarray(batch.points.values), np.asarray(batch.points.counts)
            assert values.shape == (3, count, 3) and counts.tolist() == [4, 0, 7]
            for slot, array in enumerate(arrays):
                want = np.full((count, 3), -1, "f4")
                want[:min(count, len(array))] = 2 * array[:count]
                assert np.array_equal(values[slot], want)
                for reference in False, True:
                    assert np.array_equal(recipe.apply({"points.npy": npy(array)}, reference=reference)["points"], want)
    with pytest.raises(stoker.Error, match="it has 7 rows, and pad_to has count=5"):
        points.pad_to(5).apply({"points.npy": npy(arrays[2])})
    for wrong, words in ((view().decode_array("u8", shape=(-1, 3)).pad_to(5, 0.5), "are u8, so fill cannot be 0.5"),
                         (view().decode_array("u8", shape=(5, 3)).pad_to(5), "pad_to is for arrays whose number of rows differs"),
                         (view().decode_array("u8", shape=(-1, 3)).pad_to(5).array_flip([0]), "pad_to")):
        with pytest.raises(stoker.Error, match=words):
            wrong.apply({"x.npy": npy(volume(5, 3))})


def test_rows_of_arrays_and_of_compressed_ones_are_samples(tmp_path):
    rows = volume(6, 20, 100, 110, dtype="i2")  # rows of 440 KB
    np.save(tmp_path / "plain.npy", rows)
    np.savez(tmp_path / "stored.npz", data=rows)
    np.savez_compressed(tmp_path / "small.npz", data=rows)
    recipe = view(field="data.npy").decode_array("i16").array_crop([2, 30, 50])
    made = {}
    for name in ("plain.npy", "stored.npz", "small.npz"):
        loader = stoker.Loader(stoker.open(str(tmp_path / name)), recipe, batch=6, seed=3, tune="off")
        (batch,) = loader.epoch(0)
        made[name] = np.asarray(batch.x).copy()
    assert made["plain.npy"].dtype == np.int16
    assert all(np.array_equal(each, made["plain.npy"]) for each in made.values())


@pytest.mark.parametrize("index", range(4))
def test_arrays_beside_an_image_cross_to_a_device(tmp_path, index):
    with tarfile.open(tmp_path / "a.tar", "w") as tar:
        for number in range(6):
            picture = io.BytesIO()
            Image.fromarray(volume(40, 50, 3, dtype="u1", seed=number)).save(picture, "JPEG")
            for field, content in (("jpg", picture.getvalue()), ("depth.npy", npy(volume(30, 31, dtype="i2", seed=number))),
                                   ("points.npy", npy(volume(number, 3, dtype="f8", seed=number)))):
                member = tarfile.TarInfo(f"{number}.{field}")
                member.size = len(content)
                tar.addfile(member, io.BytesIO(content))
    recipe = (stoker.recipe().decode().resize((24, 24)).normalize("imagenet")
              .view("depth", field="depth.npy").decode_array("i32").array_crop([20, 40]).array_flip([-1])
              .view("points", field="points.npy").decode_array("f64", shape=(-1, 3)))
    data = stoker.open(str(tmp_path / "a.tar"))

    def made(**options):
        loader = stoker.Loader(data, recipe, batch=3, seed=5, tune="off", **options)
        return [(np.asarray(batch.image).tobytes(), np.asarray(batch.depth).tobytes(), np.asarray(batch.points.values).tobytes(),
                 np.asarray(batch.points.offsets).tolist()) for epoch in range(2) for batch in loader.epoch(epoch)]

    assert made(device="emulated:execute", transfer_index=index) == made()


def test_torch_takes_every_type(tmp_path):
    torch = pytest.importorskip("torch")
    array = volume(4, 5, dtype="u1")
    with tarfile.open(tmp_path / "a.tar", "w") as tar:
        member = tarfile.TarInfo("0.x.npy")
        member.size = len(npy(array))
        tar.addfile(member, io.BytesIO(npy(array)))
    for dtype in ("u8", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64"):
        recipe = view().decode_array(dtype, shape=(4, 5))
        (batch,) = stoker.Loader(stoker.open(str(tmp_path / "a.tar")), recipe, batch=1, tune="off").epoch(0)
        tensor = torch.from_dlpack(batch.x)
        assert tensor.shape == (1, 4, 5) and tensor.double().numpy().astype("u1").tobytes() == array.tobytes()


def twice(x):
    return x.astype("i4") * 2


def test_a_function_takes_arrays():
    array = volume(4, 5, dtype="i2")
    recipe = (view().decode_array("i16", shape=(4, 5)).view("raw", field="x.npy").decode_array("f64", shape=(4, 5)))
    recipe = recipe.map(twice, "x", {"twice": ("i32", (4, 5))})
    made = recipe.apply({"x.npy": npy(array)})
    assert made["twice"].dtype == np.int32 and np.array_equal(made["twice"], array * 2) and np.array_equal(made["raw"], array)
