/** Earlier conversations of the caller with a base: to go on with one, or to forget it. */

import * as api from "../api.js";
import { h, put } from "../dom.js";
import { ago, t } from "../i18n.js";
import { dialog, sorry } from "../parts/notices.js";
import { badge, button, empty, load } from "../parts/ui.js";
import { nameOf, resume } from "./thread.js";

/** Let the person choose; `chosen()` is called when the thread holds another conversation. */
export async function historyDialog(kb, thread, signal, chosen) {
  const taken = await dialog(t("history.title"), (close) => {
    const root = h("div", { class: "history" });
    load(root, () => api.conversations(kb, signal), (found) => list(kb, found, close), signal);
    return root;
  });
  if (!taken) return;
  try {
    resume(thread, taken, await api.conversation(kb, taken, signal));
    chosen();
  } catch (error) {
    sorry(error);
  }
}

function list(kb, found, close) {
  const talks = found.filter((one) => one.turns > 0).sort((a, b) => b.updated_at - a.updated_at);
  if (!talks.length) return empty("history", t("history.emptyTitle"), t("history.emptyDetail"));
  const items = h("ul", { class: "history-list" });
  put(items, talks.map((one) => line(kb, one, close)));
  return items;
}

function line(kb, one, close) {
  const forget = async () => {
    try {
      await api.forgetConversation(kb, one.name);
      item.remove();
    } catch (error) {
      sorry(error);
    }
  };
  const item = h(
    "li",
    {},
    h("button", { type: "button", class: "history-item", on: { click: () => close(one.name) } }, h("span", { class: "clamp" }, nameOf(one.name)), h("span", { class: "row" }, badge(t("history.turns", { n: one.turns })), h("span", { class: "muted small" }, ago(one.updated_at)))),
    button(t("history.forget"), { kind: "quiet", glyph: "trash", bare: true, on: { click: forget } }),
  );
  return item;
}
