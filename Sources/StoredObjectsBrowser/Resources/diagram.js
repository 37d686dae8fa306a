// The model as boxes and arrows.
import { h, s, link, classLink, classOf, store, crumbs, head, count } from "./dom.js";

export const width = 232;
const line = 19, gap = { x: 96, y: 40 }, top = 46;

/** Returns the columns of the boxes: a class is to the left of the classes that it refers to. */
function columns(classes) {
  const names = new Set(classes.map((known) => known.name));
  const level = new Map(classes.map((known) => [known.name, 0]));
  for (let round = 0; round < classes.length; round += 1) {
    let changed = false;
    for (const known of classes) {
      for (const property of known.properties) {
        if (!names.has(property.target) || property.target === known.name) continue;
        const wanted = level.get(known.name) + 1;
        if (level.get(property.target) < wanted && wanted < Math.min(4, classes.length)) { level.set(property.target, wanted); changed = true; }
      }
    }
    if (!changed) break;
  }
  const result = [];
  for (const known of classes) (result[level.get(known.name)] ??= []).push(known);
  return result.filter(Boolean);
}

/** Returns the boxes of classes with their places, and the size of the drawing. */
export function place(classes) {
  const boxes = new Map();
  let height = 0;
  const all = columns(classes);
  all.forEach((column, x) => {
    let y = 16;
    for (const known of column) {
      const shown = known.properties.slice(0, 14);
      const size = top + line * Math.max(1, shown.length + (known.properties.length > shown.length ? 1 : 0)) + 8;
      boxes.set(known.name, { known, shown, x: 16 + x * (width + gap.x), y, height: size });
      y += size + gap.y;
    }
    height = Math.max(height, y);
  });
  return { boxes, height, width: 32 + all.length * width + (all.length - 1) * gap.x };
}

const cut = (text, length) => (text.length > length ? text.slice(0, length - 1) + "…" : text);

/** Returns the box of a class: a link to its objects, or a group with other attributes. */
export function boxNode(box, attributes) {
  const { known } = box;
  const place = { transform: `translate(${box.x} ${box.y})` };
  const node = s(attributes ? "g" : "a", attributes ? { ...place, ...attributes } : { ...place, href: classLink(known.name), "aria-label": `${known.name}, ${count(known.count)} objects` },
    s("rect", { class: "box", width, height: box.height, rx: 10 }),
    s("text", { class: "title", x: 14, y: 24 }, cut(known.name, 22)),
    known.count === undefined ? null : s("text", { class: "type", x: width - 14, y: 24, "text-anchor": "end" }, count(known.count)),
    s("line", { class: "rule", x1: 0, x2: width, y1: 36, y2: 36 }));
  box.shown.forEach((property, index) => {
    const y = top + 10 + index * line;
    node.append(s("text", { x: 14, y }, cut(property.name, 17)), s("text", { class: "type", x: width - 14, y, "text-anchor": "end" }, cut(property.type, 15)));
  });
  if (known.properties.length > box.shown.length) node.append(s("text", { class: "type", x: 14, y: top + 10 + box.shown.length * line }, `and ${known.properties.length - box.shown.length} more`));
  return node;
}

/** Returns the arrow of a property. */
export function edgeNode(box, property, index, target) {
  const y = box.y + top + 6 + Math.min(index, 14) * line;
  const isRight = target.x > box.x;
  const isSame = target.x === box.x;
  const x = isRight || isSame ? box.x + width : box.x;
  const end = isSame ? target.x + width : isRight ? target.x : target.x + width;
  const endY = target.y + 20;
  const bend = isSame ? 46 : Math.abs(end - x) / 2;
  const first = isRight || isSame ? x + bend : x - bend;
  const second = isSame ? end + bend : isRight ? end - bend : end + bend;
  return s("g", {}, s("path", { class: "edge", d: `M${x} ${y} C${first} ${y} ${second} ${endY} ${end} ${endY}`, "marker-end": property.isList ? "url(#many)" : "url(#one)" }),
    s("title", {}, `${box.known.name}.${property.name}: ${property.type}`));
}

/** Returns the heads of the arrows. */
export function markers() {
  return s("defs", {},
    s("marker", { id: "one", viewBox: "0 0 10 10", refX: 9, refY: 5, markerWidth: 8, markerHeight: 8, orient: "auto-start-reverse" }, s("path", { class: "edge", d: "M1 1 L9 5 L1 9" })),
    s("marker", { id: "many", viewBox: "0 0 14 10", refX: 13, refY: 5, markerWidth: 11, markerHeight: 8, orient: "auto-start-reverse" }, s("path", { class: "edge", d: "M1 1 L9 5 L1 9 M5 1 L13 5 L5 9" })));
}

/** The view of the model. */
export function modelView() {
  const classes = store.info.classes;
  const editor = h("a", { class: "button", id: "edit-model", href: link("model/edit") }, "Edit the model");
  if (!classes.length) return h("div", {}, head("Model", editor), h("p", { class: "panel soft" }, "The store has no classes."));
  const { boxes, height, width: whole } = place(classes);
  const svg = s("svg", { width: whole, height, viewBox: `0 0 ${whole} ${height}`, role: "group", "aria-label": "Classes and their references" },
    markers());
  for (const box of boxes.values()) {
    box.known.properties.forEach((property, index) => {
      const target = boxes.get(property.target);
      if (target) svg.append(edgeNode(box, property, index, target));
    });
  }
  for (const box of boxes.values()) svg.append(boxNode(box));
  return h("div", {}, crumbs([store.info.name, link("")], ["Model"]), head("Model", editor),
    h("p", { class: "soft" }, "An arrow with one head leads to one object, an arrow with two heads to several."),
    h("div", { class: "panel diagram", tabindex: "0", role: "region", "aria-label": "Diagram" }, svg));
}
