/** Snapshots: the states that were published, their names, what differs between two of them, and the way back. */

import * as api from "../api.js";
import { decodeEnd } from "../ask/answer.js";
import { h } from "../dom.js";
import { moment, number, t } from "../i18n.js";
import { icon } from "../icons.js";
import { prompt, sorry, sure } from "../parts/notices.js";
import { badge, button, empty, field, load, select, table } from "../parts/ui.js";
import { href } from "../router.js";
import { followRun } from "./run.js";

const BEGINNING = 80;

/** The panel of the library; runs that it starts are shown in `intake`. */
export function snapshotsPanel(kb, signal, { mayWrite, intake }) {
  const root = h("div", {});
  const begin = () => load(root, () => api.snapshots(kb, signal), ({ snapshots }) => draw(kb, snapshots, signal, mayWrite && { begin, intake }), signal);
  begin();
  return root;
}

function draw(kb, snapshots, signal, work) {
  if (!snapshots.length) return empty("clock", t("snapshots.emptyTitle"), t("snapshots.emptyDetail"));
  const newest = [...snapshots].sort((a, b) => b.number - a.number);
  const rows = newest.map((one, at) => [
    h("strong", {}, `#${one.number}`),
    h("span", { class: "row wrap" }, at === 0 && badge(t("snapshots.head"), "good"), (one.tags ?? []).map((tag) => name(kb, tag, work))),
    moment(one.created_at),
    { node: number(one.documents), class: "num" },
    { node: number(one.chunks), class: "num" },
    whatChanged(one.changes),
    { node: work && h("span", { class: "row tight end" }, api.has("kbs/{}/tags") && button(t("snapshots.tag"), { kind: "quiet", glyph: "tag", bare: true, on: { click: () => tag(kb, one, work) } }), at > 0 && api.has("kbs/{}/rollback") && button(t("snapshots.back", { n: one.number }), { kind: "quiet", glyph: "history", bare: true, on: { click: () => back(kb, one, signal, work) } })), class: "act" },
  ]);
  const compare = snapshots.length > 1 && api.has("kbs/{}/diff") && comparison(kb, newest, signal);
  return h("div", { class: "stack" }, compare, table([t("snapshots.number"), "", t("snapshots.published"), t("snapshots.documents"), t("snapshots.chunks"), t("snapshots.changes"), ""], rows, { label: t("library.snapshots") }));
}

/** What readers see differently than in the snapshot before, in words. */
function whatChanged(changes) {
  const found = ["added", "changed", "removed"].filter((kind) => changes?.[kind]);
  return found.map((kind) => t(`snapshots.${kind}Count`, { n: changes[kind] })).join(t("snapshots.joined")) || t("snapshots.nothing");
}

/** A name of a snapshot; pressed, it is taken away. */
function name(kb, tag, work) {
  if (!work) return badge(tag, "info");
  const drop = async () => {
    if (!(await sure(t("snapshots.untag"), t("snapshots.untagDetail", { tag }), t("act.remove")))) return;
    await attempt(() => api.untag(kb, tag), work);
  };
  return h("button", { type: "button", class: "badge info removable", "aria-label": `${t("snapshots.untag")}: ${tag}`, on: { click: drop } }, tag, icon("close", 12));
}

async function tag(kb, one, work) {
  const said = await prompt(t("snapshots.tag"), t("snapshots.tagLabel", { n: one.number }), t("act.save"), { required: true });
  if (said) await attempt(() => api.tagSnapshot(kb, said, one.number), work);
}

async function back(kb, one, signal, work) {
  if (!(await sure(t("snapshots.backTitle", { n: one.number }), t("snapshots.backDetail"), t("snapshots.backDo")))) return;
  await attempt(async () => {
    const { id } = await api.rollBack(kb, one.number);
    await followRun(kb, id, work.intake, signal);
  }, work);
}

async function attempt(action, { begin }) {
  try {
    await action();
    begin();
  } catch (error) {
    sorry(error);
  }
}

function comparison(kb, newest, signal) {
  const options = newest.map((one) => [String(one.number), `#${one.number} · ${moment(one.created_at)}`]);
  const from = select(options, options[1][0]);
  const to = select(options, options[0][0]);
  const result = h("div", {});
  const show = () => load(result, () => api.snapshotDiff(kb, from.value, to.value, signal), (diff) => difference(kb, diff), signal);
  return h("section", { class: "panel" }, h("h2", {}, t("snapshots.compare")), h("div", { class: "toolbar end" }, field(t("snapshots.from"), from), field(t("snapshots.to"), to), button(t("snapshots.show"), { on: { click: show } })), result);
}

const TONES = { added: "good", changed: "info", removed: "bad" };

function difference(kb, diff) {
  const found = Object.keys(TONES).flatMap((kind) => (diff[kind] ?? []).map((one) => [kind, one]));
  if (!found.length) return h("p", { class: "muted" }, t("snapshots.same"));
  return [
    h("ul", { class: "diff" }, found.map(([kind, one]) => h("li", {}, badge(t(`snapshots.${kind}`), TONES[kind]), changed(kb, kind, one)))),
    diff.chunks_added !== undefined && h("p", { class: "muted small after" }, t("snapshots.chunksDiffer", { added: diff.chunks_added, removed: diff.chunks_removed })),
  ];
}

/** The service gives the beginnings of chunks. */
const cut = (text) => (text.length >= BEGINNING ? `${text}…` : text);

function changed(kb, kind, one) {
  const title = one.title || decodeEnd(one.source);
  const name = kind === "removed" ? h("span", {}, title) : h("a", { href: href(kb, "document", [one.document_id]) }, title);
  const lines = kind === "changed" ? [...(one.removed_texts ?? []).map((text) => h("del", { class: "small" }, cut(text))), ...(one.added_texts ?? []).map((text) => h("ins", { class: "small" }, cut(text)))] : [];
  return h("div", { class: "diff-item" }, name, lines);
}
