"""Batches that a device makes: the CPU's bytes at every index, and what becomes of loaders that share or keep memory."""

import numpy as np
import pytest

import stoker

OPTIONS = dict(batch=7, seed=2, threads=2)


def contents(batches, to_host):
    return [(batch.epoch, batch.index, batch.key, to_host(batch.image).tobytes(), to_host(batch.label).tolist())
            for batch in batches]


@pytest.fixture(scope="module")
def wanted(data, recipe):
    with stoker.Loader(data, recipe, **OPTIONS) as loader:
        return [contents(loader.epoch(epoch), np.array) for epoch in range(2)]


@pytest.mark.parametrize("index", range(4))
def test_batches_are_the_cpus_at_each_index(data, recipe, device, to_host, wanted, index):
    with stoker.Loader(data, recipe, device=device, transfer_index=index, **OPTIONS) as loader:
        assert [contents(loader.epoch(epoch), to_host) for epoch in range(2)] == wanted


def test_batches_are_the_cpus_while_the_index_changes(data, recipe, device, to_host, wanted):
    used, got = set(), []
    with stoker.Loader(data, recipe, device=device, transfer_index=1, **OPTIONS) as loader:
        for epoch in range(2):
            batches = []
            for number, batch in enumerate(loader.epoch(epoch)):
                batches += contents([batch], to_host)
                if number % 3 == 2:
                    loader.set(transfer_index=(loader.transfer_index + 1) % 4)
                used.add(loader.transfer_index)
            got.append(batches)
    assert got == wanted
    assert used == {0, 1, 2, 3}


def test_a_faithful_recipe_is_the_cpus(data, device, to_host):
    recipe = stoker.recipe().decode("faithful").random_resized_crop((61, 75)).random_flip().layout("nhwc")
    with stoker.Loader(data, recipe, **OPTIONS) as loader:
        want = contents(loader.epoch(0), np.array)
    for index in range(4):
        with stoker.Loader(data, recipe, device=device, transfer_index=index, **OPTIONS) as loader:
            assert contents(loader.epoch(0), to_host) == want


def test_outputs_say_where_they_are(data, recipe, device):
    with stoker.Loader(data, recipe, device=device, **OPTIONS) as loader:
        batch = next(iter(loader))
        where = (2, int(device.split(":")[1])) if device.startswith("cuda") else (1, 0)
        assert batch.image.__dlpack_device__() == where


def test_two_loaders_in_a_process_do_not_disturb_each_other(data, recipe, device, to_host, wanted):
    with stoker.Loader(data, recipe, device=device, transfer_index=0, **OPTIONS) as first, \
            stoker.Loader(data, recipe, device=device, transfer_index=2, **OPTIONS) as second:
        pairs = zip(first.epoch(0), second.epoch(1))
        got = [(contents([a], to_host)[0], contents([b], to_host)[0]) for a, b in pairs]
    assert got == list(zip(*wanted))


def test_batches_that_are_kept_get_memory_until_the_budget_is_used(data, recipe, device, to_host):
    # On a GPU it is its memory that is short, of which there is a budget apart.
    budget = {"device_memory": "64MiB"} if device.startswith("cuda") else {"memory": "64MiB"}
    with stoker.Loader(data, recipe, device=device, repeats=200, **budget, **OPTIONS) as loader:
        kept = []
        with pytest.raises(stoker.Error) as caught:
            for batch in loader:
                kept.append(batch)
        assert caught.value.kind == "memory"
        assert len(kept) > loader.prefetch
        first = to_host(kept[0].image)
    with stoker.Loader(data, recipe, repeats=200, **OPTIONS) as loader:
        assert np.array_equal(first, np.array(next(iter(loader)).image))
