// The part of a page's script that draws charts of lines.
#pragma once

namespace stoker {

inline constexpr const char* kLinesScript = R"js(
// ---- Lines: panels one beneath the other over one axis.

const NAME_ROW = 18;

// An axis ends where its data do, not at its next tick; one that counts doublings stays.
function endingAt(most, scale, pixels) {
  if (!(most > 0 && most < scale.end) || scale.at(most / 2) * 2 < scale.at(most) - 1) return scale;
  return {ticks: scale.ticks.filter(tick => tick.value <= most), end: most,
          at: value => pixels * Math.min(Math.max(value / most, 0), 1)};
}

function drawLine(svg, {points, color, steps, dashed}, x, y) {
  const path = points.map(([at, value], i) =>
    i === 0 ? `M${x(at)} ${y(value)}` : steps ? `H${x(at)}V${y(value)}` : `L${x(at)} ${y(value)}`);
  draw(svg, 'path', {d: path.join(''), class: dashed ? 'line dashed' : 'line', style: `stroke: var(--${color})`});
  if (steps || dashed || points.length > DOTS_MOST) return;
  for (const [at, value] of points) {
    draw(svg, 'circle', {cx: x(at), cy: y(value), r: 2, style: `fill: var(--${color})`});
  }
}

// Upright lines with texts; one that would stand in another is left out.
function drawMarks(svg, marks, top, height, x, left, right) {
  draw(svg, 'path', {d: marks.map(({at}) => `M${x(at)} ${top}v${height}`).join(''), class: 'mark'});
  let free = left;
  for (const {at, text} of marks) {
    if (!text) continue;
    const wide = textWidth(text), from = Math.min(Math.max(x(at) - wide / 2, left), right - wide);
    if (from < free) continue;
    drawText(svg, from, top + 12, text, 'start', 'haloed');
    free = from + wide;
  }
}

function drawLines(place, chart) {
  const panels = chart.panels.map(panel => {
    const lines = [panel, ...(panel.more ?? [])].map(line =>
      ({...line, points: line.points.filter(point => point[1] !== null)}));
    const levels = panel.levels ?? [];
    const most = Math.max(0, ...levels.map(level => level.at),
                          ...lines.map(line => line.points.reduce((most, point) => Math.max(most, point[1]), 0)));
    const ticks = Math.min(TICKS_MOST, Math.floor(panel.height / TICK_APART));
    return {...panel, lines, levels, scale: scaleOf(panel.unit, most, ticks, panel.height)};
  });
  const width = widthOf(place), right = width - RIGHT;
  const left = Math.max(LEFT, ...panels.map(panel => 8 + widestOf(panel.scale.ticks)));
  const named = chart.panels.map(panel => [panel, ...(panel.more ?? [])].filter(line => line.name));
  const axis = AXIS + (chart.x_title ? 18 : 0);
  const height = axis + chart.panels.reduce((sum, panel, i) => sum + TITLE + panel.height + (named[i].length ? NAME_ROW : 0), 0);
  const svg = draw(place, 'svg', {viewBox: `0 0 ${width} ${height}`});
  const across = endingAt(chart.x_most, scaleAcross(chart.x_unit, chart.x_most, right - left), right - left);
  const x = value => tenths(left + across.at(value));
  const marks = chart.marks.map(mark => typeof mark === 'number' ? {at: mark} : mark);
  let bottom = 0;
  panels.forEach((panel, i) => {
    const top = bottom + TITLE + (named[i].length ? NAME_ROW : 0);
    bottom = top + panel.height;
    const y = value => tenths(bottom - panel.scale.at(value));

    drawText(svg, left, top - 8 - (named[i].length ? NAME_ROW : 0), panel.title, 'start', 'title');
    drawLegend(svg, named[i].map(line => ({color: line.color, text: line.name})), left, top - NAME_ROW - 2, width);
    for (const [from, to] of chart.shaded) {
      draw(svg, 'rect', {x: x(from), y: top, width: x(to) - x(from), height: panel.height, class: 'shade'});
    }
    for (const tick of panel.scale.ticks) {
      draw(svg, 'path', {d: `M${left} ${y(tick.value)}H${right}`, class: 'grid'});
      drawText(svg, left - 8, y(tick.value) + 4, tick.label, 'end');
    }
    drawMarks(svg, marks, top, panel.height, x, left, right);
    for (const line of panel.lines) drawLine(svg, line, x, y);
    for (const {at, text} of panel.levels) {
      draw(svg, 'path', {d: `M${left} ${y(at)}H${right}`, class: 'level'});
      // Not where marks have their texts.
      const below = y(at) - top < 26;
      drawText(svg, right - 4, y(at) + (below ? 14 : -6), shortened(text, right - left), 'end', 'strong haloed');
    }
  });
  for (const tick of across.ticks) {
    draw(svg, 'path', {d: `M${x(tick.value)} ${bottom}v5`, class: 'axis'});
    drawText(svg, x(tick.value), bottom + 18, tick.label, 'middle');
  }
  if (chart.x_title) drawText(svg, (left + right) / 2, bottom + 36, chart.x_title, 'middle');
}
)js";

}  // namespace stoker
