/** Cards of what is being taken in. They live as long as the page, whichever view is shown meanwhile. */

import * as api from "../api.js";
import { h, put } from "../dom.js";
import { t } from "../i18n.js";
import { sorry } from "../parts/notices.js";
import { button, failed, progress } from "../parts/ui.js";
import { size } from "./files.js";
import { followRun } from "./run.js";
import { send } from "./sending.js";

const cards = new Map();
/** Told on window when a run has changed a base. */
export const TAKEN_IN = "taken-in";

/** The cards of a base; those that have ended are shown this once more. */
export function cardsOf(kb) {
  const found = cards.get(kb) ?? [];
  cards.set(kb, found.filter((one) => one.going));
  return found.map((one) => one.element);
}

/** Show in `intake` what becomes of `work`: it gets the card's element, and its end is told on window. */
async function shown(kb, intake, work) {
  const one = { element: h("div", {}), going: true };
  cards.set(kb, [one, ...(cards.get(kb) ?? [])]);
  // Whatever was left over may be just what is gone on with now; what still is will be shown with the page's next visit.
  intake.querySelector(".left-over")?.closest(".run-card").remove();
  intake.prepend(one.element);
  try {
    await work(one.element);
    window.dispatchEvent(new Event(TAKEN_IN));
  } finally {
    one.going = false;
  }
}

/** Send files and follow their runs. */
export function takeFiles(kb, files, intake) {
  return shown(kb, intake, async (element) => {
    const stop = new AbortController();
    const told = h("div", { class: "run-card", "aria-live": "polite" });
    const cancel = button(t("run.cancel"), { kind: "quiet small", on: { click: () => stop.abort() } });
    const draw = ({ sent, total, broken }) =>
      put(
        told,
        h("div", { class: "run-line" }, h("strong", {}, t(broken ? "library.broken" : "library.sending", { n: files.length })), h("span", { class: "muted" }, `${size(sent)} / ${size(total)}`), h("span", { class: "grow" }), cancel),
        progress(total ? sent / total : null, t("library.sendingLabel")),
      );
    put(element, told);
    draw({ sent: 0, total: files.reduce((sum, { file }) => sum + file.size, 0), broken: false });
    try {
      const runs = await send(kb, files, draw, stop.signal);
      told.remove();
      for (const id of runs) await followRun(kb, id, element);
    } catch (error) {
      if (error.name === "AbortError") put(told, h("p", {}, t("library.sendingStopped")));
      else if (told.isConnected) put(told, failed(error, () => (element.remove(), takeFiles(kb, files, intake))));
    }
  });
}

/** Take in web addresses. */
export function takeAddresses(kb, targets, intake) {
  return shown(kb, intake, async (element) => {
    try {
      const { id } = await api.addAddresses(kb, targets.map((one) => (/^https?:\/\//i.test(one) ? one : `https://${one}`)));
      await followRun(kb, id, element);
    } catch (error) {
      if (!element.childElementCount) put(element, failed(error));
    }
  });
}

/** Uploads that an earlier page left unfinished: to be gone on with by choosing the file again, or given up. */
export async function leftOver(kb, place, signal) {
  let found = [];
  try {
    found = await api.uploads(kb, signal);
  } catch {
    return; // They are a help: the library itself needs none.
  }
  if (signal.aborted || !found.length || (cards.get(kb) ?? []).some((one) => one.going)) return;
  const line = (one) => {
    const row = h("li", { class: "run-line" }, h("span", { class: "ellipsis" }, one.name), h("span", { class: "muted small" }, `${size(one.offset)} / ${size(one.size)}`), h("span", { class: "grow" }), button(t("library.giveUp"), { kind: "quiet small", on: { click: () => drop(one, row) } }));
    return row;
  };
  const drop = async (one, row) => {
    try {
      await api.dropUpload(kb, one.id);
      row.remove();
      if (!card.querySelector("li")) card.remove();
    } catch (error) {
      sorry(error);
    }
  };
  const card = h("div", { class: "run-card" }, h("strong", {}, t("library.leftOver")), h("p", { class: "muted small" }, t("library.leftOverDetail")), h("ul", { class: "left-over" }, found.map(line)));
  place.append(card);
}
