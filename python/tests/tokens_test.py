"""Tokens: every one is where it is in the file, sequences follow each other without a gap, streams go on from batch to batch."""

import json
import pickle

import numpy as np
import pytest

import stoker
from stoker import tokens as token_files

EOD = 0


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """60 documents of 0 to 200 tokens; the last token of each is EOD."""
    rng = np.random.default_rng(3)
    documents = [np.append(rng.integers(1, 5000, rng.integers(0, 200)), EOD) for _ in range(60)]
    path = tmp_path_factory.mktemp("tokens") / "corpus"
    assert token_files.write(path, documents, vocab=5000) == (60, sum(map(len, documents)))
    return path.with_suffix(".bin"), np.concatenate(documents), documents


def parts(length, field="tokens.u16", names=("inputs", "targets", "positions", "documents"), **arguments):
    recipe = stoker.recipe()
    if "documents" in names:
        arguments.setdefault("eod", EOD)
    for name in names:
        recipe = recipe.view(name, field=field).decode_tokens(length, part=name, **arguments)
    return recipe


def arrays(batch, names=("inputs", "targets")):
    return [np.array(np.from_dlpack(getattr(batch, name))) for name in names]


@pytest.mark.parametrize("length", [1, 7, 64, 500])
def test_sequences_are_the_file(corpus, length):
    path, all_tokens, _ = corpus
    data = stoker.open(path, tokens=length)
    assert data.fields == ["tokens.u16"] and len(data) == (len(all_tokens) - 1) // length
    loader = stoker.Loader(data, parts(length, eod=EOD), batch=1, order="none", tail="keep", threads=2)
    names = ("inputs", "targets", "positions", "documents")
    inputs, targets, positions, documents = (np.concatenate(each).ravel() for each in zip(*(arrays(batch, names) for batch in loader)))
    assert 0 < loader.metrics()["fields_ns"] <= loader.metrics()["worker_busy_ns"]
    count = len(data) * length
    np.testing.assert_array_equal(inputs, all_tokens[:count])
    np.testing.assert_array_equal(targets, all_tokens[1:count + 1])
    for first in range(0, count, length):
        place, number = 0, 0
        for i in range(first, first + length):
            assert (positions[i], documents[i]) == (place, number)
            place, number = (0, number + 1) if all_tokens[i] == EOD else (place + 1, number)


def test_shuffled_epochs_have_each_sequence_once(corpus):
    path, all_tokens, _ = corpus
    loader = stoker.Loader(stoker.open(path, tokens=16), parts(16, names=("inputs",)), batch=8, seed=4, tail="keep", threads=2)
    epochs = [np.concatenate([arrays(batch, ("inputs",))[0] for batch in loader.epoch(epoch)]) for epoch in range(2)]
    want = all_tokens[:len(epochs[0]) * 16].reshape(-1, 16)
    for epoch in epochs:
        assert sorted(map(tuple, epoch)) == sorted(map(tuple, want)) and (epoch != want).any()
    assert (epochs[0] != epochs[1]).any()


def test_a_run_resumes_to_the_token(corpus):
    data = stoker.open(corpus[0], tokens=16)

    def loader():
        return stoker.Loader(data, parts(16), batch=4, seed=4, threads=2)

    whole = [arrays(batch) for batch in loader()]
    first = loader()
    taken = [arrays(batch) for _, batch in zip(range(5), first.epoch(0))]
    state = json.loads(json.dumps(first.state_dict()))
    rest = loader()
    rest.load_state_dict(state)
    taken += [arrays(batch) for batch in rest]
    np.testing.assert_array_equal(np.array(taken), np.array(whole))


def test_ranks_share_an_epoch(corpus):
    data = stoker.open(corpus[0], tokens=16)
    alone = [arrays(batch, ("inputs",))[0] for batch in stoker.Loader(data, parts(16), batch=8, seed=4)]
    two = [[arrays(batch, ("inputs",))[0] for batch in stoker.Loader(data, parts(16), batch=4, seed=4, rank=rank, world=2)]
           for rank in range(2)]
    for whole, *halves in zip(alone, *two):
        np.testing.assert_array_equal(whole, np.concatenate(halves))


def test_documents_are_shuffled_before_they_are_cut(corpus):
    path, _, documents = corpus
    arrangements = []
    for seed in 1, 1, 2:
        data = stoker.open(path, tokens=1, document_seed=seed)
        loader = stoker.Loader(data, parts(1), batch=64, order="none", tail="keep", threads=2)
        inputs, targets = (np.concatenate(each).ravel() for each in zip(*(arrays(batch) for batch in loader)))
        np.testing.assert_array_equal(inputs[1:], targets[:-1])
        arrangements.append(np.append(inputs, targets[-1]))
    np.testing.assert_array_equal(arrangements[0], arrangements[1])
    assert (arrangements[0] != arrangements[2]).any()
    for arrangement in arrangements[1:]:
        ends = np.flatnonzero(arrangement == EOD) + 1
        found = [tuple(each) for each in np.split(arrangement, ends)[:-1]]
        assert sorted(found) == sorted(map(tuple, documents)) and found != list(map(tuple, documents))


def test_sequences_of_shuffled_documents_keep_every_contract(corpus, tmp_path):
    data = stoker.open(corpus[0], tokens=16, document_seed=3)
    one = stoker.open(corpus[0], tokens=1, document_seed=3)
    cut = np.concatenate([arrays(batch, ("inputs",))[0].ravel()
                          for batch in stoker.Loader(one, parts(1), batch=64, order="none", tail="keep")])

    def loader(of=data, **options):
        return stoker.Loader(of, parts(16), **{"batch": 4, "seed": 4, "threads": 2, **options})

    whole = [arrays(batch) for batch in loader()]
    places = sorted(tuple(line) for inputs, _ in whole for line in inputs)
    sequences = sorted(tuple(line) for line in cut[:len(cut) // 16 * 16].reshape(-1, 16))
    assert set(places) <= set(sequences) and len(places) == len(data) // 4 * 4
    first = loader()
    taken = [arrays(batch) for _, batch in zip(range(5), first.epoch(0))]
    state = json.loads(json.dumps(first.state_dict()))
    rest = loader(pickle.loads(pickle.dumps(data)), threads=1)
    rest.load_state_dict(state)
    np.testing.assert_array_equal(np.array(taken + [arrays(batch) for batch in rest]), np.array(whole))
    ranks = [[arrays(batch) for batch in loader(batch=2, rank=rank, world=2)] for rank in range(2)]
    np.testing.assert_array_equal(np.concatenate([np.array(ranks[0]), np.array(ranks[1])], axis=2), np.array(whole))
    for options in {"io": "pread"}, {"io": "uring"}, {"direct": True}:
        again = stoker.open(corpus[0], tokens=16, document_seed=3, **options)
        np.testing.assert_array_equal(np.array([arrays(batch) for batch in loader(again)]), np.array(whole))
    cached = loader(cache=f"disk={tmp_path / 'cache'}:1GB")
    for _ in range(2):
        np.testing.assert_array_equal(np.array([arrays(batch) for batch in cached.epoch(0)]), np.array(whole))
    with pytest.raises(stoker.Error, match="data"):
        loader(stoker.open(corpus[0], tokens=16, document_seed=5)).load_state_dict(state)


@pytest.mark.parametrize("world", [1, 2])
def test_streams_go_on_from_batch_to_batch(corpus, world):
    path, all_tokens, _ = corpus
    data = stoker.open(path, tokens=35, streams=6)
    ranks = [[arrays(batch) for batch in stoker.Loader(data, parts(35), batch=6 // world, order="none", rank=rank, world=world)]
             for rank in range(world)]
    batches = [[np.concatenate(each) for each in zip(*batch)] for batch in zip(*ranks)]
    stream = (len(all_tokens) - 1) // 35 // 6 * 35
    for slot in range(6):
        inputs, targets = (np.concatenate([batch[part][slot] for batch in batches]) for part in range(2))
        np.testing.assert_array_equal(inputs, all_tokens[slot * stream:(slot + 1) * stream])
        np.testing.assert_array_equal(targets, all_tokens[slot * stream + 1:(slot + 1) * stream + 1])


def test_documents_are_padded_or_cut(corpus):
    path, _, documents = corpus
    data = stoker.open(path, tokens="documents")
    assert len(data) == 60
    recipe = parts(50, names=("inputs", "targets"), pad=7, longer="cut")
    loader = stoker.Loader(data, recipe, batch=10, order="none")
    inputs, targets = (np.concatenate(each) for each in zip(*(arrays(batch) for batch in loader)))
    for document, line, next_line in zip(documents, inputs, targets):
        want, after = document[:50], document[1:51]
        np.testing.assert_array_equal(line, np.append(want, [7] * (50 - len(want))))
        np.testing.assert_array_equal(next_line, np.append(after, [-100] * (50 - len(after))))
    with pytest.raises(stoker.Error, match="tokens, and there is room for 50 and the one after them"):
        for _ in stoker.Loader(data, parts(50), batch=10, bad_sample="fail"):
            pass


def test_any_part_of_a_document_is_drawn_alike_for_all_its_parts(corpus):
    data = stoker.open(corpus[0], tokens="documents")
    longest = max(corpus[2], key=len)
    seen = set()
    for seed in range(20):
        made = parts(30, longer="random").apply({"tokens.u16": longest.astype("<u2").tobytes()}, seed=seed)
        begin = next(i for i in range(len(longest)) if (longest[i:i + 30] == made["inputs"]).all())
        np.testing.assert_array_equal(made["targets"], longest[begin + 1:begin + 31])
        seen.add(begin)
    assert len(seen) > 10 and len(data) == 60


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "uint16", "int32", "int64"])
def test_types_of_both_kinds_of_files(tmp_path, dtype):
    numbers = np.arange(0, 100).astype(dtype)
    if dtype.startswith("int"):
        numbers[::3] *= -1
    token_files.write(tmp_path / "a", [numbers[:40], numbers[40:]], dtype=dtype)
    np.save(tmp_path / "b.npy", numbers)
    numbers.tofile(tmp_path / "c.raw")
    name = {"uint": "u", "int": "i"}[dtype.rstrip("0123456789")] + str(8 * numbers.itemsize)
    for file, options in (("a.bin", {}), ("b.npy", {}), ("c.raw", {"token_type": name})):
        data = stoker.open(tmp_path / file, tokens=9, **options)
        assert data.fields == [f"tokens.{name}"]
        loader = stoker.Loader(data, parts(9, f"tokens.{name}", ("inputs", "targets")), batch=11, order="none")
        inputs, targets = arrays(next(iter(loader)))
        np.testing.assert_array_equal(inputs.ravel(), numbers[:99].astype(int))
        np.testing.assert_array_equal(targets.ravel(), numbers[1:].astype(int))


def test_several_files_are_mixed_by_weight(tmp_path):
    for name, first in (("a", 0), ("b", 1000)):
        token_files.write(tmp_path / name, [np.arange(first, first + 801)], vocab=5000)
    both = stoker.open([tmp_path / "a.bin", tmp_path / "b.bin"], tokens=8)
    assert len(both) == 200
    mixed = stoker.mix([stoker.open(tmp_path / "a.bin", tokens=8), stoker.open(tmp_path / "b.bin", tokens=8)], [3, 1])
    loader = stoker.Loader(mixed, parts(8), batch=40, seed=1)
    inputs = np.concatenate([arrays(batch, ("inputs",))[0] for batch in loader])
    assert len(inputs) == 200 and (inputs < 1000).all(axis=1).sum() == 150


def test_corpora_of_other_types_or_lengths_are_not_mixed(tmp_path):
    for name, dtype in (("a", "uint16"), ("b", "int32")):
        token_files.write(tmp_path / name, [np.arange(801)], dtype=dtype)
    a, b = (stoker.open(tmp_path / f"{name}.bin", tokens=8) for name in "ab")
    with pytest.raises(stoker.Error, match="a.bin' have tokens.u16, and those of '.*b.bin' have tokens.i32; write all parts"):
        stoker.mix([a, b], [1, 1])
    longer = stoker.mix([a, stoker.open(tmp_path / "a.bin", tokens=16)], [1, 1])
    for length, other in ((8, 16), (16, 8)):
        with pytest.raises(stoker.Error, match=f"takes sequences of {length} tokens, and the data are opened as sequences of {other}"):
            stoker.Loader(longer, parts(length), batch=4)
    with pytest.raises(stoker.Error, match="^tokens is 'document', but must be a whole number or 'documents'$"):
        stoker.open(tmp_path / "a.bin", tokens="document")
    with pytest.raises(stoker.Error, match="streams cannot be mixed"):
        stoker.mix([a, stoker.open(tmp_path / "a.bin", tokens=8, streams=4)], [1, 1])


def test_the_mask_tells_tokens_from_what_fills_up(corpus):
    path, _, documents = corpus
    data = stoker.open(path, tokens="documents")
    recipe = parts(64, names=("inputs", "mask"), longer="cut", pad=7)
    loader = stoker.Loader(data, recipe, batch=16, order="none", tail="pad")
    inputs, mask = (np.concatenate(each) for each in zip(*(arrays(batch, ("inputs", "mask")) for batch in loader)))
    assert mask.shape == (64, 64) and mask.dtype == np.int64
    for row, document in enumerate(documents):
        count = min(len(document), 64)
        np.testing.assert_array_equal(mask[row], np.arange(64) < count)
        np.testing.assert_array_equal(inputs[row], np.pad(document[:count], (0, 64 - count), constant_values=7))
    assert not mask[len(documents):].any()  # slots without a sample
    for name in "mask", "inputs":
        whole = parts(4, names=(name,)).view(name).optional().apply({"tokens.u16": b""})[name]
        np.testing.assert_array_equal(whole, np.zeros(4))


def test_documents_need_the_token_that_ends_them(corpus):
    with pytest.raises(stoker.Error, match="view 'documents': .*give its number as eod"):
        stoker.Loader(stoker.open(corpus[0], tokens=16), parts(16, eod=-1), batch=4)
    positions = parts(6, names=("positions",)).apply({"tokens.u16": np.arange(9, dtype="<u2").tobytes()[:14]})["positions"]
    np.testing.assert_array_equal(positions, np.arange(6))


def test_a_view_takes_sequences_as_long_as_they_were_opened(corpus):
    data = stoker.open(corpus[0], tokens=16)
    for length, options in ((10, {}), (32, {}), (32, {"longer": "cut"})):
        with pytest.raises(stoker.Error, match=f"view 'inputs': decode_tokens takes sequences of {length} tokens, and the data are opened as sequences of 16"):
            stoker.Loader(data, parts(length, **options), batch=4)
    for lengthened in (data.subset([3, 4]), data.with_labels([0] * len(data))):
        with pytest.raises(stoker.Error, match="sequences of 16"):
            stoker.Loader(lengthened, parts(15), batch=1)
    assert next(iter(stoker.Loader(data, parts(10, longer="random"), batch=4))).inputs.shape == (4, 10)
    assert next(iter(stoker.Loader(stoker.open(corpus[0], tokens="documents"), parts(300), batch=4))).inputs.shape == (4, 300)


@pytest.mark.parametrize("options, words", [
    ({"batch": 6}, "not the order global and a global batch of 6; give order none and a batch of 6"),
    ({"batch": 4, "order": "none"}, "not the order none and a global batch of 4; give order none and a batch of 6"),
    ({"batch": 12, "order": "none"}, "need the order none and a global batch of 6"), ({"batch": 3, "order": "none"}, "need the order none and a global batch of 6"),
    ({"batch": 6, "order": "none", "rank": 0, "world": 2}, "a batch of 3 per rank"),
    ({"batch": 2, "order": "none", "rank": 0, "world": 4}, "6 streams cannot be divided among 4 ranks"),
    ({"batch": 6, "order": "none", "repeats": 2}, "leave the repeats out"),
    ({"batch": 6, "order": "windowed", "lanes": 3}, "not the order windowed")])
def test_streams_that_would_not_go_on_are_refused(corpus, options, words):
    with pytest.raises(stoker.Error, match=words):
        stoker.Loader(stoker.open(corpus[0], tokens=35, streams=6), parts(35), **options)


def changed(content, place, by):
    return content[:place] + by + content[place + len(by):]


@pytest.mark.parametrize("change, words", [
    (lambda index: index[:20], "it is too short"), (lambda index: b"X" + index[1:], "it does not begin as one"),
    (lambda index: changed(index, 9, b"\2"), "it has version 2"), (lambda index: changed(index, 17, b"\6"), "its tokens have type 6"),
    (lambda index: changed(index, 17, b"\xff"), "its tokens have type 255"), (lambda index: index + b"x", "sequences with"),
    (lambda index: changed(index, 18, b"\xff" * 8), "sequences with"), (lambda index: changed(index, 18, b"\0" * 8), "it has no sequence"),
    (lambda index: changed(index, 34, b"\5\0\0\0"), None),
])
def test_a_damaged_index_is_named(tmp_path, change, words):
    token_files.write(tmp_path / "a", [[1, 2, 3]], vocab=9)
    index = tmp_path / "a.idx"
    index.write_bytes(change(index.read_bytes()))
    with pytest.raises(stoker.Error, match=f"a.idx' is not a sound index of tokens: .*{words or 'does not end where the tokens end'}"):
        stoker.open(tmp_path / "a.bin", tokens=1)


def test_what_makes_no_sense_is_refused(tmp_path, corpus):
    (tmp_path / "a.raw").write_bytes(b"12345")
    np.save(tmp_path / "f.npy", np.zeros(9, np.float32))
    np.save(tmp_path / "i.npy", np.arange(9))
    np.save(tmp_path / "j.npy", np.arange(5))
    for data, options, words in (
            (tmp_path / "a.raw", dict(tokens=1), "does not say what its tokens are"),
            (tmp_path / "a.raw", dict(tokens=1, token_type="u16"), "not a whole number of tokens of type u16"),
            (tmp_path / "f.npy", dict(tokens=1), "which cannot be tokens"), (corpus[0], dict(tokens=1, token_type="u8"), "of type u16, not u8"),
            (corpus[0], dict(tokens=10**6), "too few tokens for a sequence"), (corpus[0], dict(tokens=0), "tokens"),
            ([tmp_path / "j.npy", tmp_path / "i.npy"], dict(tokens=30), "i.npy', the longest of 2 files, has too few tokens for a sequence of 30 .* it: 9$"),
            (corpus[0], dict(tokens=5000, streams=9), "too few for 9 streams"), (corpus[0], dict(tokens="documents", streams=9), "streams are"),
            (corpus[0], dict(tokens="documents", document_seed=1), "for sequences"), (corpus[0], dict(document_seed=1), "give tokens"),
            (tmp_path / "i.npy", dict(tokens=1, document_seed=1), "i.npy' does not say where documents begin"),
            (corpus[0], dict(tokens=1, document_seed=-1), "document_seed"), (corpus[0], dict(streams=9), "give tokens"), (corpus[0], dict(tokens="words"), "tokens"),
            (tmp_path / "absent.bin", dict(tokens=4), "absent")):
        with pytest.raises(stoker.Error, match=words):
            stoker.open(data, **options)
    with pytest.raises(stoker.Error, match="'tokens' is not a type of tokens"):
        parts(5, "tokens").apply({"tokens": b"12"})
    with pytest.raises(stoker.Error, match="not a whole number of tokens of 2 bytes"):
        parts(5).apply({"tokens.u16": b"123"})


def test_both_executors_take_the_same_tokens():
    for count in (0, 1, 5, 6, 7, 40):
        data = {"tokens.u16": np.arange(count, dtype="<u2").tobytes()}
        fast, plain = (parts(6, eod=3, longer="random").apply(data, reference=slow, seed=9) for slow in (False, True))
        assert all((fast[name] == plain[name]).all() for name in fast)


def test_rows_of_an_array_are_documents(tmp_path):
    rows = np.arange(40 * 9, dtype=np.uint16).reshape(40, 9)
    np.save(tmp_path / "rows.npy", rows)
    data = stoker.open(tmp_path / "rows.npy", tokens="documents")
    assert len(data) == 40
    batch = next(iter(stoker.Loader(data, parts(8), batch=40, order="none")))
    inputs, targets = arrays(batch)
    np.testing.assert_array_equal(inputs, rows[:, :-1])
    np.testing.assert_array_equal(targets, rows[:, 1:])
    shuffled = stoker.open(tmp_path / "rows.npy", tokens=9, document_seed=1)
    inputs = arrays(next(iter(stoker.Loader(shuffled, parts(9), batch=39, order="none"))))[0]
    assert (inputs != rows[:39]).any() and {tuple(row) for row in inputs} < {tuple(row) for row in rows}
    across = arrays(next(iter(stoker.Loader(stoker.open(tmp_path / "rows.npy", tokens=8), parts(8), batch=4, order="none"))))[0]
    np.testing.assert_array_equal(across.ravel(), rows.ravel()[:32])
    np.save(tmp_path / "cube.npy", rows.reshape(4, 10, 9))
    with pytest.raises(stoker.Error, match="has 3 axes; documents are the rows"):
        stoker.open(tmp_path / "cube.npy", tokens="documents")


def test_a_folder_stands_for_the_files_of_tokens_in_it(tmp_path):
    (tmp_path / "deeper").mkdir()
    for number, name in enumerate(("b.npy", "a.npy", "deeper/c.npy", "labels.bin")):
        tokens = np.arange(33, dtype=np.uint16) + 100 * number
        np.save(tmp_path / name, tokens) if name.endswith("npy") else tokens.tofile(tmp_path / name)
    token_files.write(tmp_path / "c", [np.arange(300, 333)], vocab=5000)
    data = stoker.open(tmp_path, tokens=8)
    inputs = arrays(next(iter(stoker.Loader(data, parts(8), batch=12, order="none"))))[0]
    assert len(data) == 12 and list(inputs[:, 0]) == [100, 108, 116, 124, 0, 8, 16, 24, 300, 308, 316, 324]
    (tmp_path / "none").mkdir()
    with pytest.raises(stoker.Error, match="none' has no file of tokens directly in it"):
        stoker.open(tmp_path / "none", tokens=8)


def test_tokens_that_are_opened_as_other_data_say_how_they_are_opened(corpus, tmp_path):
    for file in corpus[0], corpus[0].with_suffix(".idx"):
        with pytest.raises(stoker.Error, match="corpus.idx' is an index of tokens: open the .bin with tokens"):
            stoker.open(file)
    with pytest.raises(stoker.Error, match="corpus.idx' is the index of a file of tokens; name that file"):
        stoker.open(corpus[0].with_suffix(".idx"), tokens=8)
    (tmp_path / "texts.jsonl").write_text('{"text": "one"}\n{"text": "two"}\n')
    with pytest.raises(stoker.Error, match="has lines of JSON.*its first line names no file; give each line a path under one of the keys 'path', "):
        stoker.open(tmp_path / "texts.jsonl")


@pytest.mark.parametrize("name, written", [("corpus", "corpus"), ("corpus.bin", "corpus"), ("corpus.v2", "corpus.v2"),
                                           ("corpus.v2.bin", "corpus.v2"), ("corpus.bin.bin", "corpus.bin")])
def test_the_path_may_end_as_the_file_of_tokens_does(tmp_path, name, written):
    for path in tmp_path / name, str(tmp_path / name):
        assert token_files.write(path, [[5, 6, 7], [8, 9]], vocab=5000) == (2, 5)
        assert sorted(path.name for path in tmp_path.iterdir()) == [f"{written}.bin", f"{written}.idx"]
        assert len(stoker.open(tmp_path / f"{written}.bin", tokens="documents")) == 2
        for file in tmp_path.iterdir():
            file.unlink()


def test_what_cannot_be_written_leaves_nothing(tmp_path):
    for documents, options, words in (([[1, 70000]], dict(vocab=5), "beyond"), ([[0.5]], {}, "whole numbers"), ([], {}, "no document"),
                                      ([[1]], dict(dtype="float32"), "tokens cannot be float32"),
                                      ([[300]], dict(vocab=1000, dtype="uint8"), "a vocabulary of 1000 does not fit uint8"),
                                      ([[200]], dict(vocab=129, dtype="int8"), "does not fit int8, which has room for 1 to 128"),
                                      ([[1]], dict(vocab=0), "a vocabulary of 0"), ([[-1]], dict(vocab=9, dtype="int8"), "beyond 0 to 8")):
        with pytest.raises(ValueError, match=words):
            token_files.write(tmp_path / "a", documents, **options)
    assert not list(tmp_path.iterdir())


def test_a_document_that_is_too_long_for_an_index_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(token_files, "_TOKENS_MAX", 3)
    assert token_files.write(tmp_path / "a", [[1, 2], [3, 4, 5]]) == (2, 5)
    with pytest.raises(ValueError, match="document 1 has 4 tokens, and an index has room for 3: cut it into several"):
        token_files.write(tmp_path / "b", [[1, 2], [3, 4, 5, 6]])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.bin", "a.idx"]
