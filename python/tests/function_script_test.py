"""Functions of the user's that are in the script that runs: other processes find them, and they change nothing of the program."""

import importlib.util
import os
import random
import subprocess
import sys

import numpy as np
import pytest

import sample_images
import stoker

IMAGE = {"image": ("u8", (20, 24, 3))}
SCRIPT = """
import sys

import numpy as np
import stoker

def inverted(image):
    return 255 - image

def main():
    recipe = stoker.recipe().decode().resize((20, 24)).layout("nhwc").map(inverted, "image", {"image": ("u8", (20, 24, 3))})
    loader = stoker.Loader(sys.argv[1], recipe, batch=8, threads=1)
    print(sum(int(np.from_dlpack(batch.image).astype(int).sum()) for batch in loader))

"""
GUARDED = """
if __name__ == "__main__":
    main()
"""
SPAWNED = """
if __name__ == "__main__":
    import multiprocessing

    child = multiprocessing.get_context("spawn").Process(target=main)
    child.start()
    child.join()
    sys.exit(child.exitcode)
"""


@pytest.fixture
def run(tmp_path):
    """Runs this text as a script, in a folder of its own."""
    def started(text, *words):
        (tmp_path / "train.py").write_text(text)
        return subprocess.run([sys.executable, "train.py", *words], cwd=tmp_path, capture_output=True, text=True)

    return started


@pytest.fixture(scope="module")
def coded():
    return sample_images.encoded(sample_images.picture(57, 43, seed=3))


@pytest.fixture(scope="module")
def printed(folder):
    """What SCRIPT prints."""
    recipe = stoker.recipe().decode().resize((20, 24)).layout("nhwc")
    return str(sum(int((255 - np.from_dlpack(batch.image).astype(int)).sum()) for batch in stoker.Loader(folder, recipe, batch=8)))


@pytest.mark.parametrize("end", [GUARDED, SPAWNED], ids=["itself", "spawned"])
def test_a_function_may_be_in_the_script_that_runs(run, folder, printed, end):
    """Also where a process that multiprocessing has spawned runs it."""
    done = run(SCRIPT + end, folder)
    assert (done.returncode, done.stdout.strip()) == (0, printed), done.stderr


@pytest.mark.skipif(importlib.util.find_spec("cloudpickle") is not None, reason="cloudpickle is there")
def test_a_script_that_is_not_guarded_is_told_so(run, folder):
    done = run(SCRIPT + "main()", folder)
    assert done.returncode == 1 and "put the main part of the script under if __name__ == '__main__'" in done.stderr


def test_a_function_in_the_script_leaves_the_choice_of_how_processes_start(run):
    done = run("""
import multiprocessing
import stoker

def inverted(image):
    return 255 - image

if __name__ == "__main__":
    stoker.recipe().decode().map(inverted, "image", {"image": ("u8", (20, 24, 3))})
    multiprocessing.set_start_method("spawn")
""")
    assert done.returncode == 0, done.stderr


def test_apply_leaves_the_state_of_the_program_as_it_is(run, tmp_path, coded):
    pytest.importorskip("torch")
    (tmp_path / "image.jpg").write_bytes(coded)
    done = run("""
import os
import random
import sys

import numpy as np
import stoker
import torch

def draws(image):
    return [random.random(), np.random.rand(), float(torch.rand(()))]

def state():
    words, place = np.random.get_state()[1:3]
    generators = random.getstate(), words.tolist(), place, torch.get_rng_state().tolist(), torch.initial_seed()
    return generators, torch.get_num_threads(), os.getcwd(), list(sys.path), list(sys.argv), sys.modules["__main__"]

if __name__ == "__main__":
    torch.set_num_threads(3)
    recipe = stoker.recipe().decode().map(draws, "image", {"image": ("f32", (3,))}, values="torch")
    image = open("image.jpg", "rb").read()
    os.chdir("/")
    sys.path.append("more")
    sys.argv = ["more"]
    before = state()
    first, second, other = (recipe.apply(image, position=position)["image"].tolist() for position in (0, 0, 1))
    assert state() == before
    assert first == second != other
""")
    assert done.returncode == 0, done.stderr


class Fails:
    def __call__(self, image):
        raise ValueError("this one is not for me")


def test_a_function_that_fails_leaves_the_generators_as_they_are(coded):
    before = random.getstate(), np.random.get_state()[1].tolist()
    with pytest.raises(stoker.Error, match="this one is not for me"):
        stoker.recipe().decode().resize((20, 24)).map(Fails(), "image", IMAGE).apply(coded)
    assert (random.getstate(), np.random.get_state()[1].tolist()) == before


@pytest.fixture
def odd_folder(tmp_path, monkeypatch):
    """Where modules are looked for, too; its name is not UTF-8."""
    place = os.path.join(os.fsencode(tmp_path), b"li\xe9b")
    os.mkdir(place)
    monkeypatch.setattr(sys, "path", [*sys.path, os.fsdecode(place)])
    return place


@pytest.mark.parametrize("function", ["numpy:invert", "in_odd_folder:inverted"])
def test_modules_and_the_interpreter_may_lie_in_folders_whose_names_are_not_utf8(folder, odd_folder, monkeypatch, function):
    with open(os.path.join(odd_folder, b"in_odd_folder.py"), "w") as file:
        file.write("def inverted(image):\n    return 255 - image\n")
    python = os.path.join(odd_folder, b"python\xe9")
    with open(python, "w") as file:
        file.write(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    os.chmod(python, 0o755)
    monkeypatch.setattr(sys, "executable", os.fsdecode(python))
    plain = stoker.recipe().decode().resize((20, 24)).layout("nhwc")
    made, given = (next(iter(stoker.Loader(folder, recipe, batch=8, seed=1, threads=1))).image.numpy()
                   for recipe in (plain.map(function, "image", IMAGE), plain))
    np.testing.assert_array_equal(made, 255 - given)


class RaisesWhenPickled:
    def __init__(self, error):
        self.error = error

    def __call__(self, image):
        return image

    def __reduce__(self):
        raise self.error


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit, MemoryError])
def test_what_is_no_mistake_in_a_function_stays_what_it_is(coded, tmp_path, monkeypatch, kind):
    recipe = stoker.recipe().decode().resize((20, 24)).layout("nhwc")
    with pytest.raises(kind, match="^in the midst$"):
        recipe.map(RaisesWhenPickled(kind("in the midst")), "image", IMAGE)
    with pytest.raises(stoker.Error, match="in the midst"):
        recipe.map(RaisesWhenPickled(ValueError("in the midst")), "image", IMAGE)
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    (tmp_path / f"raises_{kind.__name__}.py").write_text(f"raise {kind.__name__}('in the midst')\n")
    with pytest.raises(kind, match="^in the midst$"):
        recipe.map(f"raises_{kind.__name__}:f", "image", IMAGE).apply(coded)
