"""Forked children, as torch's DataLoader and multiprocessing make them: what was opened before the fork can be read there,
a loader is inert, and nothing hangs. Each in a program of its own, which a hang would end after a while."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest
import torch

import stoker

SECONDS_MAX = 60

PROGRAM = """
import gc, os, sys, threading, stoker
from stoker import _testing
recipe = stoker.recipe().decode().resize((8, 8))
data = stoker.open(sys.argv[1])
loader = stoker.Loader(data, recipe, batch=4, threads=2)
batches = iter(loader)
batch = next(batches)
expected = data[3]

def raises_closed(use):
    try:
        use()
    except stoker.Error as error:
        assert error.kind == "closed", error
    else:
        raise AssertionError("a forked child's loader is at work")

def in_child(work):
    child = os.fork()
    if child == 0:
        status = 1
        try:
            work()
            status = 0
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
"""


def run(folder, text):
    done = subprocess.run([sys.executable, "-c", PROGRAM + textwrap.dedent(text), str(folder)], capture_output=True, text=True,
                          timeout=SECONDS_MAX)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


CHILD = {
    "reads a sample": "assert data[3] == expected and len(data) == 50",
    "reads what the parent's batch holds": "assert batch.image.shape == (4, 3, 8, 8) and len(batch.key) == 4",
    "lets a batch go": "global batch; del batch; gc.collect()",
    "takes a batch": "raises_closed(lambda: next(batches))",
    "starts an epoch": "raises_closed(lambda: loader.epoch(3))",
    "changes knobs": "raises_closed(lambda: loader.set(threads=3))",
    "closes the loader": "loader.close()",
    "drops the loader": "global loader, batches; del loader, batches; gc.collect()",
    "opens anew": "assert len(stoker.open(sys.argv[1])) == 50",
    "loads anew": "assert sum(1 for _ in stoker.Loader(sys.argv[1], recipe, batch=5)) == 10",
    "loads what the parent opened": "assert sum(1 for _ in stoker.Loader(data, recipe, batch=5)) == 10",
}


@pytest.mark.parametrize("deed", CHILD)
def test_a_forked_child(folder, deed):
    text = f"""
        def work():
            {CHILD[deed]}
        in_child(work)
        assert sum(1 for _ in batches) == 11  # the parent's loader goes on
    """
    assert run(folder, text) == ""


@pytest.mark.parametrize("end", ["", "loader.close()", "loader.set", "del loader, batches, batch"])
def test_a_forked_child_ends_as_any_program(folder, end):
    assert run(folder, f"""
        if os.fork() == 0:
            {end or "pass"}
            sys.exit(0)
        assert os.wait()[1] == 0
        print(sum(1 for _ in batches))
    """) == "11\n"


def test_a_child_forked_while_other_threads_are_inside_does_not_wait_for_their_locks(folder):
    assert run(folder, """
        def consume():
            try:
                while True:
                    for _ in loader:
                        pass
            except stoker.Error:
                pass
        def talk():
            while not stop:
                _testing.log(0, "chatter")
        import logging
        logging.getLogger("stoker").setLevel(logging.DEBUG)
        logging.getLogger("stoker").addHandler(logging.NullHandler())
        logging.getLogger("stoker").propagate = False
        stop = []
        threads = [threading.Thread(target=consume), threading.Thread(target=talk)]
        for thread in threads:
            thread.start()
        def work():
            assert data[3] == expected
            loader.close()
            raises_closed(lambda: loader.epoch(0))
            assert len(stoker.open(sys.argv[1])) == 50
        for _ in range(30):
            in_child(work)
        stop.append(True)
        loader.close()
        for thread in threads:
            thread.join()
    """) == ""


class Decoded(torch.utils.data.Dataset):
    """The code of a user whose workers decode by Recipe.apply."""

    def __init__(self, folder):
        self.data = stoker.open(folder)
        self.recipe = stoker.recipe().decode().resize((8, 8))

    def __len__(self):
        return len(self.data)

    def __getitem__(self, index):
        outputs = self.recipe.apply(self.data[index], position=index)
        return outputs["image"], outputs["label"]


def test_torch_workers_read_a_data_set_that_was_opened_before_them(folder):
    loaded = [list(torch.utils.data.DataLoader(Decoded(folder), batch_size=10, num_workers=workers)) for workers in (0, 2)]
    assert len(loaded[0]) == len(loaded[1]) == 5
    for (image, label), (expected_image, expected_label) in zip(*loaded):
        np.testing.assert_array_equal(image, expected_image)
        np.testing.assert_array_equal(label, expected_label)
