// The objects of a class in a table: sorted, filtered and paged.
import { h, get, shown, count, counted, link, objectLink, classLink, classOf, store, crumbs, head, Refusal } from "./dom.js";

const rightAligned = new Set(["number", "integer"]);

/** Returns what a table shows of a value. */
export function cellNode(cell) {
  switch (cell.k) {
    case "none": return h("span", { class: "none", "aria-label": "none" }, "–");
    case "reference":
      return cell.title === undefined
        ? h("span", { class: "damaged", title: "There is no such object" }, shown(cell.s, true), " is missing")
        : h("a", { href: objectLink(cell.id), tabindex: "-1" }, shown(cell.title, true));
    case "references": return h("span", { class: "soft" }, counted(cell.n ?? 0, "object", "objects"));
    case "list": return h("span", {}, cell.n === undefined ? null : h("span", { class: "soft" }, `${count(cell.n)}: `), shown(cell.s ?? "", true));
    case "bytes": case "opaque": return h("span", { class: "soft" }, cell.s ?? "");
    case "damaged": return h("span", { class: "damaged" }, shown(cell.s ?? "damaged", true));
    case "date": return h("time", { datetime: cell.s }, (cell.s ?? "").replace("T", " ").replace(/(\.\d{3})\d*/, "$1").replace("Z", ""));
    default: return h("span", {}, shown(cell.s ?? "", true), cell.cut ? h("span", { class: "soft" }, " …") : null);
  }
}

function header(property, route) {
  const { query, name } = route;
  const order = query.sort === property.name ? "ascending" : query.sort === "-" + property.name ? "descending" : undefined;
  const canSort = ["reference", "references", "json", "opaque", "bytes"].indexOf(property.form) < 0 || property.index;
  const next = order === "ascending" ? "-" + property.name : property.name;
  const label = h("span", {}, shown(property.name, true));
  const button = canSort
    ? h("button", { type: "button", "data-focus": `sort-${property.name}`,
        title: property.index ? `Sort by the index “${property.index}”` : "Sort",
        onclick: () => { location.hash = classLink(name, { ...query, sort: next, cursor: undefined }); } }, label)
    : label;
  return h("th", { scope: "col", "aria-sort": order, class: (rightAligned.has(property.form) ? "right " : "") + (canSort ? "" : "plain-head") }, button);
}

function idHeader(route) {
  return header({ name: "id", form: "integer", index: "row IDs" }, route);
}

function tableNode(known, route, page) {
  const body = h("tbody", {}, page.rows.map((row, index) => h("tr", {},
    h("td", { class: "right" }, h("a", { class: "id", href: objectLink(row.id), tabindex: index === 0 ? "0" : "-1", "data-focus": `row-${row.row}`, "aria-label": row.id }, row.row)),
    row.damage
      ? h("td", { colspan: Math.max(1, known.properties.length) }, cellNode(row.cells[0]))
      : row.cells.map((cell, column) => h("td", { class: rightAligned.has(known.properties[column].form) ? "right" : null }, cellNode(cell))))));
  body.addEventListener("keydown", moveInTable);
  return h("div", { class: "table" }, h("table", { "aria-label": `Objects of ${known.name}` },
    h("thead", {}, h("tr", {}, idHeader(route), known.properties.map((property) => header(property, route)))), body));
}

/** Moves the focus between the rows of a table by arrow keys. */
export function moveInTable(event) {
  const links = [...event.currentTarget.querySelectorAll("a.id, a.row-link")];
  const index = links.indexOf(document.activeElement);
  if (index < 0 || event.altKey || event.ctrlKey || event.metaKey) return;
  const next = { ArrowDown: index + 1, j: index + 1, ArrowUp: index - 1, k: index - 1, Home: 0, End: links.length - 1, PageDown: index + 10, PageUp: index - 10 }[event.key];
  if (next === undefined) return;
  event.preventDefault();
  event.stopPropagation();
  const target = links[Math.min(Math.max(next, 0), links.length - 1)];
  links.forEach((link) => link.setAttribute("tabindex", "-1"));
  target.setAttribute("tabindex", "0");
  target.focus();
  target.scrollIntoView({ block: "nearest" });
}

function queryForm(known, route) {
  const example = known.properties.find((property) => property.form === "text") ?? known.properties[0];
  const input = h("input", { id: "where", type: "text", value: route.query.where ?? "", spellcheck: "false", autocomplete: "off", autocapitalize: "off",
    "data-focus": "where", "aria-describedby": "plan", placeholder: example ? `Condition, such as ${example.name} ${example.form === "text" ? 'starts with "A"' : "!= none"}` : "Condition" });
  return h("form", { class: "query", onsubmit: (event) => {
    event.preventDefault();
    location.hash = classLink(known.name, { where: input.value.trim(), sort: route.query.sort });
  } }, h("label", { class: "hidden", for: "where" }, "Condition"), input, h("button", { type: "submit", class: "main" }, "Find"),
    route.query.where ? h("a", { class: "button", href: classLink(known.name, { sort: route.query.sort }) }, "Clear") : null);
}

function pager(known, route, page) {
  const { query } = route;
  const isPlain = !query.where && (!query.sort || query.sort === "id" || query.sort === "-id");
  const opposite = query.sort === "-id" ? "id" : "-id";
  const goTo = h("input", { id: "go-to", inputmode: "numeric", pattern: "[0-9]+", placeholder: "ID", "data-focus": "go-to" });
  return h("div", { class: "pager" },
    query.cursor ? h("a", { class: "button", href: classLink(known.name, { ...query, cursor: undefined }) }, "First page") : null,
    query.cursor ? h("button", { type: "button", id: "previous", onclick: () => history.back() }, "Previous") : null,
    page.cursor ? h("a", { class: "button", id: "next", "data-focus": "next", href: classLink(known.name, { ...query, cursor: page.cursor }) }, "Next page") : null,
    isPlain ? h("a", { class: "button", href: classLink(known.name, { sort: opposite }) }, query.sort === "-id" ? "Oldest first" : "Newest first") : null,
    h("form", { onsubmit: (event) => { event.preventDefault(); if (goTo.value) location.hash = objectLink(`${known.name}/${goTo.value}`); } },
      h("label", { for: "go-to", class: "soft" }, "Go to"), goTo));
}

/** Reads a page; continues for as long as the search is interrupted and nothing is found. */
async function readPage(route, signal, onProgress) {
  const all = { rows: [], lookedAt: 0 };
  let cursor = route.query.cursor;
  while (true) {
    const page = await get("rows", { class: route.name, where: route.query.where, sort: route.query.sort, cursor, limit: 100 - all.rows.length, asOf: store.asOf }, signal);
    all.rows.push(...page.rows);
    all.lookedAt += page.lookedAt;
    Object.assign(all, { cursor: page.cursor, plan: page.plan, commit: page.commit });
    if (!page.isInterrupted || all.rows.length >= 100) return all;
    cursor = page.cursor;
    onProgress(all);
  }
}

function description(known, route, page, milliseconds) {
  const range = route.query.where
    ? `${counted(page.rows.length, "object", "objects")}${page.cursor ? ", and more" : route.query.cursor ? "" : " in all"}`
    : `${count(page.rows.length)} of ${counted(known.count, "object", "objects")}`;
  const looked = page.lookedAt > page.rows.length ? `, ${count(page.lookedAt)} looked at` : "";
  return h("p", { id: "plan", class: "soft", role: "status" }, `${range}${looked} · by ${page.plan} · ${Math.round(milliseconds)} ms`);
}

/** The view of a class. */
export async function classView(route, signal, onNode) {
  const known = classOf(route.name);
  if (!known) throw new Error(`There is no class “${route.name}” in this store.`);
  const start = performance.now();
  const newButton = store.info.canWrite && !store.asOf
    ? h("a", { class: "button", href: link(`new/${encodeURIComponent(known.name)}`) }, `New ${known.name}`) : null;
  const view = h("div", {}, crumbs([store.info.name, link("")], [known.name]), head(known.name, newButton ?? []),
    known.note ? h("p", { class: known.isDamaged ? "notice bad" : "notice" }, shown(known.note)) : null,
    known.properties.length ? queryForm(known, route) : null);
  const rest = h("div", { id: "rows" });
  view.append(rest);
  try {
    const progress = h("progress", { max: known.count, value: 0, "aria-label": "Objects that were looked at" });
    const page = await readPage(route, signal, (partial) => {
      progress.value = partial.lookedAt;
      rest.replaceChildren(h("p", { class: "soft", role: "status" }, `Looking at each object: ${count(partial.lookedAt)} of ${count(known.count)}`), progress,
        partial.rows.length ? tableNode(known, route, partial) : "");
      onNode(view);
    });
    rest.replaceChildren(description(known, route, page, performance.now() - start),
      page.rows.length ? tableNode(known, route, page) : h("p", { class: "panel soft" }, route.query.where ? "No object satisfies the condition." : "There are no objects."),
      pager(known, route, page));
  } catch (error) {
    if (!(error instanceof Refusal) || error.body.kind !== "invalid") throw error;
    rest.append(h("p", { id: "plan", class: "notice bad", role: "alert" }, shown(error.message)));
    if (error.body.position !== undefined) {
      rest.append(h("pre", { class: "caret" }, shown(route.query.where ?? "", true), "\n" + " ".repeat(error.body.position) + "^"));
    }
  }
  return view;
}
