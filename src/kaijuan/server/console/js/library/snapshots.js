/** Snapshots: the states that were published, and what differs between two of them. */

import * as api from "../api.js";
import { decodeEnd } from "../ask/answer.js";
import { h, put } from "../dom.js";
import { moment, number, t } from "../i18n.js";
import { badge, button, empty, field, load, select, table } from "../parts/ui.js";

/** The panel of the library. */
export function snapshotsPanel(kb, signal) {
  const root = h("div", {});
  load(root, () => api.snapshots(kb, signal), ({ snapshots }) => draw(kb, snapshots, signal), signal);
  return root;
}

function draw(kb, snapshots, signal) {
  if (!snapshots.length) return empty("clock", t("snapshots.emptyTitle"), t("snapshots.emptyDetail"));
  const newest = [...snapshots].sort((a, b) => b.number - a.number);
  const rows = newest.map((one, at) => [
    h("strong", {}, `#${one.number}`),
    h("span", { class: "row wrap" }, at === 0 && badge(t("snapshots.head"), "good"), (one.tags ?? []).map((tag) => badge(tag))),
    moment(one.created_at),
    { node: number(one.documents), class: "num" },
    { node: number(one.chunks), class: "num" },
  ]);
  const compare = snapshots.length > 1 && api.has("kbs/{}/diff") && comparison(kb, newest, signal);
  return h("div", { class: "stack" }, compare, table([t("snapshots.number"), "", t("snapshots.published"), t("snapshots.documents"), t("snapshots.chunks")], rows, { label: t("library.snapshots") }));
}

function comparison(kb, newest, signal) {
  const options = newest.map((one) => [String(one.number), `#${one.number} · ${moment(one.created_at)}`]);
  const from = select(options, options[1][0]);
  const to = select(options, options[0][0]);
  const result = h("div", {});
  const show = () => load(result, () => api.snapshotDiff(kb, from.value, to.value, signal), difference, signal);
  return h("section", { class: "panel" }, h("h2", {}, t("snapshots.compare")), h("div", { class: "toolbar end" }, field(t("snapshots.from"), from), field(t("snapshots.to"), to), button(t("snapshots.show"), { on: { click: show } })), result);
}

function difference(diff) {
  const groups = ["added", "changed", "removed"].map((name) => [name, diff[name] ?? []]);
  if (groups.every(([, items]) => !items.length)) return h("p", { class: "muted" }, t("snapshots.same"));
  const tone = { added: "good", changed: "info", removed: "bad" };
  return h(
    "ul",
    { class: "diff" },
    groups.flatMap(([name, items]) =>
      items.map((one) => h("li", {}, badge(t(`snapshots.${name}`), tone[name]), h("span", {}, typeof one === "string" ? decodeEnd(one) : one.title || decodeEnd(one.source)))),
    ),
  );
}
