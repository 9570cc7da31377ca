"""The command for 64-bit ARM beside the one for this machine: $STOKER_ARM64 (a script that emulates it) and $STOKER_BIN. Both
make the same data, the same shards and the same batches."""

import os
import subprocess

import pytest

RECIPES = ("alexnet-caffe", "cifar-randaugment", "cifar-train", "deit3", "dino", "efficientnet", "imagenet-train", "imagenet-val",
           "mae", "mocov3", "resnet50-v1", "resnet50-v2", "simclr", "timm-a1", "timm-a3", "vit-b16")
FAITHFUL = """
[[view]]
name = "image"
operators = [
  { op = "decode", mode = "faithful" },
  { op = "random_resized_crop", size = 96 },
  { op = "random_flip" },
  { op = "normalize", preset = "imagenet" },
]

[[view]]
name = "label"
"""
PATIENCE_S = 600  # of an emulator


def output(command, *arguments):
    return subprocess.run([command, *map(str, arguments)], check=True, stdout=subprocess.PIPE, timeout=PATIENCE_S).stdout


def named(variable):
    command = os.environ.get(variable)
    if not command:
        pytest.skip(f"{variable} names no command")
    return command


@pytest.fixture(scope="module")
def here():
    return named("STOKER_BIN")


@pytest.fixture(scope="module")
def arm():
    return named("STOKER_ARM64")


@pytest.fixture(scope="module")
def data(here, tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    output(here, "synth", folder / "photographs", "--kind", "imagenet", "--count", 16, "--classes", 4, "--seed", 3)
    output(here, "pack", folder / "photographs", folder / "packed")
    return folder


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def audit(command, data, at, *options):
    output(command, "run", data, "--batch", 12, "--epochs", 2, "--threads", 2, *options, "--audit", at)
    return at.read_text().splitlines()


def test_the_emulated_command_is_one_for_arm(arm):
    assert b"neon" in output(arm, "--version")


@pytest.mark.parametrize("kind", ["imagenet", "tiny"])
def test_synthetic_data_are_the_same_bytes(here, arm, tmp_path, kind):
    for name, command in (("here", here), ("arm", arm)):
        output(command, "synth", tmp_path / name, "--kind", kind, "--count", 8, "--classes", 2, "--seed", 11)
    assert contents(tmp_path / "here") == contents(tmp_path / "arm")


def test_shards_and_indexes_are_the_same_bytes(arm, data, tmp_path):
    output(arm, "pack", data / "photographs", tmp_path / "packed")
    assert contents(tmp_path / "packed") == contents(data / "packed")


@pytest.mark.parametrize("recipe", RECIPES)
def test_batches_are_the_same_bits(here, arm, data, tmp_path, recipe):
    expected = audit(here, data / "packed", tmp_path / "here.jsonl", "--recipe", recipe)
    assert len(expected) >= 24
    assert audit(arm, data / "packed", tmp_path / "arm.jsonl", "--recipe", recipe) == expected
    assert audit(arm, data / "photographs", tmp_path / "loose.jsonl", "--recipe", recipe) == expected


@pytest.mark.parametrize("isa", ["neon", "scalar"])
def test_faithful_pixels_are_the_same_bits(here, arm, data, tmp_path, isa):
    recipe = tmp_path / "faithful.toml"
    recipe.write_text(FAITHFUL)
    expected = audit(here, data / "packed", tmp_path / "here.jsonl", "--recipe", recipe)
    assert audit(arm, data / "packed", tmp_path / "arm.jsonl", "--recipe", recipe, "--isa", isa) == expected
