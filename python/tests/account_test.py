"""What a loader notes of batches that other processes make, without any such process."""

import logging
import shutil

import pytest

import stoker
from stoker._account import Account, BadSamples, Made


def test_an_epoch_is_reported_and_logged(folder, recipe, caplog):
    account = Account()
    with stoker.Loader(folder, recipe, batch=20, tail="pad") as loader, caplog.at_level(logging.INFO, "stoker"):
        account.begin_epoch(4)
        for batch in loader.epoch(4):
            asked = account.end_step()
            account.reports.update(7, loader.metrics())
            assert account.deliver(Made(batch, 7, 0.5), asked) >= 0
        account.end_epoch()
        account.end_epoch()  # once is enough
        decoded = loader.metrics()["decode_ns"]
    report = account.reports.report(4)
    assert (report.epoch, report.steps, report.samples) == (4, 3, 50), "padding is no sample"
    assert report.verdict in caplog.text and caplog.text.count("epoch 4: 50 samples") == 2, "the loader's own line, and the account's"
    counted = account.reports.metrics()
    assert (counted["batches"], counted["samples"], counted["epochs"]) == (3, 50, 1)
    account.reports.leave(7)
    assert account.reports.metrics()["decode_ns"] == counted["decode_ns"] > 0 and decoded >= counted["decode_ns"]
    with pytest.raises(stoker.Error, match="no report of epoch 5"):
        account.reports.report(5)


def test_what_lies_between_epochs_is_no_step(folder, recipe):
    account = Account()
    with stoker.Loader(folder, recipe, batch=20) as loader:
        for epoch in range(2):
            account.begin_epoch(epoch)
            account.reports.update(0, loader.metrics())
            account.deliver(Made(next(loader.epoch(epoch)), 0), account.end_step())
    assert account.reports.report(1).steps == 0 and account.reports.report(None).steps == 0


def test_new_bad_samples_of_all_members_count_in_their_epoch_and_listed_ones_do_not(folder, recipe):
    def made(numbers, known=False):
        return Made(batch, 0, bad=[({"shard": "a.tar", "key": str(number), "reason": f"{number} is bad"}, known) for number in numbers])

    with stoker.Loader(folder, recipe, batch=20) as loader:
        batch = next(loader.epoch(4))
    account = BadSamples(slots=10_999)
    account.add(made(range(100, 200), known=True))
    for epoch in range(2):
        account.begin_epoch()
        account.add(made([*range(6), *range(6)]))
        account.add(made(range(4, 10)))
        assert len(account.found) == 110
    with pytest.raises(stoker.Error, match="epoch 4 has met 11 bad samples, more than the 10 .*; the last: 10 is bad; .*quarantine=FILE") as error:
        account.add(made(range(5, 20)))
    assert error.value.kind == "bad_sample"


def test_a_member_tells_which_batch_met_a_bad_sample_and_whether_it_was_listed(folder, recipe, tmp_path):
    data, listed = tmp_path / "data", tmp_path / "bad.jsonl"
    shutil.copytree(folder, data)
    sorted(data.rglob("*.*"))[3].write_bytes(b"no image")
    for known in (False, True):
        with stoker.Loader(data, recipe, batch=10, quarantine=listed) as loader:
            for epoch in range(2):
                met = []
                for index in range(len(loader)):
                    loader.request(epoch, index)
                    loader.take()
                    met += [(bad["key"], was_known) for bad, was_known in loader._bad_in_batch]
                assert met == [(loader.quarantine[0]["key"], known)], "once in each epoch"
