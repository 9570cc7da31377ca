"""Every public function, class and method of the module has an example in its docstring, which runs."""

import doctest
import inspect
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

import stoker
import stoker.tensorboard
import stoker.tokens

from doc_blocks import ROOT
from docstring_examples import members, public_names, run_example

FULL = "STOKER_TEST_FULL" in os.environ
RAY = Path(os.environ.get("STOKER_TEST_RAY", ROOT / "build/ray-venv/bin/python"))
NAMES = {**public_names(stoker, stoker.__all__), **public_names(stoker.tokens), **public_names(stoker.tensorboard)}
OPERATORS = [name for name in dir(stoker.op) if not name.startswith("_")]
KNOWN = {}
try:
    import torch

    import stoker.torch

    NAMES.update(public_names(stoker.torch))
    KNOWN["torch"] = torch
except ModuleNotFoundError:
    pass
ALL = {**NAMES, **members(NAMES), **{f"stoker.op.{name}": getattr(stoker.op, name) for name in OPERATORS}}
OF_RAY = {"epoch", "load_state_dict", "metrics", "state_dict"}


@pytest.fixture(scope="module")
def copied(workplace, tmp_path_factory):
    """One folder for all examples, which may write to it."""
    at = tmp_path_factory.mktemp("examples") / "at"
    shutil.copytree(workplace, at)
    yield at
    shutil.rmtree(at)


@pytest.fixture
def at(copied, monkeypatch):
    monkeypatch.chdir(copied)
    return copied


@pytest.mark.parametrize("name", ALL)
def test_the_example_of_a_docstring_runs(name, at):
    assert run_example(name, ALL[name], **KNOWN) == ""


def test_every_property_says_what_it_is():
    bare = [f"{name}.{member}" for name, it in NAMES.items() if inspect.isclass(it) for member, value in vars(it).items()
            if isinstance(value, property) and not member.startswith("_") and " " not in (inspect.getdoc(value) or "").split("(self)")[0].strip()]
    assert bare == []


def test_names_were_found():
    assert {"stoker.Dataset.labels", "stoker.Loader.take", "stoker.Recipe.flip", "stoker.mix", "stoker.op.flip", "stoker.tokens.write"} <= set(ALL)


@pytest.mark.skipif(not KNOWN, reason="needs PyTorch")
def test_names_for_torch_were_found():
    assert {"stoker.torch.Batch.map", "stoker.torch.Loader.set_epoch", "stoker.torch.Ragged.to"} <= set(ALL)


@pytest.mark.parametrize("name", OPERATORS)
def test_the_recipe_in_the_example_of_an_operator_can_run(name):
    (line,) = doctest.DocTestParser().get_examples(inspect.getdoc(getattr(stoker.Recipe, name)))
    known = {"stoker": stoker}
    exec(line.source, known)
    assert f".{name}(" in line.source
    stoker.Preprocessor(known["recipe"], threads=1)


@pytest.mark.skipif(not FULL, reason="only with ./dev test --full, which fetches Ray")
def test_the_examples_of_ray_run(at):
    env = {**os.environ, "PYTHONPATH": str(Path(stoker.__file__).parents[1]), "RAY_TMPDIR": tempfile.gettempdir()}
    done = subprocess.run([RAY, Path(__file__).with_name("docstring_examples.py")], cwd=at, env=env, capture_output=True,
                          text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-5000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert {name: wrong for name, wrong in found.items() if wrong} == {}
    names = {"EpochIterator", "Loader", "index", "pack", "verify"} | {f"Loader.{name}" for name in OF_RAY}
    assert {f"stoker.ray.{name}" for name in names} <= set(found)


def test_of_an_example_that_is_wrong_it_is_said():
    def wrong():
        """
        >>> 1 + 1
        3
        """

    assert "Expected" in run_example("wrong", wrong)
    assert run_example("bare", lambda: None) == "bare has no example"
