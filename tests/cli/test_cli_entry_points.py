"""Photographs in every format that has an index: each is decoded by its entry points, and has the pixels that it has without."""

import pytest

pytest.importorskip("stoker._stoker")  # without the module, `stoker` is the folder of the library's sources

import stoker as library

from foreign_formats import audit
from shard_writers import FOREIGN, PACKED

INDEXED = [name for name in FOREIGN if name != "npz"]  # which has pixels only


@pytest.fixture(scope="module")
def rows(photographs):
    files = sorted(photographs.folder.rglob("*.jpg"))
    classes = sorted({file.parent.name for file in files})
    return [{"name": file.relative_to(photographs.folder).as_posix(), "label": classes.index(file.parent.name),
             "image": file.read_bytes()} for file in files]


def used_of_each(data, **options):
    """How often a run of each sample by itself used entry points; what is made ahead counts, too."""
    dataset = library.open(data, **options)
    found = []
    for number in range(len(dataset)):
        with library.Loader(dataset.subset([number]), library.recipe("imagenet-train"), batch=1, prefetch=1, threads=1) as loader:
            assert len(list(loader.epoch(0))) == 1
            metrics = loader.metrics()
        assert metrics["jpeg_fallbacks"] == 0
        found.append(metrics["entry_points_used"])
    return found


@pytest.mark.parametrize("name", INDEXED)
def test_photographs_of_an_indexed_shard_are_decoded_by_their_entry_points(stoker, rows, tmp_path, name):
    data = tmp_path / name
    data.mkdir()
    FOREIGN[name][0](data, rows)
    without = audit(stoker, tmp_path, data, "--no-index")
    assert len(without) == 2 * len(rows)
    assert used_of_each(data, use_index=False) == [0] * len(rows)
    stoker.text("index", data)
    assert all(used_of_each(data)), used_of_each(data)
    assert audit(stoker, tmp_path, data) == without


@pytest.mark.parametrize("form", PACKED)
def test_photographs_of_a_pack_are_decoded_by_their_entry_points(stoker, photographs, tmp_path, form):
    stoker.text("pack", photographs.folder, tmp_path / "packed", "--format", form, "--shard-size", "500KB")
    assert used_of_each(tmp_path / "packed", use_index=False) == [0] * photographs.count
    assert all(used_of_each(tmp_path / "packed")), used_of_each(tmp_path / "packed")
    assert audit(stoker, tmp_path, tmp_path / "packed") == audit(stoker, tmp_path, tmp_path / "packed", "--no-index")
