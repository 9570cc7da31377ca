"""A loader's state: what was trained on goes on elsewhere, with another number of ranks, as if nothing had happened."""

import json
import pickle
import random
import shutil

import numpy as np
import pytest

import stoker

GLOBAL_BATCH = 12


def loaders(folder, recipe, world, state=None, **options):
    """One loader for each rank, which stand where the state does."""
    made = [stoker.Loader(folder, recipe, global_batch=GLOBAL_BATCH, seed=3, rank=rank, world=world, **options)
            for rank in range(world)]
    for loader in made:
        if state is not None:
            loader.load_state_dict(state)
    return made


def seen(batch):
    return [(batch.epoch, position, key, np.array(image).tobytes())
            for position, key, image in zip(batch.position.tolist(), batch.key, np.asarray(batch.image))]


def test_a_state_is_small_and_plain(folder, recipe):
    with stoker.Loader(folder, recipe, batch=8) as loader:
        next(iter(loader))
        state = loader.state_dict()
        assert (state["epoch"], state["batch"]) == (0, 1)
        assert json.loads(json.dumps(state)) == pickle.loads(pickle.dumps(state)) == state
        assert len(json.dumps(state)) < 400  # docs/concepts.md: about 200


def test_any_number_of_ranks_goes_on_where_another_stopped(folder, recipe, rounds):
    with stoker.Loader(folder, recipe, global_batch=GLOBAL_BATCH, seed=3) as loader:
        want = [sample for epoch in range(2) for batch in loader.epoch(epoch) for sample in seen(batch)]
    rng = random.Random(1)
    for _ in range(rounds(5)):
        got, state = [], None
        while len(got) < len(want):
            ranks = loaders(folder, recipe, rng.choice([1, 2, 3, 4, 6]), state, threads=rng.choice([1, 3]),
                            prefetch=rng.choice([1, 4]))
            for _ in range(rng.randint(1, 3)):  # an epoch's rest, or less
                for batches in zip(*ranks):
                    got += [sample for batch in batches for sample in seen(batch)]
                    states = [loader.state_dict() for loader in ranks]
                    assert all(other == states[0] for other in states)
                    state = states[0]
                    if rng.random() < 0.2:
                        break
                else:
                    continue
                break
            for loader in ranks:
                loader.close()
        assert got[:len(want)] == want


def test_behind_the_last_batch_the_next_epoch_begins(folder, recipe):
    with stoker.Loader(folder, recipe, batch=8) as first, stoker.Loader(folder, recipe, batch=8) as second:
        assert len(list(first.epoch(4))) == 6
        second.load_state_dict(first.state_dict())
        assert list(second.epoch(4)) == []
        second.load_state_dict(first.state_dict())
        assert [batch.epoch for batch in second] == [5] * 6


def test_an_iterator_of_before_has_ended_once_a_state_is_loaded(folder, recipe):
    with stoker.Loader(folder, recipe, batch=8) as loader:
        batches = iter(loader)
        next(batches)
        state = loader.state_dict()
        next(batches)
        loader.load_state_dict(state)
        with pytest.raises(stoker.Error, match="a state was loaded"):
            next(batches)
        batches = iter(loader)
        assert len(batches) == 5 and next(batches).index == 1


def test_a_state_of_another_loader_is_refused_with_what_differs(folder, recipe):
    with stoker.Loader(folder, recipe, batch=8, seed=1) as first, stoker.Loader(folder, recipe, batch=4, seed=2) as second:
        with pytest.raises(stoker.Error, match="seed was 1 and is now 2, the global batch was 8 and is now 4") as error:
            second.load_state_dict(first.state_dict())
        assert error.value.kind == "usage"
        for none in ({}, {"epoch": 1}):
            with pytest.raises(stoker.Error, match="not a state"):
                first.load_state_dict(none)
        with pytest.raises(stoker.Error, match="dict"):
            first.load_state_dict("state")
        for state, why in ((None, "state_dict is None"), ({"epoch": object()}, "not JSON serializable"),
                           ({object(): 1}, "keys must be")):
            with pytest.raises(stoker.Error, match=f"{why}.*must be the dict that state_dict"):
                first.load_state_dict(state)


def test_a_state_names_nvjpeg(folder, recipe):
    device = {"batch": 8, "device": "emulated:execute"}
    with stoker.Loader(folder, recipe, nvjpeg=True, **device) as first, stoker.Loader(folder, recipe, **device) as second:
        batches = iter(first)
        next(batches)
        with pytest.raises(stoker.Error, match="nvjpeg, whose pixels differ, was true and is now false"):
            second.load_state_dict(first.state_dict())
        with pytest.raises(stoker.Error, match="nvjpeg, whose pixels differ, was false and is now true"):
            first.load_state_dict(second.state_dict())
        again = pickle.loads(pickle.dumps(first))
        assert seen(next(iter(again))) == seen(next(batches))
        again.close()


def test_bad_samples_are_listed_and_replaced(folder, recipe, tmp_path):
    data, listed = tmp_path / "data", tmp_path / "bad.jsonl"
    shutil.copytree(folder, data)
    broken = sorted(data.rglob("*.*"))[3]
    broken.write_bytes(b"no image")
    with stoker.Loader(data, recipe, batch=8, tail="wrap", quarantine=listed) as loader:
        assert loader.quarantine == []
        keys = [key for batch in loader.epoch(0) for key in batch.key]
        (entry,) = loader.quarantine
    assert entry["key"] not in keys and entry["key"] in str(broken)
    assert "no image" in entry["reason"] or "not a JPEG" in entry["reason"]
    assert [json.loads(line) for line in listed.read_text().splitlines()] == [entry]
