"""Whether an image is bad is a property of its bytes: run, apply, verify, pack and index give one answer, with an index and
without, whatever is decoded of it; and it is Pillow's, but for the exceptions that docs/jpeg.md lists."""

import io
import json
import os
import random
import tarfile

import pytest
from PIL import Image

import stoker as library

FILES = 2000 if "STOKER_TEST_FULL" in os.environ else 240
BAD_MAX = 10  # of one epoch; more end it

KINDS = {
    "444": {"subsampling": 0},
    "420": {"subsampling": 2},
    "grey": {"mode": "L"},
    "optimised": {"optimize": True},
    "progressive": {"progressive": True},
    "coarse": {"quality": 3},
    "restarts": {"restart_marker_blocks": 2},  # Pillow below 10.2 leaves that out
    "cmyk": {"mode": "CMYK"},
}


def encoded(mode="RGB", size=(72, 56), **options):
    noise = Image.frombytes("RGB", (12, 9), random.Random(3).randbytes(12 * 9 * 3))
    stream = io.BytesIO()
    noise.resize(size, Image.BICUBIC).convert(mode).save(stream, "JPEG", **options)
    return stream.getvalue()


def mangled(rng, data):
    """What happens to files: bits flipped, bytes lost, gained or zeroed, markers in the wrong place, an early end."""
    data = bytearray(data)
    scan = data.find(b"\xff\xda") + 2
    # Mostly the pixels: damage to headers is found by everybody.
    first = scan if rng.random() < 0.9 else 3
    at = rng.randrange(first, len(data))
    to = min(len(data), at + rng.randint(1, 60))
    marker = bytes([0xFF, rng.randrange(256)])
    match rng.randrange(8):
        case 0:
            for _ in range(rng.randint(1, 8)):
                data[rng.randrange(first, len(data))] ^= 1 << rng.randrange(8)
        case 1:
            for _ in range(rng.randint(1, 8)):
                data[rng.randrange(first, len(data))] = rng.choice([0xFF, 0, rng.randrange(256)])
        case 2:
            del data[at:to]
        case 3:
            data[at:at] = rng.randbytes(to - at)
        case 4:
            data[at:to] = bytes(to - at)
        case 5:
            data[at:at] = marker
        case 6:
            data[at : at + 2] = marker
        case 7:
            del data[at:]
    return bytes(data)


def refused(decode):
    try:
        decode()
    except library.Error:
        return True
    return False


def pillow_refusal(data):
    """Where Pillow gives up on the whole picture, or nothing."""
    where = "opening"
    try:
        image = Image.open(io.BytesIO(data))
        where = "loading"
        image.load()
    except (OSError, SyntaxError, ValueError):
        return where
    return None


RECIPES = {
    "planar": library.recipe().decode().random_resized_crop(24),
    "planar corner": library.recipe().decode().center_crop(500).crop(214, 222, 8, 8),
    "faithful": library.recipe().decode("faithful").random_resized_crop(24),
    "faithful corner": library.recipe().decode("faithful").center_crop(500).crop(214, 222, 8, 8),
}


def bad_by_job(stoker, *args):
    done = stoker(*args, "--json")
    assert done.returncode in (0, 1), done
    return {os.path.basename(bad["key"]) for bad in json.loads(done.stdout)["bad"]}


def bad_by_run(data, recipe, **options):
    """Some samples at a time, for an epoch that meets too many bad ones fails."""
    samples = library.open(data)
    bad = set()
    for begin in range(0, len(samples), BAD_MAX):
        part = samples.subset(list(range(begin, min(begin + BAD_MAX, len(samples)))))
        with library.Loader(part, recipe, batch=BAD_MAX, tail="pad", bad_sample="skip", **options) as loader:
            list(loader)
            bad.update(os.path.basename(sample["key"]) for sample in loader.quarantine)
    return bad


@pytest.fixture(scope="module")
def files():
    rng = random.Random(11)
    originals = {name: encoded(**options) for name, options in KINDS.items()}
    names = [f"{number:05d}-{kind}" for number, kind in zip(range(FILES), list(KINDS) * FILES)]
    return {name: mangled(rng, originals[name[6:]]) for name in names}


@pytest.fixture(scope="module")
def bad(files):
    """By apply, of all pixels."""
    whole = library.recipe().decode("faithful")
    found = {name for name, data in files.items() if refused(lambda: whole.apply(data))}
    assert FILES // 10 < len(found) < FILES * 9 // 10
    return found


@pytest.fixture(scope="module")
def folder(files, tmp_path_factory):
    folder = tmp_path_factory.mktemp("bad") / "loose"
    (folder / "class").mkdir(parents=True)
    for name, data in files.items():
        (folder / "class" / f"{name}.jpg").write_bytes(data)
    return folder


@pytest.fixture(scope="module")
def packed(stoker, folder, bad):
    """Of all samples, with an index; `pack` has to say which are bad."""
    packed = folder.parent / "packed"
    assert bad_by_job(stoker, "pack", folder, packed, "--bad-sample", "keep") == bad
    return packed


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("reference", [False, True], ids=["fast", "reference"])
def test_apply_refuses_the_same_files_for_every_recipe(files, bad, recipe, reference):
    refusals = {name for name, data in files.items()
                if refused(lambda: RECIPES[recipe].apply(data, reference=reference))}
    assert refusals == bad


@pytest.mark.parametrize("recipe", RECIPES)
def test_a_run_meets_the_same_bad_files_with_and_without_an_index(folder, packed, bad, recipe):
    for data in (folder, packed):
        assert bad_by_run(data, RECIPES[recipe]) == bad, data


@pytest.mark.parametrize("index", range(4))
def test_so_does_one_with_a_device(folder, packed, bad, index):
    for data in (folder, packed):
        assert bad_by_run(data, RECIPES["planar"], device="emulated:execute", transfer_index=index) == bad, data


# Without an index progressive files are not known, and one that nvJPEG refuses ends the run: docs/jpeg.md.
def test_a_run_that_leaves_files_to_nvjpeg_believes_the_index(packed, bad):
    assert bad_by_run(packed, RECIPES["planar"], device="emulated:execute", transfer_index=0, nvjpeg=True) == bad


def test_verify_and_index_name_the_same_files(stoker, folder, packed, bad, tmp_path):
    assert bad_by_job(stoker, "verify", folder) == bad
    assert bad_by_job(stoker, "verify", packed) == bad
    with tarfile.open(tmp_path / "plain.tar", "w") as tar:
        for path in sorted((folder / "class").iterdir()):
            tar.add(path, path.name)
    assert bad_by_job(stoker, "index", tmp_path / "plain.tar") == bad


def has_end(data):
    return b"\xff\xd9" in data[data.find(b"\xff\xda") + 2 :]


# docs/jpeg.md, "What is bad", has the exceptions and their reasons.
def test_pillow_refuses_the_same_files_but_for_listed_exceptions(files, bad):
    refusals = {name: pillow_refusal(data) for name, data in files.items()}
    shown = {name for name in bad if not refusals[name]}
    refused = {name for name, where in refusals.items() if where and name not in bad}
    without_end = {name for name in shown if not has_end(files[name])}
    by_its_header = {name for name in refused if refusals[name] == "opening"}
    assert shown == without_end
    assert refused == by_its_header
    assert len(without_end) <= FILES // 50
    assert len(by_its_header) <= FILES // 50
