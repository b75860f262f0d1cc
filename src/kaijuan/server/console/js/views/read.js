/** One cited place on a page of its own: what a copied link to evidence opens. */

import * as api from "../api.js";
import { pages } from "../ask/answer.js";
import { h, put } from "../dom.js";
import { t } from "../i18n.js";
import { badge, empty, failed, heading, linkButton, loading } from "../parts/ui.js";
import { versionBadge } from "../reader/panel.js";
import { versionViewer } from "../reader/viewers.js";
import { href } from "../router.js";

/** Draw the version, the span of the address marked. */
export async function render({ kb, parts: [id], query, root, signal }) {
  if (!query.get("span")) return whole(kb, id, root, signal);
  const span = query.get("span").split("-").map(Number);
  if (span.length !== 2 || !span.every(Number.isInteger)) {
    return put(root, empty("link", t("read.badTitle"), t("read.badDetail")));
  }
  put(root, loading(8));
  try {
    const state = await api.spanOf(kb, id, ...span, signal);
    const viewer = await versionViewer(kb, { ...state, id }, signal);
    signal.addEventListener("abort", () => viewer.destroy());
    const where = h("div", { class: "reader-where" }, h("span", {}, [...(state.title_path ?? []).filter((part) => part !== state.title), pages(state.pages)].filter(Boolean).join(" › ")), versionBadge(state));
    const actions = state.document_id ? [linkButton(t("reader.document"), href(kb, "document", [state.document_id]), { glyph: "open" })] : [];
    put(
      root,
      h("div", { class: "read" }, heading(state.title || t("read.untitled"), null, actions), where, h("blockquote", { class: "read-quote" }, state.quote), h("div", { class: "read-body" }, viewer.element)),
    );
    const exact = await viewer.show({ ...state, span });
    if (!exact || state.exact === false) where.append(badge(t("reader.approximate"), "warn", { title: t("reader.approximateWhy") }));
  } catch (error) {
    if (error.name !== "AbortError") put(root, failed(error, () => render({ kb, parts: [id], query, root, signal })));
  }
}

/** A version from its beginning, nothing marked: an earlier one, say. */
async function whole(kb, id, root, signal) {
  put(root, loading(8));
  try {
    const state = await api.versionOf(kb, id, signal);
    const viewer = await versionViewer(kb, { ...state, id }, signal);
    signal.addEventListener("abort", () => viewer.destroy());
    put(
      root,
      h("div", { class: "read" }, heading(state.title || t("read.untitled"), versionBadge(state), [linkButton(t("reader.document"), href(kb, "document", [state.document_id]), { glyph: "open" })]), h("div", { class: "read-body" }, viewer.element)),
    );
  } catch (error) {
    if (error.name !== "AbortError") put(root, failed(error, () => whole(kb, id, root, signal)));
  }
}
