"""Draws shares of a ceiling as an SVG: networks downwards, batch sizes across, and in each field threads by index."""

from xml.sax.saxutils import escape

CELL_WIDTH, CELL_HEIGHT, GAP, LEFT, TOP = 42, 22, 26, 150, 96
LOW, HIGH, NOTHING = (178, 24, 43), (33, 102, 172), "#dddddd"  # none of the ceiling, all of it, unmeasured


def colour(share):
    """From red over white to blue."""
    share = min(max(share, 0.0), 1.0)
    end, away = (LOW, 1 - 2 * share) if share < 0.5 else (HIGH, 2 * share - 1)
    return "#" + "".join(f"{round(255 + (part - 255) * away):02x}" for part in end)


def text(x, y, content, **attributes):
    written = "".join(f' {key.replace("_", "-")}="{value}"' for key, value in attributes.items())
    return f'<text x="{x:g}" y="{y:g}"{written}>{escape(str(content))}</text>'


def field(result, x, y):
    """One network at one batch size."""
    threads = sorted({rate["threads"] for rate in result["rates"]})
    indices = sorted({rate["index"] for rate in result["rates"]})
    out = []
    best = {}  # of every prefetch
    for rate in result["rates"]:
        cell = rate["threads"], rate["index"]
        if cell not in best or (rate["images_per_s"] or 0) > (best[cell]["images_per_s"] or 0):
            best[cell] = rate
    for rate in best.values():
        left, top = x + indices.index(rate["index"]) * CELL_WIDTH, y + threads.index(rate["threads"]) * CELL_HEIGHT
        share = rate["images_per_s"] / result["ceiling"] if rate["images_per_s"] and result["ceiling"] else None
        fill = NOTHING if share is None else colour(share)
        out.append(f'<rect x="{left}" y="{top}" width="{CELL_WIDTH - 1}" height="{CELL_HEIGHT - 1}" fill="{fill}"/>')
        dark = share is not None and abs(share - 0.5) > 0.35
        out.append(text(left + CELL_WIDTH / 2, top + 15, "–" if share is None else f"{share:.0%}", text_anchor="middle",
                        fill="white" if dark else "black", font_size=11))
    for number, index in enumerate(indices):
        out.append(text(x + number * CELL_WIDTH + CELL_WIDTH / 2, y - 4, index, text_anchor="middle", font_size=10))
    for number, count in enumerate(threads):
        out.append(text(x - 4, y + number * CELL_HEIGHT + 15, count, text_anchor="end", font_size=10))
    return out


def draw(results, title, path):
    networks, batches = list(dict.fromkeys(r["network"] for r in results)), sorted({r["batch"] for r in results})
    width_in_cells = max(len({rate["index"] for rate in r["rates"]}) for r in results) or 1
    height_in_cells = max(len({rate["threads"] for rate in r["rates"]}) for r in results) or 1
    across, down = width_in_cells * CELL_WIDTH + GAP, height_in_cells * CELL_HEIGHT + 2 * GAP
    width, height = LEFT + len(batches) * across, TOP + len(networks) * down
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="13">',
           f'<rect width="{width}" height="{height}" fill="white"/>', text(16, 26, title, font_size=16, font_weight="bold"),
           text(16, 46, "each field: threads of the loader downwards, transfer index across; grey: unmeasured", font_size=12)]
    for number, batch in enumerate(batches):
        out.append(text(LEFT + number * across, TOP - 24, f"batches of {batch}"))
    for number, network in enumerate(networks):
        out.append(text(16, TOP + number * down + 15, network, font_weight="bold"))
    for result in results:
        x, y = LEFT + batches.index(result["batch"]) * across, TOP + networks.index(result["network"]) * down
        out += field(result, x, y)
        ceiling = f"of {result['ceiling']:,.0f} images/s" if result["ceiling"] else "out of memory"
        out.append(text(x, y + height_in_cells * CELL_HEIGHT + 14, ceiling, font_size=11))
    with open(path, "w") as file:
        file.write("\n".join([*out, "</svg>", ""]))
