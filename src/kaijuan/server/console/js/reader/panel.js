/** The evidence reader: the cited words in the original, in the very version they were taken from. */

import * as api from "../api.js";
import { pages, sourceTitle, trail } from "../ask/answer.js";
import { h, put } from "../dom.js";
import { t } from "../i18n.js";
import { icon } from "../icons.js";
import { copy } from "../parts/notices.js";
import { badge, button, failed, loading } from "../parts/ui.js";
import { href } from "../router.js";
import { versionViewer } from "./viewers.js";

/**
 * Make the panel. `closed()` is called when the person closes it, `moved(id)` when another citation is wanted.
 * Returns {element, open(citations, id), close()}.
 */
export function readerPanel(kb, { closed, moved, signal }) {
  let viewer = null;
  let shownVersion = "";
  let opening = null;
  let citations = [];
  let current = "";

  const strip = h("div", { class: "evidence-strip", role: "group", "aria-label": t("reader.all") });
  const title = h("h2", { class: "reader-title", tabindex: "-1" });
  const where = h("div", { class: "reader-where" });
  const actions = h("div", { class: "row tight" });
  const body = h("div", { class: "reader-body" });
  const element = h(
    "section",
    { class: "reader", "aria-label": t("reader.title"), hidden: true, on: { keydown: pressed } },
    h("div", { class: "reader-top" }, strip, actions),
    h("div", { class: "reader-head" }, title, where),
    body,
  );
  signal.addEventListener("abort", leave);

  function pressed(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step || event.target.closest("input, textarea") || citations.length < 2) return;
    event.preventDefault();
    const at = citations.findIndex((one) => one.id === current);
    moved(citations[(at + step + citations.length) % citations.length].id);
  }

  function leave() {
    opening?.abort();
    viewer?.destroy();
    viewer = null;
    shownVersion = "";
  }

  function close() {
    leave();
    element.hidden = true;
  }

  async function open(all, id) {
    citations = all;
    current = id;
    const citation = all.find((one) => one.id === id);
    if (!citation) return;
    opening?.abort();
    opening = new AbortController();
    const { signal: mine } = opening;
    element.hidden = false;
    draw(citation);
    try {
      const state = await api.spanOf(kb, citation.version_id, ...citation.span, mine);
      if (mine.aborted) return;
      const exact = state.exact ?? state.quote === citation.quote;
      const evidence = { ...citation, boxes: state.boxes?.length ? state.boxes : citation.boxes };
      told(citation, state, exact);
      if (shownVersion !== citation.version_id || !viewer) {
        viewer?.destroy();
        put(body, loading(6));
        const made = await versionViewer(kb, { ...state, id: citation.version_id }, mine);
        if (mine.aborted) return made.destroy();
        viewer = made;
        shownVersion = citation.version_id;
        put(body, viewer.element);
      }
      const found = await viewer.show(evidence);
      if (!mine.aborted && !found && exact) told(citation, state, false);
    } catch (error) {
      if (error.name === "AbortError" || mine.aborted) return;
      if (!("status" in error)) console.error(error);
      leave();
      put(body, failed(error, () => open(all, id)));
    }
  }

  function draw(citation) {
    put(
      strip,
      citations.map((one) =>
        h("button", { type: "button", class: "cite large", "aria-pressed": String(one.id === current), "aria-label": t("ask.source", { id: one.id, where: sourceTitle(one) }), on: { click: () => moved(one.id) } }, one.id),
      ),
    );
    put(title, sourceTitle(citation));
    put(where, h("span", {}, [...trail(citation), pages(citation.pages)].filter(Boolean).join(" › ")));
    const link = () => new URL(href(kb, "read", [citation.version_id], { span: citation.span.join("-"), from: citation.id }), location.href).href;
    put(
      actions,
      button(t("reader.copyQuote"), { kind: "quiet", glyph: "copy", bare: true, on: { click: () => copy(citation.quote) } }),
      button(t("reader.copyLink"), { kind: "quiet", glyph: "link", bare: true, on: { click: () => copy(link()) } }),
      h("a", { class: "button quiet bare", href: href(kb, "document", [citation.document_id]), "aria-label": t("reader.document"), title: t("reader.document") }, icon("open")),
      button(t("reader.close"), { kind: "quiet", glyph: "close", bare: true, on: { click: closed } }),
    );
  }

  function told(citation, state, exact) {
    put(
      where,
      h("span", {}, [...trail(citation), pages(state.pages ?? citation.pages)].filter(Boolean).join(" › ")),
      versionBadge(state),
      !exact && badge(t("reader.approximate"), "warn", { title: t("reader.approximateWhy") }),
    );
  }

  return { element, open, close };
}

/** Which version is shown, and whether it is the one that counts now. */
export function versionBadge(state) {
  const current = state.current ?? true;
  return badge(t(current ? "reader.current" : "reader.older", { n: state.number ?? 1 }), current ? "good" : "warn");
}
