"""How benchmarks show their figures: a table for people, JSON for programs."""

import dataclasses
import json
import pathlib


@dataclasses.dataclass
class Figure:
    name: str
    value: float
    unit: str
    against: str | None = None   # what `ratio` compares with, measured in the same run
    ratio: float | None = None
    floor: float | None = None   # the ratio that must be reached
    goal: float | None = None    # the ratio that is hoped for
    _: dataclasses.KW_ONLY
    ceiling: float | None = None  # or the ratio that must not be passed, where less is better
    cpu_ms: float | None = None  # of processor time per sample

    @property
    def holds(self):
        if self.floor is None and self.ceiling is None:
            return None
        if self.ratio is None:
            return False  # no pass of it was good
        return self.ratio >= self.floor if self.floor is not None else self.ratio <= self.ceiling


def report(figures, json_path=None):
    def cell(value, pattern="{:.2f}"):
        return "" if value is None else pattern.format(value)

    print(f"{'':24} {'value':>10} {'':6} {'cpu ms':>7} {'ratio':>6}  {'against':14} {'floor':>6} {'goal':>6}  holds")
    for f in figures:
        holds = {None: "", True: "yes", False: "NO"}[f.holds]
        print(f"{f.name:24} {f.value:>10.1f} {f.unit:6} {cell(f.cpu_ms):>7} {cell(f.ratio):>6}  {f.against or '':14} "
              f"{cell(f.floor):>6} {cell(f.goal):>6}  {holds}")
    if json_path:
        keys = ("name", "value", "unit", "against", "ratio", "floor", "goal", "holds")
        with open(json_path, "w") as file:
            json.dump([{key: getattr(f, key) for key in keys} for f in figures], file, indent=2)


def table(title, head, rows):
    """In Markdown, as docs/measurements has it."""
    print(f"\n{title}\n\n| {' | '.join(head)} |\n|{'---|' * len(head)}")
    for row in rows:
        print(f"| {' | '.join(map(str, row))} |")


def report_with_rows(bench, json_path=None):
    """Of a benchmark with `figures`; `rows`, which its tables show; and `absent`, the reasons of what did not run."""
    for name, reason in bench.absent.items():
        print(f"\n{name} is missing: {reason}")
    print()
    report(bench.figures)
    if json_path:
        written = {"rows": bench.rows, "absent": bench.absent, "aims": [vars(one) | {"holds": one.holds} for one in bench.figures]}
        pathlib.Path(json_path).write_text(json.dumps(written, indent=2))
