"""Functions in shared objects: where these are looked for, and what is counted when they are opened again."""

from pathlib import Path

import numpy as np
import pytest

import sample_images
import stoker

IMAGE = {"image": ("u8", (20, 24, 3))}


def pictures():
    return stoker.recipe().decode().resize((20, 24)).layout("nhwc")


@pytest.mark.parametrize("isolated", [False, True])
def test_a_name_without_a_folder_is_looked_for_in_the_working_folder(library, monkeypatch, tmp_path, isolated):
    """As it was when the function was made ready, wherever the program goes then."""
    coded = sample_images.encoded(sample_images.picture(57, 43, seed=3))
    inverted = 255 - pictures().apply(coded)["image"]
    single, whole = (pictures().map("libfunctions.so:inverted", "image", IMAGE, isolated=isolated, batch=batch)
                     for batch in (False, True))
    monkeypatch.chdir(Path(library).parent)
    np.testing.assert_array_equal(single.apply(coded)["image"], inverted)
    ready = [stoker.Preprocessor(recipe, threads=1) for recipe in (single, whole)]
    monkeypatch.chdir(tmp_path)
    for preprocess in ready:
        for count in (1, 3):
            np.testing.assert_array_equal(np.from_dlpack(preprocess([coded] * count).image), [inverted] * count)
    with pytest.raises(stoker.Error, match="function 'inverted' cannot be loaded: .*libfunctions.so"):
        single.apply(coded)


def test_the_time_inside_a_function_of_batches_never_falls(folder, library):
    """Though it is opened anew for a batch of another size, such as the last."""
    recipe = pictures().map(f"{library}:inverted", "image", IMAGE, batch=True)
    with stoker.Loader(folder, recipe, batch=7, tail="keep", threads=1, tune="off") as loader:
        told = [loader.metrics()["function_inside_ns"] for epoch in range(3) for _ in loader.epoch(epoch)]
    assert told == sorted(told) and told[-1] > 0
