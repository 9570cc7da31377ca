// What the charts of a report page share: shapes, scales, and when they are drawn. The script is kChartBasics, then
// the scripts of the kinds of charts, then kDrawCharts.
#pragma once

namespace stoker {

inline constexpr const char* kChartBasics = R"js(
// Pixels of a picture that a window of common size shows whole; in a narrower window pictures are drawn anew, since one
// that shrinks has text that cannot be read.
const WIDTH = 900, NARROWEST = 280, LEFT = 64, RIGHT = 36, TITLE = 26, AXIS = 26;
const TICK_APART = 12, TICKS_MOST = 6, LABEL_APART = 12;
const DOTS_MOST = 150;  // more would be a line by themselves

const widthOf = place => Math.min(Math.max(place.clientWidth || WIDTH, NARROWEST), WIDTH);

// About how wide a text is, in the size that charts write it; meant to be more rather than less.
const textWidth = text => 7 * [...text].length;

function shortened(text, pixels) {
  const most = Math.max(Math.floor(pixels / 7), 2);
  return [...text].length > most ? [...text].slice(0, most - 1).join('') + '…' : text;
}

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

// Around x, or beside it where the picture ends.
function drawTextNear(parent, x, y, text, left, right, style) {
  const half = textWidth(text) / 2;
  if (x - half < left) return drawText(parent, left, y, text, 'start', style);
  if (x + half > right) return drawText(parent, right, y, text, 'end', style);
  return drawText(parent, x, y, text, 'middle', style);
}

// Squares and their meanings, as many in a line as fit. Returns where it ends.
function drawLegend(parent, entries, left, top, right) {
  let x = left, y = top;
  for (const {color, text} of entries) {
    const fitting = shortened(text, right - left - 20), width = 20 + textWidth(fitting);
    if (x > left && x + width > right) [x, y] = [left, y + 18];
    draw(parent, 'rect', {x, y, width: 12, height: 12, style: `fill: var(--${color})`});
    drawText(parent, x + 18, y + 10, fitting);
    x += width + 14;
  }
  return entries.length > 0 ? y + 18 : top;
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

function sizeText(bytes) {
  const unit = Math.min(Math.max(Math.floor(Math.log10(bytes || 1) / 3 + 1e-9), 0), 5);
  return `${numberText(bytes / 1000 ** unit)} ${['B', 'KB', 'MB', 'GB', 'TB', 'PB'][unit]}`;
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
  bytes: (most, ticks) => fromZero(most, ticks, sizeText),
  bytes_per_s: (most, ticks) => fromZero(most, ticks, value => `${sizeText(value)}/s`),
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
      if (count === 0 || pixels * step / most >= widestOf(ticks) + LABEL_APART) return {ticks, at: value => value / most};
    }
  },
};
const widestOf = ticks => Math.max(...ticks.map(tick => textWidth(tick.label)));

// Of what may not be a number at all; what lies beyond an end is drawn there.
function scaleOf(unit, most, ticks, pixels) {
  const scale = SCALES[unit](most > 1e-12 ? Math.min(most, 1e300) : 1, ticks, pixels);
  const end = scale.ticks[scale.ticks.length - 1].value;
  return {ticks: scale.ticks, end, at: value => pixels * Math.min(Math.max(scale.at(value), 0), 1)};
}

// The same for an axis that lies: as many ticks as have room for their labels.
function scaleAcross(unit, most, pixels) {
  for (let ticks = TICKS_MOST;; --ticks) {
    const scale = scaleOf(unit, most, ticks, pixels);
    const apart = scale.ticks.length > 1 ? scale.at(scale.ticks[1].value) - scale.at(scale.ticks[0].value) : pixels;
    if (ticks === 1 || unit === 'seconds' || apart >= widestOf(scale.ticks) + LABEL_APART) return scale;
  }
}
)js";

inline constexpr const char* kDrawCharts = R"js(
// ---- Drawing all of them, again where a window is made wider or narrower.

const DRAWN_BY = {lines: drawLines, heat_map: drawHeatMap, bars: drawBars, split: drawSplit, histogram: drawHistogram};
const charts = JSON.parse(document.getElementById('charts').textContent);
const places = document.querySelectorAll('.chart');
const widths = [];

function drawCharts() {
  charts.forEach((chart, i) => {
    if (widthOf(places[i]) === widths[i]) return;
    widths[i] = widthOf(places[i]);
    places[i].replaceChildren();
    DRAWN_BY[chart.kind](places[i], chart);
  });
}
drawCharts();
globalThis.addEventListener?.('resize', drawCharts);
)js";

}  // namespace stoker
