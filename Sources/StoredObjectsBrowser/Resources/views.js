// The overview, search, history, health and live numbers.
import { h, s, get, post, shown, count, counted, bytes, time, link, objectLink, classLink, store, crumbs, head, toast } from "./dom.js";
import { moveInTable } from "./tables.js";

/** The overview of the store. */
export function overviewView() {
  const { info } = store;
  const objects = info.classes.reduce((sum, known) => sum + known.count, 0);
  const size = info.classes.reduce((sum, known) => sum + (known.bytes ?? 0), 0);
  const greatest = Math.max(1, ...info.classes.map((known) => known.count));
  const body = h("tbody", {}, info.classes.map((known, index) => h("tr", {},
    h("td", {}, h("a", { class: "row-link", href: classLink(known.name), tabindex: index ? "-1" : "0", "data-focus": `class-${known.name}` }, shown(known.name, true)),
      known.isDamaged ? h("span", { class: "damaged" }, " damaged") : null),
    h("td", { class: "right" }, count(known.count)),
    h("td", {}, share(known.count / greatest)),
    h("td", { class: "right soft" }, bytes(known.bytes)),
    h("td", { class: "right soft" }, known.properties.length),
    h("td", { class: "soft" }, known.hasTexts ? "searchable" : ""))));
  body.addEventListener("keydown", moveInTable);
  return h("div", {}, head(info.name),
    h("p", { class: "soft" }, `${counted(info.classes.length, "class", "classes")}, ${counted(objects, "object", "objects")}${size ? ", " + bytes(size) : ""} · ${info.format} · `, h("span", { class: "mono" }, shown(info.location, true))),
    info.classes.length ? h("div", { class: "table" }, h("table", { "aria-label": "Classes" }, h("thead", {}, h("tr", {},
      ["Class", "Objects", "", "Size", "Properties", ""].map((text, index) => text ? h("th", { scope: "col", class: "plain-head" + (index === 1 || index === 3 || index === 4 ? " right" : "") }, text) : h("td", {})))), body))
      : h("p", { class: "panel soft" }, "The store has no objects yet."));
}

function share(part) {
  const bar = s("svg", { width: 96, height: 7, "aria-hidden": "true" },
    s("rect", { width: 96, height: 7, rx: 3.5, fill: "var(--sunken)" }), s("rect", { width: Math.max(2, 96 * part), height: 7, rx: 3.5, fill: "var(--accent)" }));
  return bar;
}

/** The results of a text search. */
export async function searchView(route, signal, onNode) {
  const query = route.query.q ?? "";
  const list = h("ul", { class: "hits" });
  const status = h("p", { class: "soft", role: "status" }, query ? "Searching…" : "Type words above, and press Return.");
  const more = h("button", { type: "button", hidden: true, onclick: () => read() }, "Search further");
  const view = h("div", {}, crumbs([store.info.name, link("")], ["Search"]), head(query ? `“${query}”` : "Search"), status, h("div", { class: "panel" }, list, more));
  let cursor, found = 0;
  const read = async () => {
    more.hidden = true;
    for (let calls = 0; calls < 40; calls += 1) {
      const page = await get("search", { q: query, class: route.query.class, cursor, asOf: store.asOf }, signal);
      for (const hit of page.hits) {
        found += 1;
        list.append(h("li", {}, h("a", { href: objectLink(hit.id), "data-focus": `hit-${hit.id}` }, shown(hit.title, true)), " ", h("span", { class: "where" }, hit.id),
          hit.snippet && hit.snippet !== hit.title ? h("div", { class: "where" }, hit.property ? [shown(hit.property, true), ": "] : null, shown(hit.snippet, true)) : null));
      }
      cursor = page.cursor;
      const indexed = page.indexed.length ? `${counted(page.indexedCount, "object", "objects")} by the index of ${page.indexed.join(", ")}` : "";
      const looked = page.of ? `${count(page.done)} of ${counted(page.of, "object", "objects")} looked at` : "";
      status.textContent = `${counted(found, "result", "results")}. ${[indexed, looked].filter(Boolean).join(". ")}`;
      onNode(view);
      if (!cursor) return;
      if (page.hits.length && found >= 50) break;
    }
    more.hidden = false;
  };
  if (query) await read();
  return view;
}

const changesText = (counts) => counts.map((item) => `${item.class}: ${[[item.inserted, "inserted"], [item.updated, "changed"], [item.deleted, "deleted"]].filter(([number]) => number).map(([number, text]) => `${count(number)} ${text}`).join(", ")}`).join(" · ");

/** The commits of the store. */
export async function historyView(route, signal) {
  if (!store.info.hasHistory) {
    return h("div", {}, crumbs([store.info.name, link("")], ["History"]), head("History"),
      h("div", { class: "panel" }, h("p", {}, "This store keeps no history yet. With one, you see every commit here, and the store as it was."), h("p", {}, h("code", {}, "stored-objects history DIR --begin"))));
  }
  const page = await get("history", { before: route.query.before }, signal);
  const body = h("tbody", {}, page.commits.map((commit, index) => h("tr", {},
    h("td", { class: "right" }, h("a", { class: "row-link", href: link(`history/${commit.number}`), tabindex: index ? "-1" : "0", "data-focus": `commit-${commit.number}` }, commit.number)),
    h("td", {}, time(commit.time)), h("td", {}, commit.author ? shown(commit.author, true) : h("span", { class: "none" }, "–")), h("td", {}, shown(changesText(commit.counts), true)))));
  body.addEventListener("keydown", moveInTable);
  return h("div", {}, crumbs([store.info.name, link("")], ["History"]), head("History"),
    page.commits.length ? h("div", { class: "table" }, h("table", { "aria-label": "Commits, the newest first" }, h("thead", {}, h("tr", {}, ["Commit", "Time", "Author", "Changes"].map((text, index) => h("th", { scope: "col", class: "plain-head" + (index ? "" : " right") }, text)))), body)) : h("p", { class: "panel soft" }, "No commits here."),
    h("div", { class: "pager" }, page.next !== undefined ? h("a", { class: "button", id: "next", href: link("history", { before: page.next }) }, "Earlier commits") : null));
}

/** One commit. */
export async function commitView(route, signal) {
  const commit = await get("commit", { number: route.number }, signal);
  return h("div", {}, crumbs([store.info.name, link("")], ["History", link("history")], [String(commit.number)]),
    head(`Commit ${count(commit.number)}`, h("a", { class: "button", id: "travel", href: link("", { asOf: commit.number }) }, "View the store as of this commit")),
    h("p", { class: "soft" }, time(commit.time), commit.author ? [" · ", shown(commit.author, true)] : null, ` · ${counted(commit.count, "object", "objects")}`),
    h("div", { class: "panel" }, commit.changes.map((change) => [
      h("h2", {}, h("a", { href: objectLink(change.id) }, change.id), " ", h("span", { class: `kind ${change.kind}` }, change.kind)),
      h("dl", { class: "diff" }, change.properties.map((property) => [h("dt", {}, shown(property.name, true)),
        h("dd", {}, property.old !== undefined ? h("del", {}, shown(property.old)) : null, property.old !== undefined && property.new !== undefined ? " → " : null, property.new !== undefined ? h("ins", {}, shown(property.new)) : null)])),
    ]), commit.changes.length < commit.count ? h("p", { class: "soft" }, `and ${count(commit.count - commit.changes.length)} more objects`) : null));
}

const facts = (pairs) => h("dl", { class: "facts" }, pairs.filter(([, value]) => value !== undefined).map(([name, value]) => [h("dt", {}, name), h("dd", {}, value instanceof Node ? value : shown(String(value), true))]));

/** The files of the store, and what is wrong with them. */
export async function healthView(route, signal) {
  const health = await get("health", {}, signal);
  const result = h("div", {});
  const button = h("button", { type: "button", id: "check", class: "main", onclick: () => run() }, "Check everything");
  const show = (check) => {
    button.disabled = check.state === "running";
    const content = {
      idle: () => h("p", { class: "soft" }, "Not checked yet. A check reads everything, and changes nothing."),
      running: () => [h("p", { class: "soft", role: "status" }, "Checking…"), h("progress", { "aria-label": "Checking" })],
      failed: () => h("p", { class: "notice bad", role: "alert" }, shown(check.error)),
      done: () => check.isSound ? h("p", { role: "status" }, `All is well, as of ${time(check.time)}.`)
        : [h("p", { class: "notice bad", role: "alert" }, `${counted(check.findings.length + check.omitted, "finding", "findings")}, as of ${time(check.time)}`), h("ul", {}, check.findings.map((finding) => h("li", {}, shown(finding))))],
    }[check.state]();
    result.replaceChildren(...[content].flat());
  };
  const wait = async () => {
    while (!signal.aborted) {
      await new Promise((resolve) => setTimeout(resolve, 300));
      const { check } = await get("health", {}, signal);
      show(check);
      if (check.state !== "running") return;
    }
  };
  const run = async () => {
    try { show(await post("check")); await wait(); } catch (error) { if (error.name !== "AbortError") toast(error.message); }
  };
  show(health.check);
  if (health.check.state === "running") wait().catch(() => {});
  return h("div", {}, crumbs([store.info.name, link("")], ["Health"]), head("Health", store.info.canCheck ? button : []),
    h("section", { class: "panel" }, h("h2", {}, "Check"), result),
    h("section", { class: "panel" }, h("h2", {}, "Store"), facts([["Location", health.location], ["Format", health.format], ["Last commit", count(health.commit)],
      ["Log", health.log ? `${bytes(health.log.fileBytes)}, ${bytes(health.log.pendingBytes)} of ${counted(health.log.pendingBatches, "save", "saves")} not folded into files yet` : undefined],
      ["Cut off", health.log?.tornTail ? `${bytes(health.log.tornTail)} of a save that was never finished` : undefined]])),
    h("section", { class: "panel" }, h("h2", {}, "Classes"), facts(store.info.classes.map((known) => [known.name, `${counted(known.count, "object", "objects")}, ${bytes(known.bytes ?? 0)}${known.isDamaged ? ", damaged" : ""}`]))),
    health.tables.length ? h("section", { class: "panel" }, h("h2", {}, "Indexes and other tables"), facts(health.tables.map((table) => [shown(table.name, true), `${table.keys === undefined ? "unknown keys" : counted(table.keys, "key", "keys")}, ${bytes(table.bytes)}${table.condition === "whole" ? "" : ", " + table.condition}`]))) : null);
}

function chart(values, label) {
  if (values.length < 2) return h("p", { class: "soft" }, "The first numbers appear in a moment.");
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const span = high - low || 1;
  const points = values.map((value, index) => `${(300 * index / (values.length - 1)).toFixed(1)},${(92 - 84 * (value - low) / span).toFixed(1)}`);
  return s("svg", { class: "chart", viewBox: "0 0 300 100", preserveAspectRatio: "none", role: "img", "aria-label": label },
    s("polygon", { class: "area", points: `0,100 ${points.join(" ")} 300,100` }), s("polyline", { class: "stroke", points: points.join(" ") }));
}

/** The numbers of the last minutes. */
export async function liveView(route, signal) {
  const live = await get("live", {}, signal);
  const { samples } = live;
  const rates = samples.slice(1).map((sample, index) => (sample[1] - samples[index][1]) / Math.max(.1, sample[0] - samples[index][0]));
  const panel = (title, value, values, label) => h("section", { class: "panel" }, h("h2", {}, title), h("div", { class: "big" }, value), chart(values, label));
  const rate = rates.at(-1) ?? 0;
  const { saves, lookUps } = live;
  const times = !saves ? store.info.location.startsWith("postgresql:") ? "The statistics of the server have the times of saves."
    : "When a program saves to the store, the times of its saves appear here."
    : saves.count ? `${counted(saves.count, "save", "saves")} in the last minute. Half took up to ${saves.median} ms, 99 of 100 up to ${saves.slow} ms.` : "No saves in the last minute.";
  return h("div", {}, crumbs([store.info.name, link("")], ["Live"]), head("Live"),
    h("div", { class: "charts" }, panel("Commits per second", rate.toFixed(1), rates, `Commits per second, now ${rate.toFixed(1)}`),
      panel("Objects", count(live.objects), samples.map((sample) => sample[2]), `Objects, now ${count(live.objects)}`),
      panel("Class files", bytes(live.bytes), samples.map((sample) => sample[3]), `Bytes, now ${bytes(live.bytes)}`)),
    h("section", { class: "panel" }, h("h2", {}, "Times of saves"), h("p", { id: "save-times", class: "soft" }, times)),
    ...(lookUps?.count ? [h("section", { class: "panel" }, h("h2", {}, "Objects in memory"),
      h("p", { id: "look-ups", class: "soft" }, `${counted(lookUps.count, "object", "objects")} looked up in the last minute. ${lookUps.hits} % were in memory.`))] : []));
}
