"""The examples of docstrings. As a program, in an environment that has Ray: runs those of stoker.ray in the folder with the data,
and prints, as JSON, what went wrong in each."""

import doctest
import inspect
import json

import numpy
import stoker


def public_names(module, names=None):
    """What the module has, by its whole name."""
    names = names or [name for name, it in vars(module).items()
                      if not name.startswith("_") and getattr(it, "__module__", None) == module.__name__]
    return {f"{module.__name__}.{name}": getattr(module, name) for name in names}


def members(names):
    """Of the classes among them, the methods, and the properties that have an example."""
    found = {}
    for name, it in names.items():
        public = vars(it) if inspect.isclass(it) and not getattr(it, "_is_protocol", False) else []
        for member in (member for member in public if not member.startswith("_")):
            value = getattr(it, member)
            if callable(value) or ">>> " in (inspect.getdoc(value) or ""):
                found[f"{name}.{member}"] = value
    return found


def run_example(name, it, **known):
    """What went wrong in the example of its docstring."""
    names = {"numpy": numpy, "stoker": stoker, **known}
    examples = doctest.DocTestParser().get_doctest(inspect.getdoc(it) or "", names, name, None, 0)
    if not examples.examples:
        return f"{name} has no example"
    said = []
    doctest.DocTestRunner(verbose=False).run(examples, out=said.append)
    return "".join(said)


def main():
    import ray
    import stoker.ray

    ray.init(num_cpus=2, include_dashboard=False, logging_level="error", log_to_driver=False)
    names = public_names(stoker.ray, stoker.ray.__all__)
    print(json.dumps({name: run_example(name, it) for name, it in {**names, **members(names)}.items()}))


if __name__ == "__main__":
    main()
