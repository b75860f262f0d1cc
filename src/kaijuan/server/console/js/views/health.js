/** Health, settings and keys: whether all is well, how it is set, and who may come in. */

import * as api from "../api.js";
import { h, put } from "../dom.js";
import { ago, number, t } from "../i18n.js";
import { icon } from "../icons.js";
import { checksTable } from "../parts/checks.js";
import { accessPanel, auditPanel, keysPanel, usersPanel } from "../parts/people.js";
import { upkeepPanel } from "../parts/upkeep.js";
import { note } from "../router.js";
import { facts, heading, load, tabs } from "../parts/ui.js";

/** Draw the page. */
export function render({ kb, query, root, signal, shell }) {
  const panels = [
    { id: "health", label: t("health.title"), show: () => healthPanel(kb, signal, shell) },
    shell.owns && api.has("settings") && { id: "settings", label: t("health.settings"), show: () => settingsPanel(signal) },
    shell.made() && shell.may("manage") && api.has("kbs/{}/access") && { id: "access", label: t("health.access"), show: () => accessPanel(kb, signal) },
    shell.owns && api.has("users") && { id: "users", label: t("health.users"), show: () => usersPanel(signal) },
    shell.owns && api.has("keys") && { id: "keys", label: t("health.keys"), show: () => keysPanel(signal) },
    shell.audits && api.has("audit") && { id: "audit", label: t("health.audit"), show: () => auditPanel(signal) },
  ].filter(Boolean);
  put(root, h("div", { class: "view" }, heading(t("health.title"), t("health.detail")), tabs(panels, query.get("tab") ?? "health", (id) => note({ tab: id === "health" ? "" : id }))));
}

function healthPanel(kb, signal, shell) {
  const root = h("div", {});
  const gather = async () => {
    const [service, state, examined] = await Promise.all([
      api.health(signal),
      shell.made() ? api.status(kb, signal) : null,
      shell.made() && shell.may("manage") && api.has("kbs/{}/doctor") ? api.doctor(kb, signal) : null,
    ]);
    return { service, state, examined };
  };
  const begin = () => load(root, gather, ({ service, state, examined }) => draw(service, state, examined), signal);
  begin();
  const cared = shell.made() && shell.may("manage") && api.has("kbs/{}/models");
  return h("div", { class: "stack" }, root, cared && upkeepPanel(kb, signal, { runsHome: shell.owns && api.has("backups"), again: begin }));
}

function draw(service, state, examined) {
  const checks = examined?.checks ?? service.checks ?? [];
  const well = (examined?.ok ?? true) && (service.ok ?? service.status === "ok");
  return h(
    "div",
    { class: "stack" },
    h("div", { class: ["verdict", well ? "good" : "bad"] }, icon(well ? "check" : "warn", 22), h("strong", {}, t(well ? "health.well" : "health.ill")), h("span", { class: "muted" }, service.version ? t("health.version", { version: service.version }) : "")),
    state && h("div", { class: "cards" }, card(t("health.documents"), number(state.documents)), card(t("health.chunks"), number(state.chunks)), card(t("health.snapshot"), `#${state.head}`, state.published_at ? ago(state.published_at) : ""), card(t("health.points"), number(state.points ?? 0)), card(t("health.model"), state.model ?? "–", state.dimensions ? t("health.dimensions", { n: state.dimensions }) : "")),
    checks.length > 0 && checksTable(checks),
  );
}

function card(name, value, more = "") {
  return h("div", { class: "card" }, h("span", { class: "muted small" }, name), h("span", { class: "card-value" }, value), more && h("span", { class: "muted small" }, more));
}

function settingsPanel(signal) {
  const root = h("div", {});
  load(root, () => api.settings(signal), (tree) => {
    const sections = Object.entries(tree.settings ?? tree);
    return h("div", { class: "stack" }, h("p", { class: "muted" }, t("health.settingsDetail")), sections.map(([name, values]) => h("details", { class: "panel" }, h("summary", {}, h("strong", {}, name)), values && typeof values === "object" ? facts(Object.entries(values).map(([key, value]) => [key, h("code", { class: "break" }, typeof value === "object" ? JSON.stringify(value) : String(value))])) : h("code", {}, String(values)))));
  }, signal);
  return root;
}
