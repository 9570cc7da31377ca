// The template of a report page: its style, light and dark, for screens and paper, and the script that draws its
// charts.
#pragma once

namespace stoker {

/// Two kinds of charts can be drawn. A unit is "number", "count", "share", "doublings" or "seconds"; what is not finite
/// is null, and not drawn.
///
///   {"kind": "lines", "x_unit": unit, "x_most": where the axis ends, having begun at 0,
///    "panels": one beneath the other [{"title", "unit", "color": "rate", "wait" or "knob", "height": pixels,
///               "steps": whether a value stays until the next point, "points": [[x, y], ...]}, ...],
///    "shaded": [[from, to], ...], "marks": upright lines [x, ...]}
///   {"kind": "heat_map", "row_title", "column_title", "rows": labels, "columns": labels, "framed": [row, column] or
///   null,
///    "cells": [{"row", "column", "share": of the best, "text", "note": smaller, "about": when pointed at}, ...]}
///
/// Marks show the places of the title (twice), the body and the charts' data, in this order. The style has no <, > or
/// &, so that HTML, which takes it literally, and XML read it in the same way; the script is in a CDATA section.
inline constexpr const char* kPageTemplate = R"html(<!DOCTYPE html>
<html xmlns="http://www.w3.org/1999/xhtml" lang="en">
<head>
<meta charset="utf-8"/>
<meta name="viewport" content="width=device-width, initial-scale=1"/>
<title>@title@</title>
<style>
:root {
  color-scheme: light dark;
  --paper: #ffffff; --ink: #1b222c; --soft: #5a6472; --line: #dde1e7; --mark: #cfd5dd;
  --shade: #e9f2ea; --rate: #2360a8; --wait: #b4481a; --knob: #38704a; --frame: #c2410c;
  --heat0: #1d4f91; --heat1: #3f74b5; --heat2: #74a0d3; --heat3: #a9c6e6; --heat4: #cfdff1; --heat5: #e9eff7;
  --on-heat: #ffffff; --on-cool: #1b222c;
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    --paper: #14181e; --ink: #e4e8ee; --soft: #9aa5b3; --line: #2b323c; --mark: #3a434f;
    --shade: #1b2b20; --rate: #7fb2f0; --wait: #f09a63; --knob: #86c798; --frame: #fb923c;
    --heat0: #a8cdf8; --heat1: #7cadea; --heat2: #4f83c2; --heat3: #355d8f; --heat4: #27425f; --heat5: #1e2c3b;
    --on-heat: #10161d; --on-cool: #e4e8ee;
  }
}
body { margin: 2em auto; padding: 0 1em; max-width: 960px; background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.35em; margin: 0 0 0.6em; overflow-wrap: anywhere; }
h2 { font-size: 1.1em; margin: 2em 0 0.5em; }
.verdict { font-size: 1.15em; }
.remark, figcaption { color: var(--soft); font-size: 0.9em; }
figure { margin: 1.5em 0; }
.chart { overflow-x: auto; }
svg { display: block; width: 100%; height: auto; }
svg text { font: 11px system-ui, sans-serif; fill: var(--soft); font-variant-numeric: tabular-nums; }
svg .title { font-size: 12px; font-weight: 600; fill: var(--ink); }
svg .small { font-size: 10px; }
.grid, .axis, .mark, .line { fill: none; }
.grid { stroke: var(--line); }
.axis { stroke: var(--soft); }
.mark { stroke: var(--mark); }
.line { stroke-width: 1.6; stroke-linejoin: round; }
.shade { fill: var(--shade); }
.heat0 rect { fill: var(--heat0); }
.heat1 rect { fill: var(--heat1); }
.heat2 rect { fill: var(--heat2); }
.heat3 rect { fill: var(--heat3); }
.heat4 rect { fill: var(--heat4); }
.heat5 rect { fill: var(--heat5); }
.heat0 text, .heat1 text { fill: var(--on-heat); }
.heat2 text, .heat3 text, .heat4 text, .heat5 text { fill: var(--on-cool); }
.empty { fill: none; stroke: var(--line); }
.framed { fill: none; stroke: var(--frame); stroke-width: 3; }
table { border-collapse: collapse; width: 100%; font-size: 0.87em; }
th { text-align: left; font-weight: 600; color: var(--soft); vertical-align: bottom; }
th, td { padding: 0.25em 0.45em; border-bottom: 1px solid var(--line); }
td { vertical-align: top; }
.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
.new { font-weight: 700; }
.quiet td { color: var(--soft); }
@media print {
  body { margin: 0; max-width: none; font-size: 10pt; }
  figure, tr { break-inside: avoid; }
  h2 { break-after: avoid; }
  table { font-size: 8pt; }
  .chart { overflow: visible; }
  svg { min-width: 0 !important; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
</style>
</head>
<body>
<h1>@title@</h1>
@body@<noscript><p class="remark">The charts are drawn by JavaScript, which is off here.</p></noscript>
<script id="charts" type="application/json">[@charts@]</script>
<script>//<![CDATA[
'use strict';

// Pixels of a picture that a window of common size shows whole.
const WIDTH = 900, LEFT = 64, RIGHT = 36, TITLE = 26, AXIS = 26;
const TICK_APART = 12, TICKS_MOST = 6, LABEL_APART = 12;
const DOTS_MOST = 150;  // more would be a line by themselves

// About how wide a text is, in the size that charts write it; meant to be more rather than less.
const textWidth = text => 7 * [...text].length;

function draw(parent, name, attributes, text) {
  const made = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) {
    made.setAttribute(key, typeof value === 'number' ? tenths(value) : value);
  }
  if (text !== undefined) made.textContent = text;
  parent.appendChild(made);
  return made;
}
const tenths = value => Math.round(10 * value) / 10;

function drawText(parent, x, y, text, anchor = 'start', style = '') {
  return draw(parent, 'text', {x, y, 'text-anchor': anchor, class: style}, text);
}

// ---- Scales: round ticks, and where between 0 and 1 a value lies.

// The least 1, 2 or 5 times a power of ten that is not less.
function roundUp(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return power * ([1, 2, 5].find(times => times * power >= value * (1 - 1e-9)) ?? 10);
}

function numberText(value) {
  if (value >= 1e15) return value.toExponential(2);
  return value.toLocaleString('en-US', {maximumSignificantDigits: 6});
}

function fromZero(most, ticks, text = numberText) {
  const step = roundUp(most / ticks), steps = Math.ceil(most / step - 1e-9);
  return {
    ticks: Array.from({length: steps + 1}, (_, i) => ({value: i * step, label: text(i * step)})),
    at: value => value / (steps * step),
  };
}

// As people write it for ticks that are this far apart.
function timeText(seconds, step) {
  const two = value => String(value).padStart(2, '0');
  if (seconds === 0) return '0';
  if (step < 1 || step >= 1e9) return `${numberText(seconds)} s`;
  const whole = Math.round(seconds), minutes = Math.floor(whole / 60), hours = Math.floor(whole / 3600);
  if (step < 60 && whole < 60) return `${whole} s`;
  if (step < 60) return whole % 60 === 0 && whole < 3600 ? `${minutes} min` : `${minutes}:${two(whole % 60)} min`;
  if (step < 3600 && whole < 3600) return `${minutes} min`;
  if (step < 3600) return whole % 3600 === 0 ? `${hours} h` : `${hours}:${two(minutes % 60)} h`;
  return step < 86400 ? `${hours} h` : `${Math.round(whole / 86400)} d`;
}

const TIME_STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400];
function nextTimeStep(step) {
  if (step < 1) return Math.min(1, roundUp(1.01 * step));
  return TIME_STEPS.find(each => each > step) ?? 86400 * roundUp(1.01 * step / 86400);
}

const SCALES = {
  number: (most, ticks) => fromZero(most, ticks),
  share: (most, ticks) => fromZero(Math.min(Math.max(most, 0.05), 1), ticks, value => `${numberText(100 * value)}%`),
  count(most, ticks) {
    if (most >= ticks) return fromZero(most, ticks);
    // So few that each has its tick: no room is left above.
    const last = Math.max(1, Math.round(most));
    const all = Array.from({length: last + 1}, (_, i) => ({value: i, label: numberText(i)}));
    return {ticks: all, at: value => value / last};
  },
  doublings(most, ticks) {
    const all = Math.ceil(Math.log2(Math.max(2, most))), step = Math.ceil(all / ticks);
    const last = step * Math.ceil(all / step);
    return {
      ticks: Array.from({length: last / step + 1}, (_, i) => ({value: 2 ** (i * step), label: numberText(2 ** (i * step))})),
      at: value => Math.log2(Math.max(value, 1)) / last,
    };
  },
  // To exactly the last moment, with ticks that are round in seconds, minutes, hours or days and stand apart.
  seconds(most, _, pixels) {
    for (let step = nextTimeStep(most / 200);; step = nextTimeStep(step)) {
      const count = Math.floor(most / step * (1 + 1e-9));
      const ticks = Array.from({length: count + 1}, (_, i) => ({value: i * step, label: timeText(i * step, step)}));
      const widest = Math.max(...ticks.map(tick => textWidth(tick.label)));
      if (count === 0 || pixels * step / most >= widest + LABEL_APART) return {ticks, at: value => value / most};
    }
  },
};

// Of what may not be a number at all; what lies beyond an end is drawn there.
function scaleOf(unit, most, ticks, pixels) {
  const scale = SCALES[unit](most > 1e-12 ? Math.min(most, 1e300) : 1, ticks, pixels);
  return {ticks: scale.ticks, at: value => pixels * Math.min(Math.max(scale.at(value), 0), 1)};
}

// ---- Lines: panels one beneath the other over one axis.

function drawLines(place, chart) {
  const height = AXIS + chart.panels.reduce((sum, panel) => sum + TITLE + panel.height, 0);
  const svg = draw(place, 'svg', {viewBox: `0 0 ${WIDTH} ${height}`});
  const across = scaleOf(chart.x_unit, chart.x_most, TICKS_MOST, WIDTH - LEFT - RIGHT);
  const x = value => tenths(LEFT + across.at(value));
  let bottom = 0;
  for (const panel of chart.panels) {
    const top = bottom + TITLE;
    bottom = top + panel.height;
    const points = panel.points.filter(point => point[1] !== null);
    const most = points.reduce((most, point) => Math.max(most, point[1]), 0);
    const ticks = Math.min(TICKS_MOST, Math.floor(panel.height / TICK_APART));
    const scale = scaleOf(panel.unit, most, ticks, panel.height);
    const y = value => tenths(bottom - scale.at(value));

    drawText(svg, LEFT, top - 8, panel.title, 'start', 'title');
    for (const [from, to] of chart.shaded) {
      draw(svg, 'rect', {x: x(from), y: top, width: x(to) - x(from), height: panel.height, class: 'shade'});
    }
    draw(svg, 'path', {d: chart.marks.map(at => `M${x(at)} ${top}v${panel.height}`).join(''), class: 'mark'});
    for (const tick of scale.ticks) {
      draw(svg, 'path', {d: `M${LEFT} ${y(tick.value)}H${WIDTH - RIGHT}`, class: 'grid'});
      drawText(svg, LEFT - 8, y(tick.value) + 4, tick.label, 'end');
    }
    const path = points.map(([at, value], i) =>
      i === 0 ? `M${x(at)} ${y(value)}` : panel.steps ? `H${x(at)}V${y(value)}` : `L${x(at)} ${y(value)}`);
    draw(svg, 'path', {d: path.join(''), class: 'line', style: `stroke: var(--${panel.color})`});
    if (panel.steps || points.length > DOTS_MOST) continue;
    for (const [at, value] of points) {
      draw(svg, 'circle', {cx: x(at), cy: y(value), r: 2, style: `fill: var(--${panel.color})`});
    }
  }
  for (const tick of across.ticks) {
    draw(svg, 'path', {d: `M${x(tick.value)} ${bottom}v5`, class: 'axis'});
    drawText(svg, x(tick.value), bottom + 18, tick.label, 'middle');
  }
}

// ---- Heat maps.

// Of the best: coarse where it does not matter any more.
const HEAT = [[0.98, '98% or more'], [0.95, '95–98%'], [0.9, '90–95%'], [0.75, '75–90%'], [0.5, '50–75%'],
              [0, 'less than 50%']];
const CELL = 40, CELL_LEAST = 38, CELL_MOST = 88, GAP = 2, ASIDE = 16, TOP = 46, NAME_MOST = 26;

function drawHeatMap(place, chart) {
  const shortened = text => [...text].length > NAME_MOST ? [...text].slice(0, NAME_MOST).join('') + '…' : text;
  const rows = chart.rows.map(shortened);
  const left = ASIDE + Math.max(...[chart.row_title, ...rows].map(textWidth));
  const cell = Math.min(Math.max((WIDTH - left) / chart.columns.length, CELL_LEAST), CELL_MOST);
  const right = left + cell * chart.columns.length, bottom = TOP + CELL * rows.length;
  const legendWidth = HEAT.reduce((sum, [_, label]) => sum + 20 + textWidth(label) + ASIDE, left);
  const width = Math.max(WIDTH, right, legendWidth);
  // Rather scrolled than too small.
  const svg = draw(place, 'svg', {viewBox: `0 0 ${tenths(width)} ${bottom + 3 * ASIDE}`, style: `min-width: ${tenths(width)}px`});
  const box = (parent, row, column, style) => draw(parent, 'rect', {
    x: left + cell * column, y: TOP + CELL * row, width: cell - GAP, height: CELL - GAP, class: style});

  drawText(svg, (left + right) / 2, 16, chart.column_title, 'middle', 'title');
  drawText(svg, left - ASIDE / 2, 16, chart.row_title, 'end', 'title');
  chart.columns.forEach((label, i) => drawText(svg, left + cell * (i + 0.5), TOP - 8, label, 'middle'));
  rows.forEach((label, i) => drawText(svg, left - ASIDE / 2, TOP + CELL * (i + 0.5) + 4, label, 'end'));
  rows.forEach((_, row) => chart.columns.forEach((_, column) => box(svg, row, column, 'empty')));
  for (const {row, column, share, text, note, about} of chart.cells) {
    const group = draw(svg, 'g', {class: `heat${HEAT.findIndex(([least]) => share >= least)}`});
    const middle = left + cell * column + (cell - GAP) / 2, top = TOP + CELL * row;
    draw(group, 'title', {}, about);
    box(group, row, column, '');
    drawText(group, middle, top + 17, textWidth(text) <= cell - GAP ? text : `${Math.round(100 * share)}%`, 'middle');
    drawText(group, middle, top + 31, note, 'middle', 'small');
  }
  if (chart.framed) box(svg, ...chart.framed, 'framed');
  let at = left;
  HEAT.forEach(([_, label], i) => {
    draw(draw(svg, 'g', {class: `heat${i}`}), 'rect', {x: at, y: bottom + ASIDE, width: 14, height: 14});
    drawText(svg, at + 20, bottom + ASIDE + 11, label);
    at += 20 + textWidth(label) + ASIDE;
  });
}

const DRAWN_BY = {lines: drawLines, heat_map: drawHeatMap};
const places = document.querySelectorAll('.chart');
JSON.parse(document.getElementById('charts').textContent).forEach((chart, i) => DRAWN_BY[chart.kind](places[i], chart));
//]]></script>
</body>
</html>
)html";

}  // namespace stoker
