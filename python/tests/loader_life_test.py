"""A loader's life beyond one loop: copies of it in other processes, several at once, batches that are kept, batches of one
sample and of more than there are."""

import copy
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import tarfile
import threading

import numpy as np
import pytest

import sample_images
import stoker
import stoker.torch

LOADERS = [stoker.Loader, stoker.torch.Loader]
HANG_S = 60  # a guard against hanging


def contents(batches):
    return [(batch.epoch, batch.position.tolist(), list(batch.key), batch.valid.tolist(), np.array(batch.image).tobytes())
            for batch in batches]


def rest_and_next(loader):
    """What plain iteration yields of the epoch where the loader stands, and of the one after."""
    return contents(loader) + contents(loader)


def send_rest_and_next(loader, to):
    to.send((rest_and_next(loader), repr(loader)))


def elsewhere(loader):
    """The same of the loader pickled into a process that knows nothing of this one."""
    spawn = multiprocessing.get_context("spawn")
    here, there = spawn.Pipe()
    child = spawn.Process(target=send_rest_and_next, args=(loader, there))
    child.start()
    there.close()
    assert here.poll(HANG_S)
    result = here.recv()
    child.join(HANG_S)
    assert child.exitcode == 0
    return result


@pytest.mark.parametrize("kind", LOADERS)
def test_a_loader_pickled_into_another_process_goes_on_there(folder, recipe, kind):
    data = stoker.open(folder).subset(range(40)).with_labels([number % 7 for number in range(40)])
    with kind(data, recipe, batch=12, seed=3, tail="pad", order="windowed", window=9, lanes=2, repeats=2, cache="ram",
              memory="100MiB") as loader:
        batches = loader.epoch(4)
        next(batches), next(batches)
        loader.set(threads=3, prefetch=5)
        got, shown = elsewhere(loader)
        assert got == contents(batches) + contents(loader)
        assert shown == repr(loader) and "threads=3, prefetch=5" in shown


@pytest.mark.parametrize("duplicate", [lambda loader: pickle.loads(pickle.dumps(loader)), copy.copy, copy.deepcopy],
                         ids=["pickle", "copy", "deepcopy"])
@pytest.mark.parametrize("kind", LOADERS)
def test_a_copy_stands_where_the_loader_did_and_goes_its_own_way(folder, recipe, kind, duplicate):
    with kind(folder, recipe, batch=8, seed=1) as loader:
        with duplicate(loader) as copied:
            assert type(copied) is kind and rest_and_next(copied) == contents(loader.epoch(0)) + contents(loader.epoch(1))
        batches = loader.epoch(2)
        next(batches)
        with duplicate(loader) as copied:
            next(batches)
            assert contents(copied)[1:] == contents(batches)
        with duplicate(loader) as copied:
            assert {batch.epoch for batch in copied} == {3}


def test_a_copy_keeps_the_epoch_that_was_set(folder, recipe):
    with stoker.torch.Loader(folder, recipe, batch=8) as loader:
        loader.set_epoch(9)
        with copy.copy(loader) as copied:
            assert {batch.epoch for batch in copied} == {9}


@pytest.mark.parametrize("kind", LOADERS)
def test_a_loader_that_writes_an_audit_is_not_copied(folder, recipe, kind, tmp_path):
    with kind(folder, recipe, batch=8, audit=tmp_path / "audit") as loader:
        with pytest.raises(stoker.Error, match="with an audit cannot be pickled or copied"):
            pickle.dumps(loader)
    with kind(folder, recipe, batch=8, audit=None) as loader:
        pickle.dumps(loader)


def test_loaders_of_several_threads_share_a_data_set(folder, recipe):
    data = stoker.open(folder)
    seen = {}

    def load(seed):
        with stoker.Loader(data, recipe, batch=8, seed=seed, threads=2) as loader:
            seen[seed] = rest_and_next(loader)

    threads = [threading.Thread(target=load, args=(seed,)) for seed in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    together = dict(seen)
    for seed in range(5):
        load(seed)
    assert together == seen and len(seen) == 5


def test_batches_of_one_sample_are_those_of_larger_ones_cut_up(folder, recipe):
    with stoker.Loader(folder, recipe, batch=1, seed=2) as ones, stoker.Loader(folder, recipe, batch=10, seed=2) as tens:
        assert len(ones) == 50
        images = np.stack([np.array(batch.image)[0] for batch in ones])
        np.testing.assert_array_equal(images, np.concatenate([np.array(batch.image) for batch in tens]))


def test_a_batch_may_be_the_whole_data_set(folder, recipe):
    for tail in ("drop", "wrap", "pad", "keep"):
        with stoker.Loader(folder, recipe, batch=50, tail=tail) as loader:
            for epoch in range(2):
                (batch,) = loader.epoch(epoch)
                assert len(set(batch.key)) == 50 and batch.valid.all()


def test_a_batch_may_be_larger_than_the_data_set(folder, recipe):
    with stoker.Loader(folder, recipe, batch=120, tail="wrap") as loader:
        (batch,) = loader
        assert batch.valid.all() and batch.key[:20] == batch.key[50:70] == batch.key[100:]
        assert len(set(batch.key)) == 50
    with stoker.Loader(folder, recipe, batch=120, tail="pad") as loader:
        (batch,) = loader
        assert batch.valid.tolist() == [True] * 50 + [False] * 70
        assert len(set(batch.key[:50])) == 50 and not np.asarray(batch.image)[50:].any()
    with pytest.raises(stoker.Error, match="50 samples, fewer than one global batch of 120; .*tail wrap, pad or keep"):
        stoker.Loader(folder, recipe, batch=120, tail="drop")


@pytest.mark.parametrize("kind", LOADERS)
def test_batches_that_are_kept_stay_as_they_were(folder, recipe, kind):
    with kind(folder, recipe, batch=5, seed=1, prefetch=1) as loader:
        kept, copies = [], []
        for epoch in range(4):
            for number, batch in enumerate(loader.epoch(epoch)):
                if number % 3 == 0:
                    kept.append(batch)
                    copies += contents([batch])
        assert contents(kept) == copies and len(kept) == 16
    assert contents(kept) == copies


def test_a_loader_that_is_closed_takes_no_state_and_no_knobs(folder, recipe):
    loader = stoker.Loader(folder, recipe, batch=4, threads=1)
    state = loader.state_dict()
    loader.close()
    for refused in (lambda: loader.load_state_dict(state), lambda: loader.set(threads=2), lambda: next(iter(loader))):
        with pytest.raises(stoker.Error, match="the loader is closed") as caught:
            refused()
        assert caught.value.kind == "closed"
    assert loader.state_dict() == state and loader.threads == 1


@pytest.mark.parametrize("option", ["audit", "trace", "quarantine"])
def test_what_is_written_is_not_the_data(folder, recipe, tmp_path, option):
    data, link = tmp_path / "data.tar", tmp_path / "link"
    with tarfile.open(data, "w") as tar:
        tar.add(folder, ".")
    link.symlink_to(data)
    before = data.read_bytes()
    for path in (data, link):
        with pytest.raises(stoker.Error, match=f"{option} would write over .*, which holds the data"):
            stoker.Loader(data, recipe, batch=4, **{option: path})
    assert data.read_bytes() == before


def test_damage_is_found_whatever_the_cache_has(tmp_path):
    """Of raw images a crop reads the chunks that it needs, and the whole may be needed later."""
    folder = sample_images.make_folder(tmp_path / "train", classes=1, count=24, size=(400, 300))
    subprocess.run([os.environ["STOKER_BIN"], "pack", folder, tmp_path / "raw", "--raw"], check=True, capture_output=True)
    (shard,) = (tmp_path / "raw").glob("*.tar")
    with tarfile.open(shard) as tar:
        ends = [member.offset_data + member.size for member in tar if member.name.endswith(".npy")]
    assert len(ends) == 24
    with open(shard, "r+b") as file:
        for end in ends[::2]:
            file.seek(end - 9)
            damaged = bytes([file.read(1)[0] ^ 8])
            file.seek(end - 9)
            file.write(damaged)
    recipe = stoker.recipe().decode().random_resized_crop(32)
    found = []
    for cache in ("none", "ram"):
        with stoker.Loader(tmp_path / "raw", recipe, batch=8, seed=3, threads=1, cache=cache) as loader:
            seen = [contents(loader.epoch(epoch)) for epoch in range(8)]
            found.append((seen, sorted(bad["key"] for bad in loader.quarantine)))
    assert found[0] == found[1] and len(found[0][1]) > 6


def test_an_audit_is_of_one_loader_at_a_time(folder, recipe, tmp_path):
    audit = tmp_path / "audit"
    first = stoker.Loader(folder, recipe, batch=4, threads=1, audit=audit)
    written = len(list(first)) and audit.read_bytes()
    with pytest.raises(stoker.Error, match="audit' is being written by another loader or process"):
        stoker.Loader(folder, recipe, batch=4, threads=1, audit=audit)
    assert audit.read_bytes() == written
    first.close()
    with stoker.Loader(folder, recipe, batch=4, threads=1, audit=audit) as second:
        assert len(list(second)) and audit.read_bytes() == written
    with pytest.raises(stoker.Error, match="audit and trace are the same file"):
        stoker.Loader(folder, recipe, batch=4, audit=audit, trace=tmp_path / "x" / ".." / "audit")


def test_a_trace_is_written_where_its_path_pointed_to(folder, recipe, tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    with stoker.Loader(folder, recipe, batch=4, trace="trace.json") as loader:
        next(iter(loader))
        monkeypatch.chdir("elsewhere")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["elsewhere", "trace.json"]


def test_an_exception_of_a_signals_handler_takes_no_batch_away(folder):
    """The signal comes while the batch is made, which takes some milliseconds: less than a wait without a look at signals."""
    class Interrupted(Exception):
        pass

    def handler(*_):
        raise Interrupted

    def interrupt():
        started.wait()
        os.kill(os.getpid(), signal.SIGUSR1)

    recipe = stoker.recipe().decode().resize((500, 500)).gaussian_blur(31)
    before, interval, interrupted = signal.signal(signal.SIGUSR1, handler), sys.getswitchinterval(), 0
    sys.setswitchinterval(1000)  # the other thread runs only once this one waits
    try:
        for _ in range(10):
            with stoker.Loader(folder, recipe, batch=2, threads=1, prefetch=1, tune="off") as loader:
                batches, batch, started = iter(loader), None, threading.Event()
                thread = threading.Thread(target=interrupt)
                thread.start()
                try:
                    started.set()
                    batch = next(batches)
                    thread.join()
                except Interrupted:
                    pass
                thread.join()
                if batch is None:
                    interrupted += 1
                    assert loader.state_dict()["batch"] == 0 and loader.metrics()["batches"] == 0
                    assert next(batches).index == 0
    finally:
        sys.setswitchinterval(interval)
        signal.signal(signal.SIGUSR1, before)
    assert interrupted > 0


class OfAFolder(stoker.Loader):
    """It is not made as a Loader is."""

    def __init__(self, folder, note):
        super().__init__(folder, stoker.recipe().decode().resize((8, 8)), batch=8, seed=1, threads=1)
        self.note = note


class OfAFolderForTorch(stoker.torch.Loader):
    """It neither."""

    def __init__(self, folder, note):
        super().__init__(folder, stoker.recipe().decode().resize((8, 8)), batch=8, seed=1, threads=1)
        self.note = note


@pytest.mark.parametrize("duplicate", [lambda loader: pickle.loads(pickle.dumps(loader)), copy.copy, copy.deepcopy],
                         ids=["pickle", "copy", "deepcopy"])
@pytest.mark.parametrize("kind", [OfAFolder, OfAFolderForTorch])
def test_a_copy_is_of_the_same_class_with_what_that_adds(folder, kind, duplicate):
    with kind(folder, note=["mine"]) as loader:
        batches = loader.epoch(0)
        next(batches)
        with duplicate(loader) as copied:
            assert type(copied) is kind and copied.note == ["mine"]
            assert contents(copied) == contents(batches)
