// The script of the dashboard: asks for the figures, keeps those of the last minutes, and draws them.
#pragma once

namespace stoker {

/// It knows the page that dashboard.cc writes, and the charts' script of stoker/page.
inline constexpr const char* kDashboardScript = R"js(
const EVERY_MS = 1000, KEPT = 600;
const COLORS = ['rate', 'knob', 'plum', 'teal', 'wait', 'slate'];
const history = [];
let shown = null;

const byId = id => document.getElementById(id);
const number = (value, digits = 3) => Number(value.toPrecision(digits)).toLocaleString('en-US', {maximumFractionDigits: 9});
const percent = share => `${Math.round(100 * share)}%`;
const seconds = value => value < 0.95 ? `${number(1000 * value)} ms` : `${number(value)} s`;
function size(bytes) {
  const units = ['B', 'KB', 'MB', 'GB', 'TB'];
  let unit = 0;
  for (; bytes >= 999.5 && unit + 1 !== units.length; ++unit) bytes /= 1000;
  return `${number(bytes)} ${units[unit]}`;
}

function fill(parent, name, texts) {
  parent.replaceChildren(...texts.map(text => Object.assign(document.createElement(name), {textContent: text})));
}

function showFigures(loader) {
  const {report} = loader;
  byId('state').textContent = `Updated every second. Rates and shares are means of the last ${seconds(loader.over_s)}.`;
  byId('verdict').textContent = `${report.verdict}.`;
  byId('verdict').className = `verdict ${report.steps === 0 ? 'open' : report.fed ? 'good' : 'poor'}`;
  const figures = {
    'samples/s': number(report.samples_per_s), 'GPU idle': percent(report.gpu_idle),
    'per step': seconds(report.step_s), 'workers busy': `${number(loader.workers_busy, 2)} of ${loader.knobs.threads}`,
    'read per second': size(loader.bytes_read_per_s), 'samples in all': loader.samples.toLocaleString('en-US'),
  };
  document.querySelectorAll('dl div').forEach((place, i) => {
    place.querySelector('dt').textContent = Object.keys(figures)[i];
    place.querySelector('dd').textContent = Object.values(figures)[i];
  });
}

function overTime() {
  const zero = history[0].at_s, last = history.at(-1).at_s;
  const panel = (title, unit, color, height, value) => ({
    title, unit, color, height, steps: false, points: history.map(each => [each.at_s - zero, value(each)])});
  return {
    kind: 'lines', x_unit: 'seconds', x_most: Math.max(last - zero, 60), shaded: [], marks: [],
    panels: [panel('samples/s', 'number', 'rate', 150, each => each.report.samples_per_s),
             panel('GPU idle', 'share', 'wait', 90, each => each.report.gpu_idle),
             panel('workers busy', 'number', 'knob', 70, each => each.workers_busy),
             panel('reads under way', 'number', 'teal', 70, each => each.levels.reads_in_flight),
             panel('batches ready', 'number', 'plum', 70, each => each.levels.batches_ready)]};
}

function split(loader) {
  const part = (label, share, i) =>
    ({share, label, text: percent(share), color: COLORS[i % COLORS.length], about: `${label}: ${percent(share)}`});
  const waits = Object.entries(loader.report.wait).map(([cause, share], i) => part(cause, share, i));
  const stages = loader.stages.filter(stage => stage.side === 'cpu');
  const known = stages.reduce((sum, stage) => sum + stage.share, 0);
  const workers = [...stages.map(stage => [stage.name, stage.share]),
                   ['other work', Math.max(loader.busy_share - known, 0)], ['idle', 1 - Math.max(loader.busy_share, known)]];
  const used = parts => parts.filter(each => each.share >= 0.005);
  const quiet = parts => parts.map(each => each.label === 'idle' ? {...each, color: 'slate'} : each);
  return {kind: 'split', rows: [
    {label: 'What the consumer waited for', parts: used(waits)},
    {label: "The workers' time", parts: quiet(used(workers.map(([label, share], i) => part(label, Math.max(share, 0), i))))},
  ].filter(row => row.parts.length !== 0)};
}

function showTable(loader) {
  const {knobs, memory} = loader;
  const cells = [knobs.threads, knobs.prefetch, knobs.io_depth, knobs.transfer_index, size(memory.read_ahead_bytes),
                 size(memory.batch_bytes), size(memory.cache_bytes), size(memory.device_bytes)];
  fill(document.querySelector('tbody tr'), 'td', cells);
  document.querySelectorAll('tbody td').forEach(cell => { cell.className = 'number'; });
}

// Where several loaders are served here: a link to each.
function showLoaders(loaders) {
  const links = loaders.map(loader => Object.assign(document.createElement('a'), {
    textContent: `${loader.name} (rank ${loader.rank})`, href: `#${encodeURIComponent(loader.name)}`}));
  byId('loaders').replaceChildren(...links.flatMap((link, i) => i === 0 ? [link] : [' · ', link]));
  byId('loaders').hidden = loaders.length === 1;
}

function show(loaders) {
  const wanted = decodeURIComponent(location.hash.slice(1));
  const loader = loaders.find(each => each.name === wanted) ?? loaders[0];
  if (loader.name !== shown) history.length = 0;
  shown = loader.name;
  if (history.at(-1)?.at_s !== loader.at_s) history.push(loader);
  if (history.length === KEPT + 1) history.shift();
  showLoaders(loaders);
  showFigures(loader);
  showTable(loader);
  charts[0] = overTime();
  charts[1] = split(loader);
  widths.length = 0;
  drawCharts();
}

async function update() {
  try {
    const answer = await fetch('dashboard.json', {cache: 'no-store'});
    const {loaders} = await answer.json();
    if (loaders.length === 0) byId('state').textContent = 'The loader has closed; these are its last figures.';
    else show(loaders);
  } catch {
    byId('state').textContent = 'The loader cannot be reached any more; these are its last figures.';
  }
  setTimeout(update, EVERY_MS);
}
update();
)js";

}  // namespace stoker
