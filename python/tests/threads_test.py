"""Many Python threads at once. `./dev wheel --test` runs this in interpreters without a lock, too."""

import concurrent.futures
import sys

import numpy
import pytest

import stoker

THREADS = 6


def together(work):
    """What each thread's call returns."""
    with concurrent.futures.ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(work, range(THREADS)))


def hashes(batches):
    return [(batch.epoch, batch.index, tuple(batch.key), hash(numpy.asarray(batch.image).tobytes())) for batch in batches]


def test_importing_does_not_bring_the_lock_back():
    if not hasattr(sys, "_is_gil_enabled") or "free-threading" not in sys.version:
        pytest.skip("this interpreter has a lock")
    assert not sys._is_gil_enabled()


def test_threads_with_loaders_of_their_own_see_the_same(folder, recipe):
    def train(number):
        data = stoker.open(folder)
        with stoker.Loader(data, recipe, batch=8, seed=7, threads=1 + number % 2) as loader:
            return [line for epoch in range(3) for line in hashes(loader.epoch(epoch))]

    seen = together(train)
    assert len(seen[0]) == 18 and all(one == seen[0] for one in seen)


def test_threads_share_an_epoch(folder, recipe):
    with stoker.Loader(folder, recipe, batch=2, seed=7) as loader:
        expected = hashes(loader.epoch(0))
        batches = loader.epoch(1)
        parts = together(lambda _: hashes(batches))
        assert sorted(line[1] for part in parts for line in part) == list(range(25))
        assert len(batches) == 0
        assert hashes(loader.epoch(0)) == expected


def test_threads_share_requests_and_metrics(folder, recipe):
    with stoker.Loader(folder, recipe, batch=2, seed=7) as loader:
        expected = {line[1]: line for line in hashes(loader.epoch(0))}

        def ask(number):
            found = []
            for index in range(number, 24, THREADS):
                loader.request(0, index)
                loader.set(prefetch=1 + index % 3)
                found += hashes([loader.take()])
                assert loader.metrics()["samples"] >= 0 and loader.report().samples >= 0
            return found

        loader.request(0, 24)
        loader.take()
        taken = [line for part in together(ask) for line in part]
        assert sorted(taken) == sorted(expected[index] for index in range(24))


def test_threads_share_a_preprocessor_and_recipes(folder):
    paths = sorted(map(str, folder.rglob("*.jpg")))[:8]
    ready = stoker.Preprocessor(stoker.recipe().decode().resize(40).center_crop(32))
    expected = numpy.asarray(ready(paths).image).tobytes()

    def serve(number):
        made = stoker.recipe().decode().random_resized_crop(32 + number).to_toml()
        return made, [numpy.asarray(ready(paths).image).tobytes() == expected for _ in range(20)]

    assert all(all(same) and f"{32 + number}" in made for number, (made, same) in enumerate(together(serve)))


def test_loaders_are_closed_while_others_wait(folder, recipe):
    def open_and_close(number):
        for _ in range(5):
            loader = stoker.Loader(folder, recipe, batch=8)
            batches = iter(loader)
            next(batches)
            loader.close()
            with pytest.raises(stoker.Error, match="closed"):
                next(batches)
        return True

    assert all(together(open_and_close))
