"""Fixtures of the tests of batches on a device. tests/gpu/run says which device, and which data; alone they run on the
emulated one, without those tests that need a GPU's streams and memory."""

import faulthandler
import os
import pathlib
import sys

import numpy as np
import pytest

DEVICE = os.environ.get("STOKER_TEST_DEVICE", "emulated:execute")
SECONDS_PER_TEST_MAX = 120


@pytest.fixture(autouse=True)
def hang_guard():
    faulthandler.dump_traceback_later(SECONDS_PER_TEST_MAX, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("STOKER_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session")
def device():
    return DEVICE


@pytest.fixture(scope="session")
def ordinal():
    """The GPU's number."""
    if not DEVICE.startswith("cuda:"):
        pytest.skip(f"needs a GPU, and {DEVICE} is none")
    return int(DEVICE.split(":")[1])


@pytest.fixture(scope="session")
def torch(ordinal):
    """PyTorch that can use the GPU, which is its current one."""
    module = pytest.importorskip("torch")
    if not module.cuda.is_available():
        pytest.skip("this PyTorch cannot use GPUs")
    module.cuda.set_device(ordinal)
    return module


@pytest.fixture(scope="session")
def data(tmp_path_factory):
    given = os.environ.get("STOKER_TEST_DATA")
    if given:
        return given
    sys.path.append(str(pathlib.Path(__file__).resolve().parents[3] / "python/tests"))
    import sample_images

    return sample_images.make_folder(tmp_path_factory.mktemp("data") / "train", classes=3, count=50)


@pytest.fixture(scope="session")
def recipe():
    import stoker

    return stoker.recipe().decode().random_resized_crop(96).random_flip().normalize("imagenet").cast("f16")


@pytest.fixture(scope="session")
def to_host():
    """What an output holds, as numpy has it."""

    def copied(output):
        if output.__dlpack_device__()[0] == 1:
            return np.array(output)
        return pytest.importorskip("torch").from_dlpack(output).cpu().numpy()

    return copied


@pytest.fixture(scope="session")
def on_the_cpu(data, recipe):
    """The batches of an epoch as the CPU makes them: their images, by what the loader is told."""

    def images(epoch=0, **options):
        import stoker

        with stoker.Loader(data, recipe, **options) as loader:
            return [np.array(batch.image) for batch in loader.epoch(epoch)]

    return images
