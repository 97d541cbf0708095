"use strict";
/* A chart that is a table: each person's distance from the average, drawn beside its number. */

function niceLimit(contrasts) {
  const reach = Math.max(...contrasts.flatMap(({ deviation, low, high }) =>
    [deviation, low ?? deviation, high ?? deviation].map(Math.abs)), 0.1);
  const power = 10 ** Math.floor(Math.log10(reach));
  return [1, 2, 5, 10].find((step) => step * power >= reach) * power;
}

function plot({ deviation, low, high }, limit) {
  const x = (value) => `${4 + 92 * ((value + limit) / (2 * limit))}%`;
  const clear = low !== null && low * high > 0;
  const parts = [shape("line", { class: "zero", x1: "50%", x2: "50%", y1: 0, y2: "100%" })];
  if (low !== null) {
    parts.push(shape("line", { class: "reach", x1: x(low), x2: x(high), y1: "50%", y2: "50%" }));
  }
  parts.push(shape("circle", { class: clear ? "clear" : "unclear", cx: x(deviation), cy: "50%", r: 4.5 }));
  return shape("svg", { class: "plot", "aria-hidden": "true", focusable: "false" }, ...parts);
}

function contrastRow(contrast, limit, meanText) {
  const interval = contrast.low === null ? "" : ` [${signed(contrast.low)}, ${signed(contrast.high)}]`;
  return element("tr", {},
    element("th", { scope: "row" }, contrast.label),
    ...(meanText === null ? [] : [element("td", { class: "number" }, meanText)]),
    element("td", { class: "plot-cell" }, plot(contrast, limit)),
    element("td", { class: "number" }, element("b", {}, `${signed(contrast.deviation)} %`), interval));
}

function contrastTable(caption, contrasts, meanHeading, meanOf) {
  const limit = niceLimit(contrasts);
  const scale = element("span", { class: "scale" },
    element("span", {}, `−${limit} %`), element("span", {}, "average"), element("span", {}, `+${limit} %`));
  const headings = ["Group", ...(meanHeading ? [meanHeading] : []), scale, "Difference [95 % interval]"];
  const rows = contrasts.map((contrast) =>
    contrastRow(contrast, limit, meanHeading ? meanOf(contrast.mean) : null));
  return tableOf(caption, headings, rows);
}
