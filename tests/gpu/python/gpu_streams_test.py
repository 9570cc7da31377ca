"""Streams of a GPU that read batches: they begin when the batch is there, and its memory is left alone until they end.

A consumer's kernel that waits for a long time on the GPU, while Python has released the batch, is what shows it.
"""

import numpy as np
import pytest

import stoker

# Of the GPU's clock: some 50 ms, far longer than a batch takes to be made.
CYCLES = 100_000_000
OPTIONS = dict(batch=8, seed=4, threads=4, prefetch=1, repeats=4)
BATCHES = 20
EVENT_NS = 1000  # how exactly events tell the time


class WithPtr:
    """A stream as CuPy has it."""

    def __init__(self, stream):
        self.ptr = stream.cuda_stream


class WithProtocol:
    """A stream as CUDA's Python libraries exchange it."""

    def __init__(self, stream):
        self.handle = stream.cuda_stream

    def __cuda_stream__(self):
        return 0, self.handle


STREAM_FORMS = {"number": lambda stream: stream.cuda_stream, "torch": lambda stream: stream, "ptr": WithPtr,
                "protocol": WithProtocol}


@pytest.fixture(scope="module")
def wanted(on_the_cpu, torch):
    return on_the_cpu(**OPTIONS)[:BATCHES]


@pytest.fixture
def loader(data, recipe, device, torch):
    with stoker.Loader(data, recipe, device=device, transfer_index=0, **OPTIONS) as made:
        yield made


def assert_same(got, wanted):
    assert len(got) == len(wanted)
    for number, (a, b) in enumerate(zip(got, wanted)):
        assert np.array_equal(a.cpu().numpy(), b), f"batch {number} changed under a kernel that was reading it"


@pytest.mark.parametrize("form", STREAM_FORMS)
def test_a_recorded_stream_reads_what_the_batch_held(loader, torch, wanted, form):
    side, got = torch.cuda.Stream(), []
    batches = iter(loader)
    for _ in range(BATCHES):
        batch = next(batches)
        image = torch.from_dlpack(batch.image)
        side.wait_stream(torch.cuda.current_stream())
        batch.record_stream(STREAM_FORMS[form](side))
        with torch.cuda.stream(side):
            torch.cuda._sleep(CYCLES)
            got.append(image.clone())
        del image, batch
    torch.cuda.synchronize()
    assert_same(got, wanted)


def test_a_stream_that_took_the_batch_reads_what_it_held(loader, torch, wanted):
    side, got = torch.cuda.Stream(), []
    batches = iter(loader)
    with torch.cuda.stream(side):
        for _ in range(BATCHES):
            image = torch.from_dlpack(next(batches).image)  # which says for which stream
            torch.cuda._sleep(CYCLES)
            got.append(image.clone())
            del image
    torch.cuda.synchronize()
    assert_same(got, wanted)


def test_a_batch_is_there_for_the_stream_that_takes_it(loader, torch, wanted):
    """Without a wait of ours: what the stream is given next reads finished pixels."""
    streams, got = [torch.cuda.Stream() for _ in range(3)], []
    batches = iter(loader)
    for number in range(BATCHES):
        with torch.cuda.stream(streams[number % 3]):
            got.append(torch.from_dlpack(next(batches).image).clone())
    torch.cuda.synchronize()
    assert_same(got, wanted)


def test_taking_a_batch_does_not_wait_for_the_gpu(loader, torch):
    """The stream is busy with another's work while batches are taken, and is still when they have been."""
    batches = iter(loader)
    torch.from_dlpack(next(batches).image).sum().item()
    torch.cuda._sleep(40 * CYCLES)
    busy = torch.cuda.Event()
    busy.record()
    image = torch.from_dlpack(next(batches).image)
    assert not busy.query()
    assert image.device.type == "cuda"


def test_a_step_is_timed_from_taking_a_batch_to_releasing_it(loader, torch):
    def mark():
        event = torch.cuda.Event(enable_timing=True)
        event.record()
        return event

    marks, batches = [], iter(loader)
    with torch.cuda.stream(torch.cuda.Stream()):
        for _ in range(BATCHES):
            batch = next(batches)
            before = mark()
            image = torch.from_dlpack(batch.image)
            taken = mark()
            torch.cuda._sleep(CYCLES)
            used = mark()
            del image, batch
            marks.append((before, taken, used, mark()))
    torch.cuda.synchronize()
    metrics = loader.metrics()
    steps, step_ns = metrics["consumer_device_steps"], metrics["consumer_device_step_ns"]
    assert 0 < steps <= BATCHES
    least = sorted(1e6 * taken.elapsed_time(used) for _, taken, used, _ in marks)[:steps]
    most = sorted(1e6 * before.elapsed_time(after) for before, _, _, after in marks)[-steps:]
    assert sum(least) - steps * EVENT_NS <= step_ns <= sum(most) + steps * EVENT_NS


def test_torch_loader_yields_tensors_of_the_gpu(data, recipe, device, torch, on_the_cpu):
    import stoker.torch

    wanted = on_the_cpu(**OPTIONS)
    with stoker.torch.Loader(data, recipe, device=device, **OPTIONS) as loader:
        for want, (image, label) in zip(wanted, loader.epoch(0)):
            assert image.device == torch.device(device)
            assert label.shape == (OPTIONS["batch"],)
            assert np.array_equal(image.cpu().numpy(), want)


def test_cupy_takes_batches(loader, wanted):
    cupy = pytest.importorskip("cupy")
    for want, batch in zip(wanted, loader):
        assert np.array_equal(cupy.asnumpy(cupy.from_dlpack(batch.image)), want)


def test_jax_takes_batches(loader, wanted):
    jax = pytest.importorskip("jax")
    if not any(place.platform == "gpu" for place in jax.devices()):
        pytest.skip("this JAX cannot use GPUs")
    for want, batch in zip(wanted, loader):
        assert np.array_equal(np.asarray(jax.dlpack.from_dlpack(batch.image)), want)
