"""How a function of the user's gets from this process to another: by its name where modules have it, else pickled."""

import importlib
import os
import pickle
import re
import sys

MAIN = "__main__"
MAIN_OF_SPAWNED = "__mp_main__"  # the same script, in a process that multiprocessing has spawned


def pack(function):
    """(module:function or a mere name, what was pickled or b"", an identifier). Raises ValueError with a sentence."""
    if isinstance(function, str):
        return function, b"", identifier(re.split("[:.]", function)[-1])
    if not callable(function):
        raise ValueError(f"function is {function!r}, but must be something that can be called")
    module, path = getattr(function, "__module__", None), getattr(function, "__qualname__", None)
    name = identifier(getattr(function, "__name__", None) or type(function).__name__)
    if module and path and module not in (MAIN, MAIN_OF_SPAWNED) and found(module, path) is function:
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
    except ImportError:
        as_bytes, main = plainly_pickled(function), MAIN
    else:
        as_bytes, main = cloudpickle.dumps(function), None  # what the script defines is in there
    if MAIN_OF_SPAWNED.encode() in as_bytes:  # which cloudpickle takes for a module that other processes can import
        main = MAIN_OF_SPAWNED
    if main is None or main.encode() not in as_bytes:
        return None, as_bytes
    return about(sys.modules.get(main, sys.modules[MAIN]), function), as_bytes


def plainly_pickled(function):
    try:
        return pickle.dumps(function)
    except MemoryError:
        raise
    except Exception as error:
        raise ValueError(f"{function!r} cannot be given to another process ({error}): define it at the top of a module, or install "
                         "cloudpickle") from error


def about(main, function):
    """What multiprocessing.spawn.prepare() wants to know of the script. multiprocessing's own account of it would also decide, for
    the whole program, by which method processes start."""
    spec, path = getattr(main, "__spec__", None), getattr(main, "__file__", None) or ""
    if spec is None and not os.path.exists(path):  # or read from a pipe
        raise ValueError(f"{function!r} is defined where no other process can look it up: move it to a module, or install "
                         "cloudpickle")
    script = {"init_main_from_name": spec.name} if spec else {"init_main_from_path": os.path.abspath(path)}
    return {"sys_path": [place or os.getcwd() for place in sys.path], "sys_argv": sys.argv, **script}
