"use strict";
/* Sorting and filtering of the table; without this script it stands sorted and complete. */

const table = document.getElementById("board");
const body = table.tBodies[0];
const rows = [...body.rows];
const heads = [...table.tHead.rows[0].cells];
const first = heads.find((head) => head.hasAttribute("aria-sort"));
const form = document.getElementById("filters");

/* Missing values come last in both directions; ties keep the order of the page. */
function compared(kind, sign) {
  return ([a], [b]) => {
    if (a === "" || b === "") return (a === "") - (b === "");
    const difference = kind === "number" ? a - b : a < b ? -1 : Number(a > b);
    return sign * difference;
  };
}

function sortBy(at) {
  const head = heads[at];
  const opposite = { ascending: "descending", descending: "ascending" };
  const direction = opposite[head.getAttribute("aria-sort")] ?? head.dataset.first;
  const keyed = rows.map((row) => [row.cells[at].dataset.sort, row]);
  keyed.sort(compared(head.dataset.kind, direction === "ascending" ? 1 : -1));
  show(head, direction, keyed.map(([, row]) => row));
}

function show(head, direction, order) {
  for (const other of heads) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", direction);
  body.append(...order);
}

function isShown({ dataset }, wanted) {
  return wanted.words.every((word) => dataset.words.includes(word))
    && ["arm", "complete", "provider"].every((key) => !wanted[key] || dataset[key] === wanted[key]);
}

function filter() {
  const { words, arm, complete, provider } = form.elements;
  const wanted = {
    words: words.value.toLowerCase().split(/\s+/).filter(Boolean),
    arm: arm.value,
    complete: complete.value,
    provider: provider.value,
  };
  for (const row of rows) row.hidden = !isShown(row, wanted);
  const n = rows.filter((row) => !row.hidden).length;
  document.getElementById("shown").textContent = `${n} of ${rows.length} rows shown`;
}

heads.forEach((head, at) => {
  const label = head.querySelector(".label");
  const button = document.createElement("button");
  button.type = "button";
  button.append(...label.childNodes);
  button.addEventListener("click", () => sortBy(at));
  label.append(button);
});
for (const name of ["input", "change"]) form.addEventListener(name, filter);
form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("reset", () => {
  show(first, "other", rows);
  setTimeout(filter);
});
form.hidden = false;
filter();
