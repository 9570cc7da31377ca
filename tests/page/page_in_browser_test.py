"""Report pages in Chromium, where there is one: light and dark, wide and narrow."""

import pytest

from browser import CHROMIUM, look_at
from page_source import page_of
from report_page_test import HISTOGRAM, LADDER, SPLIT, heat_map, knee, lines

pytestmark = pytest.mark.skipif(not CHROMIUM, reason="no Chromium here")

CHARTS = [SPLIT, LADDER, HISTOGRAM, knee(), heat_map(["0: coded", "1: decoded"], [str(i) for i in range(1, 17)]),
          lines([[10 * i, 1000 + i] for i in range(30)], 290)]
FIGURE = '<figure><div class="chart" role="img" aria-label="{}"></div><figcaption>A caption.</figcaption></figure>'
BODY = ('<p class="verdict poor">GPU idle 38%: CPU decode is the limit</p><dl><div><dt>GPU idle</dt><dd>38%</dd></div></dl>'
        '<p class="remark">a remark</p><pre>stoker doctor ' + 60 * "a-long-word" + '</pre><div class="scroll"><table><tr>'
        + "".join(f"<td>{'x' * 20}</td>" for _ in range(12)) + "</tr></table></div>"
        + "".join(FIGURE.format(chart["kind"]) for chart in CHARTS))


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [400, 1400])
def test_nothing_overflows_is_empty_or_unreadable(tmp_path, width, dark):
    page = tmp_path / "page.html"
    page.write_text(page_of(CHARTS, BODY))
    seen = look_at(page, tmp_path, width, dark)
    assert seen == {"dark": dark, "width": width, "charts": len(CHARTS), "faults": []}


def test_faults_are_found(tmp_path):
    page = tmp_path / "page.html"
    empty = {"kind": "split", "rows": []}
    body = FIGURE.format("none") + '<p style="width: 500px; color: #777; background: #999">pale</p>'
    page.write_text(page_of([empty], body))
    faults = look_at(page, tmp_path, 400, False)["faults"]
    assert any("the page is" in fault for fault in faults)
    assert "the chart 'none' is empty" in faults
    assert "'pale' is hard to read" in faults and "'pale' leaves the page" in faults
