"""What tests of other tools' formats share."""

import json
import os
import pathlib
import subprocess
import sys
import venv

import pytest

full = pytest.mark.skipif("STOKER_TEST_FULL" not in os.environ, reason="only with ./dev test --full")


def varint(number):
    data = b""
    while number > 0x7F:
        data += bytes([number & 0x7F | 0x80])
        number >>= 7
    return data + bytes([number])


def message(field, data):
    """A text or message among the fields of protobuf."""
    return varint(field << 3 | 2) + varint(len(data)) + data


def audit(stoker, tmp_path, data, *options):
    lines = stoker.audit(tmp_path, "run", data, "--recipe", "imagenet-train", "--batch", 4, "--epochs", 2, *options)
    return [json.loads(line) for line in lines]


def python_with(tmp_path, *packages):
    """A Python of its own that has PyPI's packages."""
    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv" / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", *packages], check=True, stdout=sys.stderr)
    return python


def python_with_streaming(tmp_path):
    """The one that `./dev bench remote` made, if it did: the package brings 6 GB of others."""
    made = pathlib.Path(__file__).resolve().parents[2] / "build" / "peers" / "remote" / "bin" / "python"
    if made.exists():
        return made
    return python_with(tmp_path, "mosaicml-streaming==0.10.0")
