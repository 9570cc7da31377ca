"""Runs two epochs, as tests/gpu/run's audits do, at a transfer index that is another one every few batches; prints how
often it changed. Usage: changing_index.py DATA RECIPE DEVICE AUDIT"""

import sys

import stoker

data, recipe, device, audit = sys.argv[1:]
changes = batches = 0
with stoker.Loader(data, recipe, batch=16, seed=3, device=device, transfer_index=0, audit=audit) as loader:
    for epoch in range(2):
        for batch in loader.epoch(epoch):
            batches += 1
            if batches % 2 == 0:
                loader.set(transfer_index=(loader.transfer_index + 3) % 4)
                changes += 1
print(changes)
