/** Upkeep on the page of health: a thorough look, the models of a base, copies of the whole home. */

import * as api from "../api.js";
import { h, put } from "../dom.js";
import { has, moment, number, t } from "../i18n.js";
import { size } from "../library/files.js";
import { followRun } from "../library/run.js";
import { said } from "../said.js";
import { checksTable } from "./checks.js";
import { prompt, sorry, sure } from "./notices.js";
import { badge, button, load, table } from "./ui.js";

const TONES = { serving: "good", ready: "info", building: "warn" };

/** What can be done for a base and its home; `again` draws the page anew. */
export function upkeepPanel(kb, signal, { runsHome, again }) {
  const intake = h("div", { class: "intake" });
  const found = h("div", {});
  const start = async (begin) => {
    try {
      const { id } = await begin();
      return await followRun(kb, id, intake, signal);
    } catch (error) {
      sorry(error);
      return null;
    }
  };
  const care = (repair) => async () => {
    const report = await start(() => api.care(kb, { deep: true, repair }));
    if (!report) return;
    put(found, report.checks && checksTable(report.checks));
    again();
  };
  return [
    h("section", { class: "panel" }, h("h2", {}, t("upkeep.title")), h("p", { class: "muted before" }, t("upkeep.detail")), h("div", { class: "row wrap" }, button(t("upkeep.deep"), { on: { click: care(false) } }), button(t("upkeep.repair"), { on: { click: care(true) } }), button(t("upkeep.optimise"), { on: { click: () => start(() => api.optimise(kb)) } }))),
    intake,
    found,
    models(kb, signal),
    runsHome && backups(kb, signal, start),
  ];
}

function models(kb, signal) {
  const root = h("div", {});
  const begin = () => load(root, () => api.models(kb, signal), draw, signal);
  begin();
  return h("section", { class: "panel" }, h("h2", {}, t("models.title")), root);

  function draw({ models: found }) {
    const rows = found.map((one) => [
      h("span", { class: "doc-name" }, h("strong", {}, one.name), one.note && h("span", { class: "muted small" }, said(one.note))),
      badge(has(`models.state.${one.state}`) ? t(`models.state.${one.state}`) : one.state, TONES[one.state] ?? ""),
      { node: number(one.dimensions), class: "num" },
      { node: one.points === null ? "–" : number(one.points), class: "num" },
      { node: one.agreement === null ? "–" : `${Math.round(one.agreement * 100)}%`, class: "num" },
      { node: ["ready", "former"].includes(one.state) && button(t("models.switch"), { kind: "quiet small", on: { click: () => change(one) } }), class: "act" },
    ]);
    return table([t("models.name"), t("feedback.status"), t("models.dimensions"), t("models.points"), t("models.agreement"), ""], rows, { label: t("models.title") });
  }

  async function change(one) {
    if (!(await sure(t("models.switchTitle"), t("models.switchDetail", { name: one.name }), t("models.switch")))) return;
    try {
      await api.switchModel(kb, one.name);
      begin();
    } catch (error) {
      sorry(error);
    }
  }
}

function backups(kb, signal, start) {
  const root = h("div", {});
  const listed = async () => {
    try {
      return await api.backups(signal);
    } catch (error) {
      if (error.status === 403) section.remove(); // An owner, but of a tenant among others: the home is not theirs.
      throw error;
    }
  };
  const begin = () => load(root, listed, draw, signal);
  const make = async () => {
    const name = await prompt(t("backups.make"), t("backups.name"), t("backups.make"), { value: today(), required: true });
    if (name && (await start(() => api.backUp(name)))) begin();
  };
  const section = h("section", { class: "panel" }, h("header", { class: "panel-head" }, h("h2", {}, t("backups.title")), button(t("backups.make"), { on: { click: make } })), h("p", { class: "muted before" }, t("backups.detail")), root);
  begin();
  return section;

  function draw({ backups: found }) {
    if (!found.length) return h("p", { class: "muted" }, t("backups.none"));
    const rows = [...found].reverse().map((one) => {
      const name = one.path.split("/").at(-1);
      return [h("strong", {}, name), moment(one.backup.made_at), { node: size(one.bytes), class: "num" }, { node: button(t("backups.check"), { kind: "quiet small", on: { click: () => start(() => api.checkBackup(name)) } }), class: "act" }];
    });
    return table([t("keys.label"), t("feedback.when"), t("backups.size"), ""], rows, { label: t("backups.title") });
  }
}

const today = () => new Date().toISOString().slice(0, 16).replace("T", "-").replace(":", "");
