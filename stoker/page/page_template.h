// The template of a report page. page_style.h has its style, chart_script.h and the headers of its charts the script
// that draws them.
#pragma once

namespace stoker {

/// A chart is an object whose "kind" says how it is drawn. A unit is "number", "count", "share", "doublings", "bytes",
/// "bytes_per_s" or "seconds"; what is not finite is null, and not drawn. A color is "rate", "wait", "knob", "plum",
/// "teal" or "slate".
///
///   {"kind": "lines", "x_unit": unit, "x_most": where the axis ends, having begun at 0, "x_title" or none,
///    "panels": one beneath the other [{"title", "unit", "color", "height": pixels,
///               "steps": whether a value stays until the next point, "points": [[x, y], ...],
///               "name" or none, "more" or none: other lines [{"points", "color", "dashed", "name"}, ...],
///               "levels" or none: [{"at": y, "text"}, ...]}, ...],
///    "shaded": [[from, to], ...], "marks": upright lines [x or {"at": x, "text"}, ...]}
///   {"kind": "heat_map", "row_title", "column_title", "rows": labels, "columns": labels, "framed": [row, column] or
///   null,
///    "cells": [{"row", "column", "share": of the best, "text", "note": smaller, "about": when pointed at}, ...]}
///   {"kind": "bars": lying ones, "unit": unit, "most": where the axis ends; what is longer is broken off,
///    "level": {"at", "text"} or null, "legend": [{"color", "text"}, ...],
///    "rows": [{"label", "bars": [{"value", "text", "color", "about"}, ...]}, ...]}
///   {"kind": "split": each row a whole, "rows": [{"label", "parts": [{"share", "text", "color", "label", "about"},
///   ...]}, ...]}
///   {"kind": "histogram", "title", "color", "edges": labels, one more than "shares": [...],
///    "marks": [{"at": columns from the left, "text"}, ...]}
///
/// Marks show the places of the title (twice), the style, the body, the charts' data and the script, in some order. The
/// style has no <, > or &, so that HTML, which takes it literally, and XML read it in the same way; the script is in a
/// CDATA section.
inline constexpr const char* kPageTemplate = R"html(<!DOCTYPE html>
<html xmlns="http://www.w3.org/1999/xhtml" lang="en">
<head>
<meta charset="utf-8"/>
<meta name="viewport" content="width=device-width, initial-scale=1"/>
<title>@title@</title>
<style>
@style@</style>
</head>
<body>
<h1>@title@</h1>
@body@<noscript><p class="remark">The charts are drawn by JavaScript, which is off here.</p></noscript>
<script id="charts" type="application/json">[@charts@]</script>
<script>//<![CDATA[
'use strict';
@script@//]]></script>
</body>
</html>
)html";

}  // namespace stoker
