"""Functions that are called once for a batch: they see its samples beside each other, in loaders, requests and `apply`."""

import pickle

import numpy as np
import pytest

import functions
import sample_images
import stoker

SIZE = (20, 24)
IMAGE = {"image": ("u8", (*SIZE, 3))}
BLENDED = IMAGE | {"pair": ("i64", (2,))}


def pictures():
    return stoker.recipe().decode().resize(SIZE).layout("nhwc")


def blending():
    return pictures().view("class", field="label").map(functions.blended, ["image", "class"], BLENDED, batch=True)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return sample_images.make_folder(tmp_path_factory.mktemp("batches") / "images", classes=3, count=29)


def arrays(data, recipe, **options):
    """Of each batch, its outputs by name, and which slots hold samples."""
    loader = stoker.Loader(data, recipe, **{"batch": 8, "seed": 5, "threads": 2, "tune": "off"} | options)
    return [{name: np.array(np.from_dlpack(getattr(batch, name))) for name in batch.outputs} | {"valid": np.array(batch.valid)}
            for batch in loader]


def equal(some, others):
    assert len(some) == len(others)
    for one, other in zip(some, others):
        assert list(one) == list(other)
        for name in one:
            np.testing.assert_array_equal(one[name], other[name])


def test_it_sees_all_samples_of_a_batch(folder):
    plain, made = arrays(folder, pictures(), tail="drop"), arrays(folder, blending(), tail="drop")
    assert list(made[0]) == ["image", "label", "pair", "valid"] and len(made) == 3
    for before, after in zip(plain, made):
        image, pair = functions.blended(before["image"], before["label"])
        np.testing.assert_array_equal(after["image"], image)
        np.testing.assert_array_equal(after["pair"], pair)
        np.testing.assert_array_equal(after["label"], before["label"])


@pytest.mark.parametrize("tail, sizes, valid", [("keep", [8, 8, 8, 5], 5), ("pad", [8, 8, 8, 8], 5), ("wrap", [8, 8, 8, 8], 8)])
def test_the_last_batch_is_one_like_others(folder, tail, sizes, valid):
    """Slots without a sample come to it as padding, and hold padding after it."""
    last, plain = (arrays(folder, recipe, tail=tail) for recipe in (blending(), pictures()))
    assert [len(batch["image"]) for batch in last] == sizes
    assert last[-1]["valid"].sum() == valid
    image, pair = functions.blended(plain[-1]["image"], plain[-1]["label"])
    np.testing.assert_array_equal(last[-1]["image"][:valid], image[:valid])
    np.testing.assert_array_equal(last[-1]["pair"][:valid], pair[:valid])
    assert not last[-1]["image"][valid:].any()


def test_nothing_depends_on_threads_or_devices(folder):
    recipe = pictures().map(functions.noise_of_batch, "image", IMAGE, batch=True)
    recipe = recipe.view("other", field="image").decode().random_resized_crop(16).normalize("imagenet")
    recipe = recipe.mixup(0.4, labels="pair", views="other")
    want = arrays(folder, recipe, tail="drop")
    assert not np.array_equal(want[0]["image"], want[1]["image"])
    equal(arrays(folder, recipe, tail="drop", threads=1), want)
    for index in range(4):
        equal(arrays(folder, recipe, tail="drop", device="emulated:execute", transfer_index=index), want)


def test_a_resumed_loader_goes_on_with_the_same(folder):
    recipe = pictures().map(functions.noise_of_batch, "image", IMAGE, batch=True)
    options = dict(batch=8, seed=5, threads=2, tune="off")
    loader = stoker.Loader(folder, recipe, **options)
    batches = iter(loader)
    next(batches)
    state = loader.state_dict()
    want = np.array(np.from_dlpack(next(batches).image))
    resumed = stoker.Loader(folder, recipe, **options)
    resumed.load_state_dict(state)
    np.testing.assert_array_equal(np.from_dlpack(next(iter(resumed)).image), want)


@pytest.mark.parametrize("reference", [False, True])
def test_apply_makes_a_batch_of_one(reference):
    coded = sample_images.encoded(sample_images.picture(57, 43, seed=3))
    made = blending().apply(coded, label=4, reference=reference)
    np.testing.assert_array_equal(made["image"], pictures().apply(coded)["image"])
    assert made["pair"].tolist() == [4, 4]
    mean = pictures().map(functions.means_of_batch, "image", {"mean": ("f32", ())}, values="torch", batch=True).apply(coded)["mean"]
    assert mean == pytest.approx(pictures().apply(coded)["image"].mean(), rel=1e-5)


def test_a_request_is_a_batch():
    coded = [sample_images.encoded(sample_images.picture(57, 43, seed=seed)) for seed in range(5)]
    recipe = pictures().map(functions.noise_of_batch, "image", IMAGE, batch=True)
    preprocess = stoker.Preprocessor(recipe, threads=2)
    some = np.array(np.from_dlpack(preprocess(coded, seed=3).image))
    assert some.shape == (5, *SIZE, 3)
    np.testing.assert_array_equal(np.from_dlpack(preprocess(coded, seed=3).image), some)
    fewer = np.array(np.from_dlpack(preprocess(coded[:2], seed=3).image))
    more = np.array(np.from_dlpack(preprocess(coded + coded, seed=3).image))
    assert len(fewer) == 2 and len(more) == 10
    with_bad = preprocess([coded[0], b"no picture", coded[2]], seed=3, bad_sample="skip")
    images = np.array(np.from_dlpack(with_bad.image))
    assert list(with_bad.valid) == [True, False, True] and images[0].any() and not images[1].any()


@pytest.mark.parametrize("function, words", [
    (functions.fails_for_batches, r"function 'fails_for_batches' raised ValueError: not for batches \(functions.py, line \d+\)"),
    (functions.one_short, "function 'one_short' gave 'image' of 7 samples, but the batch has 8"),
    (functions.closes, "the process of function 'closes' was ended by signal 9")], ids=lambda value: getattr(value, "__name__", ""))
def test_what_goes_wrong_ends_the_epoch_and_names_the_batch(folder, function, words):
    """No sample is to blame, so that none can take the place of another."""
    loader = stoker.Loader(folder, pictures().map(function, "image", IMAGE, batch=True), batch=8, seed=5, threads=2)
    with pytest.raises(stoker.Error, match=r"batch \d of epoch 0: .*" + words) as caught:
        for _ in loader:
            pass
    assert caught.value.kind == "data" and not loader.quarantine


def test_what_cannot_be_taken_by_the_batch_is_refused(folder):
    anything = stoker.recipe().decode().layout("nhwc").map(functions.inverted, "image", IMAGE, batch=True)
    with pytest.raises(stoker.Error, match="view 'image': its size depends on the image"):
        stoker.Loader(folder, anything, batch=8)
    text = pictures().view("txt").decode_text(most=20).map(functions.words, "txt", {"n": ("i64", (2,))}, batch=True)
    with pytest.raises(stoker.Error, match="function 'words' of whole batches takes view 'txt', whose values differ in their number of rows"):
        stoker.Loader(folder, text, batch=8)
    with pytest.raises(stoker.Error, match="function 'words' of whole batches gives rows of 'n'; it can give values of one shape alone"):
        pictures().map(functions.words, "image", {"n": ("i64", (), 8)}, batch=True)
    with pytest.raises(stoker.Error, match="function 'same' of whole batches gets arrays of 'numpy' or 'torch', not 'pil'"):
        pictures().map(functions.same, "image", IMAGE, values="pil", batch=True)


def test_it_is_in_the_text_of_the_recipe():
    recipe = blending()
    assert "batch = true" in recipe.to_toml() and "batch = true" not in pictures().map(functions.same, "image", IMAGE).to_toml()
    assert stoker.Recipe.from_toml(recipe.to_toml()).to_toml() == recipe.to_toml()
    with pytest.raises(stoker.Error, match="batch must be true or false"):
        stoker.Recipe.from_toml(recipe.to_toml().replace("batch = true", "batch = 1"))


def test_its_time_is_told(folder):
    loader = stoker.Loader(folder, pictures().map(functions.noise_of_batch, "image", IMAGE, batch=True), batch=8, threads=1)
    for _ in loader:
        pass
    metrics = loader.metrics()
    assert 0 < metrics["function_inside_ns"] < metrics["function_ns"]


def test_a_batch_has_seeds_for_what_its_consumer_draws(folder):
    """By name; they are other ones for each batch and seed, and the same whenever the batch comes."""

    def seeds(**options):
        loader = stoker.Loader(folder, pictures(), **{"batch": 8, "seed": 5, "threads": 2} | options)
        return [(batch.random_seed("noise"), batch.random_seed(), pickle.loads(pickle.dumps(batch)).random_seed())
                for epoch in range(2) for batch in loader.epoch(epoch)]

    some = seeds()
    numbers = [number for noise, plain, _ in some for number in (noise, plain)]
    assert len(set(numbers)) == len(numbers) and all(0 <= number < 2**63 for number in numbers)
    assert all(plain == pickled for _, plain, pickled in some)
    assert seeds(threads=1) == some
    assert not {noise for noise, *_ in seeds(seed=6)} & set(numbers)
    of_request = stoker.Preprocessor(pictures())([sample_images.encoded(sample_images.picture(57, 43))], seed=5).random_seed()
    assert 0 <= of_request < 2**63


def process_ids(images):
    return np.full(len(images), functions.process_id(images))


def test_requests_of_all_sizes_start_few_processes():
    """And what they give does not depend on how large others were before."""
    coded = [sample_images.encoded(sample_images.picture(57, 43, seed=seed)) for seed in range(16)]
    ready = stoker.Preprocessor(pictures().map(process_ids, "image", {"process": ("i64", ())}, batch=True), threads=1)
    processes = [set(np.from_dlpack(ready(coded[:count]).process).tolist()) for count in range(1, 17)]
    assert all(len(each) == 1 for each in processes) and len(set.union(*processes)) <= 5
    recipe = pictures().map(functions.noise_of_batch, "image", IMAGE, batch=True)
    fresh, used = (stoker.Preprocessor(recipe, threads=1) for _ in range(2))
    used(coded)
    for count in (1, 3, 5):
        one, other = (np.array(np.from_dlpack(each(coded[:count], seed=3).image)) for each in (fresh, used))
        np.testing.assert_array_equal(one, other)
