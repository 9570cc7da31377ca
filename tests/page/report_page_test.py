"""The script of a report page, run by Node.js where there is one: labels stay apart, ticks are round, nothing leaves the
picture."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
TEMPLATE = HERE.parents[1] / "stoker" / "page" / "page_template.h"

pytestmark = pytest.mark.skipif(not shutil.which("node"), reason="no Node.js here")


@pytest.fixture
def draw(tmp_path):
    """Draws charts and returns the shapes of each, the picture itself first."""

    def flat(shape):
        yield shape
        for inner in shape["shapes"]:
            yield from flat(inner)

    def drawn(*charts):
        page = re.search(r'R"html\((.*)\)html"', TEMPLATE.read_text(), re.DOTALL)[1]
        page = page.replace("@body@", '<div class="chart"></div>' * len(charts))
        path = tmp_path / "page.html"
        path.write_text(page.replace("@charts@", ",".join(map(json.dumps, charts))))
        done = subprocess.run(["node", HERE / "draw.js", path], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return [list(flat(place["shapes"][0])) for place in json.loads(done.stdout)]

    return drawn


def lines(points, x_most, unit="number", **panel):
    panel = {"title": "rate", "unit": unit, "color": "rate", "height": 190, "steps": False, "points": points, **panel}
    return {"kind": "lines", "x_unit": "seconds", "x_most": x_most, "panels": [panel], "shaded": [], "marks": []}


def heat_map(rows, columns):
    cells = [{"row": r, "column": c, "share": (r + c) / (len(rows) + len(columns)), "text": f"{123456 * c:,}",
              "note": "×12", "about": ""} for r in range(len(rows)) for c in range(0, len(columns), 2)]
    return {"kind": "heat_map", "row_title": "transfer index", "column_title": "threads", "rows": rows,
            "columns": columns, "framed": [0, 0], "cells": cells}


def texts(shapes, anchor):
    return [s["textContent"] for s in shapes if s["name"] == "text" and s["attributes"]["text-anchor"] == anchor]


def paths(shapes, style):
    return [s["attributes"]["d"] for s in shapes if s["name"] == "path" and s["attributes"]["class"] == style]


def assert_labels_apart(shapes):
    width, height = map(float, shapes[0]["attributes"]["viewBox"].split()[2:])
    boxes = []
    for shape in shapes:
        if shape["name"] != "text":
            continue
        at, wide = shape["attributes"], 7 * len(shape["textContent"])
        left = float(at["x"]) - wide * {"start": 0, "middle": 0.5, "end": 1}[at["text-anchor"]]
        box = (left, left + wide, float(at["y"]), shape["textContent"])
        assert 0 <= box[0] and box[1] <= width and 0 <= box[2] <= height, box
        for other in boxes:
            assert box[0] >= other[1] or other[0] >= box[1] or abs(box[2] - other[2]) > 9.9, (box, other)
        boxes.append(box)
    assert len(boxes) > 6


def test_lines_begin_at_zero_and_have_round_ticks(draw):
    chart = lines([[10 * i + 5, rate] for i, rate in enumerate([1000, 2000] + 21 * [2019])], 230)
    chart["shaded"], chart["marks"] = [[30, 230]], [10, 30]
    shapes, = draw(chart)
    assert texts(shapes, "end") == ["0", "500", "1,000", "1,500", "2,000", "2,500"]
    assert texts(shapes, "middle") == ["0", "30 s", "1 min", "1:30 min", "2 min", "2:30 min", "3 min", "3:30 min"]
    # 1,000 and 2,000 of 2,500, after 5 and 15 s of 230, in 190 by 800 pixels from (64, 26).
    assert paths(shapes, "line")[0].startswith("M81.4 140L116.2 64L")
    assert paths(shapes, "mark") == ["M98.8 26v190M168.3 26v190"]
    shade, = [s["attributes"] for s in shapes if s["attributes"].get("class") == "shade"]
    assert shade == {"x": "168.3", "y": "26", "width": "695.7", "height": "190", "class": "shade"}


def test_steps_stay_until_the_next_point(draw):
    shapes, = draw(lines([[0, 1], [10, 3], [230, 3]], 230, unit="count", height=64, steps=True))
    assert texts(shapes, "end") == ["0", "1", "2", "3"]
    assert paths(shapes, "line") == ["M64 68.7H98.8V26H864V26"]


@pytest.mark.parametrize("unit, most, ticks", [
    ("share", 0.6, ["0%", "20%", "40%", "60%"]),
    ("share", 0.001, ["0%", "1%", "2%", "3%", "4%", "5%"]), ("share", 1, ["0%", "20%", "40%", "60%", "80%", "100%"]), ("count", 2, ["0", "1", "2"]), ("count", 0, ["0", "1"]),
    ("count", 40, ["0", "10", "20", "30", "40"]), ("doublings", 16, ["1", "2", "4", "8", "16"]),
    ("doublings", 100, ["1", "4", "16", "64", "256"]), ("doublings", 1, ["1", "2"]),
    ("number", 0.034, ["0", "0.01", "0.02", "0.03", "0.04"]), ("number", 0, ["0", "0.2", "0.4", "0.6", "0.8", "1"]),
    ("number", 1.5e6, ["0", "500,000", "1,000,000", "1,500,000"]), ("number", 4e15, ["0", "1.00e+15", "2.00e+15", "3.00e+15", "4.00e+15"])])
def test_axes_have_ticks_of_their_unit(draw, unit, most, ticks):
    shapes, = draw(lines([[0, most]], 10, unit=unit, height=64))
    assert texts(shapes, "end") == ticks


@pytest.mark.parametrize("seconds, ticks", [
    (0.8, ["0", "0.1 s", "0.2 s"]), (45, ["0", "5 s", "10 s"]), (90, ["0", "10 s", "20 s"]),
    (4000, ["0", "5 min", "10 min"]), (90000, ["0", "2 h", "4 h"]), (2e6, ["0", "2 d", "4 d"])])
def test_time_has_ticks_that_are_round_in_its_units(draw, seconds, ticks):
    shapes, = draw(lines([[0, 1]], seconds))
    assert texts(shapes, "middle")[:3] == ticks


def test_labels_stay_apart_and_within_the_picture(draw):
    charts = [lines([[x_most / 2, most]], x_most, unit=unit, height=height)
              for x_most in (0.02, 0.3, 7, 70, 500, 3333, 40_000, 1e6, 1e12)
              for unit, most in (("number", 123456), ("number", 0.00123), ("count", 37), ("share", 0.73), ("doublings", 900))
              for height in (190, 84, 64)]
    long_name = "1: after a stage with a name that is far too long to stand beside anything"
    charts += [heat_map(["0: before all stages", long_name][:rows], [str(i) for i in range(1, columns + 1)])
               for rows in (1, 2) for columns in (1, 2, 16, 40, 128)]
    for shapes in draw(*charts):
        assert_labels_apart(shapes)


def test_cells_are_colored_by_their_share_and_the_chosen_one_is_framed(draw):
    chart = heat_map(["0", "1"], ["1", "2", "3"])
    shares = [1, 0.96, 0.92, 0.8, 0.6, 0]
    chart["cells"] = [{"row": i // 3, "column": i % 3, "share": share, "text": "7", "note": "×1", "about": f"of {share}"}
                      for i, share in enumerate(shares[:5])]
    chart["framed"] = [1, 1]
    shapes, = draw(chart)
    told = [s["attributes"]["class"] for s in shapes if s["name"] == "g" and s["shapes"][0]["name"] == "title"]
    assert told == ["heat0", "heat1", "heat2", "heat3", "heat4"]
    boxes = {style: [s["attributes"] for s in shapes if s["attributes"].get("class") == style] for style in ("framed", "empty")}
    assert len(boxes["empty"]) == 6 and len(boxes["framed"]) == 1
    assert {**boxes["framed"][0], "class": "empty"} == boxes["empty"][4]


def test_what_is_no_number_is_not_drawn(draw):
    shapes, = draw(lines([[None, None], [1, None], [2, 5]], None))
    assert len([s for s in shapes if s["name"] == "circle"]) == 1
    assert not any("NaN" in value or "undefined" in value for s in shapes for value in s["attributes"].values())
