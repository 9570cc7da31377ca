// The part of a page's script that draws charts of bars: lying ones, wholes split into parts, and histograms.
#pragma once

namespace stoker {

inline constexpr const char* kBarsScript = R"js(
// ---- Lying bars, several to a row: a ladder of limits, a comparison.

const BAR = 17, BAR_APART = 3, ROW_APART = 13, LABELS_MOST = 190, ABOVE = 24, ROOM_FOR_LABELS = 600;

function drawBars(place, chart) {
  const width = widthOf(place), aside = width >= ROOM_FOR_LABELS;
  const labels = chart.rows.map(row => shortened(row.label, aside ? LABELS_MOST : width));
  const left = aside ? Math.max(0, ...labels.map(textWidth)) + 12 : 0;
  const texts = chart.rows.flatMap(row => row.bars.map(bar => textWidth(bar.text)));
  const right = Math.max(width - Math.max(0, ...texts) - 10, left + 60);
  const rowHeight = row => (aside ? 0 : 17) + row.bars.length * (BAR + BAR_APART) - BAR_APART + ROW_APART;
  const top = chart.level ? ABOVE : 6, bottom = chart.rows.reduce((sum, row) => sum + rowHeight(row), top);
  const svg = draw(place, 'svg', {});
  const scale = scaleAcross(chart.unit, chart.most, right - left - 4);
  const x = value => tenths(left + scale.at(value));

  for (const tick of scale.ticks) {
    draw(svg, 'path', {d: `M${x(tick.value)} ${top - 4}V${bottom}`, class: 'grid'});
    drawTextNear(svg, x(tick.value), bottom + 15, tick.label, 0, width);
  }
  let y = top;
  chart.rows.forEach((row, i) => {
    const height = row.bars.length * (BAR + BAR_APART) - BAR_APART;
    drawText(svg, aside ? left - 12 : 0, aside ? y + height / 2 + 4 : y + 11, labels[i], aside ? 'end' : 'start', 'strong haloed');
    y += aside ? 0 : 17;
    for (const {value, text, color, about} of row.bars) {
      const group = draw(svg, 'g', {});
      if (about) draw(group, 'title', {}, about);
      const beyond = value !== null && value > scale.end * (1 + 1e-9), end = value === null ? left : x(value);
      draw(group, 'rect', {x: left, y, width: Math.max(end - left, value === null ? 0 : 2), height: BAR, style: `fill: var(--${color})`});
      if (beyond) draw(group, 'path', {d: `M${end - 16} ${y + BAR + 1}l7 -${BAR + 2}h4l-7 ${BAR + 2}z`, class: 'broken'});
      drawText(group, end + 6, y + 13, text, 'start', 'strong haloed');
      y += BAR + BAR_APART;
    }
    y += ROW_APART - BAR_APART;
  });
  if (chart.level) {
    const at = x(chart.level.at);
    draw(svg, 'path', {d: `M${at} ${top - 8}V${bottom}`, class: 'level'});
    drawTextNear(svg, at, top - 12, shortened(chart.level.text, width), 0, width, 'strong');
  }
  const end = drawLegend(svg, chart.legend, left, bottom + 26, width);
  svg.setAttribute('viewBox', `0 0 ${width} ${chart.legend.length ? end : bottom + 22}`);
}

// ---- Wholes split into parts, with what each part is beneath.

const WHOLE = 26, PARTS_APART = 2;

function drawSplit(place, chart) {
  const width = widthOf(place), svg = draw(place, 'svg', {});
  let y = 0;
  for (const row of chart.rows) {
    drawText(svg, 0, y + 13, shortened(row.label, width), 'start', 'title');
    y += 21;
    const sum = row.parts.reduce((sum, part) => sum + part.share, 0) || 1;
    let x = 0;
    for (const {share, color, text, about} of row.parts) {
      const wide = width * share / sum;
      const group = draw(svg, 'g', {});
      if (about) draw(group, 'title', {}, about);
      draw(group, 'rect', {x, y, width: Math.max(wide - PARTS_APART, 0.5), height: WHOLE, style: `fill: var(--${color})`});
      if (wide >= textWidth(text) + 8) drawText(group, x + (wide - PARTS_APART) / 2, y + 17, text, 'middle', 'on-bar');
      x += wide;
    }
    const parts = row.parts.map(({color, label, text}) => ({color, text: `${label} ${text}`}));
    y = drawLegend(svg, parts, 0, y + WHOLE + 8, width) + 12;
  }
  svg.setAttribute('viewBox', `0 0 ${width} ${Math.max(y - 8, 1)}`);
}
// ---- Histograms.

const COLUMNS = 150;
const percentText = share => share > 0 && share < 0.01 ? 'less than 1%' : `${Math.round(100 * share)}%`;

function drawHistogram(place, chart) {
  const width = widthOf(place), left = LEFT, right = width - RIGHT, top = TITLE, bottom = top + COLUMNS;
  const svg = draw(place, 'svg', {viewBox: `0 0 ${width} ${bottom + AXIS}`});
  const scale = scaleOf('share', Math.max(0, ...chart.shares), 4, COLUMNS);
  const y = value => tenths(bottom - scale.at(value)), wide = (right - left) / Math.max(chart.shares.length, 1);
  const x = columns => tenths(left + wide * columns);

  drawText(svg, left, top - 10, shortened(chart.title, right - left), 'start', 'title');
  for (const tick of scale.ticks) {
    draw(svg, 'path', {d: `M${left} ${y(tick.value)}H${right}`, class: 'grid'});
    drawText(svg, left - 8, y(tick.value) + 4, tick.label, 'end');
  }
  chart.shares.forEach((share, i) => {
    const group = draw(svg, 'g', {});
    draw(group, 'title', {}, `${chart.edges[i]} to ${chart.edges[i + 1]}: ${percentText(share)}`);
    draw(group, 'rect', {x: x(i) + 0.5, y: y(share), width: Math.max(wide - 1, 0.5), height: bottom - y(share),
                         style: `fill: var(--${chart.color})`});
  });
  drawMarks(svg, chart.marks, top, COLUMNS, x, left, right);
  // The edges that have room, and no others.
  const every = Math.ceil((Math.max(...chart.edges.map(textWidth)) + LABEL_APART) / wide);
  chart.edges.forEach((label, i) => {
    if (i % every !== 0) return;
    draw(svg, 'path', {d: `M${x(i)} ${bottom}v5`, class: 'axis'});
    drawTextNear(svg, x(i), bottom + 18, label, 0, width);
  });
}
)js";

}  // namespace stoker
