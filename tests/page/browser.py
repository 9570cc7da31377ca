"""Looks at report pages in Chromium, without a window: whether anything overflows, is empty, or cannot be read."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from urllib.parse import unquote

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")

# Runs in the page, once that is ready. What leaves its place is wider than the window, or drawn outside of its picture; a chart that scrolls
# may be wider.
LOOK = r"""
(function look() {
  if (!(READY)) return setTimeout(look, 100);
  const faults = [], color = text => (text.match(/[\d.]+/g) ?? []).map(Number);
  const luminance = rgb => rgb.slice(0, 3).map(v => v / 255).map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const contrast = (one, other) => {
    const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };
  const groundOf = element => {
    for (let at = element; at; at = at.parentElement) {
      const rgb = color(getComputedStyle(at).backgroundColor);
      if (rgb.length === 3 || rgb[3] > 0) return rgb;
    }
    return [255, 255, 255];
  };
  if (document.documentElement.scrollWidth > innerWidth) faults.push(`the page is ${document.documentElement.scrollWidth} wide`);
  for (const place of document.querySelectorAll('.chart')) {
    const svg = place.querySelector('svg'), name = place.getAttribute('aria-label');
    const shapes = svg ? svg.querySelectorAll('rect, path, circle').length : 0;
    if (shapes < 2 || svg.getBoundingClientRect().height < 20) faults.push(`the chart '${name}' is empty`);
    if (!svg) continue;
    const box = svg.getBoundingClientRect();
    for (const text of svg.querySelectorAll('text')) {
      const at = text.getBoundingClientRect();
      if (at.left < box.left - 1 || at.right > box.right + 1 || at.bottom > box.bottom + 1 || at.top < box.top - 1) {
        faults.push(`'${text.textContent}' leaves the chart '${name}'`);
      }
      // On its bar, if it stands on one.
      const bar = text.parentElement.localName === 'g' && text.parentElement.querySelector('rect');
      const on = bar && bar.getBoundingClientRect();
      const covered = on && at.left >= on.left && at.right <= on.right;
      const ground = covered ? color(getComputedStyle(bar).fill) : groundOf(svg);
      if (contrast(color(getComputedStyle(text).fill), ground) < 4.5) faults.push(`'${text.textContent}' is hard to read`);
    }
  }
  for (const element of document.querySelectorAll('h1, h2, p, dt, dd, pre, th, td, figcaption')) {
    const at = element.getBoundingClientRect();
    if (element.closest('.scroll') === null && at.right > innerWidth + 1) faults.push(`'${element.textContent}' leaves the page`);
    if (element.textContent.trim() === '' || element.offsetParent === null) continue;
    if (contrast(color(getComputedStyle(element).color), groundOf(element)) < 4.5) {
      faults.push(`'${element.textContent}' is hard to read`);
    }
  }
  const seen = {dark: matchMedia('(prefers-color-scheme: dark)').matches, width: innerWidth,
                charts: document.querySelectorAll('.chart').length, faults};
  parent.postMessage(encodeURIComponent(JSON.stringify(seen)), '*');
})();
"""


# Windows have a least width; frames have none.
FRAME = """<!DOCTYPE html>
<html style="color-scheme: light dark"><body style="margin: 0">
<script>addEventListener('message', event => document.documentElement.setAttribute('data-seen', event.data));</script>
<iframe src="{}" style="width: {}px; height: 1200px; border: 0"></iframe>
</body></html>
"""


def look_at(page: Path, folder: Path, width: int, dark: bool, ready: str = "true") -> dict:
    """What there is to see: "dark", "width", "charts", and "faults", sentences. `folder` is for files of its own. `ready` is a
    condition in the page's script; the page may fetch from anywhere."""
    inner, outer = folder / f"inner-{width}-{dark}.html", folder / f"outer-{width}-{dark}.html"
    inner.write_text(page.read_text().replace("</body>", f"<script>//<![CDATA[\n{LOOK.replace('READY', ready)}\n//]]></script></body>"))
    outer.write_text(FRAME.format(inner.as_uri(), width))
    made = document_of(outer.as_uri(), folder, "--disable-web-security", f"--blink-settings=preferredColorScheme={0 if dark else 1}",
                       "--window-size=1600,1300")
    found = re.search(r'data-seen="([^"]*)"', made)
    assert found, made
    return json.loads(unquote(found[1]))


def document_of(url: str, folder: Path, *options: str) -> str:
    """What the page's scripts have made of it. `folder` is for Chromium's files."""
    done = subprocess.run([CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder / 'chromium'}", *options,
                           "--virtual-time-budget=5000", "--dump-dom", url], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout
