"""A GPU's memory: that loaders give it back, and what they say when there is none."""

import gc
import os
import subprocess
import sys

import numpy as np
import pytest

import stoker

LOADERS, LOADERS_FIRST = 200, 20
MEBIBYTE = 1 << 20

TAKE_ONE = """
import numpy
{first}
{second}
loader = stoker.Loader({data!r}, stoker.recipe().decode().random_resized_crop(64).random_flip(), batch=8, seed=1,
                       device={device!r}, transfer_index=0)
image = torch.from_dlpack(next(iter(loader)).image)
print(int(image.to(torch.int64).sum().item()), image.device)
loader.close()
print(float((torch.ones(4, device=image.device) * 2).sum()))
"""


@pytest.mark.parametrize("first, second", [("import torch", "import stoker"), ("import stoker", "import torch")])
def test_pytorch_may_be_imported_before_and_after(data, device, torch, first, second):
    program = TAKE_ONE.format(first=first, second=second, data=str(data), device=device)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=os.environ, timeout=100)
    assert done.returncode == 0, done.stderr
    recipe = stoker.recipe().decode().random_resized_crop(64).random_flip()
    with stoker.Loader(data, recipe, batch=8, seed=1) as loader:
        want = int(np.array(next(iter(loader)).image).astype(np.int64).sum())
    assert done.stdout.splitlines() == [f"{want} {device}", "8.0"]


def test_loaders_give_their_memory_back(data, recipe, device, torch):
    def one(number):
        with stoker.Loader(data, recipe, batch=8, device=device, transfer_index=number % 4) as loader:
            batches = iter(loader)
            image = torch.from_dlpack(next(batches).image)
            if number % 2 == 0:
                next(batches)
            return float(image.sum())  # waits

    def used():
        gc.collect()
        torch.cuda.synchronize()
        torch.cuda.empty_cache()
        free, total = torch.cuda.mem_get_info()
        return total - free

    for number in range(LOADERS_FIRST):  # what the driver keeps for itself, it has by then
        one(number)
    before = used()
    for number in range(LOADERS - LOADERS_FIRST):
        one(number)
    # Less than a batch for each would have taken.
    assert used() - before < 32 * MEBIBYTE


def test_a_full_gpu_is_an_error_of_memory(data, device, torch):
    recipe = stoker.recipe().decode().random_resized_crop(224).normalize("imagenet")
    torch.cuda.empty_cache()
    free, _ = torch.cuda.mem_get_info()
    hoard = torch.empty(free - 128 * MEBIBYTE, dtype=torch.uint8, device=device)
    try:
        with pytest.raises(stoker.Error) as caught:  # a batch takes 588 MiB
            with stoker.Loader(data, recipe, batch=1024, repeats=100, device=device, memory="8GiB") as loader:
                for batch in loader:
                    torch.from_dlpack(batch.image).sum().item()
        assert caught.value.kind == "memory"
    finally:
        del hoard
        torch.cuda.empty_cache()
    with stoker.Loader(data, recipe, batch=4, device=device) as loader:  # the GPU has taken no harm
        assert torch.from_dlpack(next(iter(loader)).image).shape == (4, 3, 224, 224)


def test_pinned_memory_for_those_who_copy_themselves(data, recipe, torch):
    with stoker.Loader(data, recipe, batch=8, pin_memory=True) as loader:
        batch = next(iter(loader))
        pinned = torch.from_numpy(batch.image.numpy())
        assert pinned.is_pinned()
        assert np.array_equal(pinned.to("cuda", non_blocking=True).cpu().numpy(), batch.image.numpy())
