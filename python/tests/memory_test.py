"""What a loader takes of the machine: its memory budget and hardly more, the same after twenty epochs as after two, and
nothing that is left when it is closed. Each measured in a program of its own."""

import json
import os
import re
import shutil
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from PIL import Image

import sample_images

FULL = "STOKER_TEST_FULL" in os.environ
MIB = 2**20
HANG_S = 600  # a guard against hanging, not a limit on speed
SLACK_MIB = 4  # what Python may keep, and what is under way now and then
LEFT_MIB = 1  # the same, once all is closed
ARENAS_MIB = 16  # what malloc keeps for later, once it has met every thread's worst moment

PROGRAM = """
import ctypes, gc, json, os, sys, stoker, numpy

def status(name):
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(name))

class Mallinfo(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in (
        "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost")]

def huge_pages():
    with open("/proc/self/smaps_rollup") as lines:
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("AnonHugePages:"))

mallinfo = ctypes.CDLL("libc.so.6").mallinfo2
mallinfo.restype = Mallinfo

def left():
    gc.collect()
    malloc = mallinfo()
    in_use = (malloc.uordblks + malloc.hblkhd) / 2**20
    return in_use, status("VmRSS:"), len(os.listdir("/proc/self/fd")), len(os.listdir("/proc/self/task"))

folder, options = sys.argv[1], json.loads(sys.argv[2])
recipe = stoker.recipe().decode().random_resized_crop(32).random_flip().normalize("imagenet")
"""


def run(text, folder, **options):
    """What a program prints, as JSON."""
    done = subprocess.run([sys.executable, "-c", PROGRAM + textwrap.dedent(text), str(folder), json.dumps(options)],
                          capture_output=True, text=True, timeout=HANG_S)
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def photograph(path, size, seed, **options):
    """As many details as a JPEG of that size has, made in a moment."""
    noise = np.random.default_rng(seed).integers(0, 256, (size[1] // 8, size[0] // 8, 3), dtype=np.uint8)
    Image.fromarray(noise).resize(size, Image.BILINEAR).save(path, "JPEG", quality=88, **options)


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """Photographs of 4 million pixels, every third of them in several scans, of which a decoder keeps all coefficients."""
    folder = tmp_path_factory.mktemp("large")
    for number in range(6):
        photograph(folder / f"{number:02}.jpg", (2400, 1600), number, progressive=number % 3 == 0)
    for number in range(6, 24):
        shutil.copy(folder / f"{number % 6:02}.jpg", folder / f"{number:02}.jpg")
    return folder


@pytest.fixture(scope="module")
def giants(tmp_path_factory):
    """Two batches of eight, each with an image of 27 million pixels, and another one of them in several scans."""
    folder = tmp_path_factory.mktemp("giants")
    for slot in range(8):
        photograph(folder / f"0{slot}.jpg", (6000, 4500) if slot in (2, 5) else (500, 375), slot, progressive=slot == 5)
        shutil.copy(folder / f"0{slot}.jpg", folder / f"1{slot}.jpg")
    return folder


# Growth since before the loader, at the worst moment, and the error that ended it if one did.
GROWTH = """
    data = stoker.open(folder)
    epochs = options.pop("epochs")
    before, refusal = status("VmRSS:"), None
    try:
        with stoker.Loader(data, "imagenet-train", batch=8, order="none", **options) as loader:
            for _ in range(epochs):
                for batch in loader:
                    pass
    except stoker.Error as error:
        refusal = [error.kind, str(error)]
    print(json.dumps([status("VmHWM:") - before, refusal]))
"""
INDEX_MIB = 1  # of a few samples, and what is loaded with the first call

BUDGETS = [(memory, threads, cache) for memory in (96, 112, 160, 256, 1024) for threads in (2, 8, 16) for cache in ("none", "ram")]
BUDGETS_QUICK = [(112, 8, "none"), (256, 2, "ram")]


@pytest.mark.parametrize("memory, threads, cache", BUDGETS if FULL else BUDGETS_QUICK)
def test_a_loader_takes_its_budget_and_hardly_more(large, memory, threads, cache):
    growth, refusal = run(GROWTH, large, memory=memory * MIB, threads=threads, cache=cache, epochs=5 if FULL else 2)
    assert growth <= 1.1 * memory + INDEX_MIB
    if refusal:
        assert memory < 256 and refusal[0] == "memory" and "give the loader" in refusal[1]
    elif cache == "ram" or memory < 256:
        assert growth > 0.3 * min(memory, 128), "nothing was measured"


@pytest.mark.parametrize("threads", [1, 2, 8] if FULL else [2])
def test_giant_images_in_each_batch_are_decoded_or_refused_whatever_the_memory(giants, threads):
    """With the least memory that the loader says works for batches, and then with what it says is enough for all images."""
    least = run(GROWTH, giants, memory=MIB, threads=threads, epochs=1)[1]
    assert least[0] == "memory"
    memory = 10**6 * int(re.search(r"the least for this batch and prefetch is (\d+)MB$", least[1])[1])
    growth, refusal = run(GROWTH, giants, memory=memory, threads=threads, epochs=1)
    assert growth <= 1.1 * memory / MIB + INDEX_MIB
    assert refusal and refusal[0] in ("memory", "limit")
    enough = 10**6 * int(re.search(r"sample '[01][25]'.*give the loader (\d+)MB of memory$", refusal[1])[1])
    growth, refusal = run(GROWTH, giants, memory=enough, threads=threads, epochs=3 if FULL else 1)
    assert growth <= 1.1 * enough / MIB + INDEX_MIB and not refusal


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    return sample_images.make_folder(tmp_path_factory.mktemp("small"), classes=3, count=100, size=(120, 90))


@pytest.mark.parametrize("cache", ["none", "ram"])
def test_later_epochs_take_no_more_memory_than_the_first(small, cache):
    sizes = run("""
        data = stoker.open(folder)
        sizes = []
        with stoker.Loader(data, recipe, batch=8, threads=4, **options) as loader:
            for _ in range(22):
                for batch in loader:
                    batch.image.numpy()
                sizes.append((*left(), huge_pages(), status("VmData:")))
        print(json.dumps(sizes))
    """, small, cache=cache)
    in_use, rss, files, threads, huge, mapped = zip(*sizes[2:])
    assert max(in_use) - in_use[0] <= SLACK_MIB
    assert max(mapped) - mapped[0] <= SLACK_MIB
    # A huge page is taken whole when the first of its bytes is written: which of those that are mapped have been written
    # depends on how many batches were under way at once.
    touched = [all_pages - of_those for all_pages, of_those in zip(rss, huge)]
    assert max(touched) - touched[0] <= SLACK_MIB
    assert len(set(threads)) == 1
    # While samples of the next epoch are read ahead, their files are open.
    assert min(files[:10]) == min(files[10:])


CYCLES = """
    cycles = options.pop("cycles")
    def cycle(number):
        given = {**options, "rank": number % 2, "world": 2} if number % 3 == 0 else options
        data = stoker.open(folder)
        with stoker.Loader(data, recipe, batch=8, threads=4, **given) as loader:
            for at, batch in enumerate(loader):
                batch.image.numpy()
                if number % 5 == 0 and at == 1:
                    break
            if number % 7 == 0:
                loader.set(threads=1 + number % 4, prefetch=3)
                next(iter(loader))
        if number % 4 == 0:
            stoker.Loader(data, recipe, batch=8, threads=2, **given)  # neither used nor closed
        try:
            stoker.Loader(data, recipe, batch=8, memory=1)
        except stoker.Error:
            pass
"""


@pytest.mark.parametrize("cache", ["none", "ram"])
def test_loaders_leave_nothing_behind(small, cache):
    first, last = run(CYCLES + """
    def after(cycles):
        for number in range(cycles):
            cycle(number)
        return left()
    print(json.dumps([after(20), after(cycles)]))
    """, small, cache=cache, cycles=1000 if FULL else 80)
    (in_use, rss, *others), (in_use_first, rss_first, *others_first) = last, first
    assert others == others_first
    assert in_use - in_use_first <= LEFT_MIB
    assert rss - rss_first <= ARENAS_MIB
