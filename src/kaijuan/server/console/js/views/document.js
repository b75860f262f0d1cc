/** One document: its original or its blocks, the chunks cut from it beside them, versions, metadata and access. */

import * as api from "../api.js";
import { decodeEnd } from "../ask/answer.js";
import { h, put } from "../dom.js";
import { ago, moment, number, t } from "../i18n.js";
import { badge, banner, button, facts, failed, heading, linkButton, loading, table, tabs } from "../parts/ui.js";
import { versionViewer } from "../reader/viewers.js";
import { blocksViewer } from "../reader/text.js";
import { documentAccess } from "../library/access.js";
import { chunkList } from "../library/chunks.js";
import { editionsOf } from "../library/editions.js";
import { sorry } from "../parts/notices.js";
import { href, note } from "../router.js";
import { warning } from "../said.js";

const ORIGINALS = new Set(["pdf", "image"]);

/** Draw the document of the address. */
export async function render({ kb, parts: [id], query, root, signal, shell }) {
  put(root, loading(8));
  let view;
  try {
    view = await api.wholeDocument(kb, id, signal);
  } catch (error) {
    if (error.name !== "AbortError") put(root, failed(error, () => render({ kb, parts: [id], query, root, signal, shell })));
    return;
  }
  if (signal.aborted) return;
  const { version } = view;
  const panels = [
    { id: "content", label: t("doc.content"), show: () => contentPanel(kb, view, signal, shell.may("write")) },
    { id: "versions", label: t("doc.versions"), show: () => [versionsPanel(kb, view), api.has("kbs/{}/editions") && editionsOf(kb, version.document_id, signal)] },
    { id: "metadata", label: t("doc.metadata"), show: () => metadataPanel(view) },
    shell.may("manage") && api.has("kbs/{}/access") && { id: "access", label: t("doc.access"), show: () => documentAccess(kb, version, signal) },
  ].filter(Boolean);
  const detail = h("span", { class: "row wrap" }, badge(version.kind), badge(t("doc.number", { n: version.number })), version.pages > 0 && h("span", {}, t("doc.pages", { n: version.pages })), h("span", {}, t("doc.chunks", { n: view.chunks.filter((one) => one.level === "child").length })), h("span", { title: moment(version.created_at) }, ago(version.created_at)));
  put(
    root,
    h(
      "div",
      { class: "view wide document" },
      h("a", { class: "back", href: href(kb, "library") }, `← ${t("library.title")}`),
      heading(version.title || decodeEnd(version.source), detail, [
        button(t("doc.download"), { glyph: "open", on: { click: () => download(kb, version) } }),
        linkButton(t("doc.askAbout"), href(kb, "ask"), { glyph: "ask" }),
      ]),
      (version.warnings ?? []).length > 0 && banner("warn", t("doc.warnings"), version.warnings.map(warning).join(" ")),
      tabs(panels, query.get("tab") ?? "content", (tab) => note({ tab: tab === "content" ? "" : tab })),
    ),
  );
}

function contentPanel(kb, view, signal, mayWrite) {
  const { version } = view;
  const original = ORIGINALS.has(version.kind);
  const sheet = h("div", { class: "doc-sheet" });
  const state = { viewer: null, chunk: null, mode: original ? "original" : "blocks" };
  const modes = original &&
    h("div", { class: "segmented", role: "group", "aria-label": t("doc.show") }, [["original", t("doc.original")], ["blocks", t("doc.blocks")]].map(([mode, label]) => h("button", { type: "button", data: { mode }, on: { click: () => open(mode) } }, label)));

  const list = chunkList(kb, view, {
    pointed: (chunk) => mark(chunk),
    mayWrite,
    signal,
  });

  async function open(mode) {
    state.mode = mode;
    for (const each of modes ? modes.children : []) each.setAttribute("aria-pressed", String(each.dataset.mode === mode));
    state.viewer?.destroy();
    state.viewer = null;
    put(sheet, loading(8));
    try {
      const made = mode === "original" ? await versionViewer(kb, { id: version.version_id, kind: version.kind }, signal) : blocksViewer(view.text, view.blocks);
      if (signal.aborted || state.mode !== mode) return made.destroy();
      state.viewer = made;
      put(sheet, made.element);
      if (state.chunk) mark(state.chunk);
    } catch (error) {
      if (error.name !== "AbortError") put(sheet, failed(error, () => open(mode)));
    }
  }

  async function mark(chunk) {
    state.chunk = chunk;
    const { viewer } = state;
    if (!viewer) return; // It is marked as soon as there is something to mark it in.
    let boxes = chunk.boxes ?? [];
    if (state.mode === "original" && !boxes.length) {
      try {
        boxes = (await api.spanOf(kb, version.version_id, ...chunk.span, signal)).boxes ?? [];
      } catch (error) {
        if (error.name !== "AbortError") sorry(error);
      }
    }
    if (viewer === state.viewer && chunk === state.chunk) viewer.show({ span: chunk.span, boxes, pages: chunk.pages ?? [] });
  }

  signal.addEventListener("abort", () => state.viewer?.destroy());
  open(state.mode);
  return h("div", { class: "doc-split" }, h("section", { class: "doc-left", "aria-label": t("doc.content") }, modes, sheet), h("section", { class: "doc-right", "aria-label": t("doc.chunkList") }, list));
}

function versionsPanel(kb, view) {
  const rows = [...view.history].reverse().map((one) => [
    h("strong", {}, t("doc.number", { n: one.number })),
    one.version_id === view.version.version_id ? badge(t("doc.thisOne"), "good") : "",
    moment(one.created_at),
    one.valid_to >= 2 ** 31 - 1 ? t("doc.since", { n: one.valid_from }) : t("doc.from", { from: one.valid_from, to: one.valid_to - 1 }),
    h("code", { class: "small" }, one.content_hash.slice(0, 12)),
    { node: linkButton(t("doc.read"), href(kb, "read", [one.version_id]), { kind: "quiet small", glyph: "open" }), class: "act" },
  ]);
  return table([t("library.version"), "", t("library.added"), t("doc.visible"), t("doc.hash"), ""], rows, { label: t("doc.versions") });
}

function metadataPanel(view) {
  const { version } = view;
  const own = Object.entries(version.metadata ?? {}).map(([name, value]) => [name, Array.isArray(value) ? value.join(", ") : String(value)]);
  return h(
    "div",
    { class: "columns" },
    h("section", { class: "panel" }, h("h2", {}, t("doc.facts")), facts([[t("doc.source"), h("code", { class: "break" }, version.path ?? version.source)], [t("library.kind"), version.kind], [t("doc.language"), version.language], [t("library.pages"), version.pages ? number(version.pages) : ""], [t("doc.id"), h("code", { class: "break" }, version.document_id)], [t("doc.versionId"), h("code", { class: "break" }, version.version_id)], [t("doc.hash"), h("code", { class: "break" }, version.content_hash)]])),
    h("section", { class: "panel" }, h("h2", {}, t("doc.ownFields")), own.length ? facts(own) : h("p", { class: "muted" }, t("doc.noFields"))),
  );
}

async function download(kb, version) {
  try {
    const made = await api.blobAddress(api.originalOf(kb, version.version_id));
    const link = h("a", { href: made, download: decodeEnd(version.source) });
    link.click();
    setTimeout(() => URL.revokeObjectURL(made), 10_000);
  } catch (error) {
    sorry(error);
  }
}
