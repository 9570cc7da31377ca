"""A report page made of its sources, without a build: what the library's ReportPage writes around its texts."""

import json
import re
from pathlib import Path

SOURCES = Path(__file__).resolve().parents[2] / "stoker" / "page"


def raw_strings(header: str) -> list[str]:
    """The texts of a header's raw strings, in order."""
    return [found[2] for found in re.finditer(r'R"(\w+)\((.*?)\)\1"', (SOURCES / header).read_text(), re.DOTALL)]


def style() -> str:
    return raw_strings("page_style.h")[0]


def page_of(charts, body: str | None = None) -> str:
    """The page with these charts, each in its place, or in those that the body has."""
    basics, drawing = raw_strings("chart_script.h")
    kinds = [text for header in ("line_charts.h", "heat_map.h", "bar_charts.h") for text in raw_strings(header)]
    parts = {"title": "charts", "style": style(), "script": "".join([basics, *kinds, drawing]),
             "body": '<div class="chart"></div>' * len(charts) if body is None else body,
             "charts": ",".join(map(json.dumps, charts))}
    return re.sub(r"@(\w+)@", lambda mark: parts[mark[1]], raw_strings("page_template.h")[0])
