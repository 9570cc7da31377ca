// The part of a page's script that draws heat maps.
#pragma once

namespace stoker {

inline constexpr const char* kHeatMapScript = R"js(
// ---- Heat maps.

// Of the best: coarse where it does not matter any more.
const HEAT = [[0.98, '98% or more'], [0.95, '95–98%'], [0.9, '90–95%'], [0.75, '75–90%'], [0.5, '50–75%'],
              [0, 'less than 50%']];
const CELL = 40, CELL_LEAST = 38, CELL_MOST = 88, GAP = 2, ASIDE = 16, TOP = 46, NAME_MOST = 26, NAME_MOST_NARROW = 12;

function drawHeatMap(place, chart) {
  const window = widthOf(place), nameMost = 7 * (1 + (window < 600 ? NAME_MOST_NARROW : NAME_MOST));
  const rows = chart.rows.map(label => shortened(label, nameMost));
  const left = ASIDE + Math.max(...[chart.row_title, ...rows].map(textWidth));
  const cell = Math.min(Math.max((window - left) / chart.columns.length, CELL_LEAST), CELL_MOST);
  const right = left + cell * chart.columns.length, bottom = TOP + CELL * rows.length;
  // Beside the cells where there is room, else beneath all of it.
  const legend = HEAT.map(([_, label]) => 20 + textWidth(label) + ASIDE);
  const legendLeft = left + legend.reduce((sum, each) => sum + each, 0) <= Math.max(window, right) ? left : 0;
  // Over the columns that are seen without scrolling.
  const titleWidth = textWidth(chart.column_title);
  const titleAt = Math.max((left + Math.min(right, window)) / 2, left + titleWidth / 2);
  const width = Math.max(window, right, titleAt + titleWidth / 2);
  let at = legendLeft, line = 0;
  const places = legend.map(wide => {
    if (at > legendLeft && at + wide > width) [at, line] = [legendLeft, line + 1];
    at += wide;
    return [at - wide, line];
  });
  // Rather scrolled than too small.
  const svg = draw(place, 'svg', {viewBox: `0 0 ${tenths(width)} ${bottom + 3 * ASIDE + 20 * line}`,
                                  style: `min-width: ${tenths(width)}px`});
  const box = (parent, row, column, style) => draw(parent, 'rect', {
    x: left + cell * column, y: TOP + CELL * row, width: cell - GAP, height: CELL - GAP, class: style});

  drawText(svg, titleAt, 16, chart.column_title, 'middle', 'title');
  drawText(svg, left - ASIDE / 2, 16, chart.row_title, 'end', 'title');
  chart.columns.forEach((label, i) => drawText(svg, left + cell * (i + 0.5), TOP - 8, label, 'middle'));
  rows.forEach((label, i) => drawText(svg, left - ASIDE / 2, TOP + CELL * (i + 0.5) + 4, label, 'end'));
  rows.forEach((_, row) => chart.columns.forEach((_, column) => box(svg, row, column, 'empty')));
  for (const {row, column, share, text, note, about} of chart.cells) {
    const group = draw(svg, 'g', {class: `heat${HEAT.findIndex(([least]) => share >= least)}`});
    const middle = left + cell * column + (cell - GAP) / 2, top = TOP + CELL * row;
    draw(group, 'title', {}, about);
    box(group, row, column, '');
    const fitting = textWidth(text) <= cell - GAP ? text : `${Math.round(100 * share)}%`;
    drawText(group, middle, top + (note ? 17 : 24), fitting, 'middle');
    if (note) drawText(group, middle, top + 31, note, 'middle', 'small');
  }
  if (chart.framed) box(svg, ...chart.framed, 'framed');
  HEAT.forEach(([_, label], i) => {
    const [x, down] = places[i], y = bottom + ASIDE + 20 * down;
    draw(draw(svg, 'g', {class: `heat${i}`}), 'rect', {x, y, width: 14, height: 14});
    drawText(svg, x + 20, y + 11, label);
  });
}
)js";

}  // namespace stoker
