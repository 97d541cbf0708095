"use strict";
/* Embedded data: zlib in base64, in script elements that never run. */

async function unpack(id) {
  const text = document.getElementById(id).textContent.trim();
  const bytes = Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

async function unpackJson(id) {
  return JSON.parse(new TextDecoder().decode(await unpack(id)));
}

/* The answers of one run: entries [text, status, value, length], and an entry for every prompt and repeat. */
async function unpackRun(at) {
  const run = await unpackJson(`answers-${at}`);
  const planes = await unpack(`index-${at}`);
  const cells = planes.length / 3;
  const entry = (cell) => planes[cell] | (planes[cells + cell] << 8) | (planes[2 * cells + cell] << 16);
  return { ...run, entryAt: (cell) => run.entries[entry(cell)] };
}
