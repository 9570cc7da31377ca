"""The stub file says what is there: no more, no less."""

import ast
import builtins
import inspect
from pathlib import Path

import pytest

import stoker
from stoker import _stoker, _testing, tokens

STUBS = ast.parse(Path(stoker.__file__).with_name("_stoker.pyi").read_text())
OPERATORS = {node.name: node for stub in STUBS.body if getattr(stub, "name", "") == "_Operators"
             for node in stub.body if isinstance(node, ast.FunctionDef)}
CLASSES = {node.name: node for node in STUBS.body if isinstance(node, ast.ClassDef) and not node.name.startswith("_")}
FUNCTIONS = {node.name: node for node in STUBS.body if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")}
# What every class has, and what nanobind or pickle need.
ORDINARY = {"__module__", "__doc__", "__new__", "__init__", "__repr__", "__getstate__", "__setstate__", "__signature__", "__weakref__", "__dict__"}


def members(stub):
    names = {node.name for node in stub.body if isinstance(node, ast.FunctionDef)}
    if stub.name == "Recipe":
        names |= set(OPERATORS)
    return names | {node.target.id for node in stub.body if isinstance(node, ast.AnnAssign)}


def test_every_public_name_is_in_the_stubs():
    public = {name for name in vars(_stoker) if not name.startswith("_")} - {"testing"}
    variables = {node.target.id for node in STUBS.body if isinstance(node, ast.AnnAssign) and node.target.id != "__version__"}
    assert public == set(CLASSES) | set(FUNCTIONS) | variables == set(stoker.__all__) - {"include_folder"}
    assert set(OPERATORS) == {name for name in vars(stoker.op) if not name.startswith("_")}
    assert set(stoker.__all__) == {name for name in vars(stoker) if not name.startswith("_")} - {"torch", "tensorboard", "tokens"}


def test_every_member_is_in_the_stubs():
    for name, stub in CLASSES.items():
        compiled = set(vars(getattr(stoker, name))) - ORDINARY
        if name == "Recipe":
            compiled -= {"__getattr__"}  # which always raises, and would make type checkers take any name
        assert compiled == members(stub) - ORDINARY, name


def test_every_name_in_the_stubs_is_known():
    names = [node for node in ast.walk(STUBS) if isinstance(node, ast.Name)]
    known = {node.name for node in STUBS.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))} | set(vars(builtins))
    known |= {alias.asname or alias.name for node in STUBS.body if isinstance(node, (ast.Import, ast.ImportFrom)) for alias in node.names}
    known |= {node.id for node in names if isinstance(node.ctx, ast.Store)}
    assert {node.id for node in names} - known == set()


@pytest.mark.parametrize("function", [stoker.include_folder, tokens.write], ids=lambda function: function.__name__)
def test_functions_in_python_have_types(function):
    signature = inspect.signature(function)
    types = [signature.return_annotation, *(parameter.annotation for parameter in signature.parameters.values())]
    assert inspect.Signature.empty not in types


def test_properties_are_properties():
    for name, stub in CLASSES.items():
        for node in stub.body:
            if isinstance(node, ast.FunctionDef):
                declared = any(isinstance(d, ast.Name) and d.id == "property" for d in node.decorator_list)
                assert declared == inspect.isdatadescriptor(vars(getattr(stoker, name)).get(node.name)), node.name


def test_operators_have_the_tables_arguments_and_defaults():
    stubs = {name: node.args for name, node in OPERATORS.items()}
    for name, expected in _testing.operators().items():
        names = [arg.arg for arg in stubs[name].args[1:]]
        assert names == [arg for arg, _, _, _ in expected], name
        defaults = [value_of(default) for default in stubs[name].defaults]
        optional = [default for _, required, default, _ in expected if not required]
        assert [as_list(default) for default in defaults] == [as_list(default) for default in optional], name


FUNCTIONS_OF_CLASSES = [(name, node) for name, stub in CLASSES.items() for node in stub.body
                        if isinstance(node, ast.FunctionDef) and not node.decorator_list]


FUNCTIONS_OF_CLASSES += [("Recipe", stub) for stub in OPERATORS.values()]


@pytest.mark.parametrize("owner, stub", [(None, stub) for stub in FUNCTIONS.values()] + FUNCTIONS_OF_CLASSES,
                         ids=lambda it: getattr(it, "name", it))
def test_functions_have_the_compiled_parameters(owner, stub):
    """Names, kinds and defaults, and the types where the compiled function was given them."""
    function = getattr(getattr(stoker, owner) if owner else stoker, stub.name)
    if stub.name in ("__eq__", "__ne__", "__hash__", "__len__", "__iter__", "__next__", "__getattr__"):
        return  # of slots, which Python describes in its own words
    compiled = inspect.signature(function)
    args = stub.args
    names = [arg.arg for arg in args.posonlyargs + args.args]
    expected = [(name, default) for name, default in zip(names, [None] * (len(names) - len(args.defaults)) + args.defaults)]
    expected += [(arg.arg, default) for arg, default in zip(args.kwonlyargs, args.kw_defaults)]
    ordinary = [p for p in compiled.parameters.values() if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    assert [p.name for p in ordinary] == [name for name, _ in expected]
    for parameter, (_, default) in zip(ordinary, expected):
        assert (parameter.default is inspect.Parameter.empty) == (default is None), parameter
        if default is not None:
            assert as_list(parameter.default) == as_list(value_of(default)), parameter
    kinds = {parameter.name: parameter.kind for parameter in ordinary}
    assert [name for name in kinds if kinds[name] is inspect.Parameter.KEYWORD_ONLY] == [arg.arg for arg in args.kwonlyargs]


def test_functions_of_op_have_the_methods_parameters():
    for name in OPERATORS:
        method, function = inspect.signature(getattr(stoker.Recipe, name)), inspect.signature(getattr(stoker.op, name))
        assert list(method.parameters.values())[1:] == list(function.parameters.values()), name
        assert function.return_annotation == "OperatorCall" and method.return_annotation == "Recipe"


def test_the_loaders_types_are_the_compiled_ones():
    stub = next(node for node in CLASSES["Loader"].body if getattr(node, "name", "") == "__init__")
    declared = {arg.arg: ast.unparse(arg.annotation) for arg in stub.args.args[1:] + stub.args.kwonlyargs}
    assert {p.name: p.annotation for p in inspect.signature(stoker.Loader).parameters.values()} == declared


def test_the_package_says_that_it_is_typed():
    assert Path(stoker.__file__).with_name("py.typed").exists()


def value_of(default):
    return eval(compile(ast.Expression(default), "stubs", "eval"))


def as_list(value):
    return list(value) if isinstance(value, (list, tuple)) else [value]
