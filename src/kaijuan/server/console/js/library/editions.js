/** Editions: documents that replace each other, and which of them is in force on a day. */

import * as api from "../api.js";
import { decodeEnd } from "../ask/answer.js";
import { h } from "../dom.js";
import { t } from "../i18n.js";
import { badge, empty, field, load } from "../parts/ui.js";
import { href } from "../router.js";

const TONES = { "in force": "good", superseded: "warn", expired: "warn", "not in force yet": "info" };

/** The panel of the library: all chains, as they stand on the day chosen. */
export function editionsPanel(kb, signal) {
  const found = h("div", {});
  const day = h("input", { class: "input", type: "date", on: { change: () => begin() } });
  const begin = () => load(found, () => api.editions(kb, { at: day.value }, signal), ({ chains }) => (chains.length ? h("div", { class: "stack" }, chains.map((chain) => card(kb, chain))) : empty("history", t("editions.emptyTitle"), t("editions.emptyDetail"))), signal);
  begin();
  return h("div", {}, h("div", { class: "toolbar end" }, field(t("editions.day"), day)), found);
}

/** The chain of one document, below its versions; nothing where it has none. */
export function editionsOf(kb, document, signal) {
  const root = h("div", {});
  api
    .editions(kb, { document }, signal)
    .then(({ chains }) => chains.filter(({ editions }) => editions.length > 1).forEach((chain) => root.append(h("h2", { class: "apart" }, t("editions.title")), card(kb, chain, document))))
    .catch(() => {}); // A help beside the versions, which stand there already.
  return root;
}

function card(kb, { editions }, shown = "") {
  return h("ol", { class: "panel editions" }, [...editions].reverse().map((one) => edition(kb, one, one.document_id === shown)));
}

function edition(kb, one, isShown) {
  const title = one.title || decodeEnd(one.source);
  const reach = [one.effective_from && t("editions.from", { day: one.effective_from }), one.effective_to && t("editions.to", { day: one.effective_to })].filter(Boolean).join(" ");
  return h(
    "li",
    {},
    badge(t(`editions.state.${one.standing}`), TONES[one.standing] ?? ""),
    h("span", { class: "doc-name" }, isShown ? h("strong", {}, title) : h("a", { href: href(kb, "document", [one.document_id]) }, title), h("span", { class: "muted small" }, [one.label, reach, decodeEnd(one.source)].filter(Boolean).join(" · "))),
  );
}
