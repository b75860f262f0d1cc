/** The open conversation of a base: its turns, how an answer arrives, and what of it survives a reload of the page. */

import * as api from "../api.js";
import { hold, passing } from "../prefs.js";

const KEPT = 20;
const threads = new Map();

/** One question and what became of it. `state` is "waiting", "streaming", "done", "stopped" or "failed". */
function turn(question) {
  return {
    id: crypto.randomUUID?.() ?? String(Date.now()),
    question,
    state: "waiting",
    stage: "",
    text: "",
    sentences: [],
    citations: [],
    notes: [],
    answer: null,
    error: null,
    vote: "",
    stop: null,
  };
}

/** The thread of a base; made from what the tab remembers at first. */
export function threadOf(kb) {
  if (!threads.has(kb)) {
    const turns = passing(`turns.${kb}`, []).map((saved) => ({ ...turn(saved.question), ...saved, stop: null }));
    threads.set(kb, { kb, turns, session: passing(`session.${kb}`, "") });
  }
  return threads.get(kb);
}

/** Begin anew. */
export function clear(thread) {
  for (const each of thread.turns) each.stop?.abort();
  thread.turns = [];
  thread.session = "";
  save(thread);
}

/** A conversation is called after its first question; the end tells two with the same one apart. */
function sessionName(question, id) {
  const words = [...question.replace(/[/\x00-\x1f]+/g, " ").trim()].slice(0, 80).join("");
  return `${words} #${id.slice(0, 4)}`;
}

/** The name of a conversation as people read it. */
export const nameOf = (session) => session.replace(/ #[0-9a-f]{4}$/, "");

/** Go on with an earlier conversation, as the service kept it. */
export function resume(thread, session, { turns }) {
  for (const each of thread.turns) each.stop?.abort();
  thread.session = session;
  thread.turns = turns
    .filter((each) => each.body?.sentences)
    .map((each) => ({ ...turn(each.question), state: "done", answer: kept(each) }));
  save(thread);
}

/** An answer as it was kept: spans by their ends, and what stands beside it in the turn. */
function kept({ body, status, answer, trace_id }) {
  const pair = (span) => (Array.isArray(span) ? span : [span.start, span.end]);
  return { notes: [], ...body, citations: body.citations.map((one) => ({ ...one, span: pair(one.span) })), status, answer, trace_id };
}

/** Remember finished turns in this tab. */
export function save(thread) {
  const done = thread.turns.filter((each) => each.state === "done").slice(-KEPT);
  hold(`turns.${thread.kb}`, done.map(({ id, question, state, answer, vote }) => ({ id, question, state, answer, vote })));
  hold(`session.${thread.kb}`, thread.session);
}

/** The turn of a trace, where the tab still has it. */
export function turnOf(thread, trace) {
  return thread.turns.find((each) => each.answer?.trace_id === trace) ?? null;
}

/** What to show of a turn, finished or not: sentences, citations, notes, and text that is not yet a sentence. */
export function shown(each) {
  const { answer } = each;
  if (answer) return { sentences: answer.sentences, citations: answer.citations, notes: answer.remarks?.length ? answer.remarks : answer.notes, text: answer.sentences.length ? "" : answer.answer };
  return { sentences: each.sentences.filter(Boolean), citations: each.citations, notes: each.notes, text: each.text };
}

/** Ask and fill a new turn as the answer arrives; `changed(turn)` is called after every event. */
export async function pose(thread, question, changed) {
  const each = turn(question);
  each.stop = new AbortController();
  thread.turns.push(each);
  changed(each);
  if (!thread.session && api.has("kbs/{}/conversations/{}")) thread.session = sessionName(question, each.id);
  try {
    for await (const { event, data } of api.askStream(thread.kb, question, thread.session, each.stop.signal)) {
      take(each, event, data);
      changed(each);
    }
    if (each.state === "streaming" || each.state === "waiting") throw new api.ApiError(0, { code: "broken_off" });
  } catch (error) {
    each.state = error.name === "AbortError" ? "stopped" : "failed";
    each.error = error.name === "AbortError" ? null : error;
    if (each.error && !("status" in error)) console.error(error);
  }
  each.stop = null;
  save(thread);
  changed(each);
  return each;
}

function take(each, event, data) {
  if (event === "done") {
    each.answer = data.answer?.sentences ? data.answer : data;
    each.state = "done";
    return;
  }
  if (event === "error") {
    throw new api.ApiError(data.status ?? 500, data.error ?? data);
  }
  each.state = "streaming";
  if (event === "status") {
    each.stage = data.phase ?? data.stage ?? each.stage;
    // The model failed: what it had written is void, the documents' own sentences follow.
    if (each.stage === "falling_back") Object.assign(each, { text: "", sentences: [] });
  } else if (event === "token") each.text += data.text ?? "";
  else if (event === "sentence") {
    const one = data.sentence ?? data;
    const at = data.index ?? each.sentences.length;
    each.sentences[at] = data.kept === false ? null : { text: one.text, citations: one.citations ?? [] };
    each.text = "";
  } else if (event === "citation") each.citations.push(data.citation ?? data);
  else if (event === "note") each.notes.push(data.note ?? data);
}

/** An answer as plain text with its sources, for pasting elsewhere. */
export function asText(answer, words) {
  const lines = answer.sentences.length
    ? [answer.sentences.map((one) => one.text + one.citations.map((id) => `[${id}]`).join("")).join("\n")]
    : [answer.answer];
  if (answer.citations.length) lines.push("", words.sources);
  for (const one of answer.citations) {
    const where = [one.title, ...(one.title_path ?? [])].filter((part, at, all) => part && all.indexOf(part) === at).join(" › ");
    const page = one.pages?.length ? ` ${words.page(one.pages)}` : "";
    lines.push(`[${one.id}] ${where}${page}`, `    “${one.quote}”`);
  }
  return lines.join("\n");
}
