"""Batches as numpy arrays and through DLPack: without copying, and alive as long as anything looks at them."""

import gc

import numpy as np
import pytest
import torch

import stoker


@pytest.fixture
def loader(folder, recipe):
    with stoker.Loader(folder, recipe, batch=4, threads=2, prefetch=2, seed=3) as loader:
        yield loader


def one_batch(loader):
    return next(iter(loader))


def test_outputs_are_attributes_and_items(loader):
    batch = one_batch(loader)
    assert batch.outputs == ("image", "label")
    assert batch.image.shape == (4, 3, 32, 32) and batch.image.dtype == "float32"
    assert batch.label.shape == (4,) and batch["label"].dtype == "int64"
    assert [type(tensor.dtype) for tensor in (batch.image, batch.label)] == [type(np.dtype("f4")), type(np.dtype("i8"))]
    assert len(batch) == len(batch.image) == 4
    assert {"image", "label", "valid", "key"} <= set(dir(batch))
    assert "image=Tensor(shape=(4, 3, 32, 32), dtype='float32')" in repr(batch)
    with pytest.raises(AttributeError, match="mask"):
        batch.mask
    with pytest.raises(stoker.Error, match="mask") as caught:
        batch["mask"]
    assert caught.value.kind == "not_found"


def test_slots_say_what_stands_in_them(loader, folder):
    batch = one_batch(loader)
    data = stoker.open(folder)
    labels = {data[i]["key"]: data[i]["label"] for i in range(len(data))}
    assert batch.valid.dtype == np.bool_ and batch.valid.tolist() == [True] * 4
    assert batch.position.dtype == np.int64 and batch.position.tolist() == [0, 1, 2, 3]
    assert batch.label.numpy().tolist() == [labels[key] for key in batch.key]
    assert (batch.epoch, batch.index) == (0, 0)


def test_numpy_does_not_copy(loader):
    batch = one_batch(loader)
    array = np.asarray(batch.image)
    assert array.dtype == np.float32 and array.shape == (4, 3, 32, 32) and array.flags.c_contiguous
    address = array.__array_interface__["data"][0]
    assert batch.image.numpy().__array_interface__["data"][0] == address
    assert np.from_dlpack(batch.image).__array_interface__["data"][0] == address
    assert torch.from_dlpack(batch.image).data_ptr() == address
    assert address % 64 == 0


def test_a_tensor_says_how_to_compute_with_it(loader):
    label = next(iter(loader)).label
    array = np.asarray(label)
    assert type(array[0]) is np.int64 and array.dtype.char == np.dtype(np.int64).char
    assert (label == array).all() and (array == label).all() and not (label != array).any()  # numpy compares elements
    for attempt in (lambda: label == 0, lambda: label != torch.zeros(len(array)), lambda: torch.zeros(len(array)) == label,
                    lambda: label[0], lambda: list(label)):
        with pytest.raises(TypeError, match="numpy.asarray.tensor. or torch.from_dlpack"):
            attempt()
    assert hash(label) == hash(label) and label in {label}


def test_numpy_copies_when_asked(loader):
    batch = one_batch(loader)
    array = np.asarray(batch.image)
    copy = np.array(batch.image)
    assert not np.shares_memory(copy, array)
    np.testing.assert_array_equal(copy, array)
    np.testing.assert_array_equal(np.asarray(batch.image, dtype=np.float64), array.astype(np.float64))
    assert np.shares_memory(batch.image.__array__(), array)
    assert not np.shares_memory(batch.image.__array__(copy=True), array)
    with pytest.raises(ValueError):
        batch.image.__array__(np.float64, copy=False)


@pytest.mark.parametrize("hold", [np.asarray, torch.from_dlpack, np.from_dlpack, lambda tensor: tensor, lambda t: t.__dlpack__()],
                         ids=["numpy", "torch", "numpy dlpack", "tensor", "capsule"])
def test_memory_is_not_used_again_while_something_looks_at_it(folder, recipe, hold):
    with stoker.Loader(folder, recipe, batch=4, threads=2, prefetch=1, seed=3) as loader:
        expected = [np.array(batch.image) for batch in loader.epoch(0)]
        held = [hold(batch.image) for batch in loader.epoch(0)]
        gc.collect()
        for _ in loader.epoch(1):  # would write over whatever were free
            pass
    for kept, array in zip(held, expected):
        if isinstance(kept, stoker.Tensor):
            kept = kept.numpy()
        if type(kept).__name__ == "PyCapsule":
            kept = torch.utils.dlpack.from_dlpack(kept)
        np.testing.assert_array_equal(np.asarray(kept), array)


def test_memory_is_used_again_when_nothing_looks_at_it(folder, recipe):
    with stoker.Loader(folder, recipe, batch=4, threads=1, prefetch=1) as loader:
        addresses = []
        for epoch in range(3):
            for batch in loader.epoch(epoch):
                addresses.append(torch.from_dlpack(batch.image).data_ptr())
                batch.image.__dlpack__()  # a capsule that is not taken releases its batch, too
                batch.image.__dlpack__(max_version=(1, 0))
    assert len(addresses) == 36 and len(set(addresses)) <= 3  # prefetch, the one that is used, the one that is just taken


def test_a_tensor_outlives_its_loader(folder, recipe):
    loader = stoker.Loader(folder, recipe, batch=4)
    image = torch.from_dlpack(one_batch(loader).image)
    expected = image.clone()
    loader.close()
    del loader
    gc.collect()
    assert torch.equal(image, expected)


@pytest.mark.parametrize("dtype", ["u8", "f16", "bf16", "f32"])
def test_every_dtype_reaches_torch(folder, dtype):
    recipe = stoker.recipe().decode().resize((8, 8))
    whole = recipe.normalize(mean=0, std=1, scale=2).cast("f32")
    narrow = recipe.normalize(mean=0, std=1, scale=2).cast(dtype)
    with stoker.Loader(folder, whole, batch=8) as one, stoker.Loader(folder, narrow, batch=8) as other:
        wanted = {"u8": torch.uint8, "f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32}[dtype]
        expected = torch.from_dlpack(one_batch(one).image)
        expected = expected.round().to(wanted) if dtype == "u8" else expected.to(wanted)
        got = torch.from_dlpack(one_batch(other).image)
        assert got.dtype == wanted and torch.equal(got, expected)


def test_numpy_of_bf16_says_what_to_do(folder):
    with stoker.Loader(folder, stoker.recipe().decode().resize((8, 8)).cast("bf16"), batch=2) as loader:
        batch = one_batch(loader)
        assert batch.image.dtype == "bfloat16"
        with pytest.raises(stoker.Error, match="torch.from_dlpack") as caught:
            np.asarray(batch.image)
        assert caught.value.kind == "usage"


class TorchStream:
    cuda_stream = 0x1234


class CupyStream:
    ptr = 0x1234


class OtherStream:
    def __cuda_stream__(self):
        return 0, 0x1234


@pytest.mark.parametrize("device", ["cpu", "emulated:execute"])
def test_streams_of_every_framework_are_taken(folder, recipe, device):
    with stoker.Loader(folder, recipe, batch=4, device=device) as loader:
        batch = one_batch(loader)
        for stream in (TorchStream(), CupyStream(), OtherStream(), 0, 2, 0x1234):
            batch.record_stream(stream)  # nothing to wait for: they are on the host
        for stream in ("7", None, 1.5):
            with pytest.raises(stoker.Error, match="a stream of PyTorch or CuPy") as caught:
                batch.record_stream(stream)
            assert caught.value.kind == "usage"


def test_dlpack_follows_the_protocol(loader):
    tensor = one_batch(loader).image
    assert tensor.__dlpack_device__() == (1, 0)
    assert '"dltensor"' in repr(tensor.__dlpack__())
    assert '"dltensor"' in repr(tensor.__dlpack__(max_version=(0, 8)))
    assert '"dltensor_versioned"' in repr(tensor.__dlpack__(stream=None, max_version=(1, 1), dl_device=(1, 0), copy=False))
    for refused in ({"stream": 1}, {"dl_device": (2, 0)}):
        with pytest.raises(BufferError):
            tensor.__dlpack__(**refused)


def test_dlpack_copies_when_asked(loader):
    tensor = one_batch(loader).image
    copy = torch.utils.dlpack.from_dlpack(tensor.__dlpack__(copy=True))
    expected = tensor.numpy().copy()
    tensor.numpy()[:] = 0
    np.testing.assert_array_equal(copy, expected)
    assert '"dltensor_versioned"' in repr(tensor.__dlpack__(max_version=(1, 0), copy=True))


def test_what_is_written_into_a_batch_stays_in_it(loader):
    batches = iter(loader)
    image = torch.from_dlpack(next(batches).image)
    image.zero_()
    assert np.asarray(next(batches).image).any()
