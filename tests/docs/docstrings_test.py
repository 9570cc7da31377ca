"""Every public name of the module has an example in its docstring, which runs."""

import doctest
import inspect
import shutil

import pytest

import stoker
import stoker.tensorboard
import stoker.tokens

MODULES = [stoker.tokens, stoker.tensorboard]
try:
    import stoker.torch

    MODULES.append(stoker.torch)
except ModuleNotFoundError:
    pass


def public_names():
    found = {f"stoker.{name}": getattr(stoker, name) for name in stoker.__all__}
    for module in MODULES:
        for name, value in vars(module).items():
            if not name.startswith("_") and getattr(value, "__module__", None) == module.__name__:
                found[f"{module.__name__}.{name}"] = value
    return found


@pytest.mark.parametrize("name", public_names())
def test_the_example_of_a_docstring_runs(name, workplace, tmp_path, monkeypatch):
    shutil.copytree(workplace, tmp_path / "at")
    monkeypatch.chdir(tmp_path / "at")
    examples = doctest.DocTestParser().get_doctest(inspect.getdoc(public_names()[name]), {"stoker": stoker}, name, None, 0)
    assert examples.examples, f"{name} has no example"
    said = []
    doctest.DocTestRunner(verbose=False).run(examples, out=said.append)
    assert "".join(said) == ""


def test_names_were_found():
    assert {"stoker.Loader", "stoker.mix", "stoker.tokens.write"} <= set(public_names())
