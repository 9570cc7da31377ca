"""The folder in which the documentation's examples run: data by the names that they use, made once."""

import io
import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "tests" / folder) for folder in ("cli", "page")]  # foreign_formats; browser


def stoker(*arguments, cwd):
    command = Path(os.environ.get("STOKER_BIN", ROOT / "build/release/stoker")).resolve()
    done = subprocess.run([command, *map(str, arguments)], cwd=cwd, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="session")
def workplace(tmp_path_factory):
    from foreign_formats import beton, example, tfrecord

    at = tmp_path_factory.mktemp("docs")
    for name, count in ("imagenet/train", 40), ("imagenet/val", 24), ("photos", 24):
        stoker("synth", name, "--kind", "imagenet", "--format", "folder", "--count", count, "--classes", 3, "--seed", count, cwd=at)
    stoker("pack", "imagenet/train", "shards", cwd=at)
    stoker("pack", "imagenet/train", "mds/train", "--format", "mds", cwd=at)
    stoker("pack", "imagenet/train", "parquet/train", "--format", "parquet", cwd=at)
    (only,) = (at / "shards").glob("*.tar")
    for number in range(2):  # twice the same
        (at / f"shards/train-{number:06}.tar").write_bytes(only.read_bytes())
    for other in at.joinpath("shards").iterdir():
        if not other.name.startswith("train-"):
            other.unlink()
    images = sorted((at / "imagenet/train").rglob("*.jpg"))
    samples = [{"image": (0, *size_of(path), path.read_bytes()), "label": number % 3} for number, path in enumerate(images)]
    with tarfile.open(at / "captions.tar", "w") as tar:
        for path, text in zip(images, ("a cat", "a dog")):
            tar.add(path, f"{path.stem}.jpg")
            member = tarfile.TarInfo(f"{path.stem}.txt")
            member.size = len(text)
            tar.addfile(member, io.BytesIO(text.encode()))
    (at / "train.beton").write_bytes(beton({"image": 2, "label": 1}, samples))
    records = [example({"image": path.read_bytes(), "label": number % 3, "name": path.name}) for number, path in enumerate(images)]
    (at / "records").mkdir()
    for number in range(2):
        (at / f"records/train-{number:05}-of-00002").write_bytes(b"".join(map(tfrecord, records[number::2])))
    return at


def size_of(path):
    from PIL import Image

    with Image.open(path) as image:
        return image.size
