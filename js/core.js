// One instance of the WebAssembly module: texts in and out of its memory.
import suffixes from "./suffixes.js";

const ENCODER = new TextEncoder();
const DECODER = new TextDecoder("utf-8", { ignoreBOM: true });
const ABSENT = 0xffffffff;
const LEAST_ROOM = 4096;
const UNCHANGED = -1;
const CUT = -2; // so much less: the answer is the beginning of the text
const NOT_WELL_FORMED = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/;

/** Whether a text can be written as UTF-8. No URL and no rule has half of a surrogate pair. */
export function isWellFormed(text) {
  return text.isWellFormed ? text.isWellFormed() : !NOT_WELL_FORMED.test(text);
}

export class Core {
  #exports;
  #room = new Uint8Array(0); // where the module reads texts; empty if the memory grew, which detaches its buffer

  constructor(module) {
    this.#exports = new WebAssembly.Instance(module).exports;
    this.#exports._initialize?.();
  }

  #bytes(start, size) {
    return new Uint8Array(this.#exports.memory.buffer, start, size);
  }

  #reserve(size) {
    const capacity = Math.max(size, LEAST_ROOM);
    const start = this.#exports.input(capacity);
    this.#room = this.#bytes(start, capacity);
  }

  /** Write a text for the module to read; its size in bytes, or -1 if it is not well formed. */
  #write(text) {
    const most = text.length * 3;
    if (most >= this.#room.length) this.#reserve(most);
    const size = ENCODER.encodeInto(text, this.#room).written;
    return size === text.length || isWellFormed(text) ? size : -1; // a byte for each character: all are ASCII
  }

  #mapped(work, text, argument) {
    const size = this.#write(text);
    if (size < 0) return text;
    const written = work(size, argument);
    if (written === UNCHANGED) return text;
    if (written < 0 && size === text.length) return text.slice(0, CUT - written);
    const start = this.#exports.answer();
    return DECODER.decode(this.#bytes(start, written < 0 ? CUT - written : written));
  }

  canonical(url) {
    return this.#mapped(this.#exports.canonical, url);
  }

  key(url) {
    return this.#mapped(this.#exports.key, url);
  }

  normalize(url, steps) {
    return this.#mapped(this.#exports.normalize, url, steps);
  }

  /** The number of the outcome and a reader of all that led to it; nothing for half a surrogate pair. */
  explain(url) {
    const size = this.#write(url);
    if (size < 0) return undefined;
    return { outcome: this.#exports.explain(size), answer: this.#answer() };
  }

  /** Make the rule set of this instance; a reader of the problem, if there is one. */
  compile(data) {
    this.#exports.suffix_list(this.#write(suffixes));
    this.#reserve(data.length);
    this.#room.set(data);
    const isDone = this.#exports.compile(data.length);
    this.#room = new Uint8Array(0); // the module gave that memory back
    return isDone ? undefined : this.#answer();
  }

  /** Read one line of text as a rule: whether it is one, and a reader of the rule or of the problem. */
  parseRule(text) {
    const size = this.#write(text);
    if (size < 0) return undefined;
    return { isRule: this.#exports.parse_rule(size) !== 0, answer: this.#answer() };
  }

  #answer() {
    return new Answer(this.#bytes(0), this.#exports.answer());
  }
}

/** Numbers and texts in a row, as the module wrote them. */
class Answer {
  #view;
  #bytes;
  #at;

  constructor(bytes, at) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer);
    this.#at = at;
  }

  number() {
    const value = this.#view.getUint32(this.#at, true);
    this.#at += 4;
    return value;
  }

  text() {
    const size = this.number();
    if (size === ABSENT) return undefined;
    const start = this.#at;
    this.#at += size;
    return DECODER.decode(this.#bytes.subarray(start, this.#at));
  }

  list(read) {
    return Array.from({ length: this.number() }, read);
  }
}

/** Bytes in a row, as the module reads them. */
export class Message {
  #bytes = new Uint8Array(1024);
  #size = 0;

  #room(size) {
    const needed = this.#size + size;
    if (needed > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(needed, this.#bytes.length * 2));
      larger.set(this.#bytes.subarray(0, this.#size));
      this.#bytes = larger;
    }
  }

  number(value) {
    this.#room(4);
    new DataView(this.#bytes.buffer).setUint32(this.#size, value, true);
    this.#size += 4;
  }

  text(text) {
    if (text === undefined) {
      this.number(ABSENT);
      return;
    }
    const encoded = ENCODER.encode(text);
    this.number(encoded.length);
    this.#room(encoded.length);
    this.#bytes.set(encoded, this.#size);
    this.#size += encoded.length;
  }

  texts(texts) {
    this.number(texts.length);
    for (const text of texts) this.text(text);
  }

  get bytes() {
    return this.#bytes.subarray(0, this.#size);
  }
}
