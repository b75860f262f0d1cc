/** The console: chooses language and theme, lets in, and shows the view of the address. */

import * as api from "./api.js";
import { h, put } from "./dom.js";
import { showLang, t } from "./i18n.js";
import { seal } from "./icons.js";
import { keep, lasting, showTheme } from "./prefs.js";
import { failed, loading } from "./parts/ui.js";
import { parse, start } from "./router.js";
import { makeShell } from "./shell.js";

const VIEWS = {
  ask: () => import("./views/ask.js"),
  read: () => import("./views/read.js"),
  library: () => import("./views/library.js"),
  document: () => import("./views/document.js"),
  review: () => import("./views/review.js"),
  playground: () => import("./views/playground.js"),
  glossary: () => import("./views/glossary.js"),
  evaluation: () => import("./views/evaluation.js"),
  feedback: () => import("./views/feedback.js"),
  health: () => import("./views/health.js"),
};
let opened = false;
const app = document.getElementById("app");
window.addEventListener("key-refused", () => gate(true));

async function begin() {
  showTheme();
  showLang();
  try {
    const who = await api.me();
    await api.learn();
    const bases = await api.bases();
    open(who, bases);
  } catch (error) {
    if (error.status === 401) return api.key() || gate(false);
    if (!("status" in error)) console.error(error);
    put(app, h("main", { class: "alone" }, seal(44), failed(error, begin)));
  }
}

/** The door: a key is wanted. */
function gate(refused) {
  const input = h("input", { class: "input", type: "password", autocomplete: "off", required: true, id: "key" });
  const enter = (event) => {
    event.preventDefault();
    api.setKey(input.value.trim());
    if (opened) location.reload();
    else begin();
  };
  put(
    app,
    h(
      "main",
      { class: "alone" },
      seal(44),
      h("h1", {}, t("gate.title")),
      h("p", { class: "muted" }, t("gate.detail")),
      refused && h("p", { class: "wrong", role: "alert" }, t("gate.wrong")),
      h("form", { class: "stack", on: { submit: enter } }, h("label", { class: "field" }, h("span", { class: "field-label" }, t("gate.key")), input), h("button", { class: "button primary", type: "submit" }, t("gate.enter"))),
    ),
  );
  input.focus();
}

function open(who, bases) {
  opened = true;
  const shell = makeShell(app, { who, bases, leave });
  let drawn = 0;
  start(async (route, signal) => {
    const kb = route.kb || favourite(shell.bases);
    const view = VIEWS[route.view] ? route.view : "ask";
    if (!route.kb || !VIEWS[route.view]) history.replaceState(null, "", `#/${encodeURIComponent(kb)}/${view}`);
    keep("kb", kb);
    showLang();
    shell.enter(kb, view);
    const root = shell.main;
    put(root, loading(6));
    root.scrollTop = 0;
    if (drawn > 0) root.focus({ preventScroll: true });
    drawn += 1;
    try {
      const { render } = await VIEWS[view]();
      if (signal.aborted) return;
      await render({ kb, view, parts: route.parts, query: parse().query, root, signal, shell });
    } catch (error) {
      if (error.name === "AbortError" || signal.aborted) return;
      if (!("status" in error)) console.error(error);
      put(root, h("div", { class: "view" }, failed(error, () => location.reload())));
    }
  });
}

function leave() {
  api.setKey("");
  location.reload();
}

/** The base to begin with: the last one, else the first that holds something. */
function favourite(bases) {
  const last = lasting("kb");
  const named = bases.map((one) => one.name);
  if (last && named.includes(last)) return last;
  return (bases.find((one) => one.head > 0) ?? bases[0])?.name ?? "default";
}

begin();
