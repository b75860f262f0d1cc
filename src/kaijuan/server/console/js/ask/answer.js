/** One turn on the page: the question, its answer with numbered marks, notes, sources, and what one can do with it. */

import * as api from "../api.js";
import { h } from "../dom.js";
import { has, lang, t, took } from "../i18n.js";
import { icon } from "../icons.js";
import { copy, prompt, sorry, toast } from "../parts/notices.js";
import { badge, banner, button, failed } from "../parts/ui.js";
import { asText, save, shown } from "./thread.js";

const STATUS_TONES = { answered: "good", partial: "warn", refused: "bad", clarify: "info" };
const QUOTE = 160;

/** Draw a turn. `open(turn, id)` shows a citation, `again(question)` asks once more, `opened` is the citation shown. */
export function turnCard(kb, thread, turn, { open, again, opened }) {
  const parts = shown(turn);
  const mark = (id) => {
    const citation = parts.citations.find((one) => one.id === id);
    return chip(id, citation, opened === id, () => open(turn, id));
  };
  return h(
    "article",
    { class: ["turn", turn.state], id: `turn-${turn.id}`, "aria-busy": String(turn.state === "waiting" || turn.state === "streaming") },
    h("h2", { class: "turn-question" }, turn.question),
    turn.answer && statusLine(turn.answer),
    body(turn, parts, mark),
    choices(turn, again),
    parts.notes.map((note) => noteLine(note, mark)),
    turn.error && failed(turn.error, () => again(turn.question)),
    turn.state === "stopped" && banner("info", t("ask.stopped"), null, [button(t("act.again"), { glyph: "again", on: { click: () => again(turn.question) } })]),
    parts.citations.length > 0 && sources(turn, parts.citations, open, opened),
    turn.state === "done" && foot(kb, thread, turn),
  );
}

/** A numbered mark that opens its source. */
export function chip(id, citation, pressed, open) {
  const where = citation ? [citation.title, pages(citation.pages)].filter(Boolean).join(", ") : t("ask.sourceComing");
  return h(
    "button",
    { type: "button", class: "cite", data: { cite: id }, "aria-pressed": String(pressed), "aria-label": t("ask.source", { id, where }), title: where, disabled: !citation, on: { click: open } },
    id,
  );
}

/** Pages in words, "" where a format has none. */
export function pages(numbers) {
  if (!numbers?.length) return "";
  const list = numbers.length > 2 ? `${numbers[0]}–${numbers.at(-1)}` : numbers.join(lang() === "zh" ? "、" : ", ");
  return t("ask.pages", { pages: list });
}

function body(turn, parts, mark) {
  if (turn.state === "waiting" || (turn.state === "streaming" && !parts.sentences.length && !parts.text)) {
    return h("p", { class: "stage", role: "status" }, h("span", { class: "pulse", "aria-hidden": "true" }), stageText(turn.stage));
  }
  const spaced = (text) => (/[\u3000-\u9fff\uff00-\uffef]$/.test(text.trimEnd()) ? "" : " ");
  const sentences = parts.sentences.map((one) => [
    h("span", { class: ["sentence", one.text.includes("\n") && "block"] }, one.text),
    h("span", { class: "marks" }, one.citations.map(mark)),
    spaced(one.text),
  ]);
  return h(
    "div",
    { class: "answer" },
    sentences.length > 0 && h("p", {}, sentences),
    parts.text && h("p", { class: ["plain", turn.state === "streaming" && "growing"] }, parts.text),
  );
}

function stageText(stage) {
  return has(`stage.${stage}`) ? t(`stage.${stage}`) : t("stage.working");
}

function statusLine(answer) {
  const tone = STATUS_TONES[answer.status] ?? "";
  return h("p", { class: "status-line" }, badge(t(`status.${answer.status}`), tone), answer.status !== "answered" && h("span", { class: "muted" }, t(`statusWhy.${answer.status}`)));
}

function choices(turn, again) {
  const given = turn.answer?.choices ?? [];
  if (!given.length) return null;
  return h(
    "div",
    { class: "choices" },
    given.map((one) => button(one.text ?? one.label ?? String(one), { on: { click: () => again(one.question ?? one.text ?? String(one)) } })),
  );
}

function noteLine(note, mark) {
  const kind = typeof note === "string" ? "" : (note.kind ?? "");
  const text = typeof note === "string" ? note : (note.text ?? note.message ?? "");
  return h(
    "aside",
    { class: ["note", kind] },
    icon(["conflict", "stale", "low_confidence", "unsupported"].includes(kind) ? "warn" : "info", 18),
    h("p", {}, kind && has(`note.${kind}`) && !says(text, t(`note.${kind}`)) && h("strong", {}, t(`note.${kind}`), lang() === "zh" ? "" : " "), text, (note.citations ?? []).length > 0 && h("span", { class: "marks" }, " ", note.citations.map(mark))),
  );
}

/** Whether a note begins with the words of its heading already. */
const says = (text, heading) => text.toLowerCase().startsWith(heading.replace(/[.。:：]$/, "").toLowerCase());

function sources(turn, citations, open, opened) {
  return h(
    "section",
    { class: "sources", "aria-label": t("ask.sources") },
    h("h3", {}, t("ask.sources")),
    h(
      "ol",
      {},
      citations.map((one) =>
        h(
          "li",
          {},
          h(
            "button",
            { type: "button", class: ["source", opened === one.id && "open"], "aria-pressed": String(opened === one.id), on: { click: () => open(turn, one.id) } },
            h("span", { class: "source-number", "aria-hidden": "true" }, one.id),
            h(
              "span",
              { class: "source-body" },
              h("span", { class: "source-title" }, sourceTitle(one)),
              h("span", { class: "source-where" }, [...trail(one), pages(one.pages)].filter(Boolean).join(" › ")),
              h("span", { class: "source-quote" }, one.quote.length > QUOTE ? `${one.quote.slice(0, QUOTE)}…` : one.quote),
            ),
          ),
        ),
      ),
    ),
  );
}

/** The title of a citation's document; the end of its source where it has none. */
export function sourceTitle(citation) {
  return citation.title || decodeEnd(citation.source);
}

/** The headings above a citation, without the title that stands there already. */
export function trail(citation) {
  return (citation.title_path ?? []).filter((part) => part && part !== citation.title);
}

/** The last part of an address, as people write it. */
export function decodeEnd(source) {
  const end = (source ?? "").split("/").filter(Boolean).at(-1) ?? source ?? "";
  try {
    return decodeURIComponent(end);
  } catch {
    return end;
  }
}

function foot(kb, thread, turn) {
  const { answer } = turn;
  const total = answer.timings_ms?.total;
  const told = [
    answer.model === "extractive" ? t("ask.ownWords") : answer.model,
    t("ask.snapshot", { n: answer.snapshot }),
    total !== undefined && took(total),
    (answer.cache === "hit" || answer.cache === "similar") && t("ask.cached"),
    answer.fallback && t("ask.fallback"),
  ];
  const vote = (way) =>
    button(t(way === "up" ? "ask.good" : "ask.bad"), {
      kind: "quiet",
      glyph: way,
      bare: true,
      "aria-pressed": String(turn.vote === way),
      on: { click: (event) => judge(kb, thread, turn, way, event.currentTarget) },
    });
  return h(
    "footer",
    { class: "turn-foot" },
    h("span", { class: "muted small" }, told.filter(Boolean).join(" · ")),
    h(
      "span",
      { class: "row" },
      button(t("ask.copy"), { kind: "quiet", glyph: "copy", bare: true, on: { click: () => copy(asText(answer, { sources: t("ask.sources"), page: pages })) } }),
      api.has("kbs/{}/feedback") && [vote("up"), vote("down")],
    ),
  );
}

async function judge(kb, thread, turn, way, pressed) {
  let note = "";
  if (way === "down") {
    note = await prompt(t("ask.badTitle"), t("ask.badLabel"), t("act.send"), { multiline: true });
    if (note === null) return;
  }
  try {
    await api.giveFeedback(kb, { question: turn.question, trace_id: turn.answer.trace_id, answer: turn.answer.answer, verdict: way === "up" ? "good" : "bad", comment: note });
    turn.vote = way;
    save(thread);
    for (const each of pressed.parentElement.querySelectorAll("[aria-pressed]")) each.setAttribute("aria-pressed", String(each === pressed));
    toast(t("ask.thanks"), "good");
  } catch (error) {
    sorry(error);
  }
}
