"""Runs a benchmark as `./dev bench` does, smaller than it is: `python small_bench.py BENCH MODULE STATEMENTS ARGUMENT...` runs
the statements with what the benchmark's module has, and then bench/run with the arguments. BENCH is the folder."""

import importlib
import runpy
import sys
from pathlib import Path

bench, module, statements, *arguments = sys.argv[1:]
sys.path[:0] = [bench, *(str(Path(bench) / folder) for folder in ("platform", "train", "doctor", "peers", "gpu"))]
exec(statements, vars(importlib.import_module(module)))
sys.argv = [f"{bench}/run", *arguments]
runpy.run_path(sys.argv[0], run_name="__main__")
