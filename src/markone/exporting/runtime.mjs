// The program: it reads only MODEL. Numbers of 32 bits are rounded as the model rounds them, and added in its order.

const narrow = Math.fround;
const rounded = MODEL.bits === 32 ? narrow : Number;

// ---- characters and tokens

const NEGATIONS = new Set(
    ["cannot", "neither", "never", "no", "nobody", "none", "nor", "not", "nothing", "nowhere", "without"]);
const ENDS = '.,;:!?()[]{}"…—–“”«»。，、；：！？।،؛؟';
const ROLES = ["emoji_to_come", "flags", "modifiers", "stackers", "marks", "unspaced"];
const TEXT_SELECTOR = 0xfe0e, EMOJI_SELECTOR = 0xfe0f, KEYCAP = 0x20e3, JOINER = 0x200d, REPLACED = 0xfffd;

function within(ranges, point) {
    let low = 0, high = ranges.length;
    while (low < high) {
        const middle = (low + high) >> 1;
        if (ranges[middle] <= point) low = middle + 1;
        else high = middle;
    }
    return low % 2 === 1 || (low > 0 && ranges[low - 1] === point);
}

// A function that looks up each character only once.
function rememberingPoints(find) {
    const known = [];
    return (point) => known[point] ?? (known[point] = find(point));
}

function remembering(find) {
    const known = new Map();
    return (point) => {
        let found = known.get(point);
        if (found === undefined) known.set(point, found = find(point));
        return found;
    };
}

const tables = MODEL.characters;
const firstOf = (names, point) =>
    point === REPLACED ? "gap" : names.find((name) => within(tables[name], point)) ?? "gap";
const KINDS = { words: "word", signs: "sign", gap: "gap" };
const kindOf = rememberingPoints((point) => KINDS[firstOf(["words", "signs"], point)]);
const roleOf = rememberingPoints((point) => firstOf(ROLES, point));
const isCapital = rememberingPoints((point) => firstOf(["capitals"], point) === "capitals");
const foldings = new Map();
if (tables) {
    for (let i = 0; i < tables.foldings.length; i += 4)
        foldings.set(tables.foldings[i],
                     String.fromCodePoint(...tables.foldings.slice(i + 1, i + 4).filter((point) => point > 0)));
}
const folded = rememberingPoints((point) => foldings.get(point) ?? String.fromCodePoint(point));
const isSelector = (point) => point === TEXT_SELECTOR || point === EMOJI_SELECTOR;

function isKeycap(points, at) {
    return points[at] >= 0x30 && points[at] <= 0x39 &&
        (points[at + 1] === KEYCAP || (points[at + 1] === EMOJI_SELECTOR && points[at + 2] === KEYCAP));
}

class Tokenizer {
    constructor(how) {
        this.how = how;
        this.signs = how.signs || how.negation || how.choice === "negated";
        this.unspaced = how.unspaced && !(how.runs && !how.within_words);
        const fold = how.fold && how.choice !== "lower";
        this.shown = fold ? folded : (point) => String.fromCodePoint(point);
    }

    tokens(text) {
        const how = this.how;
        if (!how.runs) return this.words(text);
        let lines;
        if (how.within_words) {
            lines = this.cut(text).filter(([, kind]) => kind === "word").map(([token]) => ` ${token} `);
        } else {
            const words = this.words(text);
            lines = words.length > 0 ? [` ${words.join(" ")} `] : [];
        }
        const found = [];
        for (const line of lines) {
            const letters = Array.from(line);
            for (let size = how.runs[0]; size <= how.runs[1]; ++size)
                for (let i = 0; i + size <= letters.length; ++i) found.push(letters.slice(i, i + size).join(""));
        }
        return found;
    }

    words(text) {
        const { choice, negation, signs, fold } = this.how;
        const found = [];
        let open = false, afterN = false, afterApostrophe = false;
        for (const [token, kind] of this.cut(text)) {
            if (kind === "sign") {
                afterApostrophe = afterN && (token === "'" || token === "’");
                afterN = false;
                if (ENDS.includes(token)) open = false;
                if (signs && choice === "all") found.push(token);
                continue;
            }
            if (choice === "lower") {
                const points = Array.from(token, (one) => one.codePointAt(0));
                if (!points.some(isCapital)) found.push(fold ? points.map(folded).join("") : token);
                continue;
            }
            const negated = open;
            const plain = token.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
            open = open || (plain === "t" ? afterApostrophe : NEGATIONS.has(plain));
            afterN = /[nN]$/.test(token);
            afterApostrophe = false;
            if (negated && (negation || choice === "negated")) found.push(`NOT_${token}`);
            else if (choice === "all") found.push(token);
        }
        return found;
    }

    // All tokens, each with its kind: word, sign, or letter of a script without spaces.
    cut(text) {
        const points = Array.from(text, (one) => one.codePointAt(0));
        const found = [];
        let word = "";
        const finish = () => {
            if (word !== "") found.push([word, "word"]);
            word = "";
        };
        for (let at = 0; at < points.length;) {
            const point = points[at], kind = this.kind(points, at);
            ++at;
            if (kind === "word") {
                word += this.shown(point);
                continue;
            }
            finish();
            if (kind === "gap") continue;
            const made = [this.shown(point)];
            if (kind === "letter") at = this.takeMarks(points, at, made);
            else if (this.how.emoji) at = this.takeEmoji(points, at, made);
            if (kind === "letter" || this.signs) found.push([made.join(""), kind]);
        }
        finish();
        return found;
    }

    kind(points, at) {
        const point = points[at], emoji = this.how.emoji;
        const kind = kindOf(point);
        if (point < 0x80) return emoji && isKeycap(points, at) ? "sign" : kind;
        const role = roleOf(point);
        if (role === "unspaced" && this.unspaced) return "letter";
        if (emoji && role === "emoji_to_come") return "sign";
        return emoji && isSelector(point) ? "gap" : kind;
    }

    takeMarks(points, at, made) {
        for (let stacked = false; at < points.length; ++at) {
            const role = roleOf(points[at]);
            const isMark =
                role === "marks" || role === "stackers" || (role === "modifiers" && kindOf(points[at]) === "word");
            if (!isMark && !(stacked && role === "unspaced")) break;
            stacked = role === "stackers";
            made.push(this.shown(points[at]));
        }
        return at;
    }

    takeEmoji(points, at, made) {
        let flag = roleOf(points[at - 1]) === "flags";
        while (at < points.length) {
            const role = roleOf(points[at]);
            if (points[at] === JOINER) {
                const beyond = points[at + 1];
                if (beyond === undefined || (kindOf(beyond) !== "sign" && roleOf(beyond) !== "emoji_to_come")) break;
                made.push(String.fromCodePoint(JOINER), this.shown(beyond));
                at += 2;
                flag = false;
                continue;
            }
            if (role !== "modifiers" && !(flag && role === "flags")) break;
            flag = false;
            if (!isSelector(points[at])) made.push(this.shown(points[at]));
            ++at;
        }
        return at;
    }
}

// ---- hashes of 64 bits

const u64 = (number) => BigInt.asUintN(64, number);
const ODD = 0x9e3779b97f4a7c15n;

function mixed(z) {
    z = u64((z ^ (z >> 32n)) * 0xd6e8feb86659fd93n);
    z = u64((z ^ (z >> 32n)) * 0xd6e8feb86659fd93n);
    return z ^ (z >> 32n);
}

function bytesOf(token) {
    const bytes = [];
    for (const one of token) {
        const point = one.codePointAt(0);
        if (point < 0x80) bytes.push(point);
        else if (point < 0x800) bytes.push(0xc0 | (point >> 6), 0x80 | (point & 0x3f));
        else if (point < 0x10000) bytes.push(0xe0 | (point >> 12), 0x80 | ((point >> 6) & 0x3f), 0x80 | (point & 0x3f));
        else
            bytes.push(0xf0 | (point >> 18), 0x80 | ((point >> 12) & 0x3f), 0x80 | ((point >> 6) & 0x3f),
                       0x80 | (point & 0x3f));
    }
    return bytes;
}

const hashOf = remembering((token) => {
    const bytes = bytesOf(token), size = bytes.length;
    const load = (at, count) => {
        let number = 0n;
        for (let i = at + count - 1; i >= at; --i) number = (number << 8n) | BigInt(bytes[i]);
        return number;
    };
    let hash = u64(BigInt(size) * ODD);
    if (size < 8) return mixed(hash ^ load(0, size));
    for (let at = 0; at + 8 < size; at += 8) hash = u64(mixed(hash ^ load(at, 8)) + ODD);
    return mixed(hash ^ load(size - 8, 8));
});

const hashOfNgram = (tokens) => tokens.map(hashOf).reduce((first, word) => mixed(u64(first * ODD + word)));

// ---- values of columns

const MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
                "November", "December"];
const WEEKDAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

const own = (row, name) => Object.prototype.hasOwnProperty.call(row, name) ? row[name] ?? null : null;

function valueOf(column, row) {
    if (column.date === undefined) return own(row, column.column);
    const text = own(row, column.date);
    if (text === null) return null;
    const parts = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d))?/.exec(text);
    if (parts === null) throw new TypeError(`column ${column.date} needs a date such as 2024-12-31, not ${text}`);
    const [year, month, day] = parts.slice(1, 4).map(Number);
    const when = new Date(0);
    when.setUTCFullYear(year, month - 1, day);
    switch (column.piece) {
    case "year": return year;
    case "month": return MONTHS[month - 1];
    case "day": return day;
    case "weekday": return WEEKDAYS[when.getUTCDay()];
    case "hour": return Number(parts[4] ?? 0);
    default: return when.getTime() / 86400000;
    }
}

function numberOf(column, row) {
    const value = valueOf(column, row);
    if (value === null || Number.isNaN(value)) return null;
    const number = Number(value);
    if (!Number.isFinite(number)) throw new TypeError(`column ${column.column} needs a number, not ${value}`);
    return number;
}

function scaled(column, row) {
    let number = numberOf(column, row);
    if (number === null) {
        if (column.fill === null) throw new TypeError(`column ${column.column} has no number`);
        number = column.fill;
    }
    return column.spread === null ? 0 : (number - column.center) / column.spread;
}

// ---- parts: each is a function from a row to lists of [name, weights, value]

const named = (feature, value) => [feature.name, feature.weights, value];

const PARTS = {
    numbers: (part) => (row) => {
        const values = [];
        for (const feature of part.features) {
            if (feature.number !== undefined) values.push(narrow(scaled(part.columns[feature.number], row)));
            else if (feature.missing !== undefined)
                values.push(numberOf(part.columns[feature.missing], row) === null ? 1 : 0);
            else values.push(narrow(values[feature.product[0]] * values[feature.product[1]]));
        }
        return part.features.map((feature, i) => named(feature, values[i]));
    },

    cells: (part) => {
        const known = part.axes.map((axis) => new Map((axis.values ?? []).map((value, i) => [value, i])));
        const at = new Map(part.features.map((feature) => [feature.at.join(), feature]));
        const placeOn = (axis, places, row) => {
            if (axis.cuts) {
                const number = numberOf(axis, row);
                return number === null ? null : axis.cuts.filter((cut) => cut <= number).length;
            }
            const value = valueOf(axis, row);
            return value === null ? axis.missing : places.get(String(value)) ?? axis.other;
        };
        return (row) => {
            const places = part.axes.map((axis, i) => placeOn(axis, known[i], row));
            const value = part.factors.reduce((product, column) => product * scaled(column, row), 1);
            const feature = places.includes(null) ? undefined : at.get(places.join());
            return feature === undefined ? [] : [named(feature, narrow(value))];
        };
    },

    set: (part) => (row) => {
        const items = own(row, part.columns[0].column);
        const has = (feature) => feature.missing ? items === null : items !== null && items.includes(feature.item);
        return part.features.filter(has).map((feature) => named(feature, 1));
    },

    given: (part) => {
        const known = new Map(part.features.map((feature) => [feature.name, feature]));
        const value = (feature, number) =>
            named(feature, feature.spread === null ? 0 : narrow((number - feature.center) / feature.spread));
        return (row) => {
            const given = own(row, part.columns[0].column);
            if (part.dense) return part.features.map((feature) => value(feature, own(given, feature.name) ?? 0));
            return Object.entries(given).filter(([name]) => known.has(name))
                .map(([name, number]) => value(known.get(name), number));
        };
    },

    ngrams: (part) => {
        const tokenizer = new Tokenizer(part.tokens);
        const find = finder(part);
        const first = part.weighted ? 2 : 1;
        return (row) => {
            const said = tokenizer.tokens(own(row, part.columns[0].column) ?? "");
            const counts = new Map();
            for (let size = part.lengths[0]; size <= part.lengths[1]; ++size) {
                for (let i = 0; i + size <= said.length; ++i) {
                    const number = find(said, i, size);
                    if (number !== undefined) counts.set(number, (counts.get(number) ?? 0) + 1);
                }
            }
            return Array.from(counts, ([number, count]) => {
                const feature = part.features[number];
                const plain = part.value === "count" ? count : part.value === "binary" ? 1 : narrow(Math.log1p(count));
                const value = part.weighted ? narrow(plain * narrow(feature[1])) : plain;
                return [part.prefix + feature[0], feature.slice(first), value];
            });
        };
    },

    document: (part) => {
        const tokenizer = new Tokenizer({ ...part.tokens, signs: true });
        const words = new Tokenizer({ ...part.tokens, signs: false });
        const sizes = part.features.flatMap((feature) => feature.entries.map((entry) => entry.split(" ").length));
        const longest = sizes.reduce((a, b) => Math.max(a, b), 1);
        return (row) => {
            const text = own(row, part.columns[0].column) ?? "";
            const said = tokenizer.tokens(text), counts = new Map();
            for (let size = 1; size <= longest; ++size) {
                for (let i = 0; i + size <= said.length; ++i) {
                    const ngram = said.slice(i, i + size).join(" ");
                    counts.set(ngram, (counts.get(ngram) ?? 0) + 1);
                }
            }
            return part.features.map((feature) => {
                if (feature.value === "log-words")
                    return named(feature, narrow(Math.log(Math.max(1, words.tokens(text).length))));
                const total = feature.entries.reduce((sum, entry) => sum + (counts.get(entry) ?? 0), 0);
                return named(feature, feature.value === "count" ? total : Number(total > 0));
            });
        };
    },
};

// The number of the n-gram of `size` tokens from `i` on; undefined if it is no feature.
function finder(part) {
    if (part.hash_bits === null) {
        const byName = new Map(part.features.map((feature, number) => [feature[0], number]));
        return (said, i, size) => {
            let ngram = said[i];
            for (let k = 1; k < size; ++k) ngram += ` ${said[i + k]}`;
            return byName.get(ngram);
        };
    }
    const shift = BigInt(64 - part.hash_bits), shared = new Set(part.shared);
    const split = part.tokens.runs ? (ngram) => [ngram] : (ngram) => ngram.split(" ");
    const hashes = part.features.map((feature) => hashOfNgram(split(feature[0])));
    const at = new Map(hashes.map((hash, number) => [hash >> shift, number]));
    return (said, i, size) => {
        const hash = hashOfNgram(said.slice(i, i + size)), number = at.get(hash >> shift);
        const knows = number !== undefined && (shared.has(number) || BigInt.asUintN(32, hash ^ hashes[number]) === 0n);
        return knows ? number : undefined;
    };
}

const parts = MODEL.parts.map((part) => ({ facts: part, values: PARTS[part.part](part) }));
const bias = MODEL.bias.map(rounded);

// The features of a row, in the order in which they are added.
function valuesOf(row) {
    if (typeof row === "string" || (MODEL.columns.length === 1 && MODEL.columns[0].kind === "rows"))
        row = { [MODEL.columns[0].name]: row };
    let found = [];
    for (const { facts, values } of parts)
        for (const [name, weights, value] of values(row))
            if (MODEL.zeros || !facts.dense || value !== 0)
                found.push({ name, weights, value, presence: facts.presence });
    if (MODEL.unit) {
        let total = 0;
        for (const { value } of found) total += value * value;
        const length = Math.sqrt(total), divided = MODEL.parts.every((part) => part.dense);
        if (total > 0)
            for (const one of found) one.value = narrow(divided ? one.value / length : one.value * (1 / length));
    }
    for (const one of found)
        if (one.presence) one.value = Number(one.value !== 0);
    return found;
}

function addUp(values) {
    let lanes = MODEL.lanes;
    const sums = Array.from({ length: lanes }, () => new Array(bias.length).fill(0));
    values.forEach(({ weights, value }, i) => {
        const to = sums[i % lanes];
        for (let k = 0; k < to.length; ++k) to[k] += rounded(weights[k]) * value;
    });
    while (lanes > 1) {
        lanes /= 2;
        for (let i = 0; i < lanes; ++i)
            for (let k = 0; k < bias.length; ++k) sums[i][k] += sums[i + lanes][k];
    }
    return bias.map((one, k) => rounded(sums[0][k] + one));
}

const ofEachClass = (sums) => sums.length === 1 && MODEL.classes.length === 2 ? [0, sums[0]] : sums;

function winner(each) {
    const { tie, threshold, margin } = MODEL.decision;
    let best = 0;
    if (threshold !== null) best = Number(each[1] >= threshold);
    else
        for (let k = 1; k < each.length; ++k)
            if (each[k] > each[best] || (each[k] === each[best] && tie === "second")) best = k;
    const others = Math.max(...each.filter((_, k) => k !== best));
    return margin !== null && each[best] - others <= margin ? null : best;
}

/** The labels, in the order of the scores; empty if the model predicts numbers. */
const classes = MODEL.classes;

/** The score of each class. With two classes, the first has the score 0. A regression has one score. */
function scores(row) {
    return ofEachClass(addUp(valuesOf(row)));
}

/** The predicted label, or null if the model makes no prediction. A regression predicts a number. */
function predict(row) {
    const each = scores(row);
    if (classes.length === 0) return each[0];
    const best = winner(each);
    return best === null ? null : classes[best];
}

function sharesOf(sums) {
    const how = MODEL.probabilities;
    if (how === null) return null;
    const best = Math.max(...sums), raised = sums.map((score, k) => score * how.slopes[k] + how.offsets[k]);
    const most = Math.max(...raised);
    const odds = ofEachClass(sums.map((score, k) => {
        if (how.offsets.length > 0) return score === best ? most : Math.min(raised[k], most - how.lead);
        if (how.knots.length === 0) return score * how.slopes[0];
        const at = how.knots.filter((knot) => knot < score).length, nearest = Math.max(at - 1, 0);
        return how.heights[nearest] + how.slopes[at] * (score - how.knots[nearest]);
    }));
    const top = Math.max(...odds), shares = odds.map((one) => Math.exp(one - top));
    const total = shares.reduce((sum, share) => sum + share, 0);
    return shares.map((share) => share / total);
}

/** The probability of each class, or null if the model has none. */
function probabilities(row) {
    return sharesOf(addUp(valuesOf(row)));
}

/**
 * The prediction, the scores, and the features with their values, weights and products, the largest product first.
 * `of` is the class that the weights support: the predicted one or, with two classes, the second.
 */
function explain(row) {
    const values = valuesOf(row), sums = addUp(values), each = ofEachClass(sums);
    const best = classes.length === 0 ? 0 : winner(each) ?? each.indexOf(Math.max(...each));
    const k = sums.length === 1 ? 0 : best;
    const features = values.filter(({ value }) => value !== 0).map(({ name, weights, value }) =>
        ({ feature: name, value, weight: rounded(weights[k]), product: rounded(weights[k]) * value }));
    features.push({ feature: "BIAS", value: 1, weight: bias[k], product: bias[k] });
    features.sort((a, b) => Math.abs(b.product) - Math.abs(a.product));
    const of = classes.length === 0 ? null : classes[sums.length === 1 ? 1 : k];
    return { prediction: predict(row), of, scores: each, features };
}

export { classes, explain, predict, probabilities, scores };
