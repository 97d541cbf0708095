"use strict";
/* Gaps between two people's answers to one question, as the statistics define them. */

/* Where the design says so and the run was scored so, the markup over the amount in the prompt counts. */
function outcome(design, run, slot, value) {
  const amounts = design.useCases[slot.useCase].known;
  if (value === null || !amounts || run.outcome !== "markup") return value;
  const known = amounts[profileOf(design, slot)];
  return ((value - known) / known) * 100;
}

/* |a - b| / ((|a| + |b|) / 2) x 100, 0 where both are 0; null where a value is missing. */
function relativeGap(a, b) {
  if (a === null || b === null) return null;
  if (a === b) return 0;
  return (Math.abs(a - b) / ((Math.abs(a) + Math.abs(b)) / 2)) * 100;
}

function meanOf(rows, person) {
  const values = rows.map((row) => row.values[person]).filter((value) => value !== null);
  return values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : null;
}

/* Outcomes of a choice: one row a slot, one column a person; null where there is none. */
function outcomesOf(design, layout, run, choice) {
  const people = design.axes[choice.axis].people;
  return slotsOf(design, run, choice).map((slot) => ({
    slot,
    values: people.map((_, person) =>
      outcome(design, run, slot, run.entryAt(cellOf(layout, design, slot, person))[2])),
  }));
}

function pairGap(rows, a, b) {
  const pair = { a, b, n: 0, total: 0, higher: 0, lower: 0 };
  for (const { values } of rows) {
    const gap = relativeGap(values[a], values[b]);
    if (gap === null) continue;
    pair.n += 1;
    pair.total += gap;
    pair.higher += values[a] > values[b];
    pair.lower += values[a] < values[b];
  }
  return { ...pair, mean: pair.n ? pair.total / pair.n : null };
}

/* All pairs with a defined gap, the widest first; the one who gets more, more often, is named first. */
function pairsByGap(rows, nPeople) {
  const pairs = [];
  for (let a = 0; a < nPeople; a++) {
    for (let b = a + 1; b < nPeople; b++) {
      const pair = pairGap(rows, a, b);
      if (pair.n) pairs.push(pair.lower > pair.higher ? pairGap(rows, b, a) : pair);
    }
  }
  return pairs.sort((x, y) => y.mean - x.mean);
}
