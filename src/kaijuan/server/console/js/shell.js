/** The frame around every view: bases, ways, language, theme, keys. */

import * as api from "./api.js";
import { h, put } from "./dom.js";
import { lang, setLang, t } from "./i18n.js";
import { icon, seal } from "./icons.js";
import { setTheme, theme } from "./prefs.js";
import { dialog, prompt, sorry } from "./parts/notices.js";
import { button } from "./parts/ui.js";
import { go, href, refresh } from "./router.js";

const WAYS = [
  { view: "ask", glyph: "ask" },
  { view: "library", glyph: "library", also: ["document"] },
  { view: "review", glyph: "review", needs: "kbs/{}/reviews", action: "write" },
  { view: "playground", glyph: "playground", needs: "kbs/{}/search" },
  { view: "glossary", glyph: "glossary", needs: "kbs/{}/glossary" },
  { view: "feedback", glyph: "feedback", needs: "kbs/{}/traces" },
  { view: "evaluation", glyph: "evaluation", needs: "evaluations", owner: true },
  { view: "health", glyph: "health" },
];
const THEMES = ["auto", "light", "dark"];
const THEME_GLYPHS = { auto: "auto", light: "sun", dark: "moon" };
const NEW = "\u0000new";

/** Build the frame in `app`. Returns what views may use: {main, bases, enter, keys, say, renewBases}. */
export function makeShell(app, { who, bases, leave }) {
  const shell = { main: h("main", { id: "main", tabindex: "-1" }), bases, owns: who.local || who.role === "owner", audits: (who.actions ?? []).includes("audit"), enter, keys, say, may, made, secure, renewBases };
  const side = h("aside", { class: "sidebar", id: "sidebar" });
  const menu = button(t("shell.menu"), { kind: "quiet", glyph: "menu", bare: true, "aria-expanded": "false", "aria-controls": "sidebar", on: { click: () => drawer(!document.body.classList.contains("drawer")) } });
  const top = h("header", { class: "topbar" });
  const skip = h("button", { type: "button", class: "skip", on: { click: () => shell.main.focus() } });
  const shade = h("div", { class: "shade", on: { click: () => drawer(false) } });
  let own = {};
  let place = { kb: "", view: "ask" };

  put(app, skip, h("div", { class: "frame" }, side, shade, h("div", { class: "stage-area" }, top, shell.main)));
  window.addEventListener("keydown", pressed);
  return shell;

  function drawer(open) {
    document.body.classList.toggle("drawer", open);
    menu.setAttribute("aria-expanded", String(open));
    if (open) side.querySelector("a, select, button")?.focus();
  }

  function enter(kb, view) {
    place = { kb, view };
    own = {};
    drawer(false);
    draw();
  }

  function draw() {
    const { kb, view } = place;
    put(skip, t("shell.skip"));
    menu.setAttribute("aria-label", t("shell.menu"));
    const here = t(`way.${WAYS.find((way) => way.view === view || way.also?.includes(view))?.view ?? "ask"}`);
    document.title = `${here} · ${kb} · ${t("app.title")}`;
    put(top, menu, h("span", { class: "topbar-title" }, here), h("span", { class: "muted ellipsis" }, kb));
    put(side, brand(kb), picker(kb), ways(kb, view), h("div", { class: "grow" }), controls());
  }

  function brand(kb) {
    return h("a", { class: "brand", href: href(kb, "ask"), "aria-label": t("app.title") }, seal(30), h("span", { class: "brand-name" }, h("strong", {}, "Kaijuan"), h("span", { lang: "zh-CN" }, "开卷")));
  }

  function picker(kb) {
    const known = shell.bases.some((one) => one.name === kb) ? shell.bases : [...shell.bases, { name: kb }];
    const select = h("select", { class: "input", id: "base", on: { change: () => chosen(select, kb) } }, known.map((one) => h("option", { value: one.name, selected: one.name === kb }, one.name)), may("manage") && h("option", { value: NEW }, t("shell.newBase")));
    return h("label", { class: "field picker" }, h("span", { class: "field-label" }, t("shell.base")), select);
  }

  async function chosen(select, kb) {
    if (select.value !== NEW) return go(select.value, place.view === "document" || place.view === "read" ? "library" : place.view);
    select.value = kb;
    const name = await prompt(t("shell.newBaseTitle"), t("shell.newBaseLabel"), t("act.create"), { required: true });
    if (!name) return null;
    try {
      await api.makeBase(name);
      await renewBases();
      return go(name, "ask");
    } catch (error) {
      return sorry(error);
    }
  }

  function ways(kb, view) {
    const offered = WAYS.filter((way) => (!way.needs || api.has(way.needs)) && (!way.action || may(way.action)) && (!way.owner || shell.owns));
    return h(
      "nav",
      { "aria-label": t("shell.ways") },
      h("ul", { class: "ways" }, offered.map((way) => h("li", {}, h("a", { class: "way", href: href(kb, way.view), "aria-current": way.view === view || way.also?.includes(view) ? "page" : null }, icon(way.glyph), h("span", {}, t(`way.${way.view}`)))))),
    );
  }

  function controls() {
    const now = theme();
    const next = THEMES[(THEMES.indexOf(now) + 1) % THEMES.length];
    return h(
      "div",
      { class: "controls" },
      who.identity && h("div", { class: "who" }, icon("key", 16), h("span", { class: "ellipsis" }, who.name), button(t("shell.leave"), { kind: "quiet small", on: { click: leave } })),
      h(
        "div",
        { class: "row tight" },
        button(lang() === "zh" ? "English" : "中文", { kind: "quiet", glyph: "globe", lang: lang() === "zh" ? "en" : "zh-CN", on: { click: () => (setLang(lang() === "zh" ? "en" : "zh"), refresh()) } }),
        button(t(`theme.${now}`), { kind: "quiet", glyph: THEME_GLYPHS[now], bare: true, data: { theme: now }, on: { click: () => (setTheme(next), draw()) } }),
        button(t("shell.keys"), { kind: "quiet", glyph: "keyboard", bare: true, on: { click: help } }),
      ),
    );
  }

  /** Whether the caller may do an action ("write", "manage") with the base shown; a base not yet made is theirs to make. */
  function may(action) {
    const base = shell.bases.find((one) => one.name === place.kb);
    return (base?.actions ?? who.actions ?? []).includes(action);
  }

  /** Whether the base shown has been made: what holds nothing yet need not be asked for. */
  function made() {
    return shell.bases.some((one) => one.name === place.kb);
  }

  /** Make the base shown, where it is not there yet. */
  async function secure() {
    if (made()) return;
    await api.makeBase(place.kb);
    await renewBases();
  }

  /** Keys of the view that is shown, by name. */
  function keys(map) {
    own = map;
  }

  function pressed(event) {
    if (event.isComposing || event.altKey || document.querySelector("dialog[open]")) return;
    const writing = event.target.closest("input, textarea, select");
    if (event.key === "Escape") {
      if (document.body.classList.contains("drawer")) return drawer(false);
      return own.Escape?.();
    }
    if (writing || event.ctrlKey || event.metaKey) return;
    if (event.key === "?") return help();
    if (own[event.key]) {
      event.preventDefault();
      own[event.key]();
    }
  }

  function help() {
    const rows = [["/", "keys.focus"], ["Enter, Ctrl Enter", "keys.send"], ["Shift Enter", "keys.line"], ["↑ ↓", "keys.suggestions"], ["← →", "keys.evidence"], ["Esc", "keys.close"], ["?", "keys.help"]];
    dialog(t("shell.keys"), () => h("dl", { class: "keys" }, rows.map(([key, text]) => [h("dt", {}, key.split(", ").map((one, at) => [at > 0 && " / ", one.split(" ").map((each) => h("kbd", {}, each))])), h("dd", {}, t(text))])));
  }

  /** Tell readers of screens something. */
  function say(text) {
    put(document.getElementById("say"), text);
  }

  async function renewBases() {
    try {
      shell.bases = await api.bases();
      const old = side.querySelector(".picker");
      if (old) old.replaceWith(picker(place.kb));
    } catch (error) {
      sorry(error);
    }
  }
}
