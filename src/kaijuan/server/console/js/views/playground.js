/** The playground: one question through two configurations side by side, every stage with its candidates and times. */

import * as api from "../api.js";
import { decodeEnd } from "../ask/answer.js";
import { h, place, put } from "../dom.js";
import { decimal, has, t, took } from "../i18n.js";
import { sorry } from "../parts/notices.js";
import { badge, button, empty, failed, field, heading, loading, select, table } from "../parts/ui.js";
import { note } from "../router.js";
import { said } from "../said.js";

const PRESETS = ["", "fast", "balanced", "thorough"];
const CANDIDATES = 30;

/** Draw the playground. */
export function render({ kb, query, root, signal, shell }) {
  const sides = [side("A", query.get("a") ?? ""), side("B", query.get("b") ?? "fast")];
  let both = query.get("both") === "1";
  const input = h("input", { class: "input large", type: "search", value: query.get("q") ?? "", placeholder: t("play.hint"), "aria-label": t("play.question"), on: { keydown: (event) => event.key === "Enter" && !event.isComposing && run() } });
  const second = h("label", { class: "check" }, h("input", { type: "checkbox", checked: both, on: { change: (event) => ((both = event.target.checked), lay()) } }), h("span", {}, t("play.both")));
  const columns = h("div", { class: "play-columns" });
  const why = whyNot(kb, () => input.value.trim(), signal);
  put(
    root,
    h(
      "div",
      { class: "view wide" },
      heading(t("play.title"), t("play.detail")),
      h("div", { class: "toolbar" }, h("div", { class: "search-field grow" }, input), button(t("play.run"), { kind: "primary", glyph: "search", on: { click: run } }), second),
      columns,
      api.has("kbs/{}/explain") && why.element,
    ),
  );
  if (!shell.made()) return put(root, h("div", { class: "view" }, heading(t("play.title"), t("play.detail")), empty("playground", t("library.emptyTitle"), t("play.emptyDetail"))));
  lay();
  shell.keys({ "/": () => input.focus() });
  if (input.value) run();
  else put(sides[0].result, empty("playground", t("play.emptyTitle"), t("play.emptyDetail")));

  function lay() {
    columns.classList.toggle("both", both);
    put(columns, sides[0].element, both && sides[1].element);
    if (both && input.value && !sides[1].result.childElementCount) show(sides[1]);
  }

  async function run() {
    const question = input.value.trim();
    if (!question) return input.focus();
    note({ q: question, both: both ? "1" : "", a: sides[0].preset.value, b: both ? sides[1].preset.value : "" });
    await Promise.all(sides.slice(0, both ? 2 : 1).map(show));
  }

  async function show(one) {
    put(one.result, loading(6));
    const body = { query: input.value.trim(), k: Number(one.k.value) || 8, trace: true, cut: one.cut.checked };
    if (one.preset.value) body.preset = one.preset.value;
    if (one.filters.value.trim()) body.filters = [one.filters.value.trim()];
    if (one.asOf.value) body.as_of = Number(one.asOf.value);
    try {
      const result = await api.search(kb, body, signal);
      put(one.result, outcome(result, (chunk) => why.chunk(chunk)));
    } catch (error) {
      if (error.name !== "AbortError") put(one.result, failed(error, () => show(one)));
    }
  }
}

function side(name, preset) {
  const one = {
    preset: select(PRESETS.map((value) => [value, t(`play.preset.${value || "default"}`)]), preset),
    k: h("input", { class: "input short", type: "number", min: 1, max: 100, value: "8" }),
    filters: h("input", { class: "input", type: "text", placeholder: "kind = pdf" }),
    asOf: h("input", { class: "input short", type: "number", min: 1, placeholder: t("play.head") }),
    cut: h("input", { type: "checkbox", checked: true }),
    result: h("div", { class: "play-result", "aria-live": "polite" }),
  };
  const form = h(
    "div",
    { class: "play-form" },
    h("span", { class: "side-name", "aria-hidden": "true" }, name),
    field(t("play.preset"), one.preset),
    field(t("play.k"), one.k),
    field(t("play.filters"), one.filters),
    field(t("play.asOf"), one.asOf),
    h("label", { class: "check" }, one.cut, h("span", {}, t("play.cut"))),
  );
  one.element = h("section", { class: "panel play-side", "aria-label": t("play.side", { name }) }, form, one.result);
  return one;
}

function outcome(result, why) {
  const trace = result.trace ?? {};
  const candidates = trace.candidates ?? [];
  return h(
    "div",
    { class: "stack" },
    h("p", { class: "muted small" }, t("play.found", { n: result.passages.length }), " · ", t("ask.snapshot", { n: result.snapshot }), trace.normalised && trace.normalised !== result.query && ` · ${trace.normalised}`),
    understood(result.understanding),
    trace.terms?.length > 0 && h("div", { class: "row wrap terms", role: "group", "aria-label": t("play.terms") }, h("span", { class: "muted small" }, t("play.terms")), trace.terms.slice(0, 30).map((term) => badge(String(term)))),
    trace.routes?.length > 0 && routes(trace.routes),
    times(result.timings_ms ?? trace.timings_ms ?? {}),
    h("h3", {}, t("play.passages")),
    result.passages.length ? h("ol", { class: "passages" }, result.passages.map((one) => passage(one, why))) : h("p", { class: "muted" }, t("play.none")),
    candidates.length > 0 && h("details", {}, h("summary", {}, t("play.candidates", { n: candidates.length })), candidateTable(candidates, why)),
    trace.settings && h("details", {}, h("summary", {}, t("play.settings")), h("pre", { class: "json", tabindex: "0" }, JSON.stringify(trace.settings, null, 2))),
  );
}

/** What was read out of the question before it was searched. */
function understood(found) {
  if (!found) return null;
  const lines = [
    [t("play.kinds"), (found.kinds ?? []).map((kind) => (has(`kind.${kind}`) ? t(`kind.${kind}`) : kind))],
    [t("play.standalone"), found.standalone && [found.standalone]],
    [t("play.readFilters"), found.filters?.map((one) => one.text)],
    [t("play.expansions"), found.expansions?.map((one) => one.words)],
    [t("play.variants"), found.variants?.map((one) => one.text)],
  ].filter(([, values]) => values?.length);
  return h("dl", { class: "facts understood" }, lines.map(([name, values]) => [h("dt", {}, name), h("dd", { class: "row wrap" }, values.map((value) => badge(value)))]));
}

function routes(list) {
  return h("div", { class: "row wrap", role: "group", "aria-label": t("play.routes") }, h("span", { class: "muted small" }, t("play.routes")), list.map((one) => badge(`${label("route", one.name)}: ${one.state === "ok" ? t("play.routeFound", { n: one.found, time: took(one.milliseconds) }) : one.state}`, one.state === "ok" ? "info" : "bad")));
}

/** The name of a stage or route; "dense_zh" is the route "dense" over the Chinese index. */
function label(group, name) {
  for (const key of [`${group}.${name}`, `route.${name}`]) if (has(key)) return t(key);
  const [, stem, end] = name.match(/^(.*)_([a-z]{2})$/) ?? [];
  const known = [`${group}.${stem}`, `route.${stem}`].find(has);
  return known ? `${t(known)} (${end})` : name;
}

function times(timings) {
  const all = Object.entries(timings).filter(([name]) => name !== "total");
  const stages = all.filter(([name]) => has(`timing.${name}`));
  const within = all.filter(([name]) => !has(`timing.${name}`));
  const most = Math.max(...stages.map(([, value]) => value), 0.001);
  if (!stages.length) return null;
  return h(
    "section",
    { class: "times", "aria-label": t("play.times") },
    h("h3", {}, t("play.times"), timings.total !== undefined && h("span", { class: "muted" }, ` · ${took(timings.total)}`)),
    stages.flatMap((stage) => (stage[0] === "gather" ? [stage, ...within] : [stage])).map(([name, value]) =>
      h("div", { class: ["time", !has(`timing.${name}`) && "within"] }, h("span", { class: "ellipsis" }, label("timing", name)), h("span", { class: "time-bar" }, place(h("span", {}), { width: `${Math.max((value / most) * 100, 1)}%` })), h("span", { class: "num" }, took(value))),
    ),
  );
}

function passage(one, why) {
  const scores = Object.entries(one.routes ?? {}).map(([name, value]) => badge(`${label("route", name)} #${value.rank}`));
  return h(
    "li",
    { class: "passage" },
    h("div", { class: "row wrap" }, h("strong", {}, one.title || decodeEnd(one.source)), h("span", { class: "muted small" }, (one.title_path ?? []).filter((part) => part !== one.title).join(" › ")), scores, badge(t("play.score", { n: decimal(one.score) }), "info")),
    h("p", { class: "passage-text" }, one.text),
    button(t("play.whyThis"), { kind: "quiet small", glyph: "info", on: { click: () => why(one.chunk_id) } }),
  );
}

function candidateTable(candidates, why) {
  const names = [...new Set(candidates.flatMap((one) => Object.keys(one.routes)))];
  const rows = candidates.slice(0, CANDIDATES).map((one) => [
    { node: String(one.fused.rank), class: "num" },
    h("span", { class: "doc-name" }, h("span", {}, one.title || decodeEnd(one.source ?? "") || one.chunk_id), one.text && h("span", { class: "muted small clamp" }, one.text)),
    ...names.map((name) => ({ node: one.routes[name] ? `#${one.routes[name].rank} · ${decimal(one.routes[name].score)}` : "–", class: "num" })),
    { node: decimal(one.fused.score), class: "num" },
    { node: decimal(one.relevance), class: "num" },
    badge(fate(one.fate), one.fate === "used" ? "good" : "", { title: one.fate }),
    { node: button(t("play.why"), { kind: "quiet", glyph: "info", bare: true, on: { click: () => why(one.chunk_id) } }), class: "act" },
  ]);
  return table(["#", t("play.chunk"), ...names.map((name) => label("route", name)), t("play.fused"), t("play.relevance"), t("play.fate"), ""], rows, { label: t("play.candidates", { n: candidates.length }), figures: true });
}

function fate(text) {
  return text === "used" ? t("play.used") : said(text);
}

/** "Why not this passage?": words that stand in it, or a chunk picked above. */
function whyNot(kb, question, signal) {
  const words = h("input", { class: "input", type: "text", placeholder: t("play.whyHint"), "aria-label": t("play.whyLabel"), on: { keydown: (event) => event.key === "Enter" && !event.isComposing && go({ contains: words.value.trim() }) } });
  const result = h("div", { "aria-live": "polite" });
  const element = h("section", { class: "panel why" }, h("h2", {}, t("play.whyTitle")), h("p", { class: "muted before" }, t("play.whyDetail")), h("div", { class: "toolbar" }, h("div", { class: "search-field grow" }, words), button(t("play.explain"), { on: { click: () => go({ contains: words.value.trim() }) } })), result);

  async function go(target) {
    if (!question() || (!target.contains && !target.chunk)) return words.focus();
    put(result, loading(3));
    try {
      const told = await api.explain(kb, { question: question(), ...target }, signal);
      put(result, told.targets.map(explained));
    } catch (error) {
      put(result);
      sorry(error);
    }
  }

  return {
    element,
    chunk: (id) => {
      element.scrollIntoView({ block: "nearest", behavior: "smooth" });
      go({ chunk: id });
    },
  };
}

/** Whether a chunk is used, else the stage at which it was dropped. */
function verdict(one) {
  const dropped = one.stages.find((stage) => !stage.passed);
  return dropped ? badge(t("play.droppedAt", { stage: label("stageName", dropped.stage) }), "warn") : badge(t("play.used"), "good");
}

function explained(one) {
  return h(
    "article",
    { class: "explained" },
    h("p", {}, h("strong", {}, one.title || decodeEnd(one.source)), " ", verdict(one)),
    h("p", { class: "muted clamp" }, one.text),
    h("ol", { class: "stages" }, one.stages.map((stage) => h("li", { class: stage.passed ? (/^not among/.test(stage.detail) ? "missed" : "passed") : "dropped" }, h("strong", {}, label("stageName", stage.stage)), h("span", {}, said(stage.detail))))),
  );
}
