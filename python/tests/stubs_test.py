"""The stub file says what is there: no more, no less."""

import ast
import inspect
from pathlib import Path

import stoker
from stoker import _stoker, _testing

STUBS = ast.parse(Path(stoker.__file__).with_name("_stoker.pyi").read_text())
CLASSES = {node.name: node for node in STUBS.body if isinstance(node, ast.ClassDef)}
FUNCTIONS = {node.name: node for node in STUBS.body if isinstance(node, ast.FunctionDef)}
# What every class has, and what nanobind or pickle need.
ORDINARY = {"__module__", "__doc__", "__new__", "__init__", "__repr__", "__getstate__", "__setstate__", "__weakref__", "__dict__"}


def members(stub):
    names = {node.name for node in stub.body if isinstance(node, ast.FunctionDef)}
    return names | {node.target.id for node in stub.body if isinstance(node, ast.AnnAssign)}


def test_every_public_name_is_in_the_stubs():
    public = {name for name in vars(_stoker) if not name.startswith("_")} - {"testing"}
    assert public == set(CLASSES) | set(FUNCTIONS) == set(stoker.__all__)
    assert set(stoker.__all__) == {name for name in vars(stoker) if not name.startswith("_")} - {"torch"}


def test_every_member_is_in_the_stubs():
    for name, stub in CLASSES.items():
        assert set(vars(getattr(stoker, name))) - ORDINARY == members(stub) - ORDINARY, name


def test_properties_are_properties():
    for name, stub in CLASSES.items():
        for node in stub.body:
            if isinstance(node, ast.FunctionDef):
                declared = any(isinstance(d, ast.Name) and d.id == "property" for d in node.decorator_list)
                assert declared == inspect.isdatadescriptor(vars(getattr(stoker, name)).get(node.name)), node.name


def test_operators_have_the_tables_arguments_and_defaults():
    stubs = {node.name: node.args for node in CLASSES["Recipe"].body if isinstance(node, ast.FunctionDef)}
    for name, expected in _testing.operators().items():
        names = [arg.arg for arg in stubs[name].args[1:]]
        assert names == [arg for arg, _, _ in expected], name
        defaults = [eval(compile(ast.Expression(default), name, "eval")) for default in stubs[name].defaults]
        optional = [default for _, required, default in expected if not required]
        assert [as_list(default) for default in defaults] == [as_list(default) for default in optional], name


def test_keyword_arguments_are_the_compiled_ones():
    stub = next(node for node in CLASSES["Loader"].body if getattr(node, "name", "") == "__init__")
    compiled = stoker.Loader.__init__.__doc__.split("\n")[0]
    for arg in stub.args.args[1:] + stub.args.kwonlyargs:
        assert f"{arg.arg}:" in compiled, arg.arg
    assert compiled.count(":") == len(stub.args.args) - 1 + len(stub.args.kwonlyargs)


def test_open_has_the_compiled_arguments():
    compiled = stoker.open.__doc__.split("\n")[0]
    args = FUNCTIONS["open"].args.args
    assert all(f"{arg.arg}:" in compiled for arg in args)
    assert compiled.count(":") == len(args)


def test_the_package_says_that_it_is_typed():
    assert Path(stoker.__file__).with_name("py.typed").exists()


def as_list(value):
    return list(value) if isinstance(value, (list, tuple)) else [value]
