"""Draws the rates as bars: an SVG of our own few lines."""

from xml.sax.saxutils import escape

WIDTH, BAR, GAP, LEFT, RIGHT, TOP = 940, 20, 8, 340, 130, 66
OURS, UNIT, OTHERS = "#d95f02", "#555555", "#7f9fbf"


def text(x, y, content, **attributes):
    written = "".join(f' {key.replace("_", "-")}="{value}"' for key, value in attributes.items())
    return f'<text x="{x:g}" y="{y:g}"{written}>{escape(content)}</text>'


def draw(rows, unit, path):
    """`rows`: dicts with name, about, rate and ratio (to the unit, or None)."""
    rows = sorted(rows, key=lambda row: -row["rate"])
    height = TOP + len(rows) * (BAR + GAP) + GAP
    per_rate = (WIDTH - LEFT - RIGHT) / rows[0]["rate"]
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" font-size="13">',
           f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
           text(LEFT, 24, "Images a second on one core", font_size=16, font_weight="bold"),
           text(LEFT, 46, "random resized crop of 224, flip, normalise, to float32 batches; in brackets: of the grey bar",
                fill=UNIT, font_size=12)]
    for row in rows:
        if row["name"] == unit:
            x = LEFT + row["rate"] * per_rate
            out.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TOP - 6}" y2="{height - GAP}" stroke="{UNIT}" stroke-dasharray="3 3"/>')
    for number, row in enumerate(rows):
        y = TOP + number * (BAR + GAP)
        middle, width = y + BAR / 2 + 5, row["rate"] * per_rate
        colour = UNIT if row["name"] == unit else OURS if row["name"].startswith("stoker") else OTHERS
        figures = f'{row["rate"]:,.0f}' + (f'  ({row["ratio"]:.2f})' if row["ratio"] is not None else "")
        out += [text(LEFT - 8, middle, row["about"], text_anchor="end"),
                f'<rect x="{LEFT}" y="{y}" width="{width:.1f}" height="{BAR}" fill="{colour}"/>',
                # With a border that keeps the dashed line away from the figures.
                text(LEFT + width + 6, middle, figures, stroke="white", stroke_width=5, paint_order="stroke")]
    with open(path, "w") as file:
        file.write("\n".join([*out, "</svg>", ""]))
