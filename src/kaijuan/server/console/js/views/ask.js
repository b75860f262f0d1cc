/** The home page: a question, its answer, and beside it the evidence. */

import * as api from "../api.js";
import { questionBox } from "../ask/question.js";
import { decodeEnd, turnCard } from "../ask/answer.js";
import { historyDialog } from "../ask/history.js";
import { clear, pose, save, shown, threadOf, turnOf } from "../ask/thread.js";
import { h, put } from "../dom.js";
import { t } from "../i18n.js";
import { seal } from "../icons.js";
import { sorry, toast } from "../parts/notices.js";
import { button, empty, linkButton, loading } from "../parts/ui.js";
import { readerPanel } from "../reader/panel.js";
import { followRun } from "../library/run.js";
import { go, href, note, refresh } from "../router.js";

const EXAMPLES = 4;
const PACE_MS = 40;

/** Draw the page. */
export async function render({ kb, query, root, signal, shell }) {
  const thread = threadOf(kb);
  let opened = { turn: null, id: "" };
  const column = h("div", { class: "ask-column" });
  const list = h("div", { class: "turns" });
  const side = h("div", { class: "reader-slot" });
  const box = questionBox(kb, {
    asked,
    stopped: () => thread.turns.at(-1)?.stop?.abort(),
    signal,
    hint: t(thread.turns.length ? "ask.followUp" : "ask.hint"),
  });
  const reader = readerPanel(kb, { closed: () => show(null, ""), moved: (id) => show(opened.turn, id), signal });
  put(side, reader.element);
  const page = h("div", { class: "ask" }, h("div", { class: "ask-main" }, column), side);
  put(root, page);

  shell.keys({
    "/": () => box.focus(),
    Escape: () => (opened.turn ? show(null, "") : thread.turns.at(-1)?.stop?.abort()),
  });

  if (thread.turns.length === 0 && !query.get("t")) await welcome();
  else conversation();
  if (query.get("t")) await restore(query.get("t"), query.get("c"));
  else if (query.get("q")) asked(query.get("q"));

  async function welcome() {
    put(column, loading(3));
    let state = { documents: 0 };
    let asking = [];
    try {
      if (shell.made()) state = await api.status(kb, signal);
      asking = state.documents ? await examples(kb, signal) : [];
    } catch (error) {
      if (error.name === "AbortError") return;
      return put(column, welcomeHead(), h("div", { class: "narrow" }, box.element)), sorry(error);
    }
    if (signal.aborted) return;
    page.classList.add("fresh");
    put(column, state.documents ? ready(state, asking) : firstRun());
    if (state.documents && window.matchMedia("(min-width: 800px)").matches) box.focus();
  }

  function ready(state, asking) {
    return [
      welcomeHead(t("ask.over", { n: state.documents })),
      h("div", { class: "narrow" }, box.element),
      api.has("kbs/{}/conversations") && h("div", { class: "row center earlier" }, earlier()),
      asking.length > 0 &&
        h(
          "section",
          { class: "examples narrow", "aria-label": t("ask.examples") },
          h("h2", {}, t("ask.examples")),
          h("ul", {}, asking.map((text) => h("li", {}, h("button", { type: "button", class: "example", on: { click: () => asked(text) } }, text)))),
        ),
    ];
  }

  function firstRun() {
    const start = button(t("first.samples"), { kind: "primary", glyph: "library", on: { click: () => takeSamples(start) } });
    return [
      welcomeHead(),
      empty("folder", t("first.title"), t("first.detail"), [
        api.has("kbs/{}/runs") && start,
        linkButton(t("first.own"), href(kb, "library"), { glyph: "upload" }),
      ].filter(Boolean)),
    ];
  }

  async function takeSamples(start) {
    start.disabled = true;
    try {
      await shell.secure();
      const { id } = await api.loadSamples(kb);
      const place = h("div", { class: "narrow" });
      column.append(place);
      await followRun(kb, id, place, signal);
      toast(t("first.loaded"), "good");
      shell.renewBases();
      await welcome();
    } catch (error) {
      start.disabled = false;
      sorry(error);
    }
  }

  function conversation() {
    page.classList.remove("fresh");
    box.hint(t("ask.followUp"));
    const anew = button(t("ask.anew"), { kind: "quiet", glyph: "plus", on: { click: () => (clear(thread), show(null, ""), go(kb, "ask")) } });
    put(
      column,
      h("div", { class: "thread-head" }, earlier(), anew),
      list,
      h("div", { class: "ask-dock" }, box.element),
    );
    put(list, thread.turns.map(card));
  }

  /** The way to earlier conversations, where the service keeps them. */
  function earlier() {
    if (!api.has("kbs/{}/conversations")) return null;
    const again = () => (show(null, ""), note({}), refresh());
    return button(t("history.title"), { kind: "quiet", glyph: "history", on: { click: () => historyDialog(kb, thread, signal, again) } });
  }

  function card(turn) {
    return turnCard(kb, thread, turn, { open: show, again: asked, opened: opened.turn === turn ? opened.id : "" });
  }

  function redraw(turn) {
    const old = document.getElementById(`turn-${turn.id}`);
    if (old) old.replaceWith(card(turn));
    else list.append(card(turn));
  }

  async function asked(text) {
    if (thread.turns.at(-1)?.stop) return;
    if (page.classList.contains("fresh") || !list.isConnected) conversation();
    show(null, "");
    box.busy(true);
    let due = 0;
    const draw = (each) => {
      due = 0;
      redraw(each);
      if (each === thread.turns.at(-1)) document.getElementById(`turn-${each.id}`)?.scrollIntoView({ block: each.state === "waiting" ? "start" : "nearest" });
    };
    const turn = await pose(thread, text, (each) => {
      // Tokens come faster than anybody reads: several are drawn together, the last of them before long.
      if (each.state === "streaming") due ||= setTimeout(draw, PACE_MS, each);
      else {
        clearTimeout(due);
        draw(each);
      }
    });
    box.busy(false);
    if (signal.aborted) return;
    if (turn.answer) {
      note({ t: turn.answer.trace_id });
      const { status } = turn.answer;
      shell.say(t("ask.spoken", { status: t(`status.${status}`), n: turn.answer.citations.length }));
    }
  }

  /** Open a citation, or close the reader with no turn. */
  function show(turn, id) {
    const before = opened;
    opened = { turn, id };
    if (before.turn) redraw(before.turn);
    if (turn && turn !== before.turn) redraw(turn);
    else if (turn) redraw(turn);
    page.classList.toggle("reading", Boolean(turn));
    if (!turn) {
      reader.close();
      const back = before.turn && document.querySelector(`#turn-${before.turn.id} .cite[data-cite="${CSS.escape(before.id)}"]`);
      back?.focus({ preventScroll: true });
      const trace = thread.turns.at(-1)?.answer?.trace_id;
      return note(trace ? { t: trace } : {});
    }
    note({ t: turn.answer?.trace_id, c: id });
    reader.open(shown(turn).citations, id);
  }

  async function restore(trace, cited) {
    let turn = turnOf(thread, trace);
    if (!turn) turn = await fetched(trace);
    if (!turn || signal.aborted) return;
    if (cited && turn.answer.citations.some((one) => one.id === cited)) show(turn, cited);
    document.getElementById(`turn-${turn.id}`)?.scrollIntoView({ block: "start" });
  }

  /** An answer that this tab has not seen: the trace holds it; an older trace holds only the question. */
  async function fetched(trace) {
    try {
      const { trace: body } = await api.trace(kb, trace, signal);
      const answer = body.result;
      if (!answer) {
        // A trace from before answers were kept whole.
        await asked(body.question ?? body.query);
        return null;
      }
      const made = { id: trace, question: body.question ?? body.query, state: "done", stage: "", text: "", sentences: [], citations: [], notes: [], answer, error: null, vote: "", stop: null };
      thread.turns.push(made);
      save(thread);
      conversation();
      return made;
    } catch (error) {
      if (error.name !== "AbortError") toast(t("ask.gone"), "bad");
      if (thread.turns.length === 0) await welcome();
      return null;
    }
  }
}

function welcomeHead(detail = "") {
  return h(
    "header",
    { class: "welcome" },
    seal(52),
    h("h1", {}, t("ask.title")),
    h("p", {}, detail || t("ask.promise")),
  );
}

/** Questions to begin with: those of the bundled samples where the base holds them, else one's own that were answered. */
async function examples(kb, signal) {
  try {
    const [{ questions }, { documents }] = await Promise.all([api.has("samples") ? api.samples(signal) : { questions: [] }, api.documents(kb, { limit: 50 }, signal)]);
    const names = new Set(documents.map((one) => decodeEnd(one.source)));
    const known = questions.filter((one) => (one.source ? names.has(one.source) : questions.some((other) => other.source && names.has(other.source))));
    if (known.length) return known.slice(0, EXAMPLES).map((one) => one.question);
  } catch (error) {
    if (error.name === "AbortError") throw error;
  }
  try {
    const { traces } = api.has("kbs/{}/traces") ? await api.traces(kb, signal) : { traces: [] };
    const answered = traces.filter((one) => one.status === "answered").map((one) => one.question);
    return [...new Set(answered)].slice(0, EXAMPLES);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    return [];
  }
}
