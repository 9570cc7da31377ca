"""Loaders that tune themselves, from Python."""

import logging
import pickle
import re
import time

import pytest

import stoker

KNOBS = {"threads", "transfer_index", "prefetch", "io_depth"}


def train(loader, windows=1, step_s=0.004):
    """Steps that take their time, until so many windows were measured; returns the epochs."""
    epoch = 0
    while len(loader.tuning()) < windows:
        for batch in loader.epoch(epoch):
            assert batch.image is not None
            time.sleep(step_s)  # the training's step
        epoch += 1
    return epoch


def test_windows_are_told_with_their_knobs_and_reasons(folder, recipe):
    with stoker.Loader(folder, recipe, batch=4) as loader:
        train(loader)
        window = loader.tuning()[0]
        assert set(window) == {"at_s", "knobs", "samples_per_s", "wait_share", "next", "why", "settled"}
        assert set(window["knobs"]) == set(window["next"]) == KNOBS
        assert window["samples_per_s"] > 0 and 0 <= window["wait_share"] <= 1
        assert window["why"] and isinstance(window["settled"], bool)


def test_the_report_is_written(folder, recipe, tmp_path):
    with stoker.Loader(folder, recipe, batch=4) as loader:
        train(loader)
        loader.tune_report(tmp_path / "tuning.html")
    assert "samples/s" in (tmp_path / "tuning.html").read_text()
    with pytest.raises(stoker.Error, match="tuning.html"):
        loader.tune_report(tmp_path / "nowhere" / "tuning.html")


def test_the_report_says_of_what_it_is_where_and_of_when(folder, recipe, tmp_path):
    with stoker.Loader(folder, recipe, batch=4) as loader:
        train(loader)
        loader.tune_report(tmp_path / "tuning.html")
    (head,) = re.findall("<h1>(.*)</h1>", (tmp_path / "tuning.html").read_text())
    assert head.startswith(f"50 samples of {folder}; decode, random_resized_crop(size=[32]), random_flip, normalize(")
    assert re.search(r"batches of 4, device cpu, on .*; begun \d{4}-\d\d-\d\d \d\d:\d\d UTC$", head)


def test_reasons_go_to_the_log(folder, recipe, caplog):
    with caplog.at_level(logging.INFO, logger="stoker"):
        with stoker.Loader(folder, recipe, batch=4) as loader:
            train(loader)
    assert any(record.message.startswith("tuner: begins with") for record in caplog.records)


def test_what_is_given_and_set_stays(folder, recipe):
    with stoker.Loader(folder, recipe, batch=4, prefetch=3) as loader:
        loader.set(threads=1)
        train(loader, windows=2)
        assert (loader.threads, loader.prefetch) == (1, 3)
        assert all(window["knobs"]["threads"] == 1 for window in loader.tuning())


def test_nothing_is_tuned_where_it_is_off(folder, recipe):
    with stoker.Loader(folder, recipe, batch=4, tune="off") as loader:
        for _ in loader.epoch(0):
            pass
        assert loader.tuning() == [] and loader.prefetch == 2


@pytest.mark.parametrize("wrong", ["sometimes", "", 3, None])
def test_other_words_are_refused(folder, recipe, wrong):
    with pytest.raises(stoker.Error):
        stoker.Loader(folder, recipe, batch=4, tune=wrong)
    with pytest.raises(stoker.Error, match="'auto'"):
        stoker.Loader(folder, recipe, batch=4, prefetch="many")


def test_a_copy_in_another_process_tunes_as_this_one_does(folder, recipe):
    with stoker.Loader(folder, recipe, batch=4, tune="off", prefetch="auto") as loader:
        with pickle.loads(pickle.dumps(loader)) as copy:
            for _ in copy.epoch(0):
                pass
            assert copy.tuning() == []


def test_two_loaders_of_opposite_needs_share_the_cores(folder, recipe):
    """A training that waits for data, and an evaluation beside it that hardly wants any."""
    import os
    import threading

    most = max(1, -(-4 * len(os.sched_getaffinity(0)) // 5))
    with stoker.Loader(folder, recipe, batch=4, seed=1) as hungry, stoker.Loader(folder, recipe, batch=4) as fed:
        other = threading.Thread(target=train, args=(fed,), kwargs={"windows": 3, "step_s": 0.02})
        other.start()
        train(hungry, windows=3, step_s=0.001)
        other.join()
        for loader in (hungry, fed):
            assert all(1 <= window["knobs"]["threads"] <= most for window in loader.tuning())
        assert hungry.threads + fed.threads <= max(most, 2)
