// How a tuning report looks: on paper and screens, in the light and in the dark.
#pragma once

namespace stoker {

/// A style sheet without <, > and &, so that it means the same to HTML, which takes it as it is, and to XML.
inline constexpr const char* kTuneReportStyle = R"css(
:root {
  color-scheme: light dark;
  --paper: #ffffff; --ink: #1b222c; --soft: #5a6472; --line: #dde1e7; --mark: #cfd5dd;
  --settled: #e9f2ea; --rate: #2360a8; --wait: #b4481a; --knob: #38704a; --frame: #c2410c;
  --heat0: #1d4f91; --heat1: #3f74b5; --heat2: #74a0d3; --heat3: #a9c6e6; --heat4: #cfdff1; --heat5: #e9eff7;
  --on-heat: #ffffff; --on-cool: #1b222c;
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    --paper: #14181e; --ink: #e4e8ee; --soft: #9aa5b3; --line: #2b323c; --mark: #3a434f;
    --settled: #1b2b20; --rate: #7fb2f0; --wait: #f09a63; --knob: #86c798; --frame: #fb923c;
    --heat0: #a8cdf8; --heat1: #7cadea; --heat2: #4f83c2; --heat3: #355d8f; --heat4: #27425f; --heat5: #1e2c3b;
    --on-heat: #10161d; --on-cool: #e4e8ee;
  }
}
body { margin: 2em auto; padding: 0 1em; max-width: 960px; background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.35em; margin: 0 0 0.6em; overflow-wrap: anywhere; }
h2 { font-size: 1.1em; margin: 2em 0 0.5em; }
.verdict { font-size: 1.15em; }
.facts, figcaption { color: var(--soft); font-size: 0.9em; }
figure { margin: 1.5em 0; }
.wide { overflow-x: auto; }
svg { display: block; width: 100%; height: auto; }
svg text { font: 11px system-ui, sans-serif; fill: var(--soft); font-variant-numeric: tabular-nums; }
svg .title { font-size: 12px; font-weight: 600; fill: var(--ink); }
svg .small { font-size: 10px; }
.grid { stroke: var(--line); stroke-width: 1; fill: none; }
.axis { stroke: var(--soft); fill: none; }
.mark { stroke: var(--mark); stroke-width: 1; fill: none; }
.settled { fill: var(--settled); }
.rate, .wait, .knob { fill: none; stroke-width: 1.6; stroke-linejoin: round; }
.rate { stroke: var(--rate); }
.wait { stroke: var(--wait); }
.knob { stroke: var(--knob); }
.rate.dot { fill: var(--rate); stroke: none; }
.wait.dot { fill: var(--wait); stroke: none; }
.heat0 rect { fill: var(--heat0); }
.heat1 rect { fill: var(--heat1); }
.heat2 rect { fill: var(--heat2); }
.heat3 rect { fill: var(--heat3); }
.heat4 rect { fill: var(--heat4); }
.heat5 rect { fill: var(--heat5); }
.heat0 text, .heat1 text { fill: var(--on-heat); }
.heat2 text, .heat3 text, .heat4 text, .heat5 text { fill: var(--on-cool); }
.untried { fill: none; stroke: var(--line); }
.chosen { fill: none; stroke: var(--frame); stroke-width: 3; }
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
  .wide { overflow: visible; }
  .tried { min-width: 0 !important; }
  svg { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
)css";

}  // namespace stoker
