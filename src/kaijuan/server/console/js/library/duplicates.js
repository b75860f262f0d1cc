/** Documents that say the same: which, how alike, and what was decided. */

import * as api from "../api.js";
import { decodeEnd } from "../ask/answer.js";
import { h } from "../dom.js";
import { t } from "../i18n.js";
import { sorry } from "../parts/notices.js";
import { badge, button, empty, load } from "../parts/ui.js";
import { href } from "../router.js";
import { said } from "../said.js";

/** The panel of the library. */
export function duplicatesPanel(kb, signal) {
  const root = h("div", {});
  const begin = () => load(root, () => api.duplicates(kb, signal), ({ duplicates }) => draw(kb, duplicates, begin), signal);
  begin();
  return root;
}

function draw(kb, duplicates, again) {
  if (!duplicates.length) return empty("check", t("duplicates.emptyTitle"), t("duplicates.emptyDetail"));
  return h("div", { class: "stack" }, duplicates.map((one) => card(kb, one, again)));
}

const document_ = (kb, id, source) => h("a", { class: "strong", href: href(kb, "document", [id]) }, decodeEnd(source));

function card(kb, one, again) {
  const rule = async (merge) => {
    try {
      await api.ruleDuplicate(kb, one.id, merge);
      again();
    } catch (error) {
      sorry(error);
    }
  };
  return h(
    "article",
    { class: "panel stack tight" },
    h("div", { class: "row wrap" }, badge(t(`duplicates.kind.${one.kind}`), "info"), badge(t(`duplicates.state.${one.state}`), one.state === "merged" ? "good" : ""), h("span", { class: "muted small" }, t("duplicates.alike", { n: Math.round(one.similarity * 100) }))),
    h("p", {}, document_(kb, one.document_id, one.source), h("span", { class: "muted" }, " ↔ "), document_(kb, one.other_document_id, one.other)),
    one.reason && h("p", { class: "muted" }, said(one.reason)),
    h("div", { class: "row" }, one.state !== "merged" && button(t("duplicates.merge"), { on: { click: () => rule(true) } }), one.state !== "kept" && button(t("duplicates.keep"), { on: { click: () => rule(false) } })),
  );
}
