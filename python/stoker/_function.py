"""How a function of the user's gets from this process to another: by its name where modules have it, else pickled."""

import importlib
import os
import pickle
import re
import sys


def pack(function):
    """(module:function or a mere name, what was pickled or b"", an identifier). Raises ValueError with a sentence."""
    if isinstance(function, str):
        return function, b"", identifier(re.split("[:.]", function)[-1])
    if not callable(function):
        raise ValueError(f"function is {function!r}, but must be something that can be called")
    module, path = getattr(function, "__module__", None), getattr(function, "__qualname__", None)
    name = identifier(getattr(function, "__name__", None) or type(function).__name__)
    if module and path and module != "__main__" and found(module, path) is function:
        return f"{module}:{path}", b"", name
    return name, pickle.dumps(pickled(function)), name


def identifier(name):
    word = re.sub(r"[^A-Za-z0-9_]", "", name)
    return word if re.match("[A-Za-z]", word) else "function"


def found(module, path):
    """What a module has under this name; None where it has nothing."""
    try:
        here = importlib.import_module(module)
        for name in path.split("."):
            here = getattr(here, name)
        return here
    except (ImportError, AttributeError):
        return None


def pickled(function):
    """(what another process needs to know of the script that runs, or None; the function)."""
    try:
        import cloudpickle

        return None, cloudpickle.dumps(function)
    except ImportError:
        pass
    try:
        as_bytes = pickle.dumps(function)
    except Exception as error:
        raise ValueError(f"{function!r} cannot be given to another process ({error}): define it at the top of a module, or install "
                         "cloudpickle") from error
    if b"__main__" not in as_bytes:
        return None, as_bytes
    main = sys.modules["__main__"]
    if getattr(main, "__spec__", None) is None and not os.path.exists(getattr(main, "__file__", None) or ""):  # or read from a pipe
        raise ValueError(f"{function!r} is defined where no other process can look it up: move it to a module, or install cloudpickle")
    from multiprocessing import spawn

    about_main = spawn.get_preparation_data("stoker function")
    for key in ("authkey", "orig_dir", "name"):
        about_main.pop(key, None)
    return about_main, as_bytes
