/** The question box: grows with its text, suggests while one types, and leaves unfinished Chinese input alone. */

import * as api from "../api.js";
import { debounce, h, put } from "../dom.js";
import { t } from "../i18n.js";
import { icon } from "../icons.js";
import { button } from "../parts/ui.js";

const PAUSE = 160;
const TALLEST = 220;

/**
 * Make the box. `asked(text)` is called with a question; `stopped()` when the running answer is to end.
 * Returns {element, focus, busy, set}.
 */
export function questionBox(kb, { asked, stopped, signal, hint }) {
  let found = [];
  let chosen = -1;
  let looking = null;

  const input = h("textarea", {
    class: "question-input",
    rows: 1,
    placeholder: hint,
    id: "question",
    role: "combobox",
    "aria-label": t("ask.box"),
    "aria-expanded": "false",
    "aria-controls": "suggestions",
    "aria-autocomplete": "list",
    autocomplete: "off",
    spellcheck: "false",
    maxlength: 4000,
    on: { input: typed, keydown: pressed, blur: () => setTimeout(hide, 150) },
  });
  const list = h("ul", { class: "suggestions", id: "suggestions", role: "listbox", "aria-label": t("ask.suggestions"), hidden: true });
  const send = button(t("ask.send"), { kind: "primary round", glyph: "send", bare: true, on: { click: submit } });
  const stop = button(t("ask.stop"), { kind: "round", glyph: "stop", bare: true, on: { click: stopped } });
  stop.hidden = true;
  const element = h("div", { class: "question" }, h("div", { class: "question-box" }, input, send, stop), list);

  const look = debounce(async () => {
    const prefix = input.value.trim();
    looking?.abort();
    if (!prefix || prefix.length > 60 || !api.has("kbs/{}/suggest")) return hide();
    looking = new AbortController();
    try {
      found = await api.suggest(kb, prefix, looking.signal);
    } catch {
      found = []; // Suggestions are a help; the question itself needs none.
    }
    if (document.activeElement === input && input.value.trim() === prefix) show();
  }, PAUSE);
  signal.addEventListener("abort", () => looking?.abort());

  function typed() {
    grow();
    look();
  }

  function grow() {
    input.style.height = "auto";
    input.style.height = `${Math.min(input.scrollHeight, TALLEST)}px`;
  }

  function show() {
    chosen = -1;
    put(
      list,
      found.map((one, at) =>
        h(
          "li",
          { role: "option", id: `suggestion-${at}`, "aria-selected": "false", on: { mousedown: (event) => (event.preventDefault(), pick(at)) } },
          icon(one.kind === "question" ? "clock" : one.kind === "document" || one.kind === "title" ? "file" : "search", 16),
          h("span", {}, one.text),
        ),
      ),
    );
    list.hidden = found.length === 0;
    input.setAttribute("aria-expanded", String(!list.hidden));
    input.removeAttribute("aria-activedescendant");
  }

  function hide() {
    list.hidden = true;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  }

  function mark(at) {
    chosen = (at + found.length) % found.length;
    [...list.children].forEach((each, place) => each.setAttribute("aria-selected", String(place === chosen)));
    input.setAttribute("aria-activedescendant", `suggestion-${chosen}`);
  }

  function pick(at) {
    input.value = found[at].text;
    hide();
    grow();
    input.focus();
    if (found[at].kind === "question") submit();
  }

  function pressed(event) {
    if (event.isComposing || event.keyCode === 229) return; // An input method is still at work.
    if (!list.hidden && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
      event.preventDefault();
      mark(chosen + (event.key === "ArrowDown" ? 1 : chosen < 0 ? 0 : -1));
    } else if (event.key === "Escape" && !list.hidden) {
      event.stopPropagation();
      hide();
    } else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      submit();
    } else if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      if (!list.hidden && chosen >= 0) pick(chosen);
      else submit();
    }
  }

  function submit() {
    const text = input.value.trim();
    hide();
    if (!text || !stop.hidden) return input.focus();
    input.value = "";
    grow();
    asked(text);
  }

  return {
    element,
    focus: () => input.focus(),
    busy: (on) => {
      stop.hidden = !on;
      send.hidden = on;
    },
    hint: (text) => {
      input.placeholder = text;
    },
    set: (text) => {
      input.value = text;
      grow();
      input.focus();
    },
  };
}
