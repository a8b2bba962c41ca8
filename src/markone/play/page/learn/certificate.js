// Whether a plane separates the classes, decided exactly, and the best margin.
//
// Every example is a vector z that a separating w must have on its positive side: y x for two classes; for more, x in
// the place of its class and -x in the place of a rival. Either some w has w·z > 0 for all z, or a few z, with weights
// that are not negative, sum to 0 (Gordan 1873). A linear program in whole numbers finds the one or the other.

const MOST_NUMBERS = 400000;

/** The vectors z, each with the row and the rival that it comes from. */
export function differences(rows, classes, features) {
  const found = [];
  rows.forEach((x, row) => {
    for (let rival = 0; rival < classes; rival++) {
      if (rival === x.y) continue;
      const z = new Float64Array(classes === 2 ? features : classes * features);
      for (let i = 0; i < x.at.length; i++) {
        if (classes === 2) z[x.at[i]] = x.y === 1 ? x.value[i] : -x.value[i];
        else {
          z[x.y * features + x.at[i]] = x.value[i];
          z[rival * features + x.at[i]] = -x.value[i];
        }
      }
      found.push({ z, row, rival });
    }
  });
  return found;
}

function product(a, b) {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i] * b[i];
  return sum;
}

// ---- the point of the convex hull that is nearest to 0 (Wolfe 1976)

/** Solves a small system of linear equations; null if it is singular. */
function solve(matrix, right) {
  const n = right.length;
  const rows = matrix.map((row, i) => [...row, right[i]]);
  for (let c = 0; c < n; c++) {
    let best = c;
    for (let r = c + 1; r < n; r++) if (Math.abs(rows[r][c]) > Math.abs(rows[best][c])) best = r;
    if (rows[best][c] === 0) return null;
    [rows[c], rows[best]] = [rows[best], rows[c]];
    for (let r = 0; r < n; r++) {
      if (r === c) continue;
      const factor = rows[r][c] / rows[c][c];
      if (factor !== 0) for (let k = c; k <= n; k++) rows[r][k] -= factor * rows[c][k];
    }
  }
  return rows.map((row, i) => row[n] / row[i]);
}

/** The nearest point, and the z of which it is a mixture. */
export function nearestPoint(zs) {
  const longest = Math.max(...zs.map((z) => product(z, z)));
  let first = 0;
  zs.forEach((z, i) => (product(z, z) < product(zs[first], zs[first]) ? (first = i) : null));
  let members = [first];
  let shares = [1];
  const point = () => {
    const p = new Float64Array(zs[0].length);
    members.forEach((m, i) => zs[m].forEach((value, k) => (p[k] += shares[i] * value)));
    return p;
  };
  let p = point();
  for (let round = 0; round < 1000; round++) {
    let next = 0;
    let least = Infinity;
    zs.forEach((z, i) => {
      const s = product(z, p);
      if (s < least) [least, next] = [s, i];
    });
    if (product(p, p) - least <= 1e-13 * longest || members.includes(next)) break;
    members.push(next);
    shares.push(0);
    for (;;) {
      const gram = members.map((a) => members.map((b) => product(zs[a], zs[b]) / longest + 1));
      const found = solve(gram, members.map(() => 1));
      if (found === null || !found.every(Number.isFinite)) {
        members.pop();
        shares.pop();
        break;
      }
      const sum = found.reduce((a, b) => a + b, 0);
      const wanted = found.map((value) => value / sum);
      if (wanted.every((value) => value > 1e-12)) {
        shares = wanted;
        break;
      }
      let part = 1;
      wanted.forEach((value, i) => {
        if (value <= 1e-12 && shares[i] !== value) part = Math.min(part, shares[i] / (shares[i] - value));
      });
      shares = shares.map((value, i) => value + part * (wanted[i] - value));
      const kept = shares.map((value) => value > 1e-12);
      if (kept.every(Boolean)) kept[wanted.indexOf(Math.min(...wanted))] = false;
      members = members.filter((_, i) => kept[i]);
      shares = shares.filter((_, i) => kept[i]);
    }
    const total = shares.reduce((a, b) => a + b, 0);
    shares = shares.map((value) => value / total);
    p = point();
  }
  return { p, members, shares };
}

// ---- whole numbers

/** The doubles of all vectors as whole multiples of one power of 2. */
function wholeNumbers(zs) {
  const parts = new DataView(new ArrayBuffer(8));
  const split = (value) => {
    parts.setFloat64(0, value);
    const bits = parts.getBigUint64(0);
    const exponent = Number((bits >> 52n) & 0x7ffn);
    const fraction = bits & ((1n << 52n) - 1n);
    const size = exponent === 0 ? fraction : fraction | (1n << 52n);
    return [value < 0 ? -size : size, Math.max(exponent, 1)];
  };
  let least = 2047;
  const pairs = zs.map((z) => Array.from(z, split));
  for (const z of pairs) for (const [size, exponent] of z) if (size !== 0n) least = Math.min(least, exponent);
  const whole = pairs.map((z) => z.map(([size, exponent]) => (size === 0n ? 0n : size << BigInt(exponent - least))));
  const zeros = (value) => {
    let count = 0n;
    while (((value >> count) & 1n) === 0n) count += 1n;
    return count;
  };
  let common = null; // powers of 2 that all numbers share
  for (const z of whole) for (const value of z) if (value !== 0n) {
    const count = zeros(value < 0n ? -value : value);
    if (common === null || count < common) common = count;
  }
  return common ? whole.map((z) => z.map((value) => value >> common)) : whole;
}

/** Decides whether shares >= 0 that sum to 1 make the columns sum to 0. Returns {shares} or {w} with w·z > 0 for all.
 *
 * The simplex method with Bland's rule, phase one, on whole numbers with one common denominator. */
function decide(columns) {
  const height = columns[0].length + 1;
  const width = columns.length;
  const table = Array.from({ length: height }, (_, r) => [
    ...columns.map((z) => (r < height - 1 ? z[r] : 1n)),
    ...Array.from({ length: height }, (_, c) => (c === r ? 1n : 0n)),
    r === height - 1 ? 1n : 0n,
  ]);
  const costs = table[0].map((_, c) => -table.reduce((sum, row) => sum + row[c], 0n));
  for (let c = width; c < width + height; c++) costs[c] += 1n;
  const basis = Array.from({ length: height }, (_, r) => width + r);
  let common = 1n;
  for (;;) {
    const enter = costs.findIndex((cost, c) => c < width && cost < 0n);
    if (enter < 0) break;
    let leave = -1;
    for (let r = 0; r < height; r++) {
      if (table[r][enter] <= 0n) continue;
      if (leave < 0) leave = r;
      else {
        const here = table[r].at(-1) * table[leave][enter];
        const best = table[leave].at(-1) * table[r][enter];
        if (here < best || (here === best && basis[r] < basis[leave])) leave = r;
      }
    }
    const pivot = table[leave][enter];
    for (const row of [...table, costs]) {
      if (row === table[leave] || row[enter] === 0n) {
        if (row !== table[leave]) for (let c = 0; c < row.length; c++) row[c] = (row[c] * pivot) / common;
        continue;
      }
      const factor = row[enter];
      for (let c = 0; c < row.length; c++) row[c] = (row[c] * pivot - factor * table[leave][c]) / common;
    }
    common = pivot;
    basis[leave] = enter;
  }
  if (costs.at(-1) === 0n) {
    const shares = columns.map(() => 0n);
    basis.forEach((c, r) => (c < width ? (shares[c] = table[r].at(-1)) : null));
    return { shares };
  }
  return { w: Array.from({ length: height - 1 }, (_, r) => costs[width + r] - common) };
}

const scaled = (whole) => {
  const most = whole.reduce((best, value) => (value < 0n ? -value : value) > best ? (value < 0n ? -value : value) : best, 1n);
  const shift = BigInt(Math.max(0, most.toString(2).length - 900));
  const numbers = Float64Array.from(whole, (value) => Number(value >> shift));
  const size = Math.sqrt(product(numbers, numbers));
  return Number.isFinite(size) && size > 0 ? numbers.map((value) => value / size) : numbers.map((value) => value / 1e300);
};

/** The certificate of the rows: {separable, w, margin, radius, bound, proof, support}, or null if there is nothing to
 * decide. `separable` is null if the rows are too many for the page. */
export function certify(rows, classes, features) {
  if (rows.length === 0 || new Set(rows.map((x) => x.y)).size < 2) return null;
  const found = differences(rows, classes, features);
  const zs = found.map((one) => one.z);
  if (zs.length * zs[0].length > MOST_NUMBERS || !zs.every((z) => z.every(Number.isFinite))) return { separable: null };
  const radius = Math.sqrt(Math.max(...zs.map((z) => product(z, z))));
  const near = nearestPoint(zs);
  const facts = (members, shares) => members.map((m, i) => ({ row: found[m].row, rival: found[m].rival, share: shares[i] }));

  const separates = (w) => {
    const size = Math.sqrt(product(w, w));
    return zs.every((z) => product(w, z) > 1e-9 * size * radius);
  };
  const planeOf = (w) => {
    const size = Math.sqrt(product(w, w));
    const margin = Math.min(...zs.map((z) => product(w, z))) / size;
    const bound = (radius * radius) / (margin * margin);
    return { separable: true, w: w.map((value) => value / size), margin, radius, bound, proof: null, support: facts(near.members, near.shares) };
  };
  if (separates(near.p)) return planeOf(near.p);

  const whole = wholeNumbers(zs);
  let some = [...new Set(near.members)];
  for (;;) {
    const { shares, w } = decide(some.map((m) => whole[m]));
    if (shares) {
      const most = shares.reduce((a, b) => (a > b ? a : b));
      const used = some.map((m, i) => [m, shares[i]]).filter(([, share]) => share > 0n);
      const proof = facts(used.map(([m]) => m), used.map(([, share]) => share)).map((one) => ({
        ...one,
        share: Number((one.share * 1000000n) / most) / 1000000,
      }));
      return { separable: false, w: null, margin: null, radius, bound: null, proof, support: null };
    }
    const against = [];
    whole.forEach((z, m) => {
      let sum = 0n;
      for (let i = 0; i < z.length; i++) sum += w[i] * z[i];
      if (sum <= 0n) against.push([sum, m]);
    });
    if (against.length === 0) {
      const plane = product(near.p, near.p) > 0 && zs.every((z) => product(near.p, z) > 0) ? near.p : scaled(w);
      return planeOf(plane);
    }
    against.sort((a, b) => (a[0] < b[0] ? -1 : 1));
    some = [...some, ...against.slice(0, 4).map(([, m]) => m)];
  }
}
