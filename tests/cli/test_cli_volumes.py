"""Volumes with their labels, in tars, lists of files, packs and archives: runs deliver the same crops of all of them."""

import json
import tarfile

import numpy
import pytest

from test_cli_hdf5 import Hdf5

CASES = 8


def volumes():
    for number in range(CASES):
        rng = numpy.random.default_rng(number)
        volume = rng.standard_normal((1, 30 + number, 70, 80)).astype(numpy.float32)
        yield f"case_{number:05d}", volume, (volume > 1).astype(numpy.uint8)


@pytest.fixture(scope="module")
def cases(tmp_path_factory):
    """A tar; the same as files that a list names; the same with indexes; one archive of all of one depth."""
    folder = tmp_path_factory.mktemp("volumes")
    lines = ["path,file:x.npy,file:y.npy"]
    for key, volume, label in volumes():
        numpy.save(folder / f"{key}_x.npy", volume)
        numpy.save(folder / f"{key}_y.npy", label)
        lines.append(f"{key}_x.npy,{key}_x.npy,{key}_y.npy")
    (folder / "cases.csv").write_text("\n".join(lines) + "\n")
    with tarfile.open(folder / "cases.tar", "w") as tar:
        for key, _, _ in volumes():
            for part in "xy":
                tar.add(folder / f"{key}_{part}.npy", f"{key}.{part}.npy")
    return folder


def recipe(folder, more=""):
    file = folder / "crops.toml"
    file.write_text(f"""[[view]]
name = "image"
field = "x.npy"
operators = [
  {{ op = "decode_array", shape = [1, -1, -1, -1] }}, {{ op = "array_crop", size = [12, 40, 90] }}, {{ op = "array_flip", axes = [1, 2, 3] }},
  {{ op = "array_standardize" }}, {{ op = "array_noise" }},
]

[[view]]
name = "label"
field = "y.npy"
like = "image"
operators = [{{ op = "decode_array", dtype = "u8", shape = [1, -1, -1, -1] }}]
{more}""")
    return file


def crops(stoker, tmp_path, data, *options, toml=None):
    lines = stoker.audit(tmp_path, "run", data, "--recipe", toml or recipe(tmp_path), "--batch", 2, "--epochs", 2, *options)
    lines = [json.loads(line) for line in lines]
    return [(line["epoch"], line["position"], line["hash"]) for line in lines]


def test_crops_are_the_same_wherever_volumes_lie_and_however_they_are_read(stoker, tmp_path, cases):
    wanted = crops(stoker, tmp_path, cases / "cases.tar", "--threads", 1)
    assert len(wanted) == 2 * CASES and len({crop for *_, crop in wanted}) == 2 * CASES
    assert crops(stoker, tmp_path, cases / "cases.csv", "--threads", 3) == wanted
    assert crops(stoker, tmp_path, cases / "cases.tar", "--cache", "ram", "--threads", 2) == wanted
    stoker.text("pack", cases / "cases.tar", tmp_path / "packed")
    assert crops(stoker, tmp_path, tmp_path / "packed") == wanted
    stoker.text("index", cases / "cases.tar", "--index-dir", tmp_path / "indexes")
    assert crops(stoker, tmp_path, cases / "cases.tar", "--index-dir", tmp_path / "indexes") == wanted


def test_rows_of_hdf5_are_those_of_numpys_arrays(stoker, tmp_path):
    rows = numpy.arange(5 * 20 * 100 * 110, dtype=numpy.int32).reshape(5, 20, 100, 110) % 4099
    numpy.save(tmp_path / "rows.npy", rows)
    file = Hdf5()
    file.add_numbers("data", rows)
    (tmp_path / "rows.h5").write_bytes(file.file())
    toml = tmp_path / "rows.toml"
    toml.write_text("[[view]]\nname = 'x'\nfield = 'data.npy'\noperators = [{ op = 'decode_array', dtype = 'i32' }, "
                    "{ op = 'array_crop', size = [5, 40, 110] }]\n")

    def made(name):
        audit = tmp_path / f"{name}.jsonl"
        done = stoker("run", tmp_path / name, "--recipe", toml, "--batch", 2, "--epochs", 2, "--audit", audit)
        assert done.returncode == 0, done.stderr  # which may say that there are no images
        return [(line["epoch"], line["position"], line["hash"]) for line in map(json.loads, audit.read_text().splitlines())]

    assert len({crop for *_, crop in made("rows.npy")}) == 8
    assert made("rows.h5") == made("rows.npy")


def test_of_stored_volumes_crops_are_read(stoker, tmp_path, cases):
    def read(*more):
        report = stoker.json("run", cases / "cases.tar", "--recipe", recipe(tmp_path, *more), "--batch", "2", "--epochs", "1")
        return report["metrics"]["bytes_read"] if "metrics" in report else report["bytes_read"]

    whole = 'field = "x.npy"\noperators = [{ op = "digest" }]\n', 'field = "y.npy"\noperators = [{ op = "digest" }]\n'
    all_of_it = "".join(f'[[view]]\nname = "all_{number}"\n{view}' for number, view in enumerate(whole))
    assert read() * 2 < read(all_of_it)


def test_sound_arrays_are_not_bad_although_they_are_no_images(stoker, tmp_path, cases):
    numpy.save(tmp_path / "one.npy", numpy.zeros((3, 2, 8, 8), "f4"))
    numpy.savez(tmp_path / "two.npz", x=numpy.zeros((3, 2, 8, 8), "f4"), y=numpy.arange(3))
    file = Hdf5()
    file.add_numbers("x", numpy.zeros((3, 2, 8, 8), "i4"))
    file.add_numbers("y", numpy.arange(3))
    (tmp_path / "three.h5").write_bytes(file.file())
    for data in (tmp_path / "one.npy", tmp_path / "two.npz", tmp_path / "three.h5", cases / "cases.tar", cases / "cases.csv"):
        assert "Nothing is bad" in stoker.text("verify", data)
        assert "Problems" not in stoker.text("info", data)


def test_a_damaged_volume_is_passed_over(stoker, tmp_path, cases):
    data = bytearray((cases / "cases.tar").read_bytes())
    at = data.index(b"(1, 33, 70, 80)")  # of the fourth case's volume
    data[at + 4:at + 6] = b"99"
    (tmp_path / "bad.tar").write_bytes(data)
    done = stoker("run", tmp_path / "bad.tar", "--recipe", recipe(tmp_path), "--batch", "2", "--epochs", "1", "--json")
    assert done.returncode == 0 and json.loads(done.stdout)["samples"] == CASES
    assert "bad sample" in done.stderr and "case_00003" in done.stderr and "bad samples in epoch 0: 1" in done.stderr
    said = stoker.refusal(1, "run", tmp_path / "bad.tar", "--recipe", recipe(tmp_path), "--batch", "2", "--epochs", "1", "--bad-sample", "fail")
    assert "case_00003" in said and "'x.npy' is not an array: its shape needs other than" in said


def test_the_plan_says_what_comes_out(stoker, tmp_path, cases):
    said = stoker.text("plan", cases / "cases.tar", "--recipe", recipe(tmp_path), "--batch", "2")
    assert "image" in said and "12" in said and "label" in said
