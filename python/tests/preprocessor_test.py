"""Preprocessor: requests of inference get the pixels of apply and of a loader; bad items, callers on several threads."""

import concurrent.futures
import io
import os

import numpy as np
import pytest

import sample_images
import stoker


@pytest.fixture(scope="module")
def files(folder):
    return sorted(folder.rglob("*.jpg"))


def test_gives_the_pixels_of_apply(files, recipe):
    ready = stoker.Preprocessor(recipe, threads=2)
    assert ready.threads == 2
    for count in (1, 7, 50):
        images = [file.read_bytes() for file in files[:count]]
        batch = ready(images, seed=3, epoch=2, position=5)
        assert len(batch) == count and batch.valid.all() and batch.errors == {}
        for slot, image in enumerate(images):
            alone = recipe.apply(image, seed=3, epoch=2, position=5 + slot)["image"]
            np.testing.assert_array_equal(batch.image.numpy()[slot], alone)


def test_gives_the_pixels_of_a_loader(folder):
    recipe = stoker.recipe("imagenet-val")
    data = stoker.open(folder)
    ready = stoker.Preprocessor("imagenet-val", threads=1)
    for batch in stoker.Loader(data, recipe, batch=16, threads=2, order="none", tail="keep"):
        again = ready([data[int(position)] for position in batch.position])
        np.testing.assert_array_equal(again.image.numpy(), batch.image.numpy())
        np.testing.assert_array_equal(again.label.numpy(), batch.label.numpy())


def test_takes_paths_and_one_item(files, recipe):
    ready = stoker.Preprocessor(recipe)
    image = files[0].read_bytes()
    want = ready([image]).image.numpy()
    for item in (image, bytearray(image), memoryview(image), files[0], str(files[0]), {"image": image}, {"x.jpg": image, "label": 3}):
        np.testing.assert_array_equal(ready(item).image.numpy(), want)
        np.testing.assert_array_equal(ready(iter([item])).image.numpy(), want)
    assert ready([files[1], image]).key == [str(files[1]), ""]
    assert ready([]).image.shape[0] == 0


def test_memory_outlives_the_preprocessor_and_later_calls(files, recipe):
    ready = stoker.Preprocessor(recipe, threads=1)
    array = ready([files[0]]).image.numpy()
    kept = array.copy()
    for file in files[1:9]:
        ready([file])
    del ready
    np.testing.assert_array_equal(array, kept)


def test_names_bad_items(files, recipe):
    ready = stoker.Preprocessor(recipe, threads=2)
    items = [files[0], b"no image", files[1], "/no/such/file.jpg"]
    with pytest.raises(stoker.Error, match="item 1") as error:
        ready(items)
    assert error.value.kind == "bad_sample"
    batch = ready(items, bad_sample="skip")
    assert batch.valid.tolist() == [True, False, True, False]
    assert sorted(batch.errors) == [1, 3]
    assert "item 1" in batch.errors[1] and "/no/such/file.jpg" in batch.errors[3]
    assert not batch.image.numpy()[1].any()


def test_serves_callers_on_several_threads(files, recipe):
    ready = stoker.Preprocessor(recipe, threads=2)
    images = [file.read_bytes() for file in files]
    want = ready(images).image.numpy().copy()

    def ask(first):
        return ready(images[first:first + 3], position=first).image.numpy().copy()

    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        for first, got in zip(range(40), pool.map(ask, range(40))):
            np.testing.assert_array_equal(got, want[first:first + 3])


def test_functions_run_in_processes_of_their_own(files):
    recipe = stoker.recipe().decode().resize((8, 8)).map(np.ndarray.mean, takes="image", gives={"mean": ("f32", ())})
    ready = stoker.Preprocessor(recipe, threads=2)
    batch = ready(files[:5])
    np.testing.assert_allclose(batch.mean.numpy(), [recipe.apply(file.read_bytes())["mean"] for file in files[:5]])


def test_ragged_outputs(files):
    recipe = stoker.recipe().decode().resize((8, 8)).view("text", "txt").decode_text()
    image = files[0].read_bytes()
    ready = stoker.Preprocessor(recipe, threads=1)
    batch = ready([{"image": image, "txt": text.encode()} for text in ("one", "", "three")])
    assert batch.text.as_texts() == ["one", "", "three"]


class Lazy(dict):
    """Makes the bytes of a field each time that it is asked for them."""

    def __getitem__(self, field):
        return bytes(super().__getitem__(field))


def test_fields_that_a_dict_makes_when_asked_are_kept_until_they_are_read():
    size, numbers = 4 << 20, {"first": 1, "second": 2}
    recipe = stoker.recipe()
    for name in numbers:
        recipe = recipe.view(name, field=f"{name}.txt").decode_bytes(most=size)
    item = Lazy({f"{name}.txt": bytearray([number]) * size for name, number in numbers.items()})
    made, batch = recipe.apply(item), stoker.Preprocessor(recipe, threads=1)([item, item])
    for name, number in numbers.items():
        for content in (bytes(made[name]), *getattr(batch, name).as_bytes()):
            assert len(content) == size and set(content) == {number}


def test_limits_pixels(files):
    ready = stoker.Preprocessor("imagenet-val", pixels_max=1000)
    with pytest.raises(stoker.Error, match="pixels"):
        ready([files[0]])


@pytest.mark.parametrize("call, says", [
    (lambda ready: ready(), "items"),
    (lambda ready: ready(3), "items is 3"),
    (lambda ready: ready([3]), "bytes"),
    (lambda ready: ready([b""], bad_sample="substitute"), "no other samples"),
    (lambda ready: ready([b""], bad_sample="drop"), "drop"),
    (lambda ready: ready([b""], sed=3), "seed"),
])
def test_mistakes_of_calls_are_named(recipe, call, says):
    with pytest.raises(stoker.Error, match=says) as error:
        call(stoker.Preprocessor(recipe))
    assert error.value.kind == "usage"


def test_mistakes_of_recipes_are_named():
    with pytest.raises(stoker.Error, match="image"):
        stoker.Preprocessor(stoker.recipe().decode())
    with pytest.raises(stoker.Error, match="threads"):
        stoker.Preprocessor("imagenet-val", threads=0)


def test_a_forked_child_is_told(recipe):
    ready = stoker.Preprocessor(recipe, threads=2)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            ready([])
        except stoker.Error as error:
            status = 0 if error.kind == "usage" else 2
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0


def test_an_image_of_one_channel_is_an_image(recipe):
    grey = sample_images.encoded(sample_images.picture(40, 30, mode="L"))
    np.testing.assert_array_equal(stoker.Preprocessor(recipe)(grey).image.numpy()[0], recipe.apply(grey)["image"])


def test_an_open_file_is_refused():
    with pytest.raises(stoker.Error, match="an open file: give its bytes, as by .read"):
        stoker.Preprocessor(stoker.recipe().decode().resize((8, 8)))(io.BytesIO(b"no\nimage\n"))


def test_items_may_be_in_an_array(files, recipe):
    ready, images = stoker.Preprocessor(recipe), [file.read_bytes() for file in files[:3]]
    want = ready(images).image.numpy()
    for items in (np.array([str(file) for file in files[:3]]), np.array(files[:3], dtype=object), np.array(images, dtype=object)):
        np.testing.assert_array_equal(ready(items).image.numpy(), want)
    np.testing.assert_array_equal(ready(np.frombuffer(images[0], np.uint8)).image.numpy(), want[:1])
    np.testing.assert_array_equal(ready(memoryview(images[0]).cast("c")).image.numpy(), want[:1])
    assert len(ready(np.array([], dtype=object))) == 0
    for wrong in (np.zeros(3, np.float32), np.array([1, 2])):
        with pytest.raises(stoker.Error, match="must be bytes or an array of uint8") as error:
            ready(wrong)
        assert error.value.kind == "usage"
