"""Makes a loader as any process of a training does, and writes to FOLDER/PID which samples it is given."""

import json
import os
import sys
from pathlib import Path

import stoker

data, folder, global_batch = sys.argv[1:]
recipe = stoker.recipe().decode().resize((8, 8))
with stoker.Loader(data, recipe, global_batch=int(global_batch), threads=1, cache="ram") as loader:
    batches = [[batch.position.tolist(), batch.key] for batch in loader]
(Path(folder) / str(os.getpid())).write_text(json.dumps(batches))
