// The marks of the classes: each class has a colour and a shape, so that colour alone never decides.

const CORNERS = [null, 4, 3, 4, 5, 10, 8, 6];
const TURNED = [0, Math.PI / 4, -Math.PI / 2, 0, -Math.PI / 2, -Math.PI / 2, 0, 0];
const SIZES = [1, 1.25, 1.35, 1.35, 1.2, 1.3, 1.1, 1.15];

/** The corners of a shape around 0 with a radius of about 1; null for a circle. */
export function cornersOf(k) {
  const kind = k % CORNERS.length;
  const count = CORNERS[kind];
  if (count === null) return null;
  return Array.from({ length: count }, (_, i) => {
    const angle = TURNED[kind] + (2 * Math.PI * i) / count;
    const reach = SIZES[kind] * (kind === 5 && i % 2 ? 0.5 : 1);
    return [reach * Math.cos(angle), reach * Math.sin(angle)];
  });
}

export function shapePath(k, x, y, r) {
  const corners = cornersOf(k);
  if (corners === null) return `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0Z`;
  return `${corners.map(([dx, dy], i) => `${i ? "L" : "M"}${(x + r * dx).toFixed(2)} ${(y + r * dy).toFixed(2)}`).join("")}Z`;
}

const SVG = "http://www.w3.org/2000/svg";

export function svgElement(name, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

/** A small mark of a class, for buttons and legends. */
export function swatch(k) {
  return svgElement(
    "svg",
    { class: "swatch", viewBox: "0 0 16 16", "aria-hidden": "true" },
    svgElement("path", { d: shapePath(k, 8, 8, 5.5), fill: `var(--class${k % 8})` }),
  );
}

export function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

/** A colour of the style sheet for a canvas, as the browser computes it, which depends on light and dark. */
export function colourOf(name, within) {
  const before = within.style.color;
  within.style.color = `var(--${name})`;
  const { color } = getComputedStyle(within);
  within.style.color = before;
  return color;
}

/** Fits a canvas to its size on the page. Returns its context, with a pixel of the page as its unit. */
export function fitted(canvas, width, height) {
  const ratio = Math.min(2, window.devicePixelRatio || 1);
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}
