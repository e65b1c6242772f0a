// Takes and gives back memory at random with js/runtime.cpp, and tries its functions for texts.
//
//   node runtime.mjs runtime.wasm
import { readFileSync } from "node:fs";

const exports = new WebAssembly.Instance(new WebAssembly.Module(readFileSync(process.argv[2]))).exports;
const { memory, _Znwm: take, _ZdlPv: giveBack, aligned_alloc: takeAligned, free, strlen, strcmp, wmemchr } = exports;
const LONGEST = 300_000;
let state = 1;
let checked = 0;

function expect(isRight, ...about) {
  checked += 1;
  if (!isRight) throw new Error(about.join(" "));
}

function random(below) {
  state = (Math.imul(state, 1103515245) + 12345) >>> 0;
  return (state >>> 8) % below;
}

// Every block says whose it is, in its first and last byte and in all between.
function churn(rounds) {
  const held = [];
  for (let round = 0; round < rounds; ++round) {
    if (held.length < 60 || random(2)) {
      const size = random(random(40) ? 400 : LONGEST);
      const alignment = random(4) ? 16 : 64;
      const at = (alignment === 16 ? take(size) : takeAligned(alignment, size)) >>> 0;
      expect(at % alignment === 0, "aligned", at, alignment);
      new Uint8Array(memory.buffer, at, size).fill(round & 255);
      held.push({ at, size, alignment, mark: round & 255 });
    } else {
      const { at, size, alignment, mark } = held.splice(random(held.length), 1)[0];
      expect(new Uint8Array(memory.buffer, at, size).every((byte) => byte === mark), "nobody wrote here", at, size);
      (alignment === 16 ? giveBack : free)(at);
    }
  }
  for (const { at, alignment } of held) (alignment === 16 ? giveBack : free)(at);
}

giveBack(0);
churn(6000);
const before = memory.buffer.byteLength;
state = 1;
churn(6000);
expect(memory.buffer.byteLength === before, "the same requests need no more memory");

const text = take(64);
const bytes = new Uint8Array(memory.buffer, text, 64);
bytes.set([97, 98, 0, 97, 200, 0, 97, 0]); // "ab", "a\xc8", "a"
expect(strlen(text) === 2 && strlen(text + 2) === 0, "strlen");
expect(strcmp(text, text + 3) < 0 && strcmp(text + 3, text) > 0, "strcmp");
expect(strcmp(text + 6, text) < 0 && strcmp(text, text) === 0, "strcmp of a beginning, and of the same");
new Uint32Array(memory.buffer, text, 3).set([7, 0x10ffff, 7]);
expect(wmemchr(text, 0x10ffff, 3) === text + 4 && wmemchr(text, 7, 3) === text && wmemchr(text, 8, 3) === 0, "wmemchr");
console.log(checked);
