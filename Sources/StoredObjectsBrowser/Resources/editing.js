// Editing: each change is one save. A change that is based on old values is refused.
import { h, post, shown, count, link, objectLink, classLink, classOf, store, toast, ask, crumbs, head, followPointer, Refusal } from "./dom.js";

export const canEdit = () => store.info.canWrite && !store.asOf;
const hooks = { render: () => {} };
/** Sets the function that shows the current view again. */
export const setRender = (render) => { hooks.render = render; };

const choices = {
  references: [["Delete and clear references", ["references"], "danger"]],
  duplicate: [["Save anyway", ["duplicate"], "danger"]],
  bothSides: [["Only this side", ["oneSide"]], ["Both sides", ["bothSides"], "main"]],
};

/** Saves actions; asks for what has to be confirmed. Returns the result, or undefined. */
export async function save(actions, confirm = []) {
  try {
    const result = await post("edit", { actions, confirm });
    if (result.cleared.length) toast(`Saved. The program will build again: ${result.cleared.join(", ")}.`);
    else toast(`Saved: ${result.title}`);
    return result;
  } catch (error) {
    if (!(error instanceof Refusal) || error.body.kind !== "unconfirmed") throw error;
    const answer = await ask("Please confirm", error.message, choices[error.body.confirmation] ?? []);
    return answer ? save(actions, [...confirm, ...answer]) : undefined;
  }
}

/** Saves actions and shows the result; returns whether they were saved. */
async function saveAndShow(actions, typed) {
  try {
    const result = await save(actions);
    if (result) await hooks.render({ quiet: true });
    return result;
  } catch (error) {
    if (error instanceof Refusal && error.body.kind === "conflict") {
      await hooks.render({ quiet: true, notice: `${error.message}${typed ? ` You had typed: ${typed}` : ""}` });
    } else toast(error.message);
    return undefined;
  }
}

/** Undoes or redoes the last edit. */
export async function undo(isRedo = false) {
  try {
    const result = await post(isRedo ? "redo" : "undo");
    toast(result.title);
    await hooks.render({ quiet: true });
  } catch (error) { toast(error.message); }
}

// Values

function inputFor(property, value, id) {
  const label = { id, "data-focus": id, "aria-label": property.name };
  switch (property.form) {
    case "bool": return h("select", label, ["true", "false"].map((text) => h("option", { value: text, selected: value === text }, text)));
    case "choice": if (property.cases) return h("select", label, property.cases.map((text) => h("option", { value: text, selected: value === text }, text))); break;
    case "text": if ((value ?? "").includes("\n") || (value ?? "").length > 60) return h("textarea", { ...label, value }); break;
    case "json": return h("textarea", { ...label, value, spellcheck: "false", class: "mono" });
  }
  const mode = { integer: "numeric", number: "decimal" }[property.form];
  const placeholder = { date: "2026-11-25T18:30:00Z", reference: `${property.target || "Class"}/42`, uuid: "UUID" }[property.form];
  return h("input", { ...label, type: "text", value: value ?? "", inputmode: mode, placeholder, autocomplete: "off", spellcheck: "false" });
}

function propertyOf(object, name) {
  return classOf(object.id.slice(0, object.id.lastIndexOf("/")))?.properties.find((property) => property.name === name);
}

/** Returns the button that edits a value in its place. */
export function editButton(object, property, node) {
  const known = propertyOf(object, property.name);
  const { k, cut } = property.value;
  if (!known || ["references", "opaque", "bytes"].includes(known.form) || k === "damaged" || cut) return null;
  return h("button", { type: "button", class: "plain edit", "data-focus": `edit-${property.name}`, "aria-label": `Edit ${property.name}`,
    onclick: () => openEditor(object, property, known, node) }, "Edit");
}

function openEditor(object, property, known, node) {
  const before = [...node.childNodes];
  const isNone = property.value.k === "none";
  const input = inputFor(known, property.value.id ?? property.value.s, `input-${property.name}`);
  const close = () => { node.replaceChildren(...before); node.querySelector("[data-focus^=edit-]")?.focus(); };
  const write = async (value) => {
    for (const button of form.querySelectorAll("button")) button.disabled = true;
    const isSaved = await saveAndShow([{ do: "set", id: object.id, version: object.version, values: { [property.name]: value } }], value);
    if (!isSaved) for (const button of form.querySelectorAll("button")) button.disabled = false;
  };
  const form = h("form", { class: "editor", onsubmit: (event) => { event.preventDefault(); write(input.value); } }, input,
    h("div", { class: "row" }, h("button", { type: "submit", class: "main" }, "Save"), h("button", { type: "button", onclick: close }, "Cancel"),
      known.isOptional && !isNone ? h("button", { type: "button", onclick: () => write(null) }, "Set to none") : null));
  form.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { event.preventDefault(); event.stopPropagation(); close(); }
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); write(input.value); }
  });
  node.replaceChildren(form);
  input.focus();
  input.select?.();
}

// Lists

async function move(object, property, from, to) {
  if (from === to || to < 0 || to >= property.value.n) return;
  const isSaved = await saveAndShow([{ do: "move", id: object.id, version: object.version, property: property.name, from, to }]);
  if (isSaved) document.querySelector(`[data-property="${CSS.escape(property.name)}"] li[data-index="${to}"] .handle`)?.focus();
}

/** Returns the buttons that move and remove an object of a list. */
export function listTools(object, property, index) {
  const button = (label, text, action, more) => h("button", { type: "button", class: "plain", "aria-label": `${label}, place ${index + 1} of ${property.name}`, title: label, onclick: action, ...more }, text);
  const tools = h("span", { class: "tools" });
  if (!propertyOf(object, property.name)?.isSet) {
    const handle = button("Drag to move, or use Alt and an arrow key", "⠿", () => {}, { class: "plain handle", "data-focus": `handle-${property.name}-${index}` });
    handle.addEventListener("pointerdown", (event) => startDrag(event, object, property, index));
    tools.append(handle,
      button("Move up", "↑", () => move(object, property, index, index - 1), { disabled: index === 0 }),
      button("Move down", "↓", () => move(object, property, index, index + 1), { disabled: index + 1 >= property.value.n }));
    tools.addEventListener("keydown", (event) => {
      const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
      if (!step || !event.altKey) return;
      event.preventDefault();
      move(object, property, index, index + step);
    });
  }
  tools.append(button("Remove", "✕", () => saveAndShow([{ do: "remove", id: object.id, version: object.version, property: property.name, at: index }])));
  return tools;
}

function startDrag(event, object, property, from) {
  const handle = event.currentTarget;
  const item = handle.closest("li");
  const list = item.closest("ol");
  let to = from;
  const clear = () => list.querySelectorAll(".over, .over-after").forEach((node) => node.classList.remove("over", "over-after"));
  const isFollowed = followPointer(event, handle, (next) => {
    clear();
    const items = [...list.children];
    const target = items.find((node) => next.clientY < node.getBoundingClientRect().bottom) ?? items.at(-1);
    to = Number(target.dataset.index);
    if (to !== from) target.classList.add(to > from ? "over-after" : "over");
  }, (last) => {
    item.classList.remove("dragged");
    clear();
    if (last.type === "pointerup") move(object, property, from, to);
  });
  if (!isFollowed) return;
  handle.focus();
  item.classList.add("dragged");
}

/** Returns the form that adds an object to a list. */
export function listAdder(object, property) {
  const known = propertyOf(object, property.name);
  if (!known) return null;
  const id = `add-${property.name}`;
  const input = h("input", { id, "data-focus": id, type: "text", placeholder: `${known.target || "Class"}/42`, "aria-label": `Add an object to ${property.name}`, autocomplete: "off", spellcheck: "false" });
  return h("form", { class: "query", onsubmit: (event) => {
    event.preventDefault();
    const text = input.value.trim();
    if (!text) return;
    const reference = /^[0-9]+$/.test(text) ? `${known.target}/${text}` : text;
    saveAndShow([{ do: "add", id: object.id, version: object.version, property: property.name, at: property.value.n ?? 0, reference }]);
  } }, input, h("button", { type: "submit" }, "Add"));
}

// Objects

export async function deleteObject(object) {
  const answer = await ask(`Delete ${object.id}?`, `“${object.title}” is deleted in one save, which you can undo.`, [["Delete", true, "danger"]]);
  if (!answer) return;
  try {
    const result = await save([{ do: "delete", id: object.id, version: object.version }]);
    if (result) location.hash = classLink(object.id.slice(0, object.id.lastIndexOf("/")));
  } catch (error) {
    if (error instanceof Refusal && error.body.kind === "conflict") await hooks.render({ quiet: true, notice: error.message });
    else toast(error.message);
  }
}

/** The view that inserts an object. */
export function newView(route) {
  const known = classOf(route.name);
  if (!known) throw new Error(`There is no class “${route.name}” in this store.`);
  if (!canEdit()) throw new Error("The store is open for reading only.");
  const inputs = known.properties.filter((property) => !["references", "opaque", "bytes", "json"].includes(property.form))
    .map((property) => {
      const input = inputFor(property, undefined, `new-${property.name}`);
      if (input.tagName === "SELECT") input.prepend(h("option", { value: "", selected: true }, property.isOptional ? "none" : "default"));
      return { property, input };
    });
  const problem = h("div", {});
  const form = h("form", { class: "panel editor", onsubmit: async (event) => {
    event.preventDefault();
    const values = {};
    for (const { property, input } of inputs) if (input.value !== "") values[property.name] = input.value;
    try {
      const result = await save([{ do: "insert", class: known.name, values }]);
      if (result) location.hash = objectLink(result.ids[0]);
    } catch (error) { problem.replaceChildren(h("p", { class: "notice bad", role: "alert" }, shown(error.message))); }
  } }, inputs.map(({ property, input }) => h("div", {}, h("label", { for: `new-${property.name}` }, shown(property.name, true), " ", h("span", { class: "soft" }, property.type)), input)),
    problem, h("div", { class: "row" }, h("button", { type: "submit", class: "main" }, `Insert ${known.name}`), h("a", { class: "button", href: classLink(known.name) }, "Cancel")));
  return h("div", {}, crumbs([store.info.name, link("")], [known.name, classLink(known.name)], ["New"]), head(`New ${known.name}`),
    h("p", { class: "soft" }, `Empty fields get the value of a new object. ${count(known.count)} objects exist.`), form);
}
