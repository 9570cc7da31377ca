"""Batches that are asked for one by one, and batches that go to another process."""

import copy
import gc
import multiprocessing
import pickle
import threading

import numpy as np
import pytest
import torch

import stoker
import stoker.torch


def contents(batch):
    return (batch.epoch, batch.index, batch.key, batch.position.tolist(), batch.valid.tolist(),
            {name: arrays(batch[name]) for name in batch.outputs})


def arrays(output):
    if isinstance(output, stoker.Ragged):
        return output.values.numpy().tobytes(), output.offsets.numpy().tolist()
    if isinstance(output, stoker.Padded):
        return output.values.numpy().tobytes(), output.counts.numpy().tolist()
    return output.shape, output.dtype, output.numpy().tobytes()


@pytest.fixture(scope="module")
def every_form(recipe):
    """An image, a label, files as they are, and their first bytes."""
    return (recipe.view("coded", field="image").decode_bytes(most=100_000)
            .view("filled", field="image").decode_bytes(most=90, longer="cut").pad_to(90))


def test_any_batch_is_the_one_of_a_run(folder, recipe):
    with stoker.Loader(folder, recipe, batch=4, threads=2, seed=3, tail="keep") as loader:
        run = {(epoch, batch.index): contents(batch) for epoch in (0, 1) for batch in loader.epoch(epoch)}
        asked = [(1, 12), (0, 3), (1, 0), (0, 12), (0, 3)]
        for epoch, index in asked:
            loader.request(epoch, index)
        for wanted in asked:
            assert contents(loader.take()) == run[wanted]
        assert loader.take(timeout=0) is None
        assert [batch.index for batch in loader.epoch(1)] == list(range(13)), "an epoch is one again"
        with pytest.raises(stoker.Error, match="request"):
            loader.take()


def test_iterators_end_when_a_batch_is_requested(folder, recipe):
    with stoker.Loader(folder, recipe, batch=4, threads=1) as loader:
        batches = iter(loader)
        next(batches)
        loader.request(0, 5)
        with pytest.raises(stoker.Error, match="epoch has ended"):
            next(batches)
        assert loader.take().index == 5


def test_the_state_stays_where_the_epochs_stand(folder, recipe):
    with stoker.Loader(folder, recipe, batch=4, threads=1) as loader, stoker.Loader(folder, recipe, batch=4, threads=1) as other:
        batches = loader.epoch(5)
        next(batches), next(batches)
        state = loader.state_dict()
        loader.request(0, 3)
        loader.take()
        assert loader.state_dict() == state and (state["epoch"], state["batch"]) == (5, 2)
        assert next(iter(loader)).epoch == 6
        other.load_state_dict(state)
        other.request(0, 3)
        other.take()
        assert other.state_dict() == state
        batch = next(iter(other))
        assert (batch.epoch, batch.index) == (5, 2), "what was loaded is still ahead"


@pytest.mark.parametrize("epoch, index, message", [(0, 12, "no batch 12"), (-1, 0, "at least 0"), (0, "1", "index"), (None, 1, "epoch")])
def test_batches_there_are_not_are_refused(folder, recipe, epoch, index, message):
    with stoker.Loader(folder, recipe, batch=4, threads=1) as loader:
        with pytest.raises(stoker.Error, match=message):
            loader.request(epoch, index)
        loader.request(0, 11)
        with pytest.raises(stoker.Error, match="timeout"):
            loader.take(timeout="soon")
        assert loader.take(timeout=60).index == 11


def test_a_request_that_is_refused_changes_nothing(folder, recipe):
    with stoker.Loader(folder, recipe, batch=4, threads=1) as loader:
        with pytest.raises(stoker.Error, match="no batch 9999"):
            loader.request(0, 9999)
        with pytest.raises(stoker.Error, match="no batch was requested"):
            loader.take(timeout=0)
        batches = iter(loader)
        assert next(batches).index == 0
        with pytest.raises(stoker.Error, match="no batch 9999"):
            loader.request(0, 9999)
        assert [batch.index for batch in batches] == list(range(1, 12)), "the epoch goes on"


def test_one_thread_requests_while_another_takes(folder, recipe):
    with stoker.Loader(folder, recipe, batch=2, threads=2) as loader:
        loader.request(0, 0)

        def ask():
            for index in range(1, 25):
                loader.request(0, index)

        other = threading.Thread(target=ask)
        other.start()
        assert [loader.take().index for _ in range(25)] == list(range(25))
        other.join()


def test_close_ends_a_thread_that_waits_for_a_request(folder, recipe):
    loader = stoker.Loader(folder, recipe, batch=4, threads=1)
    loader.request(0, 0)
    loader.take()
    ended = []

    def wait():
        try:
            loader.take()
        except stoker.Error as error:
            ended.append(error.kind)

    other = threading.Thread(target=wait)
    other.start()
    loader.close()
    other.join()
    assert ended == ["closed"]


def test_the_torch_loader_takes_requests_too(folder, recipe):
    with stoker.torch.Loader(folder, recipe, batch=4, threads=1) as loader:
        loader.request(2, 1)
        image, label = batch = loader.take()
        assert batch.epoch == 2 and image.shape[0] == len(label) == 4
        assert loader.take(timeout=0) is None


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickled_batch_is_the_same(folder, every_form, protocol):
    with stoker.Loader(folder, every_form, batch=4, threads=1, tail="keep") as loader:
        for batch in loader:
            again = pickle.loads(pickle.dumps(batch, protocol=protocol))
            assert contents(again) == contents(batch)
            assert repr(again) == repr(batch)


def test_buffers_go_out_of_band_and_are_not_copied(folder, every_form):
    with stoker.Loader(folder, every_form, batch=4, threads=1) as loader:
        batch = next(iter(loader))
        buffers = []
        text = pickle.dumps(batch, protocol=5, buffer_callback=buffers.append)
        assert len(buffers) == 4 and len(text) < 4000
        memory = [bytearray(buffer) for buffer in buffers]
        again = pickle.loads(text, buffers=memory)
        assert contents(again) == contents(batch)
        image = again.image.numpy()
        image[0] = 7
        assert np.frombuffer(memory[0], np.float32)[0] == 7, "it lies there"
        del again
        gc.collect()
        with pytest.raises(BufferError):
            memory[0].clear()  # the array holds it
        del image
        gc.collect()
        memory[0].clear()


def test_tensors_over_memory_that_is_read_only_are(folder, recipe):
    with stoker.Loader(folder, recipe, batch=4, threads=1) as loader:
        batch = next(iter(loader))
        buffers = []
        text = pickle.dumps(batch, protocol=5, buffer_callback=buffers.append)
        again = pickle.loads(text, buffers=[bytes(buffer) for buffer in buffers])
        assert contents(again) == contents(batch)
        assert not again.image.numpy().flags.writeable
        with pytest.raises(ValueError):
            again.image.numpy()[0] = 1
        assert torch.equal(stoker.torch.tensors(again).image, torch.from_numpy(batch.image.numpy()))


def test_memory_that_is_not_aligned_is_copied(folder, every_form):
    with stoker.Loader(folder, every_form, batch=4, threads=1) as loader:
        batch = next(iter(loader))
        buffers = []
        text = pickle.dumps(batch, protocol=5, buffer_callback=buffers.append)
        shifted = [memoryview(b"\0\0\0" + bytes(buffer))[3:] for buffer in buffers]
        assert contents(pickle.loads(text, buffers=shifted)) == contents(batch)


def test_buffers_of_the_wrong_size_are_refused(folder, every_form):
    with stoker.Loader(folder, every_form, batch=4, threads=1) as loader:
        batch = next(iter(loader))
        buffers = []
        text = pickle.dumps(batch, protocol=5, buffer_callback=buffers.append)
        for number in range(4):
            for change in (lambda data: data[:-1], lambda data: data + b"\0" * 8, lambda data: b""):
                wrong = [bytes(buffer) for buffer in buffers]
                wrong[number] = change(wrong[number])
                with pytest.raises(stoker.Error, match="cannot be the output"):
                    pickle.loads(text, buffers=wrong)


def test_tensors_may_outlive_all_else_on_another_thread(folder, recipe):
    """The buffers are Python's: their end is looked for under its lock, on whichever thread the last tensor ends."""
    with stoker.Loader(folder, recipe, batch=4, threads=1) as loader:
        text = pickle.dumps(next(iter(loader)), protocol=5)
    held = [torch.from_dlpack(pickle.loads(text).image) for _ in range(20)]
    expected = held[0].clone()

    def end():
        while held:
            assert torch.equal(held.pop(), expected)

    threads = [threading.Thread(target=end) for _ in range(1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _loader_elsewhere(folder, recipe, pipe):
    with stoker.Loader(folder, recipe, batch=4, threads=1, seed=3) as loader:
        for batch in loader:
            pipe.send(batch)
    pipe.send(None)


def test_batches_come_from_another_process(folder, recipe):
    with stoker.Loader(folder, recipe, batch=4, threads=1, seed=3) as loader:
        expected = [contents(batch) for batch in loader]
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=_loader_elsewhere, args=(folder, recipe, there))
    process.start()
    received = []
    while (batch := here.recv()) is not None:
        received.append(contents(batch))
    process.join()
    assert received == expected and process.exitcode == 0


def pickled(protocol):
    return lambda batch: pickle.loads(pickle.dumps(batch, protocol=protocol))


@pytest.mark.parametrize("duplicate", [pickled(2), pickled(4), pickled(5), copy.copy, copy.deepcopy],
                         ids=["protocol 2", "protocol 4", "protocol 5", "copy", "deepcopy"])
def test_a_copy_of_a_batch_can_be_written_to_where_the_batch_can(folder, every_form, duplicate):
    with stoker.Loader(folder, every_form, batch=4, threads=1) as loader:
        batch = next(iter(loader))
        before, again = contents(batch), duplicate(batch)
        assert contents(again) == before
        for output in (again.image, again.coded.values, again.filled.values):
            output.numpy()[...] = 7
        assert (again.image.numpy() == 7).all() and contents(batch) == before, "it has memory of its own"
        buffers = []
        text = pickle.dumps(batch, protocol=5, buffer_callback=buffers.append)
        read_only = pickle.loads(text, buffers=[bytes(buffer) for buffer in buffers])
        assert not duplicate(read_only).image.numpy().flags.writeable
