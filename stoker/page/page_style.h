// The style of a report page: light and dark, for wide and narrow screens, and for paper.
#pragma once

namespace stoker {

inline constexpr const char* kPageStyle = R"css(:root {
  color-scheme: light dark;
  --paper: #ffffff; --card: #f5f7fa; --ink: #1b222c; --soft: #5a6472; --line: #dde1e7; --mark: #cfd5dd;
  --shade: #e9f2ea; --rate: #2360a8; --wait: #b4481a; --knob: #38704a; --frame: #c2410c;
  --plum: #7a4a9e; --teal: #1c7178; --slate: #5f6b7a; --on-bar: #ffffff;
  --heat0: #1d4f91; --heat1: #3f74b5; --heat2: #74a0d3; --heat3: #a9c6e6; --heat4: #cfdff1; --heat5: #e9eff7;
  --on-heat: #ffffff; --on-warm: #1b222c; --on-cool: #1b222c;
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    --paper: #14181e; --card: #1b2129; --ink: #e4e8ee; --soft: #9aa5b3; --line: #2b323c; --mark: #3a434f;
    --shade: #1b2b20; --rate: #7fb2f0; --wait: #f09a63; --knob: #86c798; --frame: #fb923c;
    --plum: #c39be6; --teal: #6cc4cc; --slate: #8d99a8; --on-bar: #10161d;
    --heat0: #a8cdf8; --heat1: #7cadea; --heat2: #4f83c2; --heat3: #355d8f; --heat4: #27425f; --heat5: #1e2c3b;
    --on-heat: #10161d; --on-warm: #0b0f14; --on-cool: #e4e8ee;
  }
}
body { margin: 2em auto; padding: 0 1em; max-width: 960px; background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.35em; line-height: 1.3; margin: 0 0 0.6em; }
h2 { font-size: 1.1em; margin: 2.2em 0 0.5em; }
.verdict { font-size: 1.15em; }
.good, .poor, .open { border-left: 5px solid; padding: 0.6em 0.9em; background: var(--card); font-weight: 600; }
.good { border-color: var(--knob); }
.poor { border-color: var(--wait); }
.open { border-color: var(--slate); }
.remark, figcaption { color: var(--soft); font-size: 0.9em; }
dl { display: grid; grid-template-columns: repeat(auto-fit, minmax(132px, 1fr)); gap: 0.7em; margin: 1.2em 0; }
dl div { background: var(--card); padding: 0.6em 0.8em; display: flex; flex-direction: column-reverse;
  justify-content: flex-end; }
dt { color: var(--soft); font-size: 0.85em; line-height: 1.35; }
dd { margin: 0; font-size: 1.35em; line-height: 1.35; font-weight: 600; font-variant-numeric: tabular-nums; }
pre { background: var(--card); padding: 0.7em 0.9em; font: 0.87em/1.5 ui-monospace, monospace; white-space: pre-wrap; }
figure { margin: 1.5em 0; }
.chart, .scroll { overflow-x: auto; }
svg { display: block; width: 100%; height: auto; }
svg text { font: 11px system-ui, sans-serif; fill: var(--soft); font-variant-numeric: tabular-nums; }
svg .title { font-size: 12px; font-weight: 600; fill: var(--ink); }
svg .small { font-size: 10px; }
svg .strong { fill: var(--ink); }
svg .on-bar { fill: var(--on-bar); font-weight: 600; }
svg .haloed { paint-order: stroke; stroke: var(--paper); stroke-width: 4px; stroke-linejoin: round; }
.grid, .axis, .mark, .line, .level { fill: none; }
.grid { stroke: var(--line); }
.axis { stroke: var(--soft); }
.mark { stroke: var(--mark); }
.line { stroke-width: 1.6; stroke-linejoin: round; }
.dashed { stroke-dasharray: 5 4; }
.level { stroke: var(--ink); stroke-width: 1.3; stroke-dasharray: 2 3; }
.shade { fill: var(--shade); }
.broken { fill: var(--paper); }
.heat0 rect { fill: var(--heat0); }
.heat1 rect { fill: var(--heat1); }
.heat2 rect { fill: var(--heat2); }
.heat3 rect { fill: var(--heat3); }
.heat4 rect { fill: var(--heat4); }
.heat5 rect { fill: var(--heat5); }
.heat0 text, .heat1 text { fill: var(--on-heat); }
.heat2 text { fill: var(--on-warm); }
.heat3 text, .heat4 text, .heat5 text { fill: var(--on-cool); }
.empty { fill: none; stroke: var(--line); }
.framed { fill: none; stroke: var(--frame); stroke-width: 3; }
table { border-collapse: collapse; width: 100%; font-size: 0.87em; }
th { text-align: left; font-weight: 600; color: var(--soft); vertical-align: bottom; }
th, td { padding: 0.25em 0.45em; border-bottom: 1px solid var(--line); overflow-wrap: normal; }
td { vertical-align: top; }
th.number, td.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
.new { font-weight: 700; }
.quiet td { color: var(--soft); }
@media screen and (max-width: 600px) {
  body { margin: 1.2em auto; font-size: 14px; }
  .verdict { font-size: 1.08em; }
}
@media print {
  body { margin: 0; max-width: none; font-size: 10pt; }
  figure, tr, dl { break-inside: avoid; }
  h2 { break-after: avoid; }
  table { font-size: 8pt; }
  .chart, .scroll { overflow: visible; }
  svg { min-width: 0 !important; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
)css";

}  // namespace stoker
