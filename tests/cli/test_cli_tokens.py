"""Texts become tokens: every word is its number's line in the vocabulary, and comes back from a run that only reads."""

import collections
import io
import json
import tarfile

import numpy
import pytest

TEXT = "no it was n't black monday\n but while the new york stock\n\nthe the the a of of"
MORE = "the end of it was the york\n"


@pytest.fixture
def texts(tmp_path):
    for name, text in (("train", TEXT), ("valid", MORE)):
        (tmp_path / f"{name}.txt").write_text(text)
    return tmp_path


def words_of(text):
    return [word for line in text.removesuffix("\n").split("\n") for word in [*line.split(), "<eos>"]]


def tokens_of(folder, dtype="<u2"):
    return numpy.fromfile(folder / "tokens.bin", dtype)


def test_words_are_lines_of_the_vocabulary(stoker, texts):
    made = stoker.json("pack", texts / "train.txt", texts / "packed", "--tokens", "words")
    lines = (texts / "packed" / "vocab.txt").read_text().splitlines()
    words, counts = words_of(TEXT), collections.Counter(words_of(TEXT))
    assert [lines[number] for number in tokens_of(texts / "packed")] == words
    assert lines == sorted(counts, key=lambda word: (-counts[word], word))
    assert (made["tokens"], made["documents"], made["words"], made["unknown"]) == (len(words), 1, len(counts), 0)
    assert stoker.text("pack", texts / "train.txt", texts / "again", "--tokens", "words")
    assert tokens_of(texts / "again").tobytes() == tokens_of(texts / "packed").tobytes()


def test_rare_words_are_unknown_and_other_texts_have_the_same_numbers(stoker, texts):
    made = stoker.json("pack", texts / "train.txt", texts / "packed", "--tokens", "words", "--vocab", "6")
    lines = (texts / "packed" / "vocab.txt").read_text().splitlines()
    assert len(lines) == made["words"] == 6 and {"<unk>", "<eos>", "the", "of"} < set(lines)
    known = set(lines)
    assert [lines[number] for number in tokens_of(texts / "packed")] == [word if word in known else "<unk>" for word in words_of(TEXT)]
    assert made["unknown"] == sum(word not in known for word in words_of(TEXT))
    other = stoker.json("pack", texts / "valid.txt", texts / "valid", "--tokens", "words", "--vocab", texts / "packed" / "vocab.txt")
    assert [lines[number] for number in tokens_of(texts / "valid")] == [word if word in known else "<unk>" for word in words_of(MORE)]
    assert other["words"] == 6
    stoker.text("pack", texts / "train.txt", texts / "all", "--tokens", "words")
    said = stoker.refusal(1, "pack", texts / "valid.txt", texts / "none", "--tokens", "words", "--vocab", texts / "all" / "vocab.txt")
    assert "the word 'end' is not in" in said and not (texts / "none" / "tokens.idx").exists()


def test_a_limited_vocabulary_has_a_number_for_other_words(stoker, texts):
    kinds = len(set(words_of(TEXT)))
    for most, words in (100, kinds + 1), (kinds + 1, kinds + 1), (kinds, kinds):
        made = stoker.json("pack", texts / "train.txt", texts / f"{most}", "--tokens", "words", "--vocab", most)
        lines = (texts / f"{most}" / "vocab.txt").read_text().splitlines()
        assert made["words"] == len(lines) == words and {"<unk>", "<eos>"} < set(lines)
    other = stoker.json("pack", texts / "valid.txt", texts / "valid", "--tokens", "words", "--vocab", texts / "100" / "vocab.txt")
    assert other["unknown"] == 1 and other["words"] == kinds + 1
    stoker.text("pack", texts / "train.txt", texts / "all", "--tokens", "words")
    said = stoker.refusal(1, "pack", texts / "valid.txt", texts / "none", "--tokens", "words", "--vocab", texts / "all" / "vocab.txt")
    assert "with --vocab N, which adds that word" in said


def test_a_finished_pack_is_not_replaced(stoker, texts):
    arguments = ["pack", texts / "train.txt", texts / "packed", "--tokens", "words"]
    made = stoker.json(*arguments)
    again = stoker.json(*arguments)
    assert [{**each, "seconds": 0} for each in (made, again)] == [{**made, "seconds": 0}] * 2
    before = {path.name: path.read_bytes() for path in (texts / "packed").iterdir()}
    assert set(before) == {"tokens.bin", "tokens.idx", "vocab.txt", "manifest.json"}
    for other in (["pack", texts / "train.txt", texts / "packed", "--tokens", "bytes"], [*arguments, "--vocab", "5"],
                  ["pack", texts / "valid.txt", texts / "packed", "--tokens", "words"]):
        assert "holds another packed data set; choose another folder" in stoker.refusal(2, *other)
    assert {path.name: path.read_bytes() for path in (texts / "packed").iterdir()} == before
    (texts / "train.txt").write_text(TEXT + " more")
    assert "holds another packed data set" in stoker.refusal(2, *arguments)
    (texts / "other").mkdir()
    (texts / "other" / "notes.txt").write_text("mine")
    assert "is not empty" in stoker.refusal(2, "pack", texts / "train.txt", texts / "other", "--tokens", "bytes")


def test_a_field_of_any_format_has_tokens(stoker, tmp_path):
    documents = [numpy.arange(number, dtype="<u2") for number in (5, 0, 9)]
    with tarfile.open(tmp_path / "a.tar", "w") as tar:
        for number, document in enumerate(documents):
            member = tarfile.TarInfo(f"{number}.ids.u16")
            member.size = document.nbytes
            tar.addfile(member, io.BytesIO(document.tobytes()))
    assert stoker.json("info", tmp_path / "a.tar", "--tokens", 4, "--token-field", "ids") == {
        "format": "tokens", "samples": 3, "tokens": 14, "bytes": 28, "fields": ["tokens.u16"]}
    assert stoker.json("info", tmp_path / "a.tar", "--tokens", "documents", "--token-field", "ids.u16")["samples"] == 2
    assert "--token-field requires --tokens" in stoker.refusal(2, "info", tmp_path / "a.tar", "--token-field", "ids")


@pytest.mark.parametrize("option", [["--shuffle", "3"], ["--format", "mds"], ["--dry-run"], ["--threads", "2"], ["--quality", "90"],
                                    ["--image-field", "x"], ["--quarantine", "q"]])
def test_options_of_images_are_refused(stoker, texts, option):
    said = stoker.refusal(2, "pack", texts / "train.txt", texts / "packed", "--tokens", "bytes", *option)
    assert f"{option[0]} has no effect with --tokens; leave it out" in said and not (texts / "packed").exists()


def test_a_pack_of_tokens_is_verified_and_summarised(stoker, texts):
    stoker.text("pack", texts / "*.txt", texts / "packed", "--tokens", "words")
    count = len(words_of(TEXT)) + len(words_of(MORE))
    verified = stoker.json("verify", texts / "packed")
    assert (verified["samples"], verified["shards"], verified["indexed_shards"], verified["bad"]) == (2, 1, 1, [])
    for command in ["info"], ["index"], ["run", "--recipe", "imagenet-train"]:
        said = stoker.refusal(2, command[0], texts / "packed", *command[1:])
        assert "packed' holds tokens; open it with tokens (--tokens)" in said
    (texts / "plain").mkdir()
    for name in "tokens.bin", "tokens.idx":
        (texts / "plain" / name).write_bytes((texts / "packed" / name).read_bytes())
    assert "plain' holds tokens; open it with tokens (--tokens)" in stoker.refusal(2, "info", texts / "plain")
    facts = stoker.json("info", texts / "packed", "--tokens", "4")
    assert facts == {"format": "tokens", "samples": (count - 1) // 4, "tokens": count, "bytes": 2 * count, "fields": ["tokens.u16"]}
    assert stoker.json("info", texts / "packed" / "tokens.bin", "--tokens", "documents")["samples"] == 2
    assert f"{count} tokens" in stoker.text("info", texts / "packed", "--tokens", "documents")
    assert "--sample has no effect with --tokens" in stoker.refusal(2, "info", texts / "packed", "--tokens", "4", "--sample", "0")
    for name in "tokens.bin", "tokens.idx", "vocab.txt":
        file = texts / "packed" / name
        sound = file.read_bytes()
        for place in 0, len(sound) // 2, len(sound) - 1:
            file.write_bytes(sound[:place] + bytes([sound[place] ^ 1]) + sound[place + 1:])
            found = stoker("verify", texts / "packed")
            assert found.returncode == 1 and f"{name}' is not the one that the manifest beside it lists" in found.stdout
        file.unlink()
        found = stoker("verify", texts / "packed")
        assert found.returncode == 1 and f"{name}' is listed in the manifest beside it, and is not there" in found.stdout
        file.write_bytes(sound)


def test_bytes_are_tokens(stoker, texts):
    made = stoker.json("pack", texts / "{train,valid}.txt", texts / "packed", "--tokens", "bytes")
    assert tokens_of(texts / "packed", "u1").tobytes() == (TEXT + MORE).encode() and made["documents"] == 2
    found = stoker.json("run", texts / "packed" / "tokens.bin", "--tokens", "documents", "--recipe", recipe(texts, 200, "u8", longer="cut"),
                        "--batch", "2", "--epochs", "1")
    assert found["samples"] == 2
    text = stoker.text("run", texts / "packed" / "tokens.bin", "--tokens", "documents", "--recipe", recipe(texts, 200, "u8", longer="cut"),
                       "--batch", "2", "--epochs", "1")
    assert "\narrays, tokens, texts " in text


def recipe(folder, length, kind="u16", **more):
    file = folder / "tokens.toml"
    rest = "".join(f', {name} = "{value}"' for name, value in more.items())
    file.write_text("".join(f'[[view]]\nname = "{part}"\nfield = "tokens.{kind}"\n'
                            f'operators = [{{ op = "decode_tokens", length = {length}, part = "{part}"{rest} }}]\n'
                            for part in ("inputs", "targets")))
    return file


def test_a_run_has_all_sequences(stoker, texts):
    (texts / "long.txt").write_text("".join(f"{word % 50} " for word in range(2001)))
    stoker.text("pack", texts / "long.txt", texts / "packed", "--tokens", "words")
    tokens, words = texts / "packed" / "tokens.bin", recipe(texts, 20)
    audits = []
    for threads in (1, 2):
        audit = texts / f"{threads}.jsonl"
        found = stoker.json("run", tokens, "--tokens", "20", "--recipe", words, "--batch", "10", "--epochs", "2", "--threads", threads,
                            "--seed", "3", "--audit", audit)
        assert found["samples"] == 200
        audits.append(audit.read_text())
    assert audits[0] == audits[1] and len(audits[0].splitlines()) == 200
    streams = stoker.json("run", tokens, "--tokens", "20", "--streams", "7", "--recipe", words, "--batch", "7", "--order", "none",
                          "--epochs", "1", "--audit", texts / "streams.jsonl")
    keys = [json.loads(line)["key"] for line in (texts / "streams.jsonl").read_text().splitlines()]
    numbers = numpy.array([int(key.rpartition("/")[2]) for key in keys]).reshape(-1, 7)
    assert streams["samples"] == 98 and (numbers[1:] - numbers[:-1] == 1).all() and (numbers[0] == numpy.arange(7) * 14).all()


def test_a_number_decides_the_order_of_documents(stoker, texts):
    (texts / "forty").mkdir()
    for number in range(40):
        (texts / f"forty/{number}.txt").write_text(f"document {number} of forty\n" * (1 + number % 7))
    stoker.text("pack", texts / "forty/*.txt", texts / "lines", "--tokens", "words")
    audits = []
    for seed in ["--document-seed", "5"], ["--document-seed", "5"], ["--document-seed", "6"], []:
        audit = texts / "documents.jsonl"
        found = stoker.json("run", texts / "lines" / "tokens.bin", "--tokens", "10", *seed, "--recipe", recipe(texts, 10), "--batch", "10",
                            "--epochs", "1", "--audit", audit)
        audits.append(sorted(json.loads(line)["hash"] for line in audit.read_text().splitlines()))
        assert len(audits[-1]) == found["samples"] > 50
    assert audits[0] == audits[1] and audits[0] != audits[2] != audits[3] != audits[0]


@pytest.mark.parametrize("arguments, words", [
    (["--tokens", "letters"], "'letters' is not what tokens are made of; use words or bytes"),
    (["--vocab", "5"], "--vocab"), (["--tokens", "bytes", "--vocab", "5"], "bytes need no vocabulary"),
    (["--tokens", "words", "--vocab", "1"], "--vocab")])
def test_what_makes_no_sense_is_refused(stoker, texts, arguments, words):
    assert words in stoker.refusal(2, "pack", texts / "train.txt", texts / "packed", *arguments)


def test_what_has_no_words_is_named(stoker, texts):
    (texts / "empty.txt").write_text("")
    assert "has no text" in stoker.refusal(1, "pack", texts / "empty.txt", texts / "packed", "--tokens", "words")
    (texts / "binary.txt").write_bytes(b"x" * 100_000)
    assert "has a word of more than" in stoker.refusal(1, "pack", texts / "binary.txt", texts / "packed", "--tokens", "words")


def test_nothing_is_said_of_unknown_words_in_a_text_without_words(stoker, texts):
    stoker.text("pack", texts / "train.txt", texts / "packed", "--tokens", "words", "--vocab", "6")
    (texts / "space.txt").write_text("  ")
    said = stoker.text("pack", texts / "space.txt", texts / "none", "--tokens", "words", "--vocab",
                       texts / "packed" / "vocab.txt")
    assert "0 tokens of 1 document" in said and said.endswith("vocab.txt: 6 words\n")
