/** Short notices at the edge, and questions that must be answered first. */

import { h } from "../dom.js";
import { t } from "../i18n.js";
import { button, failureHint, failureText } from "./ui.js";

const SECONDS = 5;

/** Say something for a few seconds; readers of screens hear it. */
export function toast(text, tone = "") {
  const line = h("div", { class: ["toast", tone] }, text);
  document.getElementById("toasts").append(line);
  setTimeout(() => line.remove(), SECONDS * 1000);
}

/** Say that something failed. */
export function sorry(error) {
  if (error.name === "AbortError") return;
  if (!("status" in error)) console.error(error);
  toast([failureText(error), failureHint(error)].filter(Boolean).join(" "), "bad");
}

/** Put words on the clipboard and say so. */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    toast(t("act.copied"), "good");
  } catch {
    toast(t("act.notCopied"), "bad");
  }
}

/** Open a dialog; `body` gets a function that closes it with a result. Resolves to the result, null when dismissed. */
export function dialog(title, body, { wide = false } = {}) {
  return new Promise((resolve) => {
    let result = null;
    const box = h("dialog", { class: ["dialog", wide && "wide"], "aria-label": title });
    const close = (value = null) => {
      result = value;
      box.close();
    };
    box.append(
      h("header", { class: "dialog-head" }, h("h2", {}, title), button(t("act.close"), { glyph: "close", kind: "quiet", bare: true, on: { click: () => close() } })),
      h("div", { class: "dialog-body" }, body(close)),
    );
    box.addEventListener("close", () => {
      box.remove();
      resolve(result);
    });
    box.addEventListener("click", (event) => event.target === box && close());
    document.body.append(box);
    box.showModal();
  });
}

/** Ask before something that cannot be undone; true when the person agrees. */
export function sure(title, detail, verb) {
  return dialog(title, (close) => [
    h("p", {}, detail),
    h(
      "div",
      { class: "row end" },
      button(t("act.cancel"), { on: { click: () => close(false) } }),
      button(verb, { kind: "danger", on: { click: () => close(true) } }),
    ),
  ]);
}

/** Ask for one line of text; null when dismissed. */
export function prompt(title, label, verb, { value = "", multiline = false, required = false } = {}) {
  return dialog(title, (close) => {
    const input = multiline ? h("textarea", { class: "input", rows: 4 }) : h("input", { class: "input", type: "text" });
    input.value = value;
    input.required = required;
    return h(
      "form",
      { class: "stack", method: "dialog", on: { submit: (event) => (event.preventDefault(), close(input.value.trim())) } },
      h("label", { class: "field" }, h("span", { class: "field-label" }, label), input),
      h("div", { class: "row end" }, button(t("act.cancel"), { on: { click: () => close() } }), h("button", { class: "button primary", type: "submit" }, verb)),
    );
  });
}
