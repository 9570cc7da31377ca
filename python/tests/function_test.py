"""Functions of the user's: they get what their views make, draw what they are seeded with, and do no harm but to their samples."""

import gc
import importlib.util
import io
import logging
import os
import pickle
import re
import signal
import subprocess
import sys
import tarfile
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import functions
import sample_images
import stoker

IMAGE = {"image": ("u8", (20, 24, 3))}


def pictures(size=(20, 24)):
    return stoker.recipe().decode().resize(size).layout("nhwc")


@pytest.fixture(scope="module")
def coded():
    return sample_images.encoded(sample_images.picture(57, 43, seed=3))


def batches(data, recipe, epochs=1, **options):
    """The outputs of all batches, as bytes."""
    loader = stoker.Loader(data, recipe, **{"batch": 8, "seed": 5, "threads": 2, "tune": "off"} | options)
    seen = []
    for epoch in range(epochs):
        for batch in loader.epoch(epoch):
            seen.append({name: np.array(np.from_dlpack(getattr(batch, name))).tobytes() for name in batch.outputs})
    return seen


def test_a_function_gets_what_its_view_makes(coded):
    plain = pictures().apply(coded)["image"]
    for call in (dict(takes="image"), dict(takes=["image"]), dict(takes={"image": "image"})):
        made = pictures().map(functions.inverted, gives=IMAGE, **call).apply(coded)
        assert list(made) == ["image", "label"]
        np.testing.assert_array_equal(made["image"], 255 - plain)


def test_what_is_taken_is_no_output_and_what_is_given_has_its_place(coded):
    mask = sample_images.encoded(sample_images.picture(57, 43).convert("L"), "PNG")
    recipe = pictures().view("mask", field="mask.png").like("image").decode_mask()
    recipe = recipe.map(functions.half, ["image", "mask"], {"small": ("uint8", [10, 12, 3]), "mask": (np.uint8, (10, 12))},
                        name="halves")
    with pytest.raises(stoker.Error, match="function 'halves' gave no 'small', only mask, image"):
        recipe.apply({"image": coded, "mask.png": mask})
    recipe = pictures().view("mask", field="mask.png").like("image").decode_mask()
    whole = recipe.apply({"image": coded, "mask.png": mask})
    made = recipe.map(functions.half, ["mask", "image"][::-1], {"mask": ("u8", (10, 12)), "image": ("u8", (10, 12, 3))}).apply(
        {"image": coded, "mask.png": mask})
    assert list(made) == ["image", "label", "mask"]
    np.testing.assert_array_equal(made["image"], whole["image"][::2, ::2])
    np.testing.assert_array_equal(made["mask"], whole["mask"][::2, ::2])


def test_an_image_of_any_size_can_be_taken(folder):
    recipe = stoker.recipe().decode().layout("nhwc").map(functions.cropped, "image", IMAGE)
    for batch in stoker.Loader(folder, recipe, batch=8, seed=1, threads=2):
        assert np.from_dlpack(batch.image).shape == (8, 20, 24, 3)
    sizes = {stoker.recipe().decode().layout("nhwc").apply(path.read_bytes())["image"].shape for path in folder.rglob("*.jpg")}
    assert len(sizes) > 5


def test_an_output_can_have_rows_of_any_number(tmp_path, coded):
    texts = ["a bc def", "", "x " * 40]
    with tarfile.open(tmp_path / "a.tar", "w") as tar:
        for number, text in enumerate(texts):
            for name, content in ((f"{number}.jpg", coded), (f"{number}.txt", text.encode())):
                entry = tarfile.TarInfo(name)
                entry.size = len(content)
                tar.addfile(entry, io.BytesIO(content))
    recipe = pictures().view("text", field="txt").decode_text().map(functions.words, "text", {"lengths": ("i64", (), 50)})
    batch = next(iter(stoker.Loader(tmp_path / "a.tar", recipe, batch=3, order="none", threads=1)))
    assert [list(each) for each in batch.lengths.as_list()] == [[1, 2, 3], [], [1] * 40]
    short = pictures().view("text", field="txt").decode_text().map(functions.words, "text", {"lengths": ("i64", (), 20)})
    with pytest.raises(stoker.Error, match="function 'words' gave 40 rows of 'lengths', and there is room for 20"):
        short.apply({"image": coded, "txt": texts[2].encode()})


@pytest.mark.parametrize("function, gives", [
    (functions.noisy, IMAGE), (functions.draws, {"image": ("f32", (3,))})], ids=["rng", "generators"])
def test_random_numbers_are_those_of_the_sample(folder, function, gives):
    recipe = pictures().map(function, "image", gives)
    first = batches(folder, recipe, epochs=2)
    assert len({batch["image"] for batch in first}) == len(first)
    assert batches(folder, recipe, epochs=2, threads=1) == first
    assert batches(folder, recipe, epochs=2, seed=6) != first
    path = sorted(folder.rglob("*.jpg"))[0]
    for position in range(3):
        one, other, slow = (recipe.apply(path.read_bytes(), seed=5, position=position, reference=reference)["image"]
                            for reference in (False, False, True))
        np.testing.assert_array_equal(one, other)
        np.testing.assert_array_equal(one, slow)


def test_generators_have_streams_of_their_own(folder):
    recipe = pictures().map(functions.draws, "image", {"image": ("f32", (3,))})
    drawn = [image for batch in stoker.Loader(folder, recipe, batch=8, seed=5) for image in np.array(np.from_dlpack(batch.image))]
    assert all(len(set(numbers)) == 3 for numbers in drawn)


def test_what_a_function_prints_goes_to_standard_error(folder, capfd):
    for _ in stoker.Loader(folder, pictures().map(functions.prints, "image", IMAGE), batch=8, threads=1):
        pass
    said = capfd.readouterr()
    assert said.out == "" and "printed" in said.err and "written" in said.err


def test_loader_and_apply_give_the_same(folder):
    recipe = pictures().map(functions.noisy, "image", IMAGE)
    data = stoker.open(folder)
    samples = {sample["key"]: sample for sample in (data[number] for number in range(len(data)))}
    for batch in stoker.Loader(data, recipe, batch=8, seed=5, threads=2):
        for slot, key in enumerate(batch.key):
            want = recipe.apply(samples[key], seed=5, position=int(batch.position[slot]))["image"]
            np.testing.assert_array_equal(np.from_dlpack(batch.image)[slot], want)


@pytest.mark.parametrize("function", [functions.noisy, functions.raises])
@pytest.mark.parametrize("index", range(4))
def test_a_device_changes_nothing(tmp_path, index, function):
    """Images that are taken stay on the CPU at every transfer index, and others go on from there: where a function fails, those
    of another sample, which come after those of the one that failed."""
    folder = sample_images.make_folder(tmp_path / "few", classes=2, count=24)
    recipe = pictures().map(function, "image", {"made": ("u8", (20, 24, 3))})
    recipe = recipe.view("other", field="image").decode().random_resized_crop(16).normalize("imagenet")
    assert batches(folder, recipe, device="emulated:execute", transfer_index=index) == batches(folder, recipe)


HARM = {
    functions.raises: r"function 'raises' raised ValueError: this one is not for me \(functions.py, line \d+\)",
    functions.leaves: "the process of function 'leaves' ended with status 3",
    functions.crashes: r"the process of function 'crashes' was ended by signal 11 \(Segmentation fault\)",
    functions.hangs: r"function 'hangs' did not return within 2 s; its process was ended",
    functions.wrong_shape: r"function 'wrong_shape' gave 'image' as uint8 \[5, 24, 3\], but is to give uint8 \[20, 24, 3\]",
    functions.wrong_type: r"function 'wrong_type' gave 'image' as float64 \[20, 24, 3\], but is to give uint8 \[20, 24, 3\]",
    functions.nothing: r"function 'nothing' gave 'image' as object \[\], but is to give uint8 \[20, 24, 3\]",
    functions.closes: r"the process of function 'closes' was ended by signal 9",
}


@pytest.mark.parametrize("function", HARM, ids=lambda function: function.__name__)
def test_harm_is_done_to_single_samples(tmp_path, function):
    """It is told with function and sample, and a good sample takes the place."""
    folder = sample_images.make_folder(tmp_path / "few", classes=2, count=24)
    chosen = {path.name for path in folder.rglob("*.jpg") if functions.is_chosen(pictures().apply(path.read_bytes())["image"])}
    assert 3 <= len(chosen) <= 10
    recipe = pictures().map(function, "image", IMAGE, timeout=2 if function is functions.hangs else 60)
    loader = stoker.Loader(folder, recipe, batch=8, seed=5, threads=2)
    images = [image for batch in loader for image in np.array(np.from_dlpack(batch.image))]
    assert len(images) == 24 and not any(functions.is_chosen(image) for image in images)
    bad = loader.quarantine
    assert {os.path.basename(entry["key"]) + ".jpg" for entry in bad} == chosen
    for entry in bad:
        assert re.search(HARM[function], entry["reason"]), entry["reason"]
    strict = stoker.Loader(folder, recipe, batch=8, seed=5, threads=2, bad_sample="fail")
    with pytest.raises(stoker.Error, match=r"image_\d+.*" + HARM[function]) as caught:
        for _ in strict:
            pass
    assert caught.value.kind == "bad_sample"


def is_running(process):
    return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"


def test_a_process_that_is_killed_between_calls_costs_no_sample(folder, caplog):
    recipe = pictures().map(functions.process_id, "image", {"process": ("i64", ())})
    loader = stoker.Loader(folder, recipe, batch=5, threads=1, tune="off")
    processes = []
    with caplog.at_level(logging.WARNING):
        for number in range(3):
            loader.request(0, number)
            batch = loader.take()
            processes += set(np.from_dlpack(batch.process).tolist())
            os.kill(processes[-1], signal.SIGKILL)
            while is_running(processes[-1]):
                pass
    assert len(set(processes)) == len(processes) == 3 and loader.quarantine == []
    assert caplog.text.count("between two calls, the process of function 'process_id' was ended by signal 9 (Killed)") == 2


def test_a_function_that_cannot_be_loaded_is_tried_once_by_a_thread(folder, tmp_path, monkeypatch):
    tries = tmp_path / "tries"
    (tmp_path / "counts_tries.py").write_text(f"with open({str(tries)!r}, 'a') as file: file.write('x')\nraise RuntimeError('no licence')")
    monkeypatch.syspath_prepend(tmp_path)
    text = pictures().map(functions.same, "image", IMAGE).to_toml().replace("functions:same", "counts_tries:same")
    loader = stoker.Loader(folder, stoker.Recipe.from_toml(text), batch=25, threads=2, tune="off")
    for _ in range(2):
        with pytest.raises(stoker.Error, match="function 'same' cannot be loaded: .*RuntimeError: no licence"):
            list(loader)
    assert 1 <= len(tries.read_text()) <= 2


def test_a_process_that_grows_is_started_anew(folder, caplog):
    recipe = pictures().map(functions.leaks, "image", IMAGE, memory="128MiB")
    with caplog.at_level(logging.WARNING):
        plain = batches(folder, pictures(), epochs=4)
        assert batches(folder, recipe, epochs=4) == plain
    assert "function 'leaks': its process has grown to" in caplog.text


class Hangs:
    """Says by a file that it was called, and never returns."""

    def __init__(self, called):
        self.called = called

    def __call__(self, image):
        self.called.touch()
        while True:
            time.sleep(1)


def test_a_loader_can_be_closed_while_a_function_hangs(tmp_path, folder):
    called, failed = tmp_path / "called", []
    loader = stoker.Loader(folder, pictures().map(Hangs(called), "image", IMAGE), batch=8, threads=2)

    def take():
        try:
            for _ in loader:
                pass
        except stoker.Error as error:
            failed.append(error.kind)

    taking = threading.Thread(target=take)
    taking.start()
    while not called.exists():
        time.sleep(0.01)
    loader.close()
    taking.join()
    assert failed == ["closed"]


def test_each_thread_has_a_process_that_ends_with_the_loader(folder):
    loader = stoker.Loader(folder, pictures().map(functions.process_id, "image", {"process": ("i64", ())}), batch=8, threads=2,
                           tune="off")
    ids = set()
    for batch in loader:
        ids |= {int(number) for number in np.from_dlpack(batch.process)}
    assert 1 <= len(ids) <= 2 and os.getpid() not in ids
    del loader, batch
    gc.collect()
    for number in ids:
        with pytest.raises(ProcessLookupError):
            os.kill(number, 0)


def test_a_state_names_what_nothing_can_repeat_and_knows_versions(folder):
    def state(**options):
        return stoker.Loader(folder, pictures().map(functions.noisy, "image", IMAGE, **options), batch=8, seed=1).state_dict()

    assert "own_random" not in state()
    assert state(random="own")["own_random"] == "noisy"
    loader = stoker.Loader(folder, pictures().map(functions.noisy, "image", IMAGE, version="2"), batch=8, seed=1)
    loader.load_state_dict(state(version="2"))
    with pytest.raises(stoker.Error, match="the recipe's hash"):
        loader.load_state_dict(state(version="1"))
    loader.load_state_dict(state(version="2", timeout=300, memory="8GiB"))  # which change no sample


def test_a_recipe_with_a_function_is_text_and_can_be_pickled(coded):
    recipe = pictures().map(functions.noisy, {"image": "image"}, {"image": ("u8", (20, 24, 3)), "more": ("f32", (4,), 7)},
                            name="noise", values="torch", random="own", timeout=2.5, memory="1GiB", version="a \"b\"")
    again = stoker.Recipe.from_toml(recipe.to_toml())
    assert again == recipe and again.to_toml() == recipe.to_toml() and pickle.loads(pickle.dumps(recipe)) == recipe
    assert 'python = "functions:noisy"' in recipe.to_toml()


def test_functions_that_no_module_has_are_pickled(folder, tmp_path):
    """An object of a class, with what it holds."""
    recipe = pictures().map(Added(7), "image", IMAGE)
    assert recipe != pictures().map(Added(8), "image", IMAGE)
    for made in (recipe, pickle.loads(pickle.dumps(recipe))):
        images = np.concatenate([np.frombuffer(batch["image"], np.uint8) for batch in batches(folder, made)])
        plain = np.concatenate([np.frombuffer(batch["image"], np.uint8) for batch in batches(folder, pictures())])
        np.testing.assert_array_equal(images, plain + np.uint8(7))


class Added:
    def __init__(self, number):
        self.number = np.uint8(number)

    def __call__(self, image):
        return image + self.number


def test_a_lambda_needs_cloudpickle():
    if "cloudpickle" in sys.modules or importlib.util.find_spec("cloudpickle"):
        pytest.skip("cloudpickle is there")
    with pytest.raises(stoker.Error, match="cannot be given to another process .*define it at the top of a module, or install cloudpickle"):
        pictures().map(lambda image: image, "image", IMAGE)


@pytest.mark.parametrize("arguments, words", [
    (dict(function=3), "function is 3, but must be something that can be called"),
    (dict(takes=[]), "function 'same' takes no value"),
    (dict(takes=["image", "image"]), "takes view 'image' twice"),
    (dict(takes=3), "takes is 3, but must be"),
    (dict(takes="imige"), r"function 'same' takes view 'imige', which the recipe does not have \(did you mean 'image'\?\)"),
    (dict(gives={}), "gives no value"),
    (dict(gives={"image": "u8"}), r"gives\['image'\] is 'u8', but must be"),
    (dict(gives={"image": ("u9", (3,))}), "u9"),
    (dict(gives={"image": ("u8", (0,))}), "an extent"),
    (dict(gives={"key": ("u8", (1,))}), "an output cannot be named 'key'"),
    (dict(gives={"label": ("u8", (1,))}), "there are two outputs 'label'"),
    (dict(gives={"image": ("f32", (60000, 60000))}), "takes more than 1 GiB a sample"),
    (dict(values="numpi"), r"values 'numpi' is not known \(did you mean 'numpy'\?\)"),
    (dict(random="none"), "random 'none' is not known"),
    (dict(timeout=0), "timeout is 0"), (dict(timeout="long"), "timeout is 'long'"),
    (dict(memory="1MiB"), "memory must be at least 64MiB"),
    (dict(name="a b"), "a function cannot be named 'a b'"),
])
def test_what_makes_no_sense_is_refused(coded, arguments, words):
    with pytest.raises(stoker.Error, match=words) as caught:
        pictures().map(**{"function": functions.same, "takes": "image", "gives": IMAGE} | arguments).apply(coded)
    assert caught.value.kind in ("usage", "limit")


def test_a_view_is_taken_once(coded):
    recipe = pictures().map(functions.same, "image", {"a": ("u8", (20, 24, 3))}).map(functions.inverted, "image", IMAGE)
    with pytest.raises(stoker.Error, match="view 'image' is taken by the functions 'same' and 'inverted'"):
        recipe.apply(coded)


@pytest.mark.parametrize("python, words", [
    ("functions:nothing_there", "AttributeError: module 'functions' has no attribute 'nothing_there'"),
    ("no_such_module:f", "ModuleNotFoundError: No module named 'no_such_module'"),
    ("functions:kept", "TypeError: functions:kept is list, which cannot be called"), ("functions", "is not written as module:function")])
def test_a_function_that_is_not_there_ends_the_run(folder, python, words):
    text = pictures().map(functions.same, "image", IMAGE).to_toml().replace("functions:same", python)
    with pytest.raises(stoker.Error, match="function 'same' cannot be loaded: .*" + words) as caught:
        batches(folder, stoker.Recipe.from_toml(text))
    assert caught.value.kind == "usage"


def test_metrics_tell_what_the_way_to_a_function_costs(folder):
    loader = stoker.Loader(folder, pictures().map(functions.same, "image", IMAGE), batch=8, threads=1)
    for _ in loader:
        pass
    metrics = loader.metrics()
    assert 0 < metrics["function_inside_ns"] < metrics["function_ns"]


def test_values_of_torch_and_pillow(coded):
    torch = pytest.importorskip("torch")
    plain = pictures().apply(coded)["image"]

    def forms(values, function):
        return pictures().map(function, "image", IMAGE, values=values).apply(coded)["image"]

    np.testing.assert_array_equal(forms("torch", Flipped()), plain[:, ::-1])
    np.testing.assert_array_equal(forms("pil", Mirrored()), plain[:, ::-1])
    assert torch.initial_seed() is not None


class Flipped:
    def __call__(self, image):
        return image.flip(1)


class Mirrored:
    def __call__(self, image):
        from PIL import ImageOps

        return ImageOps.mirror(image)


def test_arguments_may_be_long(folder):
    numbers = [3 * number for number in range(100_000)]
    recipe = pictures().map(functions.chosen_number, "image", {"number": ("i64", ())}, arguments={"numbers": numbers, "at": 77_000})
    assert {int(number) for batch in stoker.Loader(folder, recipe, batch=4) for number in batch.number.numpy()} == {231_000}


@pytest.mark.parametrize("isolated", [False, True])
def test_a_shared_object_has_functions(folder, coded, library, isolated):
    plain = pictures().apply(coded)["image"]

    def made(function, gives=IMAGE, **more):
        return pictures().map(f"{library}:{function}", "image", gives, isolated=isolated, **more)

    np.testing.assert_array_equal(made("inverted").apply(coded)["image"], 255 - plain)
    noisy = made("noisy")
    assert batches(folder, noisy) == batches(folder, noisy, threads=1) == batches(folder, pictures().map(f"{library}:noisy", "image", IMAGE))
    rows = made("bright", {"bright": ("i64", (), 5000)}, arguments={"least": 200}).apply(coded)["bright"]
    np.testing.assert_array_equal(rows, np.flatnonzero(plain.ravel() >= 200))
    with pytest.raises(stoker.Error, match="it has more rows than there is room for"):
        made("bright", {"bright": ("i64", (), 3)}, arguments={"least": 1}).apply(coded)
    with pytest.raises(stoker.Error, match="function 'mistaken' failed with status 1: it takes values of another type"):
        made("mistaken").apply(coded)
    with pytest.raises(stoker.Error, match="function 'status' failed with status 7"):
        made("status").apply(coded)
    for function, words in (("absent", "absent"), ("", "")):
        with pytest.raises(stoker.Error, match=f"cannot be loaded: .*{words}") as caught:
            made(function, name="absent").apply(coded)
        assert caught.value.kind == "usage"


@pytest.mark.parametrize("isolated", [False, True])
def test_a_shared_object_gets_whole_batches_and_a_shorter_last_one(folder, library, isolated):
    recipe = pictures().map(f"{library}:inverted", "image", IMAGE, isolated=isolated, batch=True)
    inside, batch = (batches(folder, some, epochs=2, batch=7, tail="keep")
                     for some in (pictures().map(f"{library}:inverted", "image", IMAGE), recipe))
    assert len({len(each["image"]) for each in batch}) == 2, "the last batch of an epoch is shorter"
    assert batch == inside


@pytest.mark.parametrize("isolated", [False, True])
def test_a_shared_object_takes_numbers_of_two_bytes(library, isolated):
    array = np.arange(60_000, 60_006, dtype=np.uint16)
    stream = io.BytesIO()
    np.save(stream, array)
    recipe = stoker.recipe().view("x", field="x.npy").decode_array("u16", shape=(6,))
    recipe = recipe.map(f"{library}:counts", "x", {"sum": ("i64", ())}, isolated=isolated)
    assert recipe.apply({"x.npy": stream.getvalue()})["sum"] == array.sum(dtype=np.int64)


def test_harm_by_a_shared_object_is_done_to_single_samples(tmp_path, library):
    folder = sample_images.make_folder(tmp_path / "few", classes=2, count=24)
    chosen = sum(functions.is_chosen(pictures().apply(path.read_bytes())["image"]) for path in folder.rglob("*.jpg"))
    for function, isolated, words in (("throws", False, "failed with status 1: this one is not for me"),
                                      ("throws", True, "failed with status 1: this one is not for me"),
                                      ("crashes", True, "was ended by signal 11")):
        recipe = pictures().map(f"{library}:{function}", "image", IMAGE, isolated=isolated)
        loader = stoker.Loader(folder, recipe, batch=8, seed=5, threads=2)
        assert sum(len(batch.key) for batch in loader) == 24
        bad = loader.quarantine
        assert len(bad) == chosen and all(words in entry["reason"] for entry in bad)


def test_apply_outlives_the_crash_of_an_isolated_function(tmp_path, library):
    folder = sample_images.make_folder(tmp_path / "few", classes=2, count=24)
    recipe = pictures().map(f"{library}:crashes", "image", IMAGE, isolated=True)
    crashed = 0
    for path in folder.rglob("*.jpg"):
        plain = pictures().apply(path.read_bytes())["image"]
        if not functions.is_chosen(plain) or crashed == 2:
            continue
        with pytest.raises(stoker.Error, match="the process of function 'crashes' was ended by signal 11"):
            recipe.apply(path.read_bytes())
        crashed += 1
    assert crashed == 2


def test_the_example_builds_and_runs(tmp_path, coded):
    source = os.path.join(os.path.dirname(__file__), "../../examples/vignette")
    subprocess.run(["cmake", "-G", "Ninja", "-S", source, "-B", tmp_path, f"-DSTOKER_FUNCTION_INCLUDE={stoker.include_folder()}"], check=True)
    subprocess.run(["cmake", "--build", tmp_path], check=True)
    recipe = pictures().map(f"{tmp_path}/libvignette.so:vignette", "image", IMAGE, arguments={"strength": 0.8})
    dark, plain = recipe.apply(coded, seed=3)["image"].astype(int), pictures().apply(coded)["image"]
    assert (dark <= plain).all() and abs(dark[10, 12] - plain[10, 12]).max() <= 2
    assert (dark[0, 0] < plain[0, 0]).any() and (recipe.apply(coded, seed=4)["image"] != dark).any()
