// One object: its values, its lists, and the objects that refer to it.
import { h, get, shown, count, counted, bytes, link, objectLink, classLink, classOf, store, crumbs, head, toast } from "./dom.js";
import { cellNode } from "./tables.js";
import { canEdit, deleteObject, editButton, listTools, listAdder } from "./editing.js";

/** Returns the parts of an ID. */
export const parts = (id) => {
  const slash = id.lastIndexOf("/");
  return { className: id.slice(0, slash), row: Number(id.slice(slash + 1)) };
};

function textNode(object, property) {
  const cell = property.value;
  const text = h("div", { class: cell.cut ? "long" : null, tabindex: cell.cut ? "0" : null, "aria-label": cell.cut ? property.name : null, role: cell.cut ? "region" : null }, shown(cell.s ?? ""));
  if (!cell.cut) return cell.s === undefined ? h("div", {}, h("span", { class: "none" }, "empty text")) : text;
  let next = 0;
  const button = h("button", { type: "button", "data-focus": `more-${property.name}`, onclick: async () => {
    button.disabled = true;
    try {
      const part = await get("text", { id: object.id, property: property.name, from: next, limit: 262144, asOf: store.asOf });
      if (next === 0) text.replaceChildren();
      text.append(shown(part.text));
      next = part.next;
      button.disabled = false;
      if (next === undefined) button.remove();
      else button.textContent = `Show more (${bytes(part.bytes - next)} left)`;
    } catch (error) { button.disabled = false; toast(error.message); }
  } }, `Show all (${bytes(cell.cut)})`);
  return h("div", {}, text, button);
}

function listItem(object, property, item, index) {
  const target = item.title === undefined
    ? h("span", { class: "none" }, shown(item.s, true), " is missing")
    : h("a", { href: objectLink(item.id), "data-focus": `${property.name}-${index}` }, shown(item.title, true), " ", h("span", { class: "soft id" }, item.id));
  return h("li", { "data-index": index }, h("span", { class: "place", "aria-hidden": "true" }, index + 1), target,
    canEdit() ? listTools(object, property, index) : null);
}

function listNode(object, property) {
  const cell = property.value;
  const list = h("ol", { class: "list", "aria-label": `${property.name}, ${counted(cell.n ?? 0, "object", "objects")}` },
    (cell.items ?? []).map((item, index) => listItem(object, property, item, index)));
  let shownCount = (cell.items ?? []).length;
  const more = h("button", { type: "button", "data-focus": `more-${property.name}`, onclick: async () => {
    more.disabled = true;
    try {
      const part = await get("list", { id: object.id, property: property.name, from: shownCount, limit: 100, asOf: store.asOf });
      list.append(...part.items.map((item, index) => listItem(object, property, item, shownCount + index)));
      shownCount += part.items.length;
      update();
    } catch (error) { toast(error.message); }
    more.disabled = false;
  } });
  const update = () => {
    more.hidden = shownCount >= (cell.n ?? 0);
    more.textContent = `Show more (${count((cell.n ?? 0) - shownCount)} left)`;
  };
  update();
  return h("div", {}, cell.n ? list : h("span", { class: "none" }, "no objects"), more, canEdit() ? listAdder(object, property) : null);
}

function valueNode(object, property) {
  const { k } = property.value;
  if (k === "text" || k === "list") return textNode(object, property);
  if (k === "references") return listNode(object, property);
  if (k === "reference") {
    return h("div", {}, property.value.title === undefined ? cellNode(property.value)
      : h("a", { href: objectLink(property.value.id), "data-focus": `value-${property.name}` }, shown(property.value.title, true), " ", h("span", { class: "soft id" }, property.value.id)));
  }
  return h("div", {}, cellNode(property.value));
}

/** Returns a property of an object: its name, and its value with a button for editing. */
export function propertyNodes(object, property) {
  const value = h("div", { class: "value" }, valueNode(object, property));
  const node = h("dd", { "data-property": property.name }, value);
  const button = canEdit() ? editButton(object, property, node) : null;
  if (button) value.append(button);
  return [h("dt", {}, shown(property.name, true), h("small", {}, shown(property.type, true))), node];
}

function referrersNode(object, signal) {
  const list = h("ul", { class: "hits" });
  const status = h("p", { class: "soft", role: "status" }, "Looking for objects that refer to this one…");
  const more = h("button", { type: "button", hidden: true, onclick: () => read() }, "Look further");
  let cursor, found = 0;
  const read = async () => {
    more.hidden = true;
    try {
      for (let calls = 0; calls < 40; calls += 1) {
        const page = await get("referrers", { id: object.id, cursor, asOf: store.asOf }, signal);
        for (const { value, property } of page.referrers) {
          found += 1;
          list.append(h("li", {}, h("a", { href: objectLink(value.id) }, shown(value.title ?? value.id, true)), " ", h("span", { class: "where" }, value.id, " · ", shown(property, true))));
        }
        cursor = page.cursor;
        status.textContent = cursor
          ? `${counted(found, "reference", "references")} so far, ${count(page.done)} of ${counted(page.of, "object", "objects")} looked at`
          : found ? counted(found, "reference", "references") : "No object refers to this one.";
        if (!cursor) return;
        if (found >= 50 * (1 + Math.floor((found - 1) / 50)) && page.referrers.length) break;
      }
      more.hidden = false;
    } catch (error) { if (error.name !== "AbortError") status.textContent = error.message; }
  };
  read();
  return h("section", { class: "panel", "aria-labelledby": "referrers-title" }, h("h2", { id: "referrers-title" }, "Referred to by"), status, list, more);
}

/** The view of an object. */
export async function objectView(route, signal) {
  const object = route.object ?? await get("object", { id: route.id, asOf: store.asOf }, signal);
  const { className, row } = parts(object.id);
  const known = classOf(className);
  const step = (other, label, id) => other
    ? h("a", { class: "button", id, href: objectLink(`${className}/${other}`), "data-focus": id }, label)
    : h("button", { type: "button", disabled: true }, label);
  const actions = [step(object.before, "Previous", "previous"), step(object.after, "Next", "next")];
  if (canEdit()) actions.push(h("button", { type: "button", class: "danger", id: "delete", onclick: () => deleteObject(object) }, "Delete"));
  const layout = known && known.layouts > 1 ? ` · layout ${object.layout}` : "";
  return h("div", { "data-object": object.id, "data-version": object.version },
    crumbs([store.info.name, link("")], [className, classLink(className)], [String(row)]),
    head(object.title, actions),
    h("p", { class: "soft" }, object.id, " · ", bytes(object.bytes), layout),
    route.notice ? h("p", { class: "notice", role: "alert" }, shown(route.notice)) : null,
    h("section", { class: "panel", "aria-label": "Values" },
      object.properties.length ? h("dl", { class: "properties" }, object.properties.map((property) => propertyNodes(object, property))) : h("p", { class: "soft" }, "The store does not know the properties of this object."),
      object.hex ? h("pre", { class: "hex" }, object.hex.match(/.{1,2}/g).join(" ")) : null),
    referrersNode(object, signal));
}
