"""The package as it is imported. Each program by itself, since others of these tests have imported PyTorch long before."""

import re
import subprocess
import sys
from pathlib import Path

import stoker

PROJECT = Path(__file__).resolve().parents[2] / "CMakeLists.txt"


def output(*lines):
    done = subprocess.run([sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split()


def test_import_brings_nothing_but_stoker_itself_and_logging():
    added = output("import sys, logging", "before = set(sys.modules)", "import stoker", "print(*set(sys.modules) - before)")
    assert set(added) - {"atexit"} == {"stoker", "stoker._signature", "stoker._stoker", "stoker._stoker.op",
                                        "stoker._stoker.testing"}


def test_stoker_torch_is_there_without_being_imported():
    assert output("import stoker, sys", "print('torch' in sys.modules, 'torch' in dir(stoker))",
                  "print(stoker.torch.Loader.__module__, 'torch' in sys.modules)") == ["False", "True", "stoker.torch", "True"]


def test_stoker_tokens_is_there_without_being_imported():
    assert output("import stoker, sys", "print('numpy' in sys.modules, 'tokens' in dir(stoker))", "print(stoker.tokens.write.__name__)"
                  ) == ["False", "True", "write"]


def test_stoker_tensorboard_and_stoker_ray_are_there_without_being_imported():
    assert output("import stoker", "print(stoker.tensorboard.write_scalars.__name__, 'ray' in dir(stoker))") == ["write_scalars", "True"]
    assert output("import sys", "sys.modules['ray'] = None  # as if it were not installed", "import stoker", "print(hasattr(stoker, 'ray'))",
                  "try:", "    stoker.ray", "except AttributeError as error:", "    print('pip install ray' in str(error))",
                  "try:", "    import stoker.ray", "except ImportError as error:", "    print('pip install ray' in str(error))",
                  ) == ["False", "True", "True"]


def test_without_pytorch_everything_else_is_there_and_stoker_torch_says_what_is_missing():
    assert output("import sys", "sys.modules['torch'] = None  # as if it were not installed", "import stoker",
                  "print(stoker.Loader.__name__, hasattr(stoker, 'torch'))",
                  "try:", "    stoker.torch", "except AttributeError as error:", "    print('pip install torch' in str(error))"
                  ) == ["Loader", "False", "True"]


def test_a_name_that_is_not_there_is_named():
    assert output("import stoker", "try:", "    stoker.tensorflow", "except AttributeError as error:", "    print(error)"
                  ) == "module 'stoker' has no attribute 'tensorflow'".split()


def test_the_version_is_the_projects():
    assert stoker.__version__ == re.search(r"project\(stoker VERSION ([\d.]+)", PROJECT.read_text())[1]
