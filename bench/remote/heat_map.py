"""Draws rates as an SVG: requests at a time downwards, sizes of blocks across, the darker the faster."""

from xml.sax.saxutils import escape

CELL_WIDTH, CELL_HEIGHT, LEFT, TOP = 84, 34, 96, 84
SLOW, FAST = (247, 251, 255), (8, 48, 107)


def colour(share):
    return "#" + "".join(f"{round(low + (high - low) * share):02x}" for low, high in zip(SLOW, FAST))


def text(x, y, content, **attributes):
    written = "".join(f' {key.replace("_", "-")}="{value}"' for key, value in attributes.items())
    return f'<text x="{x:g}" y="{y:g}"{written}>{escape(str(content))}</text>'


def draw(rows, columns, rates, path):
    """`rates` in MB/s, a list for each row."""
    fastest = max(max(row) for row in rates)
    width, height = LEFT + len(columns) * CELL_WIDTH + 16, TOP + len(rows) * CELL_HEIGHT + 16
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="13">',
           f'<rect width="{width}" height="{height}" fill="white"/>',
           text(16, 26, "MB/s from a store, by block and by requests at a time", font_size=15, font_weight="bold"),
           text(16, TOP - 12, "at a time")]
    out += [text(LEFT + (number + 0.5) * CELL_WIDTH, TOP - 12, name, text_anchor="middle") for number, name in enumerate(columns)]
    for down, (name, row) in enumerate(zip(rows, rates)):
        top = TOP + down * CELL_HEIGHT
        out.append(text(LEFT - 12, top + 22, name, text_anchor="end"))
        for across, value in enumerate(row):
            share = value / fastest
            left = LEFT + across * CELL_WIDTH
            out.append(f'<rect x="{left}" y="{top}" width="{CELL_WIDTH - 1}" height="{CELL_HEIGHT - 1}" '
                       f'fill="{colour(share)}"/>')
            shown = f"{value:.0f}" if value >= 10 else f"{value:.1f}"
            out.append(text(left + CELL_WIDTH / 2, top + 22, shown, text_anchor="middle",
                            fill="white" if share > 0.5 else "black"))
    with open(path, "w") as file:
        file.write("\n".join([*out, "</svg>", ""]))
