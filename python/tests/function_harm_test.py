"""Harm that functions do in shared objects, to whole batches and in requests is told with function and sample; nothing hangs."""

import logging
import os
import re
import select
import subprocess
import sys
from concurrent import futures

import numpy as np
import pytest

import functions
import sample_images
import stoker

IMAGE = {"image": ("u8", (20, 24, 3))}
POLICIES = ("substitute", "skip", "fail")


def pictures():
    return stoker.recipe().decode().resize((20, 24)).layout("nhwc")


def is_chosen(path):
    return functions.is_chosen(pictures().apply(path.read_bytes())["image"])


@pytest.fixture(scope="module")
def few(tmp_path_factory):
    """A folder of eight images, and the one of them that functions do harm with."""
    folder = sample_images.make_folder(tmp_path_factory.mktemp("harm") / "few", classes=1, count=24)
    paths = sorted(folder.rglob("*.jpg"))
    chosen, others = [path for path in paths if is_chosen(path)], [path for path in paths if not is_chosen(path)]
    for path in chosen[1:] + others[7:]:
        path.unlink()
    return folder, chosen[0]


HUNG = "function 'hangs' did not return within 2 s; its process was ended"
HARM = {
    "raises": (dict(function=functions.raises), r"function 'raises' raised ValueError: this one is not for me \(functions.py"),
    "crashes": (dict(function=functions.crashes), "the process of function 'crashes' was ended by signal 11"),
    "hangs": (dict(function=functions.hangs, timeout=2), HUNG),
    "throws in a shared object": (dict(function="throws"), "function 'throws' failed with status 1: this one is not for me"),
    "crashes, isolated": (dict(function="crashes", isolated=True), "the process of function 'crashes' was ended by signal 11"),
    "hangs, isolated": (dict(function="hangs", isolated=True, timeout=2), HUNG),
}


def harmful(kind, library):
    arguments, words = HARM[kind]
    function = arguments["function"]
    named = {"function": f"{library}:{function}"} if isinstance(function, str) else {}
    return pictures().map(takes="image", gives=IMAGE, **arguments | named), words


@pytest.mark.parametrize("kind, policy", [(kind, policy) for kind in HARM for policy in POLICIES
                                          if "shared" in kind or "isolated" in kind or policy == "skip"])
def test_harm_is_treated_as_the_policy_says(few, library, kind, policy):
    folder, chosen = few
    recipe, words = harmful(kind, library)
    loader = stoker.Loader(folder, recipe, batch=4, seed=5, threads=2, tune="off", bad_sample=policy)
    if policy == "fail":
        with pytest.raises(stoker.Error, match=f"{chosen.stem}.*{words}") as caught:
            list(loader)
        assert caught.value.kind == "bad_sample"
        return
    slots = [each for batch in loader for each in zip(batch.key, batch.valid, np.array(batch.image.numpy()))]
    plain = {path.stem: pictures().apply(path.read_bytes())["image"] for path in folder.rglob("*.jpg")}
    assert len(slots) == 8 and sum(valid for _, valid, _ in slots) == (8 if policy == "substitute" else 7)
    for key, valid, image in slots:
        np.testing.assert_array_equal(image, plain[key.rpartition("/")[2]] if valid else 0 * image)
        assert not valid or not key.endswith(chosen.stem)
    (entry,) = loader.quarantine
    assert entry["key"].endswith(chosen.stem) and re.search(words, entry["reason"])


@pytest.mark.parametrize("kind", ["a shared object", "of batches"])
def test_a_process_that_grows_is_started_anew(folder, library, caplog, kind):
    function = f"{library}:leaks" if kind == "a shared object" else functions.leaks
    how = {"isolated": True} if kind == "a shared object" else {"batch": True}
    memory, epochs = ("128MiB", 4) if kind == "a shared object" else ("64MiB", 2)
    leaking = pictures().map(function, "image", IMAGE, memory=memory, **how)
    grown, plain = (stoker.Loader(folder, recipe, batch=2, seed=5, threads=1) for recipe in (leaking, pictures()))
    with caplog.at_level(logging.WARNING):
        for epoch in range(epochs):
            for batch, want in zip(grown.epoch(epoch), plain.epoch(epoch), strict=True):
                np.testing.assert_array_equal(batch.image.numpy(), want.image.numpy())
    assert "function 'leaks': its process has grown to" in caplog.text and grown.quarantine == []


def test_a_loader_that_is_closed_says_nothing_of_its_functions(few, caplog):
    for _ in range(20):
        with stoker.Loader(few[0], pictures().map(functions.same, "image", IMAGE), batch=1, threads=3, tune="off") as loader:
            next(iter(loader))
    assert "'same'" not in caplog.text


@pytest.mark.parametrize("policy", POLICIES)
def test_a_function_of_batches_that_hangs_ends_the_epoch_and_names_the_batch(folder, policy):
    recipe = pictures().map(functions.hangs_for_batches, "image", IMAGE, batch=True, timeout=1)
    loader = stoker.Loader(folder, recipe, batch=10, seed=5, threads=2, bad_sample=policy)
    words = r"batch \d of epoch 0: .*function 'hangs_for_batches' did not return within 1 s; its process was ended"
    with pytest.raises(stoker.Error, match=words) as caught:
        list(loader)
    assert caught.value.kind == "data" and not loader.quarantine


@pytest.mark.parametrize("kind", HARM)
def test_harm_in_a_request_names_its_item(few, library, kind):
    recipe, words = harmful(kind, library)
    paths = sorted(few[0].rglob("*.jpg"))
    at, images = paths.index(few[1]), [path.read_bytes() for path in paths]
    ready = stoker.Preprocessor(recipe, threads=2)
    with pytest.raises(stoker.Error, match=f"item {at}: {words}") as caught:
        ready(images)
    assert caught.value.kind == "bad_sample"
    batch = ready(images, bad_sample="skip")
    assert batch.valid.tolist() == [number != at for number in range(8)]
    assert list(batch.errors) == [at] and re.search(words, batch.errors[at])
    for number, (image, made) in enumerate(zip(images, batch.image.numpy(), strict=True)):
        np.testing.assert_array_equal(made, 0 * made if number == at else pictures().apply(image)["image"])


@pytest.mark.parametrize("policy", ["fail", "skip"])
@pytest.mark.parametrize("function, words", [
    (functions.fails_for_batches, r"function 'fails_for_batches' raised ValueError: not for batches \(functions.py, line \d+\)"),
    (functions.hangs_for_batches, "function 'hangs_for_batches' did not return within 1 s; its process was ended")],
    ids=lambda value: getattr(value, "__name__", ""))
def test_harm_to_the_batch_of_a_request_is_told(few, policy, function, words):
    ready = stoker.Preprocessor(pictures().map(function, "image", IMAGE, batch=True, timeout=1), threads=2)
    with pytest.raises(stoker.Error, match=words):
        ready([path.read_bytes() for path in few[0].rglob("*.jpg")], bad_sample=policy)


@pytest.mark.parametrize("items", ["bytes", "paths"])
def test_a_functions_process_outlives_the_threads_that_ask_for_it(few, items):
    path = few[1]
    item = path.read_bytes() if items == "bytes" else path
    ready = stoker.Preprocessor(pictures().map(functions.process_id, "image", {"process": ("i64", ())}), threads=1)
    with futures.ThreadPoolExecutor(1) as first:
        processes = {first.submit(lambda: int(ready([item]).process.numpy()[0])).result()}
    for _ in range(10):
        with futures.ThreadPoolExecutor(1) as other:  # its thread ends with it
            processes.add(other.submit(lambda: int(ready([item]).process.numpy()[0])).result())
    assert len(processes) == 1


BUSY_FOR_EVER = """
import os, sys, stoker

def works_on(image):
    with open(os.environ["TOLD"], "w") as told:
        print(os.getpid(), file=told)
    sum(range(10**12))

if __name__ == "__main__":
    recipe = stoker.recipe().decode().resize((20, 24)).layout("nhwc").map(works_on, "image", {"image": ("u8", (20, 24, 3))})
    stoker.Preprocessor(recipe)([open(sys.argv[1], "rb").read()])
"""


def test_a_functions_process_ends_with_the_program_in_the_midst_of_a_call(few, tmp_path):
    script, told = tmp_path / "busy.py", tmp_path / "told"
    script.write_text(BUSY_FOR_EVER)
    os.mkfifo(told)
    with subprocess.Popen([sys.executable, script, few[1]], env={**os.environ, "TOLD": str(told)}) as program:
        process = os.pidfd_open(int(told.read_text()))
        assert not select.select([process], [], [], 0)[0]
        program.kill()
    assert select.select([process], [], [], 20)[0] == [process]
    os.close(process)


def test_a_function_that_always_fails_ends_the_epoch_soon(tmp_path):
    folder, calls = sample_images.make_folder(tmp_path / "many", classes=2, count=200), tmp_path / "calls"
    recipe = pictures().map(functions.raises_always, "image", IMAGE, arguments={"calls": str(calls)})
    with pytest.raises(stoker.Error, match="function 'raises_always' raised ValueError: never"):
        for _ in stoker.Loader(folder, recipe, batch=4, prefetch=1, threads=2, tune="off"):
            pass
    assert len(calls.read_text().splitlines()) < 100, "128 others would be tried in the place of each of them"
