/** The glossary: words of the house and what else they are called; questions then find both. */

import * as api from "../api.js";
import { h, put } from "../dom.js";
import { ago, t } from "../i18n.js";
import { sorry, sure, toast } from "../parts/notices.js";
import { badge, button, empty, field, heading, load, table } from "../parts/ui.js";

/** Draw the glossary. */
export function render({ kb, root, signal, shell }) {
  const term = h("input", { class: "input", type: "text", required: true, maxlength: 200 });
  const others = h("input", { class: "input", type: "text", required: true, maxlength: 1000 });
  const list = h("div", {});
  const form = h(
    "form",
    { class: "panel form-row", on: { submit: add } },
    field(t("glossary.term"), term),
    field(t("glossary.synonyms"), others, t("glossary.synonymsHint")),
    h("button", { type: "submit", class: "button primary" }, t("glossary.add")),
  );
  put(root, h("div", { class: "view" }, heading(t("glossary.title"), t("glossary.detail")), shell.may("write") && form, list));
  begin();

  function begin() {
    load(list, async () => (shell.made() ? api.glossary(kb, signal) : { terms: [] }), draw, signal);
  }

  async function add(event) {
    event.preventDefault();
    const synonyms = others.value.split(/[,，、;；]/).map((one) => one.trim()).filter(Boolean);
    try {
      await shell.secure();
      await api.addTerm(kb, { term: term.value.trim(), synonyms });
      toast(t("glossary.added"), "good");
      term.value = others.value = "";
      begin();
    } catch (error) {
      sorry(error);
    }
  }

  function draw(result) {
    const terms = result.terms ?? result.glossary ?? [];
    const learned = result.abbreviations ?? [];
    if (!terms.length && !learned.length) return empty("glossary", t("glossary.emptyTitle"), t("glossary.emptyDetail"));
    const rows = terms.map((one) => [
      h("strong", {}, one.term),
      h("span", { class: "row wrap" }, (one.synonyms ?? []).map((each) => badge(each))),
      (one.by ?? one.history?.at(-1)?.by) || "",
      ago(one.at ?? one.history?.at(-1)?.at),
      { node: shell.may("write") && button(t("act.remove"), { kind: "quiet", glyph: "trash", bare: true, on: { click: () => remove(one.term) } }), class: "act" },
    ]);
    return h(
      "div",
      { class: "stack" },
      rows.length > 0 && table([t("glossary.term"), t("glossary.synonyms"), t("glossary.by"), t("glossary.when"), ""], rows, { label: t("glossary.title") }),
      learned.length > 0 && h("section", {}, h("h2", {}, t("glossary.learned")), table([t("glossary.short"), t("glossary.long")], learned.map((one) => [h("strong", {}, one.short), one.long ?? one.full]), { label: t("glossary.learned") })),
    );
  }

  async function remove(word) {
    if (!(await sure(t("glossary.removeTitle"), t("glossary.removeDetail", { word }), t("act.remove")))) return;
    try {
      await api.removeTerm(kb, word);
      begin();
    } catch (error) {
      sorry(error);
    }
  }
}
