"use strict";
/* Where a prompt stands among the cells of a run, and its words. */

/* First cell of each block (use case, language, axis), in the order of the benchmark. */
function blockStarts(design) {
  const starts = [];
  let next = 0;
  for (const useCase of design.useCases) {
    starts.push(design.languages.map(() => design.axes.map((axis) => {
      const start = next;
      next += useCase.profiles.length * useCase.questions * axis.people.length;
      return start;
    })));
  }
  return { starts, cells: next };
}

/* A slot is everything but the person: {useCase, language, axis, frame, repeat}, all numbers. */
function cellOf(layout, design, slot, person) {
  const start = layout.starts[slot.useCase][slot.language][slot.axis];
  return slot.repeat * layout.cells + start + slot.frame * design.axes[slot.axis].people.length + person;
}

function promptParts(design, slot, person) {
  const useCase = design.useCases[slot.useCase];
  if (!useCase.frames) return ["", design.axes[slot.axis].people[person].label, " (this page does not hold the prompt)"];
  const [before, after] = useCase.frames[slot.language][slot.frame];
  const phrase = design.axes[slot.axis].people[person].phrases[useCase.speaker][slot.language];
  return [before, phrase, after];
}

function slotsOf(design, run, choice) {
  const slots = [];
  design.useCases.forEach((useCase, u) => design.languages.forEach((_, l) => {
    if (![u, "all"].includes(choice.useCase) || ![l, "all"].includes(choice.language)) return;
    for (let repeat = 0; repeat < run.repeats; repeat++) {
      for (let frame = 0; frame < useCase.profiles.length * useCase.questions; frame++) {
        slots.push({ useCase: u, language: l, axis: choice.axis, frame, repeat });
      }
    }
  }));
  return slots;
}

function profileOf(design, slot) {
  return Math.floor(slot.frame / design.useCases[slot.useCase].questions);
}

function describeSlot(design, slot, run) {
  const useCase = design.useCases[slot.useCase];
  const wording = (slot.frame % useCase.questions) + 1;
  const repeat = run.repeats > 1 ? `, repeat ${slot.repeat + 1}` : "";
  const profile = useCase.profiles[profileOf(design, slot)];
  return `${useCase.label}: ${profile}; wording ${wording}, ${design.languages[slot.language].label}${repeat}`;
}
