/** The review desk: documents that the gate holds back until somebody decides. */

import * as api from "../api.js";
import { decodeEnd } from "../ask/answer.js";
import { h, put } from "../dom.js";
import { ago, has, t } from "../i18n.js";
import { followRun } from "../library/run.js";
import { prompt, sorry, toast } from "../parts/notices.js";
import { badge, button, empty, heading, load, select } from "../parts/ui.js";
import { said } from "../said.js";

const STATES = ["pending", "approved", "rejected", "superseded"];

/** Draw the desk. */
export function render({ kb, root, signal, shell }) {
  let state = "pending";
  const list = h("div", {});
  const choice = select(STATES.map((name) => [name, t(`review.state.${name}`)]), state, { "aria-label": t("review.state"), on: { change: () => ((state = choice.value), begin()) } });
  const place = h("div", { class: "intake" });
  put(root, h("div", { class: "view" }, heading(t("review.title"), t("review.detail"), [choice]), place, list));
  begin();

  function begin() {
    load(list, async () => (shell.made() ? api.reviews(kb, state, signal) : { reviews: [] }), draw, signal);
  }

  function draw({ reviews }) {
    if (!reviews.length) return empty("check", t(state === "pending" ? "review.emptyTitle" : "review.noneTitle"), t("review.emptyDetail"));
    return h("div", { class: "stack" }, reviews.map(card));
  }

  function card(one) {
    const decide = async (verdict) => {
      const note = await prompt(t(`review.${verdict}Title`), t("review.note"), t(`review.${verdict}`));
      if (note === null) return;
      try {
        const run = await api.decide(kb, one.id, verdict, note);
        toast(t(`review.${verdict}Done`), "good");
        if (verdict === "approve") await followRun(kb, run.id, place, signal);
        begin();
      } catch (error) {
        sorry(error);
      }
    };
    return h(
      "article",
      { class: "panel" },
      h("header", { class: "panel-head" }, h("div", {}, h("h2", {}, one.title || decodeEnd(one.source)), h("p", { class: "muted small" }, decodeEnd(one.source), " · ", ago(one.created_at))), badge(t(`review.state.${one.state}`), { pending: "warn", approved: "good", rejected: "bad" }[one.state] ?? "")),
      h("ul", { class: "findings" }, one.reasons.map(finding)),
      one.history.length > 0 && h("p", { class: "muted small" }, one.history.map((each) => `${t(`review.state.${each.state}`)} · ${each.by || t("review.engine")} · ${ago(each.at)}${each.note ? ` · ${each.note}` : ""}`).join("; ")),
      one.state === "pending" && h("div", { class: "row" }, button(t("review.approve"), { kind: "primary", glyph: "check", on: { click: () => decide("approve") } }), button(t("review.reject"), { kind: "danger", glyph: "close", on: { click: () => decide("reject") } })),
    );
  }
}

function finding(one) {
  const where = one.page ? t("ask.pages", { pages: one.page }) : one.place && said(one.place);
  return h(
    "li",
    {},
    badge(has(`detector.${one.detector}`) ? t(`detector.${one.detector}`) : one.detector, "warn"),
    h("span", {}, said(one.said), one.count > 1 && ` (${one.count})`, where && h("span", { class: "muted" }, ` · ${where}`)),
    one.excerpt && h("code", { class: "excerpt" }, one.excerpt),
  );
}
