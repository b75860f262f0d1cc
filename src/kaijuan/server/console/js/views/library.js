/** The library: what the base holds, how it came in, and what it was before. */

import * as api from "../api.js";
import { decodeEnd } from "../ask/answer.js";
import { debounce, h, put } from "../dom.js";
import { ago, has, number, t } from "../i18n.js";
import { icon } from "../icons.js";
import { dropped, picked } from "../library/files.js";
import { TAKEN_IN, cardsOf, leftOver, takeAddresses, takeFiles } from "../library/intake.js";
import { reportView } from "../library/run.js";
import { snapshotsPanel } from "../library/snapshots.js";
import { duplicatesPanel } from "../library/duplicates.js";
import { editionsPanel } from "../library/editions.js";
import { prompt, sorry, sure, toast } from "../parts/notices.js";
import { badge, button, empty, heading, load, loading, table, tabs } from "../parts/ui.js";
import { href, note } from "../router.js";
import { reason, said, warning } from "../said.js";

const KINDS = ["pdf", "docx", "pptx", "xlsx", "html", "markdown", "text", "csv", "image", "email", "epub", "code"];

/** Draw the library with its tabs. */
export function render({ kb, query, root, signal, shell }) {
  const intake = h("div", { class: "intake" });
  const files = fileInput(false);
  const folder = fileInput(true);
  const view = h("div", { class: "view library" });
  let list = null;

  function fileInput(folders) {
    const input = h("input", { type: "file", multiple: true, webkitdirectory: folders, class: "hidden-input", tabindex: "-1", "aria-hidden": "true", on: { change: () => (take(picked(input)), (input.value = "")) } });
    return input;
  }

  async function take(found) {
    if (!found.length) return toast(t("library.nothing"), "bad");
    try {
      await shell.secure();
    } catch (error) {
      return sorry(error);
    }
    return takeFiles(kb, found, intake);
  }

  async function takeWeb() {
    const words = await prompt(t("library.web"), t("library.webLabel"), t("library.webAdd"), { multiline: true, required: true });
    const targets = (words ?? "").split(/\s+/).filter(Boolean);
    if (!targets.length) return;
    try {
      await shell.secure();
    } catch (error) {
      return sorry(error);
    }
    return takeAddresses(kb, targets, intake);
  }

  window.addEventListener(TAKEN_IN, () => (list?.(), shell.renewBases()), { signal });

  const veil = h("div", { class: "drop-veil", hidden: true, "aria-hidden": "true" }, h("div", {}, icon("upload", 40), h("p", {}, t("library.dropHere"))));
  const holdsFiles = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");
  const over = (event) => {
    if (!holdsFiles(event)) return;
    event.preventDefault();
    veil.hidden = !shell.may("write");
  };
  window.addEventListener("dragover", over, { signal });
  window.addEventListener("dragleave", (event) => event.relatedTarget === null && (veil.hidden = true), { signal });
  window.addEventListener(
    "drop",
    async (event) => {
      if (!holdsFiles(event)) return;
      event.preventDefault();
      veil.hidden = true;
      if (shell.may("write")) take(await dropped(event.dataTransfer));
    },
    { signal },
  );

  const actions = shell.may("write") && [
    button(t("library.upload"), { kind: "primary", glyph: "upload", on: { click: () => files.click() } }),
    button(t("library.folder"), { glyph: "folder", on: { click: () => folder.click() } }),
    api.has("kbs/{}/runs") && button(t("library.web"), { glyph: "globe", on: { click: takeWeb } }),
  ];
  const panels = [
    { id: "documents", label: t("library.documents"), show: () => documentsPanel({ kb, query, signal, made: shell.made, mayWrite: shell.may("write"), upload: () => files.click(), onList: (again) => (list = again) }) },
    shell.made() && api.has("kbs/{}/runs") && { id: "runs", label: t("library.runs"), show: () => runsPanel(kb, signal) },
    shell.made() && api.has("kbs/{}/snapshots") && { id: "snapshots", label: t("library.snapshots"), show: () => snapshotsPanel(kb, signal, { mayWrite: shell.may("write"), intake }) },
    shell.made() && api.has("kbs/{}/editions") && { id: "editions", label: t("library.editions"), show: () => editionsPanel(kb, signal) },
    shell.made() && shell.may("write") && api.has("kbs/{}/duplicates") && { id: "duplicates", label: t("library.duplicates"), show: () => duplicatesPanel(kb, signal) },
  ].filter(Boolean);
  const chosen = query.get("tab") ?? "documents";
  put(view, heading(t("library.title"), t(shell.may("write") ? "library.detail" : "library.detailReader"), actions || []), files, folder, intake, tabs(panels, chosen, (id) => note({ tab: id === "documents" ? "" : id, q: id === "documents" ? query.get("q") : "" })), veil);
  put(root, view);
  intake.append(...cardsOf(kb));
  if (shell.made() && shell.may("write") && api.has("kbs/{}/uploads")) leftOver(kb, intake, signal);
  shell.keys({ "/": () => view.querySelector("input[type=search]")?.focus() });
}

function documentsPanel({ kb, query, signal, made, mayWrite, upload, onList }) {
  const rows = h("div", { class: "list-root" });
  let words = query.get("q") ?? "";
  let kind = "";
  const search = h("input", { class: "input", type: "search", value: words, placeholder: t("library.find"), "aria-label": t("library.find"), on: { input: debounce(() => ((words = search.value.trim()), begin()), 200) } });
  const kinds = h("select", { class: "input", "aria-label": t("library.kind"), on: { change: () => ((kind = kinds.value), begin()) } }, h("option", { value: "" }, t("library.allKinds")), KINDS.map((name) => h("option", { value: name }, name)));
  onList(begin);
  begin();
  return [h("div", { class: "toolbar" }, h("div", { class: "search-field" }, icon("search", 18), search), kinds), rows];

  function begin() {
    load(rows, async () => (made() ? api.documents(kb, { q: words, kind }, signal) : { documents: [] }), draw, signal);
  }

  function draw({ documents, next }) {
    if (!documents.length && !words && !kind) {
      return empty("library", t("library.emptyTitle"), t("library.emptyDetail"), mayWrite ? [button(t("library.upload"), { kind: "primary", glyph: "upload", on: { click: upload } })] : []);
    }
    if (!documents.length) return empty("search", t("library.noneTitle"), t("library.noneDetail"));
    const body = h("div", {});
    const shown = [...documents];
    const paint = (after) => {
      const more = after && button(t("act.more"), { on: { click: async (event) => {
        event.currentTarget.disabled = true;
        try {
          const page = await api.documents(kb, { q: words, kind, after }, signal);
          shown.push(...page.documents);
          paint(page.next);
        } catch (error) {
          sorry(error);
          event.target.disabled = false;
        }
      } } });
      put(body, documentTable(kb, shown, mayWrite && begin), more && h("div", { class: "row center pad" }, more));
    };
    paint(next);
    return body;
  }
}

function documentTable(kb, documents, changed) {
  return table(
    [t("library.name"), t("library.kind"), t("library.pages"), t("library.version"), t("library.added"), ""],
    documents.map((one) => [
      h("span", { class: "doc-name" }, h("a", { href: href(kb, "document", [one.document_id]) }, one.title || decodeEnd(one.source)), h("span", { class: "muted small ellipsis" }, decodeEnd(one.source)), one.warnings?.length > 0 && badge(t("library.warnings", { n: one.warnings.length }), "warn", { title: one.warnings.map(warning).join("\n") })),
      badge(one.kind),
      { node: one.pages ? number(one.pages) : "–", class: one.pages ? "num" : "num none" },
      { node: number(one.number), class: "num" },
      h("span", { title: new Date(one.created_at * 1000).toISOString() }, ago(one.created_at)),
      { node: changed && button(t("act.remove"), { kind: "quiet", glyph: "trash", bare: true, on: { click: () => remove(kb, one, changed) } }), class: "act" },
    ]),
    { label: t("library.documents") },
  );
}

async function remove(kb, one, changed) {
  const name = one.title || decodeEnd(one.source);
  if (!(await sure(t("library.removeTitle"), t("library.removeDetail", { name }), t("act.remove")))) return;
  try {
    await api.removeDocument(kb, one.document_id);
    toast(t("library.removed", { name }), "good");
    changed();
  } catch (error) {
    sorry(error);
  }
}

function runsPanel(kb, signal) {
  const root = h("div", {}, loading());
  load(
    root,
    () => api.runs(kb, signal),
    ({ tickets = [], runs = [] }) => {
      const told = new Set(tickets.map((one) => one.report?.run_id).filter(Boolean));
      const all = [...tickets, ...runs.filter((one) => !told.has(one.id))];
      return all.length ? h("div", {}, all.map((one) => runRow(kb, one, signal))) : empty("clock", t("runs.emptyTitle"), t("runs.emptyDetail"));
    },
    signal,
  );
  return root;
}

const RUN_TONES = { done: "good", published: "good", failed: "bad", rolled_back: "bad", cancelled: "warn", running: "info", waiting: "info" };

function runRow(kb, run, signal) {
  const failures = run.report?.failed?.length ?? run.counts?.failed ?? 0;
  const body = h("div", {}, run.report ? reportView(run.report) : (run.error || run.reason) && h("p", { class: "muted" }, reason(run.error?.code, run.error?.message ?? run.reason)));
  const details = h(
    "details",
    { class: "run-card" },
    h("summary", {}, badge(stateWord(run.state), RUN_TONES[run.state] ?? ""), h("strong", {}, has(`runKind.${run.kind}`) ? t(`runKind.${run.kind}`) : run.kind), h("span", { class: "muted" }, ago(run.started_at ?? run.created_at)), counts(run), failures > 0 && badge(t("run.count.failed", { n: failures }), "bad")),
    body,
  );
  if (!run.report && !run.progress) details.addEventListener("toggle", () => details.open && items(kb, run, body, signal), { once: true });
  return details;
}

/** How many of a run's sources became what. */
function counts(run) {
  const report = run.report ?? run.counts ?? {};
  return ["added", "updated", "removed"].filter((name) => report[name] > 0).map((name) => badge(t(`run.count.${name}`, { n: report[name] })));
}

const stateWord = (state) => (has(`runState.${state}`) ? t(`runState.${state}`) : state);

/** What became of every source of an earlier run. */
function items(kb, run, body, signal) {
  load(
    body,
    () => api.run(kb, run.id, signal),
    ({ items: found = [], reason: why }) =>
      found.length
        ? table([t("library.name"), t("run.outcome"), t("run.reason")], found.map((one) => [decodeEnd(one.source), stateOf(one.state), reasonOf(one)]), { label: t("library.runs") })
        : h("p", { class: "muted" }, why ? said(why) : t("runs.noReport")),
    signal,
  );
}

/** Why an item failed or waits. */
function reasonOf(one) {
  const text = one.message ?? one.reason ?? "";
  return ["held", "rejected"].includes(one.state) ? warning(text) : h("span", { title: text }, reason(one.code, text));
}

function stateOf(state) {
  const tone = { added: "good", updated: "good", failed: "bad", held: "warn", rejected: "warn" }[state] ?? "";
  return badge(has(`itemState.${state}`) ? t(`itemState.${state}`) : state, tone);
}
