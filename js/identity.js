// The id of a rule: BLAKE2b (RFC 7693) of what it says, eight bytes long.

const ID_BYTES = 8;
const BLOCK_BYTES = 128;
const ROUNDS = 12;
const MASK = (1n << 64n) - 1n;
const START = [
  0x6a09e667f3bcc908n, 0xbb67ae8584caa73bn, 0x3c6ef372fe94f82bn, 0xa54ff53a5f1d36f1n,
  0x510e527fade682d1n, 0x9b05688c2b3e6c1fn, 0x1f83d9abfb41bd6bn, 0x5be0cd19137e2179n,
];
// In which order a round reads the sixteen words of a block (RFC 7693, section 2.7), as hexadecimal digits.
const ORDERS = [
  "0123456789abcdef", "ea489fd61c02b753", "b8c052fdae367194",
  "7931dcbe265a40f8", "905724afe1bc683d", "2c6a0b834d75fe19",
  "c51fed4a0763928b", "db7ec13950f4862a", "6fe9b308c2d714a5",
  "a2847615fb9e3cd0"
].map((row) => [...row].map((digit) => parseInt(digit, 16)));
const COLUMNS_AND_DIAGONALS = [
  [0, 4, 8, 12], [1, 5, 9, 13], [2, 6, 10, 14], [3, 7, 11, 15],
  [0, 5, 10, 15], [1, 6, 11, 12], [2, 7, 8, 13], [3, 4, 9, 14],
];

/** The id of a rule, as undust writes it into files. */
export function idOf({ site, kind, from, to, when, unless }) {
  const text = JSON.stringify([site, kind, from, to ?? null, when, unless]);
  const ascii = text.replace(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
  return digestOf(new TextEncoder().encode(ascii));
}

function digestOf(bytes) {
  const state = [...START];
  state[0] ^= 0x01010000n ^ BigInt(ID_BYTES);
  const blocks = Math.max(Math.ceil(bytes.length / BLOCK_BYTES), 1);
  const padded = new Uint8Array(blocks * BLOCK_BYTES);
  padded.set(bytes);
  const view = new DataView(padded.buffer);
  for (let block = 0; block < blocks; ++block) {
    const words = Array.from({ length: 16 }, (_, word) => view.getBigUint64(block * BLOCK_BYTES + word * 8, true));
    const isLast = block === blocks - 1;
    compress(state, words, BigInt(isLast ? bytes.length : (block + 1) * BLOCK_BYTES), isLast);
  }
  const result = new DataView(new ArrayBuffer(ID_BYTES));
  result.setBigUint64(0, state[0], true);
  return result.getBigUint64(0).toString(16).padStart(ID_BYTES * 2, "0");
}

function compress(state, words, count, isLast) {
  const work = [...state, ...START];
  work[12] ^= count;
  if (isLast) work[14] ^= MASK;
  for (let round = 0; round < ROUNDS; ++round) {
    const order = ORDERS[round % ORDERS.length];
    COLUMNS_AND_DIAGONALS.forEach((places, at) => mix(work, places, words[order[2 * at]], words[order[2 * at + 1]]));
  }
  for (let at = 0; at < 8; ++at) state[at] ^= work[at] ^ work[at + 8];
}

const rotated = (value, bits) => (value >> bits) | ((value << (64n - bits)) & MASK);

function mix(work, [a, b, c, d], first, second) {
  for (const [word, left, right] of [[first, 32n, 24n], [second, 16n, 63n]]) {
    work[a] = (work[a] + work[b] + word) & MASK;
    work[d] = rotated(work[d] ^ work[a], left);
    work[c] = (work[c] + work[d]) & MASK;
    work[b] = rotated(work[b] ^ work[c], right);
  }
}
