/** A run as it goes on: what is being done, how far it is, and at its end what became of every source. */

import * as api from "../api.js";
import { decodeEnd } from "../ask/answer.js";
import { h, put } from "../dom.js";
import { has, t } from "../i18n.js";
import { icon } from "../icons.js";
import { sorry } from "../parts/notices.js";
import { badge, button, failed, progress, table } from "../parts/ui.js";
import { reason, warning } from "../said.js";

const LOOK_MS = 700;
/** Looks without an answer before a person is told: some minutes. */
const MOST_SILENT = 400;

/** Show a run in `place` until it ends; resolves to its report. */
export async function followRun(kb, id, place, signal) {
  const card = h("div", { class: "run-card", "aria-live": "polite" });
  place.append(card);
  try {
    const stop = button(t("run.cancel"), { kind: "quiet small", on: { click: () => cancel(kb, id, stop) } });
    const report = await watch(kb, id, signal, (state) => put(card, going(state, stop)));
    put(card, report.snapshot === undefined ? done() : reportView(report));
    return report;
  } catch (error) {
    if (error.name !== "AbortError") put(card, failed(error));
    throw error;
  }
}

const done = () => h("div", { class: "run-line" }, icon("check", 18), h("strong", {}, t("runState.done")));

async function cancel(kb, id, stop) {
  stop.disabled = true;
  try {
    await api.cancelRun(kb, id);
  } catch (error) {
    stop.disabled = false;
    sorry(error);
  }
}

async function watch(kb, id, signal, told) {
  let last = { state: "waiting" };
  const see = (state) => told((last = state));
  see(last);
  try {
    for await (const { event, data } of api.runStream(kb, id, signal)) {
      if (event === "error") throw new api.ApiError(data.status ?? 500, data);
      if (ended(data)) return data.report;
      see(data);
    }
  } catch (error) {
    if (error.name === "AbortError" || (error.status && !error.retry)) throw error;
    // The stream broke off; the run goes on, so ask for it from now on.
  }
  last = { ...last, broken: true };
  for (let silent = 0; ; ) {
    try {
      const state = await api.run(kb, id, signal);
      silent = 0;
      if (ended(state)) return state.report;
      see(state);
    } catch (error) {
      // The service may be starting anew: it takes up what it had begun.
      if (error.code === "not_found" && last.broken) throw new api.ApiError(404, { code: "run_lost" });
      if (!error.retry || error.ended || (silent += 1) > MOST_SILENT) throw error;
      see({ ...last, broken: true });
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    signal?.throwIfAborted();
  }
}

/** Whether a run has ended well; throws what it failed with. An error of one that waits is why it must be tried again. */
function ended(state) {
  if (state.state === "cancelled") throw final({ code: "run_cancelled" });
  if (state.state === "failed") throw final(state.error ?? {});
  return state.state === "done" && (state.report ?? true);
}

const final = (problem) => Object.assign(new api.ApiError(500, problem), { ended: true });

function going(run, stop) {
  const state = { done: 0, total: null, failed: 0, source: "", ...run.progress };
  const share = state.total ? state.done / state.total : null;
  const stage = run.broken ? t("run.broken") : run.state === "waiting" ? t("runState.waiting") : has(`run.${state.stage}`) ? t(`run.${state.stage}`) : t("run.working");
  const why = run.state === "waiting" && run.error ? reason(run.error.code, run.error.message) : "";
  return [
    h("div", { class: "run-line" }, h("strong", {}, stage), h("span", { class: "muted" }, state.total ? t("run.of", { done: state.done, total: state.total }) : state.done > 0 && t("run.done", { done: state.done })), h("span", { class: "grow" }), stop),
    progress(share, stage),
    h("p", { class: "muted small ellipsis" }, [why, state.source && decodeEnd(state.source), state.failed > 0 && t("run.failed", { n: state.failed })].filter(Boolean).join(" · ") || "\u00a0"),
  ];
}

/** A finished run: counts, and by name what failed or waits. */
export function reportView(report) {
  const counts = ["added", "updated", "unchanged", "removed", "rejected"].filter((name) => report[name] > 0);
  const failures = report.failed ?? [];
  const held = report.held ?? [];
  return [
    h(
      "div",
      { class: "run-line" },
      icon(failures.length ? "warn" : "check", 18),
      h("strong", {}, t(failures.length ? "run.endedPartly" : "run.ended", { n: report.snapshot })),
      h("span", { class: "row wrap" }, counts.map((name) => badge(t(`run.count.${name}`, { n: report[name] }), name === "added" || name === "updated" ? "good" : "")), failures.length > 0 && badge(t("run.count.failed", { n: failures.length }), "bad"), held.length > 0 && badge(t("run.count.held", { n: held.length }), "warn")),
    ),
    failures.length > 0 &&
      h("div", { class: "reasons" }, table([t("library.name"), t("run.reason")], failures.map((one) => [decodeEnd(one.source), h("span", { title: one.message }, reason(one.code, one.message), " ", h("code", { class: "muted" }, one.code))]), { label: t("run.failures") })),
    held.length > 0 && h("div", { class: "reasons" }, table([t("library.name"), t("run.heldBecause")], held.map((one) => [decodeEnd(one.source), warning(one.reasons)]), { label: t("run.heldTitle") })),
  ];
}
