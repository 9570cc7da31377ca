"""The script of a report page, run by Node.js where there is one: labels stay apart, ticks are round, nothing leaves the
picture."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from page_source import page_of, style

HERE = Path(__file__).resolve().parent

pytestmark = pytest.mark.skipif(not shutil.which("node"), reason="no Node.js here")


@pytest.fixture
def draw(tmp_path):
    """Draws charts and returns the shapes of each, the picture itself first."""

    def flat(shape):
        yield shape
        for inner in shape["shapes"]:
            yield from flat(inner)

    def drawn(*charts, width=0):
        path = tmp_path / "page.html"
        path.write_text(page_of(charts))
        done = subprocess.run(["node", HERE / "draw.js", path, str(width)], capture_output=True, text=True)
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


def bars(rows, most, **more):
    rows = [{"label": label, "bars": [{"value": value, "text": text, "color": "rate", "about": "of a resource"}
                                      for value, text in told]} for label, told in rows]
    return {"kind": "bars", "unit": "number", "most": most, "level": None, "legend": [], "rows": rows, **more}


LADDER = bars([("cpu decode", [(1120, "1,120")]), ("storage bandwidth", [(1570, "1,570")]), ("step", [(1786, "1,786")]),
               ("copy", [(90_000, "90,000")])], 2000, level={"at": 1786, "text": "needed: 1,786 samples/s"})
HISTOGRAM = {"kind": "histogram", "title": "bytes of a sample", "color": "rate",
             "edges": [f"{10 * i} KB" for i in range(25)], "shares": [0.01 * (i % 12) for i in range(24)],
             "marks": [{"at": 7.3, "text": "median 73 KB"}, {"at": 8, "text": "mean 80 KB"}]}
SPLIT = {"kind": "split", "rows": [{"label": "time of the GPU", "parts": [
    {"share": 0.62, "text": "62%", "color": "knob", "label": "busy", "about": ""},
    {"share": 0.375, "text": "37%", "color": "wait", "label": "waits for cpu decode", "about": ""},
    {"share": 0.005, "text": "1%", "color": "slate", "label": "stragglers", "about": ""}]}]}


def knee(**panel):
    panel = {"name": "predicted", "more": [{"points": [[1, 380], [2, 700]], "color": "knob", "dashed": False, "name": "measured"}],
             "levels": [{"at": 1786, "text": "needed: 1,786 samples/s"}], **panel}
    chart = lines([[i, min(400 * i, 1600)] for i in range(1, 17)], 16, **panel)
    return {**chart, "x_unit": "count", "x_title": "cores", "marks": [{"at": 2, "text": "now"}, {"at": 4, "text": "knee: 4 cores"}]}


def rects(shapes):
    """Position and size of each bar, in order."""
    return [tuple(float(s["attributes"][key]) for key in ("x", "y", "width", "height")) for s in shapes
            if s["name"] == "rect" and s["attributes"].get("style")]


def test_bars_are_as_long_as_their_values_and_broken_off_beyond_the_end(draw):
    shapes, = draw(LADDER)
    lengths = [width for _, _, width, height in rects(shapes) if height == 17]
    assert lengths[1] / lengths[0] == pytest.approx(1570 / 1120, abs=0.01)
    assert lengths[3] == max(lengths) and len(paths(shapes, "broken")) == 1
    level, = paths(shapes, "level")
    step_end = [x + width for x, _, width, _ in rects(shapes)][2]
    assert float(level[1:].split()[0]) == pytest.approx(step_end, abs=0.2)


def test_a_value_that_is_not_known_has_a_text_and_no_bar(draw):
    shapes, = draw(bars([("network", [(None, "not measured")]), ("step", [(3, "3")])], 3))
    assert [width for _, _, width, _ in rects(shapes)][0] == 0
    assert "not measured" in texts(shapes, "start")


def test_parts_of_a_whole_share_its_width(draw):
    shapes, = draw(SPLIT)
    parts = [rect for rect in rects(shapes) if rect[3] == 26]
    assert [round(width + 2) for _, _, width, _ in parts][:2] == [558, 338]
    assert parts[1][0] == 558 and parts[2][0] == pytest.approx(558 + 337.5, abs=0.1)
    assert texts(shapes, "start") == ["time of the GPU", "busy 62%", "waits for cpu decode 37%", "stragglers 1%"]
    assert texts(shapes, "middle") == ["62%", "37%"]  # the third has no room


def test_a_histogram_has_a_column_for_each_share(draw):
    shapes, = draw(HISTOGRAM)
    columns = rects(shapes)
    assert len(columns) == 24 and columns[11][3] == pytest.approx(11 * columns[1][3], abs=1)
    # The second mark has no room beside the first.
    assert [text for text in texts(shapes, "start") if "KB" in text and "m" in text] == ["median 73 KB"]


def test_lines_of_several_names_have_a_legend_marks_and_levels(draw):
    shapes, = draw(knee())
    assert len(paths(shapes, "line")) == 2
    told = [s["textContent"] for s in shapes if s["name"] == "text"]
    for text in ("predicted", "measured", "now", "knee: 4 cores", "needed: 1,786 samples/s", "cores"):
        assert told.count(text) == 1
    level, = paths(shapes, "level")
    # Of 2,000, in 190 pixels beneath the title and the legend.
    assert level == "M64 64.3H864"


@pytest.mark.parametrize("width", [900, 600, 599, 368, 280])
def test_new_charts_stay_in_their_place_at_any_width(draw, width):
    many = bars([(f"a resource with a long name, the {i}th", [(i, "512 MB/s, 4,700/s"), (2 * i, "1 GB/s")]) for i in range(9)], 8,
                unit="bytes_per_s", legend=[{"color": "rate", "text": "cold"}, {"color": "knob", "text": "warm"}])
    for shapes in draw(LADDER, many, HISTOGRAM, knee(), lines([[0, 1e6]], 1e6, height=84), width=width):
        assert float(shapes[0]["attributes"]["viewBox"].split()[2]) == width
        assert_labels_apart(shapes)
    split, = draw(SPLIT, width=width)
    assert float(split[0]["attributes"]["viewBox"].split()[2]) == width
    assert len(rects(split)) == 6


def test_charts_without_data_are_drawn_without_an_error(draw):
    empty = [bars([], 0), {"kind": "split", "rows": []}, {**HISTOGRAM, "edges": ["0"], "shares": [], "marks": []},
             lines([], 0), {**SPLIT, "rows": [{"label": "nothing", "parts": []}]}]
    for shapes in draw(*empty):
        assert not any("NaN" in value or "undefined" in value or "Infinity" in value
                       for s in shapes for value in s["attributes"].values())


def luminance(color: str) -> float:
    parts = [int(color[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("dark", [False, True])
def test_texts_stand_out_from_what_is_behind_them(dark):
    """As WCAG 2 asks: 4.5 for texts, 3 for lines and bars."""
    light, darker = (dict(re.findall(r"--([\w-]+): (#\w{6})", block)) for block in re.findall(r":root \{(.*?)\}", style(), re.DOTALL))
    of = {**light, **darker} if dark else light
    assert set(light) == set(darker)
    texts_on = [(text, ground) for text in ("ink", "soft") for ground in ("paper", "card")]
    texts_on += [("ink", "shade"), ("soft", "shade")]
    texts_on += [("on-bar", bar) for bar in ("rate", "wait", "knob", "plum", "teal", "slate")]
    texts_on += [("on-heat", "heat0"), ("on-heat", "heat1"), ("on-warm", "heat2")] + [("on-cool", f"heat{i}") for i in range(3, 6)]
    for text, ground in texts_on:
        assert contrast(of[text], of[ground]) >= 4.5, (text, ground)
    for bar in ("rate", "wait", "knob", "plum", "teal", "slate", "frame"):
        assert contrast(of[bar], of["paper"]) >= 3, bar
