// Random numbers that are the same in Python and in every browser: SplitMix64, as in core/base/order.h, with seeds that
// are mixed as numpy.random.SeedSequence does it. A shuffled order is therefore the order of `markone train`.

const WORD = (1n << 64n) - 1n;

export class RandomBits {
  constructor(seed) {
    this.counter = BigInt(seed) & WORD;
  }

  next() {
    this.counter = (this.counter + 0x9e3779b97f4a7c15n) & WORD;
    let z = this.counter;
    z = ((z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n) & WORD;
    z = ((z ^ (z >> 27n)) * 0x94d049bb133111ebn) & WORD;
    return z ^ (z >> 31n);
  }

  /** A whole number below `bound`. */
  below(bound) {
    return Number(((this.next() >> 32n) * BigInt(bound)) >> 32n);
  }

  /** A number from 0 up to 1, with 53 bits. */
  uniform() {
    return Number(this.next() >> 11n) / 9007199254740992;
  }

  /** Nearly a normal distribution: a sum of twelve uniform numbers, which needs no function that browsers round
   * differently. */
  normal() {
    let sum = -6;
    for (let i = 0; i < 12; i++) sum += this.uniform();
    return sum;
  }
}

/** The first 64 bits of numpy.random.SeedSequence(numbers); each number is below 2^32. */
export function mixedSeed(numbers) {
  const pool = [0, 0, 0, 0];
  let constant = 0x43b0d7e5;
  const hash = (value) => {
    value = (value ^ constant) >>> 0;
    constant = Math.imul(constant, 0x931e8875) >>> 0;
    value = Math.imul(value, constant) >>> 0;
    return (value ^ (value >>> 16)) >>> 0;
  };
  const mix = (x, y) => {
    const z = (Math.imul(0xca01f9dd, x) - Math.imul(0x4973f715, y)) >>> 0;
    return (z ^ (z >>> 16)) >>> 0;
  };
  for (let i = 0; i < 4; i++) pool[i] = hash((numbers[i] ?? 0) >>> 0);
  for (let from = 0; from < 4; from++) {
    for (let to = 0; to < 4; to++) if (from !== to) pool[to] = mix(pool[to], hash(pool[from]));
  }
  for (const number of numbers.slice(4)) for (let to = 0; to < 4; to++) pool[to] = mix(pool[to], hash(number >>> 0));

  constant = 0x8b51f9dd;
  const words = [0, 1].map((i) => {
    let value = (pool[i] ^ constant) >>> 0;
    constant = Math.imul(constant, 0x58f38ded) >>> 0;
    value = Math.imul(value, constant) >>> 0;
    return (value ^ (value >>> 16)) >>> 0;
  });
  return (BigInt(words[1]) << 32n) | BigInt(words[0]);
}

/** A shuffled copy (Fisher and Yates). It depends only on the numbers. */
export function shuffled(items, ...numbers) {
  const order = [...items];
  const random = new RandomBits(mixedSeed(numbers));
  for (let left = order.length; left > 1; left--) {
    const other = random.below(left);
    [order[left - 1], order[other]] = [order[other], order[left - 1]];
  }
  return order;
}
