"use strict";
/* Elements from text: nothing here reads markup, so hostile text stays text. */

const SVG = "http://www.w3.org/2000/svg";

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

function shape(name, attributes, ...children) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function tableOf(caption, headings, rows) {
  const head = headings.map((heading) => element("th", { scope: "col" }, heading));
  return element("table", {},
    element("caption", {}, caption),
    element("thead", {}, element("tr", {}, ...head)),
    element("tbody", {}, ...rows));
}

function fillSelect(select, options, chosen) {
  select.replaceChildren(...options.map(([value, label]) => element("option", { value }, label)));
  select.value = chosen;
}

/* A number with a true minus sign. */
function shown(value, digits = 1, grouping = "en") {
  if (value === null || value === undefined) return "–";
  const decimals = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  const text = Math.abs(value).toLocaleString(grouping, decimals);
  return value < 0 && /[1-9]/.test(text) ? `−${text}` : text;
}

/* An amount in its currency; rupees are grouped in lakh. */
function amount(value, unit) {
  const style = { style: "currency", currency: unit, maximumFractionDigits: 0 };
  return value.toLocaleString(unit === "INR" ? "en-IN" : "en", style);
}

function signed(value) {
  const text = shown(value);
  return value > 0 && /[1-9]/.test(text) ? `+${text}` : text;
}
