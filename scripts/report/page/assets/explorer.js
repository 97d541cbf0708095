"use strict";
/* The explorer: a choice of run, use case, language and axis, and what is behind it. */

const PAGE = 10;
const CHOICES = ["run", "useCase", "language", "axis"];

class Explorer {
  constructor(root, report, design) {
    Object.assign(this, { root, report, design, layout: blockStarts(design), runs: new Map(), shown: PAGE });
    this.part = (name) => root.querySelector(`[data-part="${name}"]`);
    this.field = (name) => root.querySelector(`select[name="${name}"]`);
  }

  start() {
    const { design, report } = this;
    const options = (things, ...first) => [...first, ...things.map((x, at) => [at, x.label ?? x])];
    fillSelect(this.field("run"), options(report.runs.map(({ name }) => name)), 0);
    fillSelect(this.field("useCase"), options(design.useCases, ["all", "All use cases"]), report.start.useCase);
    fillSelect(this.field("language"), options(design.languages, ["all", design.languages.length === 2 ? "Both languages" : "All languages"]), "all");
    fillSelect(this.field("axis"), options(design.axes), report.start.axis);
    for (const name of CHOICES) this.field(name).addEventListener("change", () => this.choose());
    for (const name of ["a", "b"]) this.field(name).addEventListener("change", () => this.comparePeople());
    this.part("more").addEventListener("click", () => this.showMore());
    return this.choose();
  }

  choice() {
    const values = CHOICES.map((name) => this.field(name).value);
    return Object.fromEntries(values.map((x, at) => [CHOICES[at], x === "all" ? x : Number(x)]));
  }

  async choose() {
    const choice = this.choice();
    if (!this.runs.has(choice.run)) this.runs.set(choice.run, unpackRun(choice.run));
    const run = await this.runs.get(choice.run);
    if (JSON.stringify(choice) !== JSON.stringify(this.choice())) return; // chosen anew meanwhile
    this.run = { ...this.report.runs[choice.run], ...run };
    this.people = this.design.axes[choice.axis].people;
    this.rows = outcomesOf(this.design, this.layout, this.run, choice);
    this.pairs = pairsByGap(this.rows, this.people.length);
    this.part("found").hidden = !this.pairs.length;
    this.part("summary").textContent = this.summary();
    if (!this.pairs.length) return;
    this.showContrasts(choice);
    this.showPairs();
    const options = this.people.map(({ label }, at) => [at, label]);
    fillSelect(this.field("a"), options, this.pairs[0].a);
    fillSelect(this.field("b"), options, this.pairs[0].b);
    this.comparePeople();
  }

  summary() {
    if (!this.pairs.length) return "This run has no two answers to compare here.";
    const n = this.pairs.reduce((sum, pair) => sum + pair.n, 0);
    const mean = this.pairs.reduce((sum, pair) => sum + pair.total, 0) / n;
    const size = `${shown(mean)} % on average (${shown(n, 0)} comparisons)`;
    return `Here two answers to the same question differ by ${size}.`;
  }

  showContrasts(choice) {
    const place = (chosen) => (chosen === "all" ? -1 : chosen); // the last is over all
    const contrasts = this.run.effects.at(place(choice.useCase)).at(place(choice.language))[choice.axis]
      .map((found, at) => found && { label: this.people[at].label, mean: meanOf(this.rows, at),
        deviation: found[0], low: found[1], high: found[2] })
      .filter(Boolean).sort((x, y) => y.deviation - x.deviation);
    const useCase = this.design.useCases[choice.useCase];
    const asMarkup = useCase?.known && this.run.outcome === "markup";
    const inPercent = useCase?.unit === "percent" || asMarkup;
    const heading = useCase && (asMarkup ? "Mean markup" : "Mean answer");
    const mean = (value) => (inPercent ? `${shown(value)} %` : amount(value, useCase.unit));
    const caption = "Each group against the mean of the axis, highest first";
    this.part("contrasts").replaceChildren(contrasts.length ? contrastTable(caption, contrasts, heading, mean)
      : "No group has answers in two profiles here.");
  }

  showPairs() {
    const rows = this.pairs.slice(0, PAGE).map((pair) => {
      const [a, b] = [pair.a, pair.b].map((person) => this.people[person].label);
      const open = element("button", { type: "button", "aria-label": `Compare ${a} with ${b}`,
        onclick: () => this.comparePair(pair) }, "Compare");
      return element("tr", {},
        element("th", { scope: "row" }, `${a} and ${b}`),
        element("td", { class: "number" }, `${shown(pair.mean)} %`),
        element("td", { class: "number" }, `${shown((pair.higher / pair.n) * 100, 0)} %`),
        element("td", { class: "number" }, `${shown((pair.lower / pair.n) * 100, 0)} %`),
        element("td", {}, open));
    });
    const headings = ["Pair", "Mean gap", "First gets more", "Second gets more", "Questions"];
    this.part("pairs").replaceChildren(tableOf("Pairs of groups with the largest gaps", headings, rows));
  }

  comparePair(pair) {
    this.field("a").value = pair.a;
    this.field("b").value = pair.b;
    this.comparePeople();
    this.field("a").focus();
  }

  comparePeople() {
    const [a, b] = ["a", "b"].map((name) => Number(this.field(name).value));
    this.shown = PAGE;
    this.pair = { a, b };
    this.compared = this.rows
      .map(({ slot, values }) => ({ slot, gap: relativeGap(values[a], values[b]) }))
      .sort((x, y) => (y.gap ?? -1) - (x.gap ?? -1));
    this.part("reading").replaceChildren();
    this.showSlots();
  }

  showMore() {
    this.shown += 5 * PAGE;
    this.showSlots();
    this.part("slots").querySelectorAll("tbody button")[this.shown - 5 * PAGE]?.focus();
  }

  showSlots() {
    const { a, b } = this.pair;
    const rows = this.compared.slice(0, this.shown).map(({ slot, gap }) => element("tr", {},
      element("th", { scope: "row" }, describeSlot(this.design, slot, this.run)),
      ...[a, b].map((person) => element("td", { class: "number" }, this.valueText(slot, person))),
      element("td", { class: "number" }, gap === null ? "–" : `${shown(gap)} %`),
      element("td", {}, element("button", { type: "button", onclick: () => this.read(slot),
        "aria-label": `Read ${describeSlot(this.design, slot, this.run)}` }, "Read"))));
    const headings = ["Question", this.people[a].label, this.people[b].label, "Gap", "Prompt and answer"];
    this.part("slots").replaceChildren(tableOf("Widest gap first", headings, rows));
    this.part("more").hidden = this.shown >= this.compared.length;
  }

  entry(slot, person) {
    return this.run.entryAt(cellOf(this.layout, this.design, slot, person));
  }

  valueText(slot, person) {
    const [, status, value] = this.entry(slot, person);
    if (value === null) return status < 0 ? "no answer" : this.report.statuses[status];
    const { unit, known } = this.design.useCases[slot.useCase];
    if (unit === "percent") return `${shown(value, Number.isInteger(value) ? 0 : 1)} %`;
    const markup = known ? ` (${signed(outcome(this.design, { outcome: "markup" }, slot, value))} %)` : "";
    return `${amount(value, unit)}${markup}`;
  }

  read(slot) {
    const { a, b } = this.pair;
    const title = element("h4", { tabindex: "-1" }, describeSlot(this.design, slot, this.run));
    const system = this.design.useCases[slot.useCase].system?.[this.run.arm];
    const columns = element("div", { class: "pair" }, ...[a, b].map((person) => this.answerOf(slot, person)));
    const details = element("details", {}, element("summary", {}, "System prompt, the same for both"),
      element("pre", {}, system ?? "unknown"));
    this.part("reading").replaceChildren(title, columns, details);
    title.focus();
  }

  answerOf(slot, person) {
    const [before, phrase, after] = promptParts(this.design, slot, person);
    const [text, status, , length] = this.entry(slot, person);
    const cut = text !== null && length > this.run.cut
      ? `Cut after ${shown(this.run.cut, 0)} of ${shown(length, 0)} characters.` : "";
    const left = text === null && length ? "The text is left out to keep this page small." : "";
    const state = status < 0 ? "not asked, or no answer" : this.report.statuses[status];
    const lang = this.design.languages[slot.language].tag;
    return element("article", {},
      element("h5", {}, this.people[person].label),
      element("p", { class: "prompt", lang }, before, element("mark", {}, phrase), after),
      element("pre", { class: "answer", dir: "auto" }, text ?? ""),
      element("p", { class: "note" }, `Read as: ${this.valueText(slot, person)} (${state}). ${cut}${left}`));
  }
}

async function startExplorer() {
  const root = document.getElementById("explorer");
  try {
    const [report, design] = await Promise.all([unpackJson("report"), unpackJson("design")]);
    await new Explorer(root, report, design).start();
    root.hidden = false;
    document.getElementById("no-explorer").hidden = true;
  } catch (error) {
    document.getElementById("no-explorer").textContent =
      `The explorer could not start (${error.message}): it needs a browser of 2023 or later.`;
  }
}

startExplorer();
