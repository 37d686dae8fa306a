// The editor of models: boxes and arrows that can be dragged, a form for the chosen class, and a list
// of enumerations.
import { h, s, get, post, shown, link, store, crumbs, head, ask, toast, followPointer } from "./dom.js";
import { markers, place, boxNode, edgeNode, width } from "./diagram.js";

const indexes = [["none", "No index"], ["plain", "Index"], ["unique", "Unique index"], ["folded", "Index without case and accents"]];
const rules = [["nullify", "Clear references"], ["cascade", "Delete the objects, too"], ["deny", "Refuse while there are any"], ["noAction", "Do nothing"]];
const kinds = { error: "Error", loss: "Loses values", change: "Change", same: "Nothing" };
const rawTypes = ["String", "Int", "Int8", "Int16", "Int32", "UInt8", "UInt16", "UInt32", "UInt64"];
const step = 16;
const words = /[\p{L}_][\p{L}\p{N}_]*/gu;
// Names in types that are not the names of types alone.
const generics = ["Array", "Dictionary", "Optional", "Set", "StoredObject"];

let design;
let past = [];
let future = [];
let chosen;
let parts;
let request = 0;

const storageKey = () => `design ${store.info.location}`;
const copy = () => JSON.stringify(design);
const keep = () => { try { sessionStorage.setItem(storageKey(), copy()); } catch { /* It is kept as long as the page is open. */ } };
const named = (name) => design.classes.find((known) => known.name === name);
const free = (name, taken) => { let number = 1; let result = name; while (taken.includes(result)) { number += 1; result = name + number; } return result; };

/** The names of classes and enumerations, which have to differ. */
const typeNames = () => [...design.classes, ...design.enumerations].map(({ name }) => name);

/** Returns the reason why a class or an enumeration can't have a name. */
function refusal(name, noun) {
  if (!name) return `${noun === "class" ? "A" : "An"} ${noun} needs a name.`;
  if (named(name)) return `There is a class ${name} already.`;
  if (design.enumerations.some((known) => known.name === name)) return `There is an enumeration ${name} already.`;
  // Otherwise, the types of properties could not be distinguished afterwards.
  return [...design.types, ...generics].includes(name) ? `There is a type ${name} already.` : undefined;
}

/** Returns the class that a type refers to, and whether to several objects. */
function reference(type) {
  const match = /^(?:\[(.+)\]|Set<(.+)>|(.+)\?)$/u.exec(type.replaceAll(" ", ""));
  const name = match?.[1] ?? match?.[2] ?? match?.[3];
  return name && named(name) ? { target: name, isList: match[3] === undefined } : {};
}

/** Changes the model, so that it can be undone, and shows it; a quiet change only moves boxes. */
async function change(edit, { isQuiet = false } = {}) {
  const before = copy();
  edit();
  if (copy() === before) return;
  past.push(before);
  future = [];
  keep();
  if (isQuiet) { draw(); buttons(); return; }
  // Later, because the focus is moving to another field of the form just now.
  await new Promise((resolve) => setTimeout(resolve));
  update();
}

/** Undoes or redoes the last change of the model. */
export function undoDesign(isRedo) {
  const [from, to] = isRedo ? [future, past] : [past, future];
  if (!from.length) return;
  to.push(copy());
  design = JSON.parse(from.pop());
  if (!named(chosen)) chosen = design.classes[0]?.name;
  keep();
  update();
}

function fresh(model) {
  const classes = model.classes.map((known) => ({ ...known, isStored: true,
    properties: known.properties.map((property) => ({ ...property, saved: property.name, inverse: property.inverse ?? "" })) }));
  design = { types: model.types, enumerations: model.enumerations, classes };
  const { boxes } = place(classes.map(drawn));
  for (const known of classes) { const box = boxes.get(known.name); [known.x, known.y] = [box.x, box.y]; }
}

const drawn = (known) => ({ name: known.name, properties: known.properties.map((property) => ({ ...property, ...reference(property.type) })) });

// Changes

async function addClass() {
  await change(() => {
    const name = free("NewClass", typeNames());
    const x = 16 + (design.classes.length % 4) * step;
    design.classes.push({ name, storedName: name, isStored: false, version: 0, properties: [], compoundIndexes: [], x, y: Math.max(16, ...design.classes.map((known) => known.y + 170)) });
    chosen = name;
  });
  document.getElementById("class-name")?.focus();
}

function removeClass(known) {
  change(() => {
    design.classes.splice(design.classes.indexOf(known), 1);
    removeUses(known.name);
    chosen = design.classes[0]?.name;
  });
}

/** Removes the properties with a type, and says which. */
function removeUses(name) {
  const removed = [];
  for (const known of design.classes) {
    for (const property of known.properties.filter(({ type }) => type.match(words)?.includes(name))) {
      cutProperty(known, property);
      removed.push(`${known.name}.${property.name}`);
    }
  }
  if (removed.length) toast(`Also removed: ${removed.join(", ")}. You can undo this.`);
}

function renameClass(known, name) {
  if (name === known.name) return;
  const reason = refusal(name, "class");
  if (reason) {
    toast(reason);
    form();
    return;
  }
  change(() => {
    renameUses(known.name, name);
    known.name = name;
    if (!known.isStored) known.storedName = name;
    chosen = name;
  });
}

/** Renames a type in the types of properties. */
function renameUses(old, name) {
  // A name with an error may have other characters than a word.
  const isWord = old.match(words)?.[0] === old;
  for (const property of design.classes.flatMap((known) => known.properties)) {
    property.type = isWord ? property.type.replace(words, (word) => (word === old ? name : word)) : property.type.replaceAll(old, () => name);
  }
}

async function addEnumeration() {
  await change(() => design.enumerations.push({ name: free("NewEnumeration", typeNames()), rawType: "String", cases: "" }));
  const name = parts.enumerations.querySelector("li:last-child input");
  name?.focus();
  name?.select();
}

function renameEnumeration(known, name) {
  if (name === known.name) return;
  const reason = refusal(name, "enumeration");
  if (reason) {
    toast(reason);
    enumerations();
    return;
  }
  change(() => {
    renameUses(known.name, name);
    known.name = name;
  });
}

function removeEnumeration(known) {
  change(() => {
    design.enumerations.splice(design.enumerations.indexOf(known), 1);
    removeUses(known.name);
  });
}

function addProperty(known, property) {
  return change(() => known.properties.push({ type: "String", formerNames: [], index: "none", isFullText: false, inverse: "", deleteRule: "nullify", ...property, name: free(property.name, known.properties.map((other) => other.name)) }));
}

function renameProperty(known, property, name) {
  change(() => {
    for (const other of design.classes.flatMap((each) => each.properties)) {
      if (other.inverse === property.name && reference(other.type).target === known.name) other.inverse = name;
    }
    known.compoundIndexes = known.compoundIndexes.map((names) => names.map((other) => (other === property.name ? name : other)));
    property.name = name;
  });
}

function removeProperty(known, property) {
  change(() => cutProperty(known, property));
}

function cutProperty(known, property) {
  known.properties.splice(known.properties.indexOf(property), 1);
  known.compoundIndexes = known.compoundIndexes.map((names) => names.filter((name) => name !== property.name)).filter((names) => names.length > 1);
}

async function addIndex(known) {
  const free = known.properties.filter((property) => !/^(\[|Set<)/u.test(property.type)).map((property) => property.name);
  await change(() => known.compoundIndexes.push(free.slice(0, 2)));
  parts.form.querySelector("ul.indexes > li:last-child input")?.select();
}

function setInverse(known, property, inverse) {
  change(() => {
    const target = named(reference(property.type).target);
    for (const other of target?.properties ?? []) {
      if (other.inverse === property.name && reference(other.type).target === known.name) other.inverse = "";
      if (other.name === inverse) other.inverse = property.name;
    }
    property.inverse = inverse;
  });
}

async function connect(from, to) {
  const kind = await ask(`${from.name} refers to ${to.name}`, "How many objects?", [["Several, in order", "many"], ["One", "one", "main"]]);
  if (!kind) return;
  const name = to.name[0].toLowerCase() + to.name.slice(1);
  addProperty(from, kind === "one" ? { name, type: `${to.name}?` } : { name: `${name}s`, type: `[${to.name}]` });
}

// The drawing

function draw() {
  const boxes = new Map(design.classes.map((known) => {
    const box = place([drawn(known)]).boxes.get(known.name);
    return [known.name, { ...box, x: known.x, y: known.y }];
  }));
  const size = [...boxes.values()].reduce((most, box) => ({ width: Math.max(most.width, box.x + width + 80), height: Math.max(most.height, box.y + box.height + 40) }), { width: 480, height: 240 });
  const svg = s("svg", { width: size.width, height: size.height, viewBox: `0 0 ${size.width} ${size.height}`, role: "group", "aria-label": "Classes of the model" }, markers());
  for (const box of boxes.values()) {
    box.known.properties.forEach((property, index) => { const target = boxes.get(property.target); if (target) svg.append(edgeNode(box, property, index, target)); });
  }
  for (const known of design.classes) svg.append(boxOf(known, boxes.get(known.name), svg));
  const focused = document.activeElement?.dataset?.box;
  parts.drawing.replaceChildren(svg);
  if (focused) svg.querySelector(`[data-box="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
}

function boxOf(known, box, svg) {
  const node = boxNode(box, { "data-box": known.name, role: "button", tabindex: "0", "aria-pressed": String(known.name === chosen), class: known.name === chosen ? "chosen" : null,
    "aria-label": `${known.name}. Return edits it, arrow keys move it.` });
  const handle = s("circle", { class: "connector", cx: width, cy: 18, r: 8 }, s("title", {}, "Drag to another class to refer to it"));
  node.append(handle);
  node.addEventListener("pointerdown", (event) => (event.target === handle ? drawArrow(event, known, box, svg) : move(event, known, node)));
  node.addEventListener("keydown", (event) => {
    const moves = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] };
    const by = moves[event.key];
    if (by) change(() => { known.x = Math.max(0, known.x + by[0]); known.y = Math.max(0, known.y + by[1]); }, { isQuiet: true });
    else if (event.key === "Enter" || event.key === " ") { choose(known.name); document.getElementById("class-name").focus(); } else return;
    event.preventDefault();
  });
  return node;
}

function choose(name) { chosen = name; draw(); form(); }

function move(event, known, node) {
  const start = [event.clientX, event.clientY, known.x, known.y];
  let at = [known.x, known.y];
  followPointer(event, node, (next) => {
    at = [Math.max(0, start[2] + next.clientX - start[0]), Math.max(0, start[3] + next.clientY - start[1])];
    node.setAttribute("transform", `translate(${at[0]} ${at[1]})`);
  }, () => {
    chosen = known.name;
    change(() => { [known.x, known.y] = at; }, { isQuiet: true });
    choose(known.name);
  });
}

function drawArrow(event, known, box, svg) {
  const line = s("path", { class: "edge drawn", "marker-end": "url(#one)" });
  svg.append(line);
  const frame = () => svg.getBoundingClientRect();
  followPointer(event, event.target, (next) => {
    const { left, top } = frame();
    line.setAttribute("d", `M${box.x + width} ${box.y + 18} L${next.clientX - left} ${next.clientY - top}`);
  }, (last) => {
    line.remove();
    const name = document.elementFromPoint(last.clientX, last.clientY)?.closest("[data-box]")?.dataset.box;
    if (name && named(name)) connect(known, named(name));
  });
}

// The form

const option = (value, text, isChosen) => h("option", { value, selected: isChosen }, text);
const field = (label, control) => h("label", {}, h("span", {}, label), control);

function form() {
  const known = named(chosen);
  const focus = document.activeElement?.dataset?.focus;
  if (!known) { parts.form.replaceChildren(h("p", { class: "soft" }, "Add a class, or choose one in the drawing.")); return; }
  parts.form.replaceChildren(
    h("h2", {}, shown(known.name, true)), ...(known.note ? [h("p", { class: "notice" }, shown(known.note))] : []),
    h("div", { class: "row" },
      field("Name", h("input", { id: "class-name", "data-focus": "class-name", value: known.name, spellcheck: "false", onchange: (event) => renameClass(known, event.target.value.trim()) })),
      field("Version", h("input", { type: "number", min: "0", max: "255", "data-focus": "version", value: String(known.version), onchange: (event) => change(() => { known.version = Math.min(255, Math.max(0, Math.round(Number(event.target.value)))); }) })),
      h("button", { type: "button", class: "danger", onclick: () => removeClass(known) }, "Remove class")),
    h("ol", { class: "designed" }, known.properties.map((property, index) => propertyRow(known, property, index))),
    h("ul", { class: "designed indexes", "aria-label": "Indexes of several properties" }, known.compoundIndexes.map((names, index) => indexRow(known, names, index))),
    h("div", { class: "row" }, h("button", { type: "button", id: "add-property", "data-focus": "add-property", onclick: async () => { await addProperty(known, { name: "property" }); parts.form.querySelector("ol.designed > li:last-child input")?.select(); } }, "Add property"),
      h("button", { type: "button", id: "add-index", "data-focus": "add-index", disabled: known.properties.length < 2, onclick: () => addIndex(known) }, "Add index of several"),
      field("Add reference to", h("select", { "data-focus": "add-reference", onchange: (event) => { const to = named(event.target.value); event.target.value = ""; if (to) connect(known, to); } },
        option("", "Choose a class", true), design.classes.map((other) => option(other.name, other.name))))));
  if (focus) parts.form.querySelector(`[data-focus="${CSS.escape(focus)}"]`)?.focus({ preventScroll: true });
}

function propertyRow(known, property, index) {
  const key = (name) => `${name}-${index}`;
  const { target } = reference(property.type);
  const counterparts = (named(target)?.properties ?? []).filter((other) => reference(other.type).target === known.name && !(target === known.name && other === property));
  const swap = (by) => change(() => { const list = known.properties; [list[index], list[index + by]] = [list[index + by], list[index]]; });
  const tool = (label, sign, isOff, action) => h("button", { type: "button", class: "plain", "aria-label": `${label}: ${property.name}`, title: label, disabled: isOff, "data-focus": key(label), onclick: action }, sign);
  return h("li", { "data-designed": property.name },
    field("Property", h("input", { "data-focus": key("name"), value: property.name, spellcheck: "false", onchange: (event) => renameProperty(known, property, event.target.value.trim()) })),
    field("Type", h("input", { "data-focus": key("type"), value: property.type, list: "types", spellcheck: "false", class: "mono", onchange: (event) => change(() => { property.type = event.target.value.trim(); if (!reference(property.type).target) { property.inverse = ""; property.deleteRule = "nullify"; } }) })),
    field("Index", h("select", { "data-focus": key("index"), onchange: (event) => change(() => { property.index = event.target.value; }) }, indexes.map(([value, text]) => option(value, text, property.index === value)))),
    target ? [
      field("Inverse", h("select", { "data-focus": key("inverse"), onchange: (event) => setInverse(known, property, event.target.value) }, option("", "None", !property.inverse), counterparts.map((other) => option(other.name, `${target}.${other.name}`, property.inverse === other.name)))),
      field("When deleted", h("select", { "data-focus": key("rule"), onchange: (event) => change(() => { property.deleteRule = event.target.value; }) }, rules.map(([value, text]) => option(value, text, property.deleteRule === value)))),
    ] : ["String", "String?"].includes(property.type) ? h("label", { class: "check" }, h("input", { type: "checkbox", "data-focus": key("texts"), checked: property.isFullText, onchange: (event) => change(() => { property.isFullText = event.target.checked; }) }), h("span", {}, "Full text")) : null,
    h("div", { class: "tools" }, tool("Up", "↑", index === 0, () => swap(-1)), tool("Down", "↓", index === known.properties.length - 1, () => swap(1)),
      tool("Remove", "✕", false, () => removeProperty(known, property))));
}

function indexRow(known, names, index) {
  const set = (text) => change(() => { known.compoundIndexes[index] = text.split(",").map((name) => name.trim()).filter((name) => name); });
  return h("li", {},
    field("Index of several properties, the first counts most", h("input", { "data-focus": `compound-${index}`, value: names.join(", "), spellcheck: "false", onchange: (event) => set(event.target.value) })),
    h("div", { class: "tools" }, h("button", { type: "button", class: "plain", "aria-label": `Remove index: ${names.join(", ")}`, title: "Remove", "data-focus": `remove-compound-${index}`, onclick: () => change(() => known.compoundIndexes.splice(index, 1)) }, "✕")));
}

// The enumerations

function enumerations() {
  const focus = document.activeElement?.dataset?.focus;
  parts.enumerations.replaceChildren(...design.enumerations.map(enumerationRow));
  if (!focus?.startsWith("enumeration-")) return;
  // The last enumeration may be gone.
  const same = parts.enumerations.querySelector(`[data-focus="${CSS.escape(focus)}"]`);
  (same ?? document.getElementById("add-enumeration"))?.focus({ preventScroll: true });
}

function enumerationRow(known, index) {
  const key = (name) => `enumeration-${name}-${index}`;
  const choices = rawTypes.includes(known.rawType) ? rawTypes : [...rawTypes, known.rawType];
  return h("li", { "data-enumeration": known.name },
    field("Enumeration", h("input", { "data-focus": key("name"), value: known.name, spellcheck: "false", onchange: (event) => renameEnumeration(known, event.target.value.trim()) })),
    field("Raw values", h("select", { "data-focus": key("type"), onchange: (event) => change(() => { known.rawType = event.target.value; }) }, choices.map((type) => option(type, type, known.rawType === type)))),
    field("Cases, with commas between them", h("input", { "data-focus": key("cases"), value: known.cases, placeholder: "calm, loud", spellcheck: "false", class: "mono", onchange: (event) => change(() => { known.cases = event.target.value.trim(); }) })),
    h("div", { class: "tools" }, h("button", { type: "button", class: "plain", "aria-label": `Remove enumeration: ${known.name}`, title: "Remove", "data-focus": key("remove"), onclick: () => removeEnumeration(known) }, "✕")));
}

/** Returns the action that shows where a finding is; undefined if it is about the whole model. */
function showing(name) {
  if (named(name)) return () => choose(name);
  const index = design.enumerations.findIndex((known) => known.name === name);
  return index < 0 ? undefined : () => parts.enumerations.querySelector(`[data-focus="enumeration-name-${index}"]`)?.focus();
}

// The server's answer

function payload() {
  return { enumerations: design.enumerations, classes: design.classes.map(({ name, storedName, version, compoundIndexes, properties }) => ({ name, storedName, version, compoundIndexes, properties: properties.map((property) => ({
    name: property.name, type: property.type, index: property.index, isFullText: property.isFullText, inverse: property.inverse, deleteRule: property.deleteRule,
    formerNames: [...new Set([...property.formerNames, ...(property.saved && property.saved !== property.name ? [property.saved] : [])])].filter((name) => name !== property.name) })) })) };
}

function save(text) {
  const address = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  h("a", { href: address, download: "Model.swift" }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

async function examine() {
  const mine = request += 1;
  let answer;
  try { answer = await post("design", payload()); }
  catch (error) { answer = { findings: [{ kind: "error", text: error.message }] }; }
  if (mine !== request) return;
  const { source } = answer;
  parts.findings.replaceChildren(...answer.findings.map((finding) => h("li", { class: finding.kind },
    h("span", { class: "kind" }, kinds[finding.kind]), " ", showing(finding.class) ? [h("button", { type: "button", class: "plain", onclick: showing(finding.class) }, shown(finding.class, true)), " "] : null, shown(finding.text))));
  parts.source.replaceChildren(source ? h("pre", { class: "source", tabindex: "0", role: "region", "aria-label": "Swift source" }, shown(source)) : h("p", { class: "soft" }, "The source appears when there are no errors."));
  parts.tools.replaceChildren(...(source ? [
    h("button", { type: "button", onclick: async () => { try { await navigator.clipboard.writeText(source); toast("Copied."); } catch { toast("The browser does not allow to copy. Select the text."); } } }, "Copy"),
    h("button", { type: "button", class: "main", onclick: () => save(source) }, "Download")] : []));
  parts.findings.dataset.request = String(mine);
}

function update() {
  draw();
  form();
  enumerations();
  const types = design.types.concat(design.enumerations.flatMap(({ name }) => [name, `${name}?`, `[${name}]`]), design.classes.flatMap(({ name }) => [`${name}?`, `[${name}]`, `Set<${name}>`]));
  parts.types.replaceChildren(...types.map((type) => h("option", { value: type })));
  buttons();
  examine();
}

function buttons() {
  parts.undo.disabled = !past.length;
  parts.redo.disabled = !future.length;
}

async function startOver() {
  const answer = await ask("Start over", "The model becomes that of the store again. You can undo this.", [["Start over", true, "danger"]]);
  if (!answer) return;
  const model = await get("design", { asOf: store.asOf });
  change(() => { fresh(model); chosen = design.classes[0]?.name; });
}

/** The view of the editor. */
export async function designView(here, signal) {
  const kept = sessionStorage.getItem(storageKey());
  if (kept && !design) design = JSON.parse(kept);
  // A page of an earlier version has kept a model without them.
  for (const known of design?.classes ?? []) known.compoundIndexes ??= [];
  if (!design?.enumerations) {
    const model = await get("design", { asOf: store.asOf }, signal);
    if (design) [design.types, design.enumerations] = [model.types, model.enumerations]; else fresh(model);
  }
  if (!named(chosen)) chosen = design.classes[0]?.name;
  const button = (id, label, sign, action) => h("button", { type: "button", id, "aria-label": label, title: label, onclick: action }, sign);
  parts = { drawing: h("div", { class: "panel diagram", tabindex: "0", role: "region", "aria-label": "Drawing of the model" }), form: h("section", { class: "panel", "aria-label": "The chosen class" }),
    enumerations: h("ul", { class: "designed enumerations", "aria-labelledby": "enumerations" }),
    findings: h("ul", { class: "hits", id: "findings" }), source: h("div", {}), tools: h("div", { class: "actions" }), types: h("datalist", { id: "types" }),
    undo: button("design-undo", "Undo", "↶", () => undoDesign(false)), redo: button("design-redo", "Redo", "↷", () => undoDesign(true)) };
  const node = h("div", { class: "design" }, crumbs([store.info.name, link("")], ["Model", link("model")], ["Editor"]),
    head("Model editor", parts.undo, parts.redo, h("button", { type: "button", id: "add-class", onclick: addClass }, "Add class"), h("button", { type: "button", id: "start-over", onclick: startOver }, "Start over")),
    h("p", { class: "soft" }, "Drag a box to move it, and the dot of a box to another box to draw an arrow. The store does not change: you get Swift source."),
    parts.drawing, parts.form,
    h("section", { class: "panel", "aria-labelledby": "enumerations" }, h("div", { class: "head" }, h("h2", { id: "enumerations" }, "Enumerations"),
      h("div", { class: "actions" }, h("button", { type: "button", id: "add-enumeration", onclick: addEnumeration }, "Add enumeration"))),
      h("p", { class: "soft" }, "Properties can have them as types. A raw value can follow the name of a case: calm, loud = \"LOUD\"."), parts.enumerations),
    h("section", { class: "panel", "aria-labelledby": "effects", "aria-live": "polite" }, h("h2", { id: "effects" }, "When a program opens the store with this model"), parts.findings),
    h("section", { class: "panel", "aria-labelledby": "source" }, h("div", { class: "head" }, h("h2", { id: "source" }, "Swift source"), parts.tools), parts.source), parts.types);
  update();
  return node;
}
