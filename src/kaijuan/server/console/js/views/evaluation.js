/** Evaluations: which experiments were run, and what each found, with how sure one can be. */

import * as api from "../api.js";
import { h, place, put } from "../dom.js";
import { ago, decimal, has, lang, moment, number, t } from "../i18n.js";
import { sorry } from "../parts/notices.js";
import { badge, button, empty, heading, load, table } from "../parts/ui.js";
import { href } from "../router.js";

const METRICS = ["ndcg@10", "recall@10", "recall@50", "mrr@10", "hit@1"];
const TONES = { better: "good", worse: "bad" };

/** Draw the list of experiments, or the one of the address. */
export function render({ kb, parts: [name], root, signal }) {
  const body = h("div", {});
  if (name) {
    put(root, h("div", { class: "view wide" }, h("a", { class: "back", href: href(kb, "evaluation") }, `← ${t("eval.title")}`), body));
    load(body, () => api.evaluation(name, signal), (found) => one(found), signal);
    return;
  }
  put(root, h("div", { class: "view" }, heading(t("eval.title"), t("eval.detail")), body));
  load(body, () => api.evaluations(signal), ({ evaluations }) => list(kb, evaluations), signal);
}

function list(kb, found) {
  if (!found.length) return empty("evaluation", t("eval.emptyTitle"), t("eval.emptyDetail"), [h("code", { class: "command" }, "kaijuan eval experiment FILE")]);
  return table(
    [t("eval.name"), t("eval.runs"), t("eval.when")],
    found.map((each) => [h("strong", {}, h("a", { href: href(kb, "evaluation", [each.name]) }, each.name)), { node: number(each.runs), class: "num" }, h("span", { title: moment(each.at) }, ago(each.at))]),
    { label: t("eval.title") },
  );
}

function one(found) {
  const questions = found.sets.reduce((sum, each) => sum + each.questions, 0);
  const save = button(t("eval.report"), { glyph: "open", on: { click: () => download(found.name) } });
  return [
    heading(found.experiment, t("eval.over", { questions, sets: found.sets.length, metric: found.metric }), [save]),
    h("div", { class: "stack" }, found.variants.length > 0 && variants(found), found.sets.map(stages)),
  ];
}

function variants(found) {
  const reach = Math.max(...found.variants.flatMap(({ pooled }) => [Math.abs(pooled.low), Math.abs(pooled.high)]), 0.001);
  const rows = found.variants.map(({ name, changes, pooled }) => [
    h("span", { class: "doc-name" }, h("strong", {}, name), h("span", { class: "muted small" }, Object.entries(changes).map(([key, value]) => `${key} = ${JSON.stringify(value)}`).join(", "))),
    { node: decimal(pooled.baseline), class: "num" },
    { node: decimal(pooled.variant), class: "num" },
    interval(pooled, reach),
    { node: decimal(pooled.p_holm), class: "num" },
    { node: `${pooled.wins} / ${pooled.losses} / ${pooled.ties}`, class: "num" },
    badge(t(`eval.verdict.${TONES[pooled.verdict] ? pooled.verdict : "none"}`), TONES[pooled.verdict] ?? ""),
  ]);
  return h(
    "section",
    { class: "panel" },
    h("h2", {}, t("eval.variants")),
    table([t("eval.variant"), t("eval.baseline"), t("eval.value"), t("eval.difference"), "p", t("eval.counts"), ""], rows, { label: t("eval.variants"), figures: true }),
    h("p", { class: "muted small after" }, t("eval.how")),
  );
}

/** The difference as a dot, its interval as a line, nothing gained in the middle. */
function interval({ effect, low, high }, reach) {
  const at = (value) => `${50 + (value / reach) * 48}%`;
  const width = ((high - low) / reach) * 48;
  const words = `${signed(effect)} (${signed(low)} … ${signed(high)})`;
  return h(
    "span",
    { class: "interval", title: words },
    h("span", { class: "interval-plot", "aria-hidden": "true" }, place(h("span", { class: "interval-line" }), { left: at(low), width: `${Math.max(width, 0.5)}%` }), place(h("span", { class: "interval-dot" }), { left: at(effect) })),
    h("span", { class: "num small" }, words),
  );
}

const signed = (value) => `${value < 0 ? "−" : "+"}${decimal(Math.abs(value))}`;

/** What every stage of the baseline's search is worth on one set. */
function stages(set) {
  const rows = set.stages.map((stage) => [
    h("span", { class: "unbroken" }, has(`stageName.${stage.name}`) ? t(`stageName.${stage.name}`) : stage.name),
    ...METRICS.map((metric) => ({ node: share(stage.scores[metric]), class: "num" })),
  ]);
  return h("section", { class: "panel" }, h("h2", {}, t("eval.stages", { set: set.name })), h("p", { class: "muted small" }, t("eval.questions", { n: set.questions }), " · ", moment(Date.parse(set.date) / 1000)), table([t("eval.stage"), ...METRICS], rows, { label: t("eval.stages", { set: set.name }), figures: true }));
}

function share(value) {
  if (value === undefined) return "–";
  return h("span", { class: "share" }, h("span", {}, decimal(value)), h("span", { class: "time-bar", "aria-hidden": "true" }, place(h("span", {}), { width: `${value * 100}%` })));
}

async function download(name) {
  try {
    const made = await api.blobAddress(api.reportOf(name, lang()));
    h("a", { href: made, download: `${name}.html` }).click();
    setTimeout(() => URL.revokeObjectURL(made), 10_000);
  } catch (error) {
    sorry(error);
  }
}
