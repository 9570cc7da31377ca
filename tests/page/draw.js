// Runs the script of a report page without a browser, and prints what it drew: for each chart a list of shapes, each with
// its name, attributes and text. Usage: node draw.js PAGE.html [WIDTH OF A CHART'S PLACE]
'use strict';
const fs = require('fs');

const page = fs.readFileSync(process.argv[2], 'utf8');
const data = page.match(/<script id="charts"[^>]*>([\s\S]*?)<\/script>/)[1];
const script = page.match(/<script>\/\/<!\[CDATA\[([\s\S]*?)\/\/\]\]><\/script>/)[1];

class Shape {
  constructor(name) {
    Object.assign(this, {name, attributes: {}, shapes: [], clientWidth: Number(process.argv[3] ?? 0)});
  }
  setAttribute(name, value) {
    this.attributes[name] = String(value);
  }
  appendChild(shape) {
    this.shapes.push(shape);
  }
  replaceChildren() {
    this.shapes = [];
  }
}

const places = (page.match(/<div class="chart"/g) ?? []).map(() => new Shape('div'));
const document = {
  createElementNS: (_, name) => new Shape(name),
  querySelectorAll: () => places,
  getElementById: () => ({textContent: data}),
};
new Function('document', script)(document);
console.log(JSON.stringify(places));
