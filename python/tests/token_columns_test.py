"""Tokens in the samples of any format: the documents of a shard follow each other as if they were a file of tokens."""

import io
import json
import os
import pickle
import re
import struct
import subprocess
import tarfile

import numpy as np
import pytest

import stoker
from stoker import tokens as token_files

SHARDS = 3


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """Three tars of 40 documents of 0 to 90 tokens, and for each a file of the same tokens."""
    folder = tmp_path_factory.mktemp("columns")
    (folder / "files").mkdir()
    rng = np.random.default_rng(6)
    shards = [[rng.integers(0, 70_000, rng.integers(0, 90), np.int32) for _ in range(40)] for _ in range(SHARDS)]
    for number, documents in enumerate(shards):
        write_tar(folder / f"{number}.tar", documents)
        token_files.write(folder / "files" / f"{number}.bin", [each for each in documents if len(each)], vocab=70_000)
    return folder, shards


def write_tar(path, documents, dtype="<i4", field="input_ids.i32"):
    with tarfile.open(path, "w") as tar:
        for number, document in enumerate(documents):
            members = [(field, document.astype(dtype).tobytes()), ("mask.u8", np.ones(len(document), np.uint8).tobytes()), ("txt", b"text")]
            for name, content in members:
                member = tarfile.TarInfo(f"{number:04}.{name}")
                member.size = len(content)
                tar.addfile(member, io.BytesIO(content))


def columns(corpus, **options):
    return stoker.open([corpus[0] / f"{number}.tar" for number in range(SHARDS)], token_field="input_ids", **options)


def files(corpus, **options):
    return stoker.open([corpus[0] / "files" / f"{number}.bin" for number in range(SHARDS)], **options)


def tokens_of(data):
    (field,) = data.fields
    return [np.frombuffer(sample[field], f"<{field[-3:].replace('32', '4')}").tolist() for sample in (data[i] for i in range(len(data)))]


@pytest.mark.parametrize("options", [dict(tokens=1), dict(tokens=16), dict(tokens=500), dict(tokens=16, document_seed=5),
                                     dict(tokens="documents"), dict(tokens=7, streams=4)], ids=str)
def test_samples_are_those_of_a_file_of_the_same_tokens(corpus, options):
    data, same = columns(corpus, **options), files(corpus, **options)
    assert data.fields == ["tokens.i32"] and data.keys == same.keys
    assert tokens_of(data) == tokens_of(same)


@pytest.mark.parametrize("name", ["parquet", "tfrecord"])
def test_other_formats_have_the_same_sequences(corpus, tmp_path, name):
    packed = [os.environ["STOKER_BIN"], "pack", corpus[0] / "0.tar", tmp_path / name, "--format", name]
    subprocess.run(packed, check=True, capture_output=True)
    data = stoker.open(tmp_path / name, tokens=16, token_field="input_ids.i32")
    assert tokens_of(data) == tokens_of(stoker.open(corpus[0] / "0.tar", tokens=16, token_field="input_ids"))


def mds_of_bytes(documents):
    """A column of bytes, in which language models' data sets of Streaming have their tokens, after a text."""
    text = json.dumps({"column_encodings": ["str", "bytes"], "column_names": ["source", "tokens"], "column_sizes": [None, None],
                       "compression": None, "format": "mds", "hashes": [], "size_limit": 1 << 26, "version": 2}).encode()
    samples = [struct.pack("<II", 3, 8 * len(each)) + b"web" + each.astype("<i8").tobytes() for each in documents]
    offsets = [4 + 4 * (len(samples) + 1) + len(text)]
    for sample in samples:
        offsets.append(offsets[-1] + len(sample))
    return struct.pack(f"<I{len(offsets)}I", len(samples), *offsets) + text + b"".join(samples)


def test_columns_of_bytes_are_tokens_of_the_type_that_is_given(corpus, tmp_path):
    (tmp_path / "shard.00000.mds").write_bytes(mds_of_bytes(corpus[1][0]))
    data = stoker.open(tmp_path / "shard.00000.mds", tokens=16, token_field="tokens", token_type="i64")
    (field,) = data.fields
    got = [np.frombuffer(data[number][field], "<i8").tolist() for number in range(len(data))]
    assert field == "tokens.i64" and got == tokens_of(stoker.open(corpus[0] / "0.tar", tokens=16, token_field="input_ids"))


def test_orders_ranks_and_resuming_are_those_of_any_data(corpus):
    data = columns(corpus, tokens=16)
    recipe = stoker.recipe().view("inputs", field=data.fields[0]).decode_tokens(16)
    recipe = recipe.view("targets", field=data.fields[0]).decode_tokens(16, part="targets")

    def loaded(state=None, **options):
        loader = stoker.Loader(data, recipe, seed=8, threads=2, tail="drop", **options)
        if state:
            loader.load_state_dict(state)
        batches = []
        for batch in loader:
            batches.append((batch.key, batch.inputs.numpy().tolist(), batch.targets.numpy().tolist(), loader.state_dict()))
        return batches

    whole = loaded(batch=6)
    assert sorted(sum((list(batch[0]) for batch in whole), []))[:2] == ["0/00000000", "0/00000001"]
    for _, inputs, targets, _ in whole:
        assert [row[1:] for row in inputs] == [row[:-1] for row in targets]
    halves = zip(loaded(global_batch=6, rank=0, world=2), loaded(global_batch=6, rank=1, world=2), strict=True)
    assert [batch[1] for batch in whole] == [first[1] + second[1] for first, second in halves]
    assert [batch[1] for batch in loaded(whole[3][3], batch=6)] == [batch[1] for batch in whole[4:]]
    again = pickle.loads(pickle.dumps(data))
    assert again.keys == data.keys and tokens_of(again) == tokens_of(data)


def test_a_field_whose_name_has_no_type_is_given_one(corpus, tmp_path):
    write_tar(tmp_path / "a.tar", corpus[1][0], "<u4", "ids")
    with pytest.raises(stoker.Error, match="'ids' does not say what its tokens are; give their type as token_type"):
        stoker.open(tmp_path / "a.tar", tokens=16, token_field="ids")
    data = stoker.open(tmp_path / "a.tar", tokens=16, token_field="ids", token_type="u32")
    assert data.fields == ["tokens.u32"]
    assert tokens_of(data) == tokens_of(stoker.open(corpus[0] / "0.tar", tokens=16, token_field="input_ids"))


@pytest.mark.parametrize("options, words", [
    (dict(tokens=16, token_field="inputs"), "no sample has the field 'inputs'; there are input_ids.i32, mask.u8, txt"),
    (dict(tokens=16, token_field="input_ids", token_type="u16"), "the field 'input_ids.i32' has tokens of type i32, not u16"),
    (dict(token_field="input_ids"), "token_type, token_field, streams and document_seed have an effect only with tokens: give tokens"),
    (dict(tokens=16), "or, if samples have tokens in a field, the field's name as token_field"),
    (dict(tokens=10**6, token_field="input_ids"), "too few tokens for a sequence of 1000000")], ids=str)
def test_what_makes_no_sense_is_refused(corpus, options, words):
    with pytest.raises(stoker.Error, match=re.escape(words)):
        stoker.open(corpus[0] / "0.tar", **options)


def test_shards_without_tokens_and_halves_of_tokens_are_named(corpus, tmp_path):
    write_tar(tmp_path / "half.tar", [np.arange(3), np.arange(2), np.arange(5)], "u1")
    with pytest.raises(stoker.Error, match="half.tar, sample '0000': 'input_ids.i32' has 3 bytes, which is not a whole number of tokens"):
        stoker.open(tmp_path / "half.tar", tokens=1, token_field="input_ids")
    write_tar(tmp_path / "other.tar", corpus[1][0], field="ids.i32")
    with pytest.raises(stoker.Error, match="no sample of .*other.tar' has a token in 'input_ids.i32'"):
        stoker.open([corpus[0] / "0.tar", tmp_path / "other.tar"], tokens=16, token_field="input_ids")
    write_tar(tmp_path / "none.tar", [np.arange(0)] * 2)
    with pytest.raises(stoker.Error, match="no sample of .*none.tar' has a token in 'input_ids.i32'"):
        stoker.open(tmp_path / "none.tar", tokens=16, token_field="input_ids")


def test_loose_files_are_to_be_packed(tmp_path):
    (tmp_path / "list.csv").write_text("path,file:ids.i32\n" + "".join(f"{number}.txt,{number}.i32\n" for number in range(3)))
    for number in range(3):
        (tmp_path / f"{number}.txt").write_text("text")
        (tmp_path / f"{number}.i32").write_bytes(np.arange(9, dtype="<i4").tobytes())
    with pytest.raises(stoker.Error, match="sample '0': tokens are not taken from loose files; pack them first"):
        stoker.open(tmp_path / "list.csv", tokens=4, token_field="ids")
