"""What a loader notes of batches that other processes make, without any such process."""

import logging

import pytest

import stoker
from stoker._account import Account, Made


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
