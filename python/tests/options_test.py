"""The options of a loader: the table, and what is made from it."""

import importlib.machinery
import importlib.util
import inspect
import re
import sys
from pathlib import Path

import pytest

import stoker
from stoker import _testing

ROOT = Path(__file__).resolve().parents[2]
TABLE = _testing.loader_options()
NAMES = [name for name, *_ in TABLE]
INITIAL = {name: initial for name, _, _, initial, *_ in TABLE}
LIMITS = {name: limits for name, _, is_integer, _, _, _, *limits in TABLE if is_integer}


def load_tool():
    loader = importlib.machinery.SourceFileLoader("options", str(ROOT / "tools" / "options"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("options", loader))
    write_bytecode, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    loader.exec_module(module)
    sys.dont_write_bytecode = write_bytecode
    return module


WRITTEN = load_tool().WRITTEN


@pytest.mark.parametrize("path", WRITTEN)
def test_what_is_made_from_the_table_is_up_to_date(path):
    text = (ROOT / path).read_text()
    assert WRITTEN[path](text) == text, "run ./dev options"


@pytest.mark.parametrize("path", WRITTEN)
def test_an_option_that_is_left_out_is_written_again(path):
    text = (ROOT / path).read_text()
    short = re.sub(r"\n[ |`]*tune\b.*", "", text)
    assert short != text and WRITTEN[path](short) == text


def test_the_loader_takes_what_the_table_has_and_says_what_it_is():
    assert list(inspect.signature(stoker.Loader).parameters) == ["data", "recipe", *NAMES]
    described = stoker.Loader.__doc__
    assert re.findall(r"^(\w+): ", described, re.MULTILINE) == ["data", "recipe", *NAMES]
    assert max(map(len, described.splitlines())) <= 120
    unwrapped = described.replace("\n    ", " ")
    for name, _, _, _, doc, unset, *_ in TABLE:
        assert f"\n{name}: {doc}" in unwrapped and unset in unwrapped


@pytest.mark.parametrize("name", LIMITS)
def test_a_number_beyond_its_limits_is_refused_with_them(folder, recipe, name):
    least, most = LIMITS[name]
    for number, limit in (least - 1, least), (most + 1, most):
        said = r"2\*\*64 - 1" if most == 2**64 - 1 else limit
        with pytest.raises(stoker.Error, match=f"^{name} is {number}, but must be .*{said}$") as caught:
            stoker.Loader(folder, recipe, **{"batch": 8, name: number})
        assert caught.value.kind == "usage"


def test_every_knob_can_be_set_within_the_same_limits(folder, recipe):
    with stoker.Loader(folder, recipe, batch=8, device="emulated:execute") as loader:
        for name in ("threads", "prefetch", "transfer_index", "io_depth"):
            least, most = LIMITS[name]
            loader.set(**{name: least + 1})
            assert getattr(loader, name) == least + 1
            for number in (least - 1, most + 1):
                with pytest.raises(stoker.Error, match=f"{name} is {number}, but must be"):
                    loader.set(**{name: number})


@pytest.mark.parametrize("name", [name for name in NAMES if INITIAL[name] not in ("", "auto")])
def test_none_is_not_a_value_where_something_else_is_the_default(folder, recipe, name):
    with pytest.raises(stoker.Error, match=f"^{name} is None, but must be"):
        stoker.Loader(folder, recipe, **{"batch": 8, name: None})


def test_options_may_be_left_open_by_name(folder, recipe):
    unset = {name: {"": None, "auto": "auto"}[INITIAL[name]] for name in NAMES if INITIAL[name] in ("", "auto")}
    with stoker.Loader(folder, recipe, **{**unset, "batch": 8}) as loader:
        assert len(loader) == 6
