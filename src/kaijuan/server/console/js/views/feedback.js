/** What people said about answers, and the questions that went badly. */

import * as api from "../api.js";
import { h, put } from "../dom.js";
import { ago, t } from "../i18n.js";
import { badge, empty, heading, linkButton, load, table, tabs } from "../parts/ui.js";
import { href } from "../router.js";

const TONES = { answered: "good", partial: "warn", refused: "bad", clarify: "info" };

/** Draw the page. */
export function render({ kb, root, signal, shell }) {
  const panels = [
    shell.may("write") && api.has("kbs/{}/feedback") && { id: "bad", label: t("feedback.bad"), show: () => votes(kb, signal, (one) => one.verdict !== "good") },
    shell.may("write") && api.has("kbs/{}/feedback") && { id: "all", label: t("feedback.all"), show: () => votes(kb, signal, () => true) },
    api.has("kbs/{}/traces") && { id: "asked", label: t("feedback.asked"), show: () => asked(kb, signal) },
  ].filter(Boolean);
  const none = () => empty("feedback", t("feedback.noneTitle"), t("feedback.noneDetail"));
  put(root, h("div", { class: "view" }, heading(t("feedback.title"), t("feedback.detail")), shell.made() && panels.length ? tabs(panels, panels[0].id) : none()));
}

function votes(kb, signal, wanted) {
  const root = h("div", {});
  load(root, () => api.feedback(kb, signal), ({ feedback }) => {
    const rows = feedback.filter(wanted);
    if (!rows.length) return empty("feedback", t("feedback.emptyTitle"), t("feedback.emptyDetail"));
    return table(
      [t("feedback.vote"), t("feedback.question"), t("feedback.note"), t("feedback.when"), ""],
      rows.map((one) => [badge(t(`verdict.${one.verdict}`), one.verdict === "good" ? "good" : "bad"), one.question ?? "", one.comment ?? one.body?.comment ?? "", h("span", { class: "unbroken" }, ago(one.created_at ?? one.at)), { node: links(kb, one), class: "act" }]),
      { label: t("feedback.title") },
    );
  }, signal);
  return root;
}

function links(kb, one) {
  const question = one.question ?? "";
  return h(
    "span",
    { class: "row tight" },
    one.trace_id && linkButton(t("feedback.open"), href(kb, "ask", [], { t: one.trace_id }), { kind: "quiet small" }),
    question && linkButton(t("feedback.play"), href(kb, "playground", [], { q: question }), { kind: "quiet small" }),
  );
}

function asked(kb, signal) {
  const root = h("div", {});
  load(root, () => api.traces(kb, signal), ({ traces }) => {
    if (!traces.length) return empty("ask", t("feedback.noneTitle"), t("feedback.noneDetail"));
    return table(
      [t("feedback.status"), t("feedback.question"), t("feedback.when"), ""],
      traces.map((one) => [one.status ? badge(t(`status.${one.status}`), TONES[one.status] ?? "") : "–", one.question ?? one.query ?? "", h("span", { class: "unbroken" }, ago(one.created_at)), { node: links(kb, { question: one.question ?? one.query, trace_id: one.id ?? one.trace_id }), class: "act" }]),
      { label: t("feedback.asked") },
    );
  }, signal);
  return root;
}
