"""Both halves of each page of docs/coming-from: the peer's as it stands, in an environment that has the peer, and ours beside it.
They take as many steps, with tensors of the same kind, whose numbers are distributed alike."""

import json
import os
import shutil
import subprocess
import sys
import types

import pytest

from doc_blocks import ROOT, blocks

sys.path.append(str(ROOT / "bench/peers"))  # environments

# The environments that a page needs; the first one's Python runs it.
ENVIRONMENTS = {
    "dali": ["torchvision", "dali"],
    "dataloader": ["torchvision"],
    "ffcv": ["ffcv"],
    "huggingface": ["torchvision", "formats"],
    "mosaicml": ["torchvision", "remote"],
    "tf-data": ["tensorflow"],
    "webdataset": ["torchvision", "remote"],
}
RECORDER = '''
class Steps:
    """What a training loop was given."""

    def __init__(self):
        self.seen = []

    def __call__(self, image, label):
        import numpy as np

        image, label = np.asarray(image), np.asarray(label)
        self.seen.append({"shape": image.shape, "dtype": str(image.dtype), "labels": [int(value) for value in label.reshape(-1)],
                          "label rank": label.ndim, "mean": float(image.mean()), "deviation": float(image.std())})

step = Steps()
'''
FULL = "STOKER_TEST_FULL" in os.environ


def halves(name):
    peer, ours = [block for block in blocks("python") if block.page == f"docs/coming-from/{name}.md"]
    return peer.text, ours.text


def test_each_page_has_an_environment():
    assert set(ENVIRONMENTS) == {path.stem for path in (ROOT / "docs/coming-from").glob("*.md")}


def steps_of_peer(name, at):
    import environments

    pythons = [environments.make(environment, ROOT / "build/peers") for environment in ENVIRONMENTS[name]]
    others = [next(python.parents[1].glob("lib/python*/site-packages")) for python in pythons[1:]]
    script = at / "peer.py"
    script.write_text(f"{RECORDER}\n{halves(name)[0]}\nimport json\nprint(json.dumps(step.seen))\n")
    done = subprocess.run([pythons[0], script], cwd=at, capture_output=True, text=True, timeout=600,
                          env={**os.environ, "PYTHONPATH": ":".join(map(str, others))})
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def steps_of_stoker(name):
    module = types.ModuleType("ours")
    exec(RECORDER + halves(name)[1], vars(module))
    return module.step.seen


def mean_of(steps, what):
    return sum(step[what] for step in steps) / len(steps)


@pytest.mark.skipif(not FULL, reason="only with ./dev test --full, which fetches the peers")
@pytest.mark.parametrize("name", sorted(ENVIRONMENTS))
def test_both_halves_are_the_same_training(name, workplace, tmp_path, monkeypatch):
    at = shutil.copytree(workplace, tmp_path / "at", symlinks=True)
    monkeypatch.chdir(at)
    theirs, ours = steps_of_peer(name, at), steps_of_stoker(name)
    assert len(theirs) > 1
    for what in "shape", "dtype", "label rank":
        assert [step[what] for step in theirs] == [list(step[what]) if what == "shape" else step[what] for step in ours]
    assert {label for step in theirs for label in step["labels"]} == {label for step in ours for label in step["labels"]}
    # Crops are drawn at random, of few images.
    assert mean_of(theirs, "mean") == pytest.approx(mean_of(ours, "mean"), abs=0.25)
    assert mean_of(theirs, "deviation") == pytest.approx(mean_of(ours, "deviation"), abs=0.25)
