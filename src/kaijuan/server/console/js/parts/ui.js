/** Small pieces that every view is made of. */

import { h, place, put } from "../dom.js";
import { has, t } from "../i18n.js";
import { icon } from "../icons.js";
import { known } from "../said.js";

/** A button. `kind` is "primary", "quiet", "danger" or ""; with `glyph` alone it is square and `label` is read out. */
export function button(label, { kind = "", glyph = "", bare = false, on = {}, ...props } = {}) {
  const seen = bare ? null : h("span", {}, label);
  const name = bare ? { "aria-label": label, title: label } : {};
  return h("button", { type: "button", class: ["button", kind, bare && "bare"], on, ...name, ...props }, glyph && icon(glyph), seen);
}

/** A link that looks like a button. */
export function linkButton(label, href, { kind = "", glyph = "", ...props } = {}) {
  return h("a", { class: ["button", kind], href, ...props }, glyph && icon(glyph), h("span", {}, label));
}

/** A small word with a tone: "good", "warn", "bad", "info" or "". */
export function badge(text, tone = "", props = {}) {
  return h("span", { class: ["badge", tone], ...props }, text);
}

/** A message across the column. */
export function banner(tone, title, detail = null, actions = []) {
  const glyph = { good: "check", warn: "warn", bad: "warn", info: "info" }[tone] ?? "info";
  return h(
    "div",
    { class: ["banner", tone], role: tone === "bad" ? "alert" : "note" },
    icon(glyph),
    h("div", { class: "banner-body" }, h("p", { class: "banner-title" }, title), detail && h("p", {}, detail)),
    actions.length > 0 && h("div", { class: "banner-actions" }, actions),
  );
}

/** What a view shows where there is nothing yet. */
export function empty(glyph, title, detail, actions = []) {
  return h(
    "div",
    { class: "empty" },
    h("div", { class: "empty-glyph" }, icon(glyph, 28)),
    h("h2", {}, title),
    detail && h("p", {}, detail),
    actions.length > 0 && h("div", { class: "row center" }, actions),
  );
}

/** Grey lines while something is fetched. */
export function loading(lines = 4) {
  const rows = Array.from({ length: lines }, (_, at) => place(h("div", { class: "bone" }), { width: `${[92, 78, 86, 60][at % 4]}%` }));
  return h("div", { class: "bones", role: "status", "aria-label": t("state.loading") }, rows);
}

/** The words for a failure: the service's sentence in the language shown, else what its code or status means. */
export function failureText(error) {
  const own = [`error.${error.code}`, `error.${error.status === 0 ? "unreachable" : error.status}`].find(has) ?? "error.unknown";
  return known(error.message) ?? t(own);
}

/** What to do about a failure, in the language shown; where its sentence is not known there, that sentence itself. */
export function failureHint(error) {
  if (known(error.message) || !error.message) return known(error.hint) ?? "";
  return t("error.original", { text: error.message });
}

/** A failure with a way to try again. */
export function failed(error, again = null) {
  const detail = [failureHint(error), error.code && `${error.code}${error.request ? ` · ${error.request}` : ""}`].filter(Boolean).join(" ");
  return banner("bad", failureText(error), detail, again ? [button(t("act.again"), { glyph: "again", on: { click: again } })] : []);
}

/** Show in `root` what `fetch` brings: grey lines, then `show(result)`, or the failure with a button. */
export async function load(root, fetch, show, signal = null) {
  put(root, loading());
  try {
    const result = await fetch();
    if (signal?.aborted) return;
    put(root, show(result));
  } catch (error) {
    if (error.name === "AbortError" || signal?.aborted) return;
    if (!("status" in error)) console.error(error);
    put(root, failed(error, () => load(root, fetch, show, signal)));
  }
}

/** Bars of a share between 0 and 1; null means nobody knows how much is to do. */
export function progress(share, label) {
  const bar = h("div", { class: ["progress", share === null && "unknown"], role: "progressbar", "aria-label": label });
  if (share !== null) bar.setAttribute("aria-valuenow", Math.round(share * 100));
  bar.append(place(h("span", {}), { width: `${share === null ? 30 : Math.round(share * 100)}%` }));
  return bar;
}

/** Tabs over panels: `items` are {id, label, show}; `show` returns what the panel holds. Arrows move between them. */
export function tabs(items, chosen, changed = () => {}) {
  const panel = h("div", { class: "tab-panel", role: "tabpanel", tabindex: "-1" });
  const buttons = items.map((item) =>
    h("button", { type: "button", role: "tab", class: "tab", on: { click: () => choose(item.id) }, data: { tab: item.id } }, item.label),
  );
  const strip = h("div", { class: "tabs", role: "tablist", on: { keydown: move } }, buttons);

  function choose(id) {
    const at = Math.max(items.findIndex((item) => item.id === id), 0);
    buttons.forEach((each, place_) => {
      each.setAttribute("aria-selected", String(place_ === at));
      each.tabIndex = place_ === at ? 0 : -1;
    });
    put(panel, items[at].show());
    panel.setAttribute("aria-label", items[at].label);
    changed(items[at].id);
  }

  function move(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const at = (buttons.indexOf(document.activeElement) + step + buttons.length) % buttons.length;
    choose(items[at].id);
    buttons[at].focus();
  }

  choose(chosen ?? items[0].id);
  return h("div", { class: "tabbed" }, strip, panel);
}

/** A field with its label. */
export function field(label, control, hint = null) {
  return h("label", { class: "field" }, h("span", { class: "field-label" }, label), control, hint && h("span", { class: "hint" }, hint));
}

/** A choice of [value, label] pairs. */
export function select(options, chosen, props = {}) {
  const made = options.map(([value, label]) => h("option", { value, selected: value === chosen }, label));
  return h("select", { class: "input", ...props }, made);
}

/**
 * A table; `rows` hold cells, which are nodes, texts, or {node, class}. On small screens each row becomes a card, except
 * in a table of `figures`, which scrolls.
 */
export function table(heads, rows, { label = "", figures = false, ...props } = {}) {
  const cell = (item, at) =>
    item && typeof item === "object" && !(item instanceof Node) && !Array.isArray(item)
      ? h("td", { class: item.class, data: { head: heads[at] ?? "" } }, item.node)
      : h("td", { data: { head: heads[at] ?? "" } }, item);
  return h(
    "div",
    { class: "table-wrap", tabindex: "0", role: "region", "aria-label": label || heads.filter(Boolean).join(", ") },
    h(
      "table",
      { class: ["table", figures && "figures"], ...props },
      h("thead", {}, h("tr", {}, heads.map((head) => h("th", { scope: "col" }, head)))),
      h("tbody", {}, rows.map((row) => h("tr", {}, row.map(cell)))),
    ),
  );
}

/** Names and values. */
export function facts(pairs) {
  const shown = pairs.filter(([, value]) => value !== null && value !== undefined && value !== "");
  return h("dl", { class: "facts" }, shown.map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]));
}

/** The head of a view. */
export function heading(title, detail = null, actions = []) {
  return h(
    "header",
    { class: "view-head" },
    h("div", {}, h("h1", {}, title), detail && h("p", { class: "muted" }, detail)),
    actions.length > 0 && h("div", { class: "row" }, actions),
  );
}
