// Compares the functions of js/memory.cpp with plain loops, for every size up to some blocks and every overlap.
//
//   node memory.mjs memory.wasm
import { readFileSync } from "node:fs";

const { memory, memcpy, memmove, memset, memcmp, memchr } = new WebAssembly.Instance(
  new WebAssembly.Module(readFileSync(process.argv[2])),
).exports;
const bytes = new Uint8Array(memory.buffer);
const LONGEST = 70;
const AT = 1024;
const OTHER = 4096;
let checked = 0;

function expect(isRight, ...about) {
  checked += 1;
  if (!isRight) throw new Error(about.join(" "));
}

// Each byte says where it is.
function fill() {
  for (let at = 0; at < 2 * OTHER; ++at) bytes[at] = (at * 31 + (at >> 8)) & 255;
}

function areSame(before, work) {
  const expected = before.slice();
  work(expected);
  return bytes.subarray(0, 2 * OTHER).every((byte, at) => byte === expected[at]);
}

for (let size = 0; size <= LONGEST; ++size) {
  for (let shift = -LONGEST; shift <= LONGEST; ++shift) {
    fill();
    const before = bytes.slice(0, 2 * OTHER);
    expect(memmove(AT + shift, AT, size) === AT + shift, "memmove returns", size, shift);
    expect(areSame(before, (copy) => copy.copyWithin(AT + shift, AT, AT + size)), "memmove", size, shift);
  }
  fill();
  const before = bytes.slice(0, 2 * OTHER);
  expect(memcpy(OTHER + 3, AT + 1, size) === OTHER + 3, "memcpy returns", size);
  expect(areSame(before, (copy) => copy.copyWithin(OTHER + 3, AT + 1, AT + 1 + size)), "memcpy", size);
  const copied = bytes.slice(0, 2 * OTHER);
  expect(memset(AT + 5, 0x1c3, size) === AT + 5, "memset returns", size);
  expect(areSame(copied, (copy) => copy.fill(0xc3, AT + 5, AT + 5 + size)), "memset", size);
  for (let place = 0; place <= size; ++place) {
    bytes.fill(7, AT, AT + 2 * LONGEST);
    bytes.fill(7, OTHER, OTHER + 2 * LONGEST);
    bytes[AT + place] = 200; // behind the text if place is its size
    bytes[OTHER + place] = 9;
    const isInside = place < size;
    expect(Math.sign(memcmp(AT, OTHER, size)) === (isInside ? 1 : 0), "memcmp", size, place);
    expect(Math.sign(memcmp(OTHER, AT, size)) === (isInside ? -1 : 0), "memcmp the other way", size, place);
    expect(memchr(AT, 200 + 256, size) === (isInside ? AT + place : 0), "memchr", size, place);
    if (isInside) bytes[AT + size - 1] = bytes[OTHER + size - 1] = 200;
    bytes[OTHER + place] = 200;
    expect(memcmp(AT, OTHER, size) === 0, "memcmp of equal texts", size, place);
    expect(memchr(AT, 200, size) === (isInside ? AT + place : 0), "memchr finds the first", size, place);
  }
}
console.log(checked);
