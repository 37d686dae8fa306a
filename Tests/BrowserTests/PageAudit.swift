/// A script that looks for faults of accessibility: names, labels, landmarks, and contrast.
enum PageAudit {
  static let script = """
    const faults = [];
    const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    const parse = (color) => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = "#000"; canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1); return [...canvas.getImageData(0, 0, 1, 1).data]; };
    const over = (top, bottom) => [0, 1, 2].map((i) => top[i] * top[3] / 255 + bottom[i] * (1 - top[3] / 255)).concat(255);
    const background = (node) => {
      const layers = [];
      for (let at = node; at; at = at.parentElement) { const color = parse(getComputedStyle(at).backgroundColor); layers.push(color); if (color[3] === 255) break; }
      return layers.reverse().reduce((bottom, top) => over(top, bottom), parse(getComputedStyle(document.documentElement).colorScheme.includes("x") ? "#fff" : getComputedStyle(document.body).backgroundColor));
    };
    const light = (color) => { const [r, g, b] = color.slice(0, 3).map((part) => { part /= 255; return part <= .04045 ? part / 12.92 : ((part + .055) / 1.055) ** 2.4; }); return .2126 * r + .7152 * g + .0722 * b; };
    const isVisible = (node) => node.checkVisibility({ opacityProperty: false, visibilityProperty: true }) && node.getClientRects().length > 0;
    const path = (node) => `${node.tagName.toLowerCase()}${node.id ? "#" + node.id : ""}.${[...node.classList].join(".")} "${(node.textContent ?? "").trim().slice(0, 30)}"`;
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    let texts = 0;
    while (walker.nextNode()) {
      const node = walker.currentNode.parentElement;
      if (!walker.currentNode.data.trim() || !isVisible(node) || node.closest(".hidden, .skip, svg, script, noscript, option") || node.closest(":disabled")) continue;
      texts += 1;
      const style = getComputedStyle(node);
      const back = background(node);
      let opacity = 1;
      for (let at = node; at; at = at.parentElement) opacity *= Number(getComputedStyle(at).opacity);
      const ink = parse(style.color);
      const color = over([ink[0], ink[1], ink[2], ink[3] * opacity], back);
      const [high, low] = [light(color), light(back)].sort((a, b) => b - a);
      const ratio = (high + .05) / (low + .05);
      const size = parseFloat(style.fontSize);
      const isLarge = size >= 24 || size >= 18.66 && Number(style.fontWeight) >= 700;
      if (ratio < (isLarge ? 3 : 4.5)) faults.push(`contrast ${ratio.toFixed(2)}: ${path(node)}`);
    }
    if (texts < 5) faults.push("there are hardly any texts");
    const name = (node) => (node.getAttribute("aria-label") || (node.getAttribute("aria-labelledby") ?? "").split(" ").map((id) => document.getElementById(id)?.textContent ?? "").join("") || node.labels?.[0]?.textContent || (node.matches("input, select, textarea") ? "" : node.textContent) || node.querySelector("img")?.alt || node.title || "").trim();
    for (const node of document.querySelectorAll("a, button, input, select, textarea, [role=region], table, nav, dialog")) {
      if (isVisible(node) && !name(node)) faults.push(`no name: ${path(node)}`);
    }
    for (const node of document.querySelectorAll("img")) if (!node.hasAttribute("alt")) faults.push(`no alt: ${node.src}`);
    for (const node of document.querySelectorAll("svg:not([aria-hidden])")) if (!name(node)) faults.push("a picture without a name");
    const ids = [...document.querySelectorAll("[id]")].map((node) => node.id);
    for (const id of new Set(ids.filter((id, index) => ids.indexOf(id) !== index))) faults.push(`id twice: ${id}`);
    for (const node of document.querySelectorAll("[aria-describedby], [aria-labelledby]")) {
      for (const id of (node.getAttribute("aria-describedby") ?? node.getAttribute("aria-labelledby")).split(" ")) if (!document.getElementById(id)) faults.push(`no element #${id}`);
    }
    if (document.querySelectorAll("main").length !== 1 || document.querySelectorAll("h1").length !== 1) faults.push("not one main and one h1");
    if (!document.documentElement.lang || !document.title) faults.push("no language or no title");
    for (const head of document.querySelectorAll("th")) if (!head.scope) faults.push("a head without scope");
    for (const node of document.querySelectorAll("[tabindex]")) if (node.tabIndex > 0) faults.push(`order of tabs: ${path(node)}`);
    if (document.documentElement.scrollWidth > window.innerWidth + 1) faults.push(`wider than the window: ${document.documentElement.scrollWidth}`);
    return faults;
    """
}
