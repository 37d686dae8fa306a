// The router, the frame of the page, and the keyboard.
import { h, get, shown, count, link, objectLink, classLink, classOf, store, head, ask, Refusal } from "./dom.js";
import { classView } from "./tables.js";
import { objectView, parts } from "./objects.js";
import { overviewView, searchView, historyView, commitView, healthView, liveView } from "./views.js";
import { modelView } from "./diagram.js";
import { designView, undoDesign } from "./design.js";
import { newView, setRender, undo } from "./editing.js";

const main = document.getElementById("main");
const searchBox = document.getElementById("search");
let current;

/** Returns the view that an address names. */
function route() {
  const [path, text] = location.hash.replace(/^#\/?/, "").split("?");
  const query = Object.fromEntries(new URLSearchParams(text ?? ""));
  const [kind, first, second] = path.split("/").map((part) => { try { return decodeURIComponent(part); } catch { return part; } });
  const views = {
    "": { view: overviewView, title: "" }, c: { view: classView, name: first, title: first },
    o: { view: objectView, id: `${first}/${second}`, title: `${first}/${second}` }, new: { view: newView, name: first, title: `New ${first}` },
    search: { view: searchView, title: "Search" },
    history: first ? { view: commitView, number: first, title: `Commit ${first}` } : { view: historyView, title: "History" },
    model: first === "edit" ? { view: designView, title: "Model editor", isDesign: true } : { view: modelView, title: "Model" }, health: { view: healthView, title: "Health" }, live: { view: liveView, title: "Live" },
  };
  return { ...(views[kind] ?? { view: () => { throw new Error("There is no such view."); }, title: "Not found" }), kind, query, hash: location.hash };
}

function frame() {
  const { info } = store;
  document.getElementById("store-name").replaceChildren(shown(info.name, true));
  document.getElementById("brand").href = link("");
  const mode = document.getElementById("mode");
  mode.textContent = info.canWrite ? "Editing" : "Reading only";
  mode.className = info.canWrite ? "chip writes" : "chip";
  showCommit(info);
  const past = document.getElementById("past");
  past.hidden = !store.asOf;
  past.replaceChildren(...(store.asOf ? [`You see the store as of commit ${count(Number(store.asOf))}.`, h("a", { class: "button", id: "now", href: "#/" }, "Back to now")] : []));
  const here = route();
  const item = (text, address, isHere, number, known) => h("li", {}, h("a", { href: address, "aria-current": isHere ? "page" : null }, h("span", {}, shown(text, true)), number === undefined ? null : h("span", { class: "count" }, count(number))));
  const shownClass = here.kind === "c" || here.kind === "new" ? here.name : here.kind === "o" ? parts(here.id).className : undefined;
  const nav = document.getElementById("nav");
  const scroll = [nav.scrollLeft, nav.scrollTop];
  nav.replaceChildren(
    h("ul", {}, item("Overview", link(""), here.kind === ""), item("Model", link("model"), here.kind === "model"), item("History", link("history"), here.kind === "history"),
      item("Health", link("health"), here.kind === "health"), item("Live", link("live"), here.kind === "live")),
    h("h2", { id: "nav-classes" }, "Classes"),
    h("ul", { "aria-labelledby": "nav-classes" }, info.classes.map((known) => item(known.name, classLink(known.name), known.name === shownClass, known.count))));
  [nav.scrollLeft, nav.scrollTop] = scroll;
}

function showCommit(numbers) {
  document.getElementById("commit").textContent = `#${count(numbers.commit)}`;
  document.getElementById("commit").setAttribute("aria-label", `Commit ${count(numbers.commit)}, live numbers`);
  if (!store.info.canWrite) return;
  const button = (id, sign, label, title, isRedo) => h("button", { type: "button", id, class: "plain", disabled: !title, "aria-label": title ? `${label}: ${title}` : label, title: title ? `${label}: ${title}` : label, onclick: () => undo(isRedo) }, sign);
  document.getElementById("undo-buttons").replaceChildren(button("undo", "↶", "Undo", numbers.undo, false), button("redo", "↷", "Redo", numbers.redo, true));
}

function skeleton() {
  return h("div", { "aria-hidden": "true" }, ["30%", "100%", "100%", "80%", "92%"].map((width) => {
    const line = h("div", { class: "skeleton" });
    line.style.width = width;
    return line;
  }));
}

function problem(error) {
  const notFound = error instanceof Refusal && error.status === 404;
  return h("div", {}, head(notFound ? "Not found" : "This can’t be shown"), h("p", { class: "notice bad", role: "alert" }, shown(error.message)), h("a", { class: "button", href: link("") }, "Overview"));
}

/** Shows the view of the address; a quiet one keeps the focus and the place on the page. */
async function render({ quiet = false, notice } = {}) {
  current?.abort.abort();
  const abort = new AbortController();
  const here = route();
  const mine = current = { abort, here };
  store.asOf = here.query.asOf;
  let focus;
  const place = window.scrollY;
  const timer = quiet ? undefined : setTimeout(() => { if (current === mine) { main.replaceChildren(skeleton()); main.setAttribute("aria-busy", "true"); } }, 150);
  const show = (node) => {
    clearTimeout(timer);
    if (current !== mine) return;
    main.removeAttribute("aria-busy");
    if (main.firstChild === node) return;
    focus = document.activeElement?.dataset?.focus;
    main.replaceChildren(node);
  };
  let node;
  try {
    store.info = await get("store", { asOf: store.asOf }, abort.signal);
    node = await here.view({ ...here, notice }, abort.signal, show);
  } catch (error) {
    if (error.name === "AbortError" || current !== mine) return;
    node = problem(error);
  }
  show(node);
  if (current !== mine) return;
  frame();
  document.title = [here.title, store.info.name].filter(Boolean).join(" · ");
  document.body.dataset.shown = here.hash || "#/";
  if (here.kind === "search") searchBox.value = here.query.q ?? "";
  if (quiet) {
    window.scrollTo(0, place);
    if (focus && document.activeElement === document.body) main.querySelector(`[data-focus="${CSS.escape(focus)}"]`)?.focus({ preventScroll: true });
  } else if (mine.isNavigation !== false) {
    window.scrollTo(0, 0);
    const target = main.querySelector("a.id, a.row-link") ?? main;
    if (isFirst === false) target.focus({ preventScroll: true });
  }
  isFirst = false;
  document.body.dataset.ready = String(Number(document.body.dataset.ready ?? 0) + 1);
}
let isFirst = true;

// The saves of others

async function follow() {
  while (true) {
    await new Promise((resolve) => setTimeout(resolve, 1000));
    if (document.hidden || store.asOf) continue;
    try {
      const live = await get("live");
      const isNew = live.commit !== store.info.commit;
      showCommit(live);
      const isBusy = main.querySelector("form.editor, .design, progress, dialog") || document.querySelector("dialog[open]") || main.contains(document.activeElement) && document.activeElement.matches("input, textarea, select");
      if (isBusy || current?.here.kind === "search" || window.getSelection()?.isCollapsed === false) continue;
      if (isNew || current?.here.kind === "live") await render({ quiet: true });
    } catch (error) {
      if (error.name !== "AbortError") document.getElementById("commit").textContent = "no answer";
    }
  }
}

// Keyboard

const shortcuts = [["/", "Search all texts"], ["f", "Condition of the table"], ["↑ ↓ or j k", "Move in a table"], ["Return", "Open"], ["n  p", "Next and previous page, or object"], ["u", "Up"], ["g", "Go to an object by its ID"],
  ["e", "Edit the first value"], ["Alt ↑ ↓", "Move an object in a list, from its handle"], ["Ctrl Z", "Undo, and with Shift redo"], ["Esc", "Leave a field"], ["?", "This list"]];

function help() {
  ask("Keyboard", h("dl", { class: "keys" }, shortcuts.map(([keys, text]) => [h("dt", {}, h("kbd", {}, keys)), h("dd", {}, text)])), []);
}

function up() {
  const here = route();
  location.hash = here.kind === "o" ? classLink(parts(here.id).className) : here.isDesign ? link("model") : here.kind === "new" ? classLink(here.name) : here.number ? link("history") : link("");
}

document.addEventListener("keydown", (event) => {
  const isTyping = event.target.matches?.("input, textarea, select");
  if (document.querySelector("dialog[open]")) return;
  if (event.key === "Escape" && isTyping) { event.target.blur(); main.focus(); return; }
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z" && !isTyping) {
    const take = current?.here.isDesign ? undoDesign : store.info.canWrite ? undo : undefined;
    if (take) { event.preventDefault(); take(event.shiftKey); }
    return;
  }
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  const click = (selector) => { const node = main.querySelector(selector); if (!node) return false; node.click(); return true; };
  const focus = (selector) => { const node = document.querySelector(selector); if (!node) return false; node.focus(); node.select?.(); return true; };
  const actions = { "/": () => focus("#search"), "?": () => { help(); return true; }, f: () => focus("#where"), g: () => focus("#go-to"), n: () => click("#next"), p: () => click("#previous"), u: () => { up(); return true; }, e: () => click(".edit"),
    j: () => focus("main a.id, main a.row-link"), ArrowDown: () => document.activeElement === main && focus("main a.id, main a.row-link") };
  if (actions[event.key]?.()) event.preventDefault();
});
document.getElementById("help-button").addEventListener("click", help);
document.getElementById("skip").addEventListener("click", (event) => { event.preventDefault(); main.focus(); });
document.getElementById("search-form").addEventListener("submit", (event) => {
  event.preventDefault();
  const text = searchBox.value.trim();
  if (text.includes("/") && classOf(text.slice(0, text.lastIndexOf("/"))) && /^[0-9]+$/.test(text.slice(text.lastIndexOf("/") + 1))) location.hash = objectLink(text);
  else location.hash = link("search", { q: text });
});
window.addEventListener("hashchange", () => render());
setRender(render);
render().then(follow);
