// Pasted data: two columns of numbers and a label; or a label and a text.

export const MOST_ROWS = 2000;

export class PasteError extends Error {
  constructor(kind, facts) {
    super(kind);
    Object.assign(this, { kind, facts });
  }
}

/** The fields of a line: separated by a comma, semicolon or tab, perhaps in quotation marks. */
function fieldsOf(line, separator) {
  const fields = [];
  let field = "";
  let quoted = false;
  for (let i = 0; i < line.length; i++) {
    const sign = line[i];
    if (quoted) {
      if (sign !== '"') field += sign;
      else if (line[i + 1] === '"') field += line[++i];
      else quoted = false;
    } else if (sign === '"' && field.trim() === "") {
      quoted = true;
      field = "";
    } else if (sign === separator) {
      fields.push(field);
      field = "";
    } else field += sign;
  }
  return [...fields, field].map((one) => one.trim());
}

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
const LARGEST = 1e100;

function separatorOf(line) {
  return ["\t", ";", ","].find((sign) => line.includes(sign)) ?? (/\s/.test(line) ? " " : ",");
}

/** Labels as class numbers, in the order of Markone: numbers by their size, other labels by their letters. */
function numbered(labels, most) {
  let classes = [...new Set(labels)].sort();
  if (classes.every((one) => NUMBER.test(one.replace("−", "-")))) {
    classes = classes.sort((a, b) => Number(a.replace("−", "-")) - Number(b.replace("−", "-")));
  }
  if (classes.length < 2) throw new PasteError("one-class", { label: classes[0] });
  if (classes.length > most) throw new PasteError("many-classes", { count: classes.length, most });
  const numbers = new Map(classes.map((one, i) => [one, i]));
  return { classes, y: labels.map((one) => numbers.get(one)) };
}

function linesOf(text) {
  const lines = text.split(/\r\n|\r|\n/).map((line, i) => ({ line, number: i + 1 })).filter((one) => one.line.trim());
  if (lines.length === 0) throw new PasteError("empty", {});
  return lines;
}

/** Points from text. The first line may be a header; then the columns may be more: the first two and the last count. */
export function pointsOf(text) {
  let lines = linesOf(text);
  const separator = separatorOf(lines[0].line);
  const cut = (line) => fieldsOf(separator === " " ? line.trim().replace(/\s+/g, " ") : line, separator);
  const first = cut(lines[0].line);
  let columns = ["x1", "x2"];
  const width = first.length;
  if (lines.length > 1 && width >= 3 && !NUMBER.test(first[0]) && !NUMBER.test(first[1])) {
    columns = first.slice(0, 2);
    lines = lines.slice(1);
  } else if (width !== 3) throw new PasteError("fields", { number: lines[0].number, count: width, wanted: 3 });
  if (lines.length > MOST_ROWS) throw new PasteError("many-rows", { count: lines.length, most: MOST_ROWS });
  const rows = lines.map(({ line, number }) => {
    const fields = cut(line);
    if (fields.length !== width) throw new PasteError("fields", { number, count: fields.length, wanted: width });
    for (const field of fields.slice(0, 2)) {
      if (!NUMBER.test(field)) throw new PasteError("number", { number, field });
      if (!(Math.abs(Number(field)) <= LARGEST)) throw new PasteError("large", { number, field });
    }
    if (fields.at(-1) === "") throw new PasteError("label", { number });
    return fields;
  });
  const { classes, y } = numbered(rows.map((row) => row.at(-1)), 8);
  return { columns, classes, points: rows.map((row, i) => ({ x1: Number(row[0]), x2: Number(row[1]), y: y[i] })) };
}

/** Lines of a label, a tab or comma, and a text. */
export function textsOfPaste(text) {
  const lines = linesOf(text);
  if (lines.length > MOST_ROWS) throw new PasteError("many-rows", { count: lines.length, most: MOST_ROWS });
  const rows = lines.map(({ line, number }) => {
    const cut = line.search(line.includes("\t") ? /\t/ : /,/);
    const label = line.slice(0, cut).trim();
    if (cut < 0 || label === "") throw new PasteError("text", { number });
    return [label, line.slice(cut + 1).trim()];
  });
  const { classes, y } = numbered(rows.map((row) => row[0]), 8);
  return { classes, lines: rows.map((row, i) => ({ text: row[1], y: y[i] })) };
}

const quoted = (field) => (/[",;\t\n\r]|^\s|\s$/.test(field) ? `"${field.replaceAll('"', '""')}"` : field);

/** The points with all chosen features, so that the model of the page can read the file. */
export function toCsv(points, classes, features) {
  const head = [...features.map((one) => one.name), "label"];
  const rows = points.map((p) => [...features.map((one) => `${one.of(p.x1, p.x2)}`), plainLabel(classes[p.y])]);
  return [head, ...rows].map((row) => row.map(quoted).join(",")).join("\n") + "\n";
}

/** A label as Python reads it: with a plain minus sign, and without a plus. */
export const plainLabel = (label) => label.replace(/^−(?=\d)/, "-").replace(/^\+(?=\d)/, "");

export function toTabbed(lines, classes) {
  return lines.map((line) => `${classes[line.y]}\t${line.text}\n`).join("");
}
