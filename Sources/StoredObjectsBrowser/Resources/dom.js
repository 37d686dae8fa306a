// Elements, texts and requests. Data reaches the page as text nodes only.

/** Returns an element. Attributes beginning with "on" are listeners; children may be nested. */
export function h(name, attributes, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (key in { value: 1, checked: 1, disabled: 1, selected: 1 }) node[key] = value;
    else node.setAttribute(key, value === true ? "" : value);
  }
  append(node, children);
  return node;
}

export function append(node, children) {
  for (const child of children.flat(Infinity)) {
    if (child === undefined || child === null || child === false) continue;
    node.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

export function s(name, attributes, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes ?? {})) {
    if (value !== undefined && value !== null) node.setAttribute(key, value);
  }
  append(node, children);
  return node;
}

// Characters that are invisible, or that change the order of others. Joiners inside emoji stay.
const hidden = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u180e\u200b\u200c\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff9-\ufffb]/gu;
const hiddenInLine = /[\u0000-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u180e\u200b\u200c\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff9-\ufffb]/gu;
const signs = { "\n": "⏎", "\t": "⇥", "\r": "␍" };

/** Returns a text of the store in isolation, with its invisible characters made visible. */
export function shown(text, isOneLine = false) {
  const node = document.createElement("bdi");
  const pattern = isOneLine ? hiddenInLine : hidden;
  let last = 0;
  for (const match of text.matchAll(pattern)) {
    if (match.index > last) node.append(text.slice(last, match.index));
    const code = match[0].codePointAt(0);
    const name = "U+" + code.toString(16).toUpperCase().padStart(4, "0");
    node.append(h("span", { class: "ctl", title: name }, signs[match[0]] ?? name));
    last = match.index + match[0].length;
  }
  node.append(text.slice(last));
  return node;
}

/** Follows the pointer from a press of its first button to the release; returns whether it does. */
export function followPointer(event, node, moved, ended) {
  if (event.button !== 0) return false;
  event.preventDefault();
  node.setPointerCapture(event.pointerId);
  const end = (last) => {
    for (const [name, listener] of Object.entries(listeners)) node.removeEventListener(name, listener);
    ended(last);
  };
  const listeners = { pointermove: moved, pointerup: end, pointercancel: end };
  for (const [name, listener] of Object.entries(listeners)) node.addEventListener(name, listener);
  return true;
}

const wholeNumbers = new Intl.NumberFormat("en");
export const count = (number) => wholeNumbers.format(number);
export const counted = (number, one, many) => `${count(number)} ${number === 1 ? one : many}`;

export function bytes(number) {
  if (number === undefined) return "";
  const units = ["bytes", "kB", "MB", "GB", "TB"];
  let unit = 0;
  while (number >= 1000 && unit < units.length - 1) [number, unit] = [number / 1000, unit + 1];
  return `${unit === 0 || number >= 100 ? Math.round(number) : number.toFixed(1)} ${units[unit]}`;
}

const times = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "medium" });
export const time = (text) => (text ? times.format(new Date(text)) : "unknown time");

/** An answer of the server that is an error. */
export class Refusal extends Error {
  constructor(status, body) {
    super(body.error ?? `The server answered ${status}.`);
    this.status = status;
    this.body = body;
  }
}

async function answer(response) {
  const body = await response.json().catch(() => ({}));
  if (response.ok) return body;
  if (response.status === 401) body.error = "The server does not know this tab. Open the URL that stored-objects has printed.";
  throw new Refusal(response.status, body);
}

async function send(path, options) {
  let response;
  try { response = await fetch(path, { credentials: "same-origin", ...options }); }
  catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("The server does not answer. Start stored-objects browse again.");
  }
  return answer(response);
}

/** Reads data. */
export function get(path, query = {}, signal) {
  const parameters = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== "")
    .map(([key, value]) => `${key}=${encodeURIComponent(value)}`);
  return send(`/api/${path}?${parameters.join("&")}`, { signal });
}

/** Changes something. */
export function post(path, body = {}) {
  return send(`/api/${path}`, {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
  });
}

/** What the page knows of the store. */
export const store = { info: { classes: [], canWrite: false }, asOf: undefined };
export const classOf = (name) => store.info.classes.find((known) => known.name === name);

/** Returns the address of a view, in the state of the store that is shown. */
export function link(path, query = {}) {
  const parameters = new URLSearchParams();
  for (const [key, value] of Object.entries({ ...query, asOf: query.asOf ?? store.asOf })) {
    if (value !== undefined && value !== null && value !== "") parameters.set(key, value);
  }
  const text = parameters.toString();
  return `#/${path}${text ? "?" + text : ""}`;
}
export const objectPath = (id) => {
  const slash = id.lastIndexOf("/");
  return `o/${encodeURIComponent(id.slice(0, slash))}/${id.slice(slash + 1)}`;
};
export const objectLink = (id) => link(objectPath(id));
export const classLink = (name, query) => link(`c/${encodeURIComponent(name)}`, query);

let toastTimer;
/** Shows a short message. */
export function toast(text) {
  const node = document.getElementById("toast");
  node.replaceChildren(shown(text, true));
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => node.replaceChildren(), 5000);
}

/** Returns breadcrumbs: pairs of a text and an address. */
export function crumbs(...parts) {
  return h("nav", { "aria-label": "Breadcrumbs", class: "crumb-nav" },
    h("ol", { class: "crumbs" }, parts.map(([text, address]) =>
      h("li", {}, address ? h("a", { href: address }, shown(text, true)) : shown(text, true)))));
}

/** Returns the head of a view. */
export function head(title, ...actions) {
  return h("div", { class: "head" }, h("h1", {}, title instanceof Node ? title : shown(title, true)),
    actions.length ? h("div", { class: "actions" }, actions) : null);
}

/** Asks a question; returns the value of the chosen button, or undefined. */
export function ask(title, text, choices) {
  return new Promise((resolve) => {
    const done = (value) => { dialog.close(); dialog.remove(); resolve(value); };
    const buttons = choices.map(([label, value, kind]) =>
      h("button", { type: "button", class: kind, onclick: () => done(value) }, label));
    const dialog = h("dialog", { "aria-labelledby": "dialog-title" },
      h("h2", { id: "dialog-title" }, title), h("div", {}, text instanceof Node ? text : shown(text)),
      h("div", { class: "row" }, h("button", { type: "button", onclick: () => done() }, "Cancel"), buttons));
    dialog.addEventListener("cancel", (event) => { event.preventDefault(); done(); });
    document.body.append(dialog);
    dialog.showModal();
  });
}
