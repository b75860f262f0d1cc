/** What the doctor looked at, and what it found. */

import { h } from "../dom.js";
import { has, t } from "../i18n.js";
import { said } from "../said.js";
import { badge, table } from "./ui.js";

/** A table of checks: {name, ok, detail, hint}. */
export function checksTable(checks) {
  const rows = checks.map((one) => [label(one.name), badge(t(one.ok ? "health.ok" : "health.notOk"), one.ok ? "good" : "bad"), h("span", {}, said(one.detail), !one.ok && one.hint && h("span", { class: "muted" }, ` ${said(one.hint)}`))]);
  return table([t("health.check"), "", t("health.found")], rows, { label: t("health.checks") });
}

const label = (name) => (has(`check.${name}`) ? t(`check.${name}`) : name);
