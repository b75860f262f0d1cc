/** The service's interface: the only module that knows its addresses and shapes. */

import { hold, passing } from "./prefs.js";
import { events } from "./sse.js";

const ROOT = new URL("../../api/v1/", import.meta.url);
let served = null;

/** A failure as the service tells it: code, message and hint as on the command line. */
export class ApiError extends Error {
  constructor(status, problem = {}) {
    super(problem.detail || problem.message || "");
    this.name = "ApiError";
    this.status = status;
    this.code = problem.code ?? "";
    this.hint = problem.hint ?? "";
    this.retry = problem.retry === true || [0, 502, 503, 504].includes(status);
    this.request = problem.request_id ?? problem.instance ?? "";
  }
}

/** The key of this tab, "" when none was given. */
export const key = () => passing("key", "");
export const setKey = (text) => hold("key", text || null);

/** Headers that every request carries. */
export function headers(more = {}) {
  return key() ? { ...more, Authorization: `Bearer ${key()}` } : more;
}

/** The whole address of a path below /api/v1; null and "" leave a parameter out. */
export function address(path, query = {}) {
  const url = new URL(path, ROOT);
  for (const [name, value] of Object.entries(query)) {
    if (value !== null && value !== undefined && value !== "") url.searchParams.set(name, String(value));
  }
  return url.href;
}

async function ask(path, { method = "GET", query = {}, body = null, form = null, more = {}, accept = "application/json", signal } = {}) {
  const own = { Accept: accept, ...more };
  if (body !== null) own["Content-Type"] = "application/json";
  if (method === "POST") own["Idempotency-Key"] = crypto.randomUUID?.() ?? String(Math.random()).slice(2);
  let response;
  try {
    response = await fetch(address(path, query), {
      method,
      headers: headers(own),
      body: form ?? (body === null ? undefined : JSON.stringify(body)),
      signal,
      cache: "no-store",
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError(0, { code: "unreachable" });
  }
  if (!response.ok) {
    // A key that was revoked or has run out: the door is shown again.
    if (response.status === 401 && key()) window.dispatchEvent(new Event("key-refused"));
    throw new ApiError(response.status, await problem(response));
  }
  return response;
}

async function problem(response) {
  try {
    const body = await response.json();
    return { request_id: response.headers.get("X-Request-ID"), ...(body.error ?? body) };
  } catch {
    return {};
  }
}

async function json(path, options = {}) {
  const response = await ask(path, options);
  return response.status === 204 ? {} : response.json();
}

const of = (kb) => `kbs/${encodeURIComponent(kb)}`;
const part = (id) => encodeURIComponent(id);

/** Learn which paths the service has, so that the console shows nothing that is not there. */
export async function learn() {
  try {
    const response = await fetch(new URL("../../openapi.json", ROOT), { headers: headers() });
    served = new Set(Object.keys((await response.json()).paths).map((path) => path.replace(/\{[^}]*\}/g, "{}")));
  } catch {
    served = null;
  }
}

/** Whether the service has a path; written with {} for every parameter. True as long as nobody knows. */
export function has(path) {
  return served === null || served.has(`/api/v1/${path}`);
}

// --- the service and its bases ------------------------------------------------------------------------------

export const health = (signal) => json("health", { signal });
export const me = (signal) => json("me", { signal });
export const bases = async (signal) => (await json("kbs", { signal })).kbs;
export const makeBase = (name) => json("kbs", { method: "POST", body: { name } });
export const status = (kb, signal) => json(`${of(kb)}/status`, { signal });
export const doctor = (kb, signal) => json(`${of(kb)}/doctor`, { signal });
export const settings = (signal) => json("settings", { signal });
export const evaluations = (signal) => json("evaluations", { signal });
export const evaluation = (name, signal) => json(`evaluations/${part(name)}`, { signal });
export const reportOf = (name, language) => address(`evaluations/${part(name)}/report`, { language });
export const samples = (signal) => json("samples", { signal });
export const addAddresses = (kb, targets, depth) => json(`${of(kb)}/runs`, { method: "POST", body: { kind: "add", targets, depth } });
export const loadSamples = (kb) => json(`${of(kb)}/runs`, { method: "POST", body: { kind: "samples" } });

// --- questions ----------------------------------------------------------------------------------------------

/**
 * Ask, alone or as the next turn of a conversation, and yield typed events as they come; the last is "done" with the
 * whole answer, or "error".
 */
export async function* askStream(kb, question, conversation, signal) {
  const [path, body] = conversation
    ? [`${of(kb)}/conversations/${part(conversation)}`, { text: question }]
    : [`${of(kb)}/ask`, { question }];
  const response = await ask(path, { method: "POST", body, accept: "text/event-stream", signal });
  if (!response.headers.get("Content-Type")?.includes("text/event-stream")) {
    yield { event: "done", data: await response.json() };
    return;
  }
  yield* events(response);
}

export const conversations = async (kb, signal) => (await json(`${of(kb)}/conversations`, { signal })).conversations;
export const conversation = (kb, name, signal) => json(`${of(kb)}/conversations/${part(name)}`, { signal });
export const forgetConversation = (kb, name) => json(`${of(kb)}/conversations/${part(name)}`, { method: "DELETE" });
export const search = (kb, body, signal) => json(`${of(kb)}/search`, { method: "POST", body, signal });
export const explain = (kb, body, signal) => json(`${of(kb)}/explain`, { method: "POST", body, signal });
export const suggest = async (kb, prefix, signal) =>
  (await json(`${of(kb)}/suggest`, { query: { q: prefix, k: 6 }, signal })).suggestions;
export const traces = (kb, signal) => json(`${of(kb)}/traces`, { query: { limit: 50 }, signal });
export const trace = (kb, id, signal) => json(`${of(kb)}/traces/${part(id)}`, { signal });
export const feedback = (kb, signal) => json(`${of(kb)}/feedback`, { query: { limit: 100 }, signal });
export const giveFeedback = (kb, body) => json(`${of(kb)}/feedback`, { method: "POST", body });

// --- documents ----------------------------------------------------------------------------------------------

const OPEN = 2 ** 31 - 1;
const MOST_BLOCKS = 2000;

export const documents = (kb, query, signal) => json(`${of(kb)}/documents`, { query: { limit: 50, ...query }, signal });
export const removeDocument = (kb, id) => json(`${of(kb)}/documents/${part(id)}`, { method: "DELETE" });

export const document_ = (kb, id, signal) => json(`${of(kb)}/documents/${part(id)}`, { signal });

/** A document with its text, blocks and chunks. */
export const wholeDocument = (kb, id, signal) =>
  json(`${of(kb)}/documents/${part(id)}`, { query: { include: "text,blocks,chunks" }, signal });

/** All blocks of a version, page by page as the service gives them. */
export async function versionBlocks(kb, id, signal) {
  const blocks = [];
  let first = 0;
  while (first !== null && first !== undefined) {
    const page = await json(`${of(kb)}/versions/${part(id)}/blocks`, { query: { first, limit: MOST_BLOCKS }, signal });
    blocks.push(...page.blocks);
    first = page.next;
  }
  return blocks;
}

/** A version's own facts, and whether it is the current one. */
export async function versionOf(kb, id, signal) {
  const version = await json(`${of(kb)}/versions/${part(id)}`, { signal });
  return { ...version, current: version.valid_to >= OPEN };
}

/** Where a span of a version stands now: quote, pages and boxes, with kind, number and whether the version is the current one. */
export async function spanOf(kb, id, start, end, signal) {
  const [place, version] = await Promise.all([
    json(`${of(kb)}/versions/${part(id)}/place`, { query: { start, end }, signal }),
    versionOf(kb, id, signal),
  ]);
  return { ...place, kind: version.kind, number: version.number, current: version.current, title: place.title || version.title };
}

export const originalOf = (kb, version) => address(`${of(kb)}/versions/${part(version)}/original`);

/** The text of a version, as it was stored. */
export async function versionText(kb, id, signal) {
  const response = await ask(`${of(kb)}/versions/${part(id)}/text`, { accept: "text/plain, application/json", signal });
  if (response.headers.get("Content-Type")?.includes("json")) return (await response.json()).text;
  return response.text();
}

/** A file as an address of this page, for pictures and downloads; the caller gives it back with revokeObjectURL. */
export async function blobAddress(url, signal) {
  const response = await fetch(url, { headers: headers(), signal });
  if (!response.ok) throw new ApiError(response.status, await problem(response));
  return URL.createObjectURL(await response.blob());
}

/** Send files in one request, as one run. */
export function upload(kb, files, signal) {
  const form = new FormData();
  for (const { file, path } of files) form.append("files", file, path || file.name);
  return json(`${of(kb)}/documents`, { method: "POST", form, signal });
}

/** Uploads in pieces: {id, name, size, offset}, where `offset` is how many bytes the service has. */
export const uploads = async (kb, signal) => (await json(`${of(kb)}/uploads`, { signal })).uploads;
export const beginUpload = (kb, name, size, signal) => json(`${of(kb)}/uploads`, { method: "POST", body: { name, size }, signal });
export const uploadState = (kb, id, signal) => json(`${of(kb)}/uploads/${part(id)}`, { signal });
export const dropUpload = (kb, id) => json(`${of(kb)}/uploads/${part(id)}`, { method: "DELETE" });
export const finishUploads = (kb, ids, signal) => json(`${of(kb)}/uploads/finish`, { method: "POST", body: { uploads: ids }, signal });
export const sendPiece = (kb, id, offset, blob, signal) =>
  json(`${of(kb)}/uploads/${part(id)}`, { method: "PATCH", form: blob, more: { "Content-Type": "application/offset+octet-stream", "Upload-Offset": String(offset) }, signal });

// --- runs, reviews, snapshots -------------------------------------------------------------------------------

export const runs = (kb, signal) => json(`${of(kb)}/runs`, { signal });
export const run = (kb, id, signal) => json(`${of(kb)}/runs/${part(id)}`, { signal });
export const cancelRun = (kb, id) => json(`${of(kb)}/runs/${part(id)}/cancel`, { method: "POST", body: {} });

/** Yield {event, data} of a run under way; "done" and "failed" end it, and data is the run each time. */
export async function* runStream(kb, id, signal) {
  yield* events(await ask(`${of(kb)}/runs/${part(id)}`, { accept: "text/event-stream", signal }));
}

export const reviews = async (kb, state, signal) => {
  const { reviews: found } = await json(`${of(kb)}/reviews`, { query: { state: state === "pending" ? state : "all" }, signal });
  return { reviews: found.filter((one) => one.state === state) };
};
export const decide = (kb, id, verdict, note) =>
  json(`${of(kb)}/reviews/${part(id)}/${verdict}`, { method: "POST", body: { note } });
export const duplicates = (kb, signal) => json(`${of(kb)}/duplicates`, { signal });
export const ruleDuplicate = (kb, id, merge) =>
  json(`${of(kb)}/duplicates/${part(id)}/${merge ? "merge" : "keep"}`, { method: "POST", body: {} });
/** The snapshots, each with its names. */
export async function snapshots(kb, signal) {
  const { snapshots: found, tags = [] } = await json(`${of(kb)}/snapshots`, { signal });
  return { snapshots: found.map((one) => ({ ...one, tags: tags.filter((tag) => tag.number === one.number).map((tag) => tag.name) })) };
}
export const tagSnapshot = (kb, name, snapshot) => json(`${of(kb)}/tags`, { method: "POST", body: { name, snapshot } });
export const untag = (kb, name) => json(`${of(kb)}/tags/${part(name)}`, { method: "DELETE" });
export const rollBack = (kb, snapshot) => json(`${of(kb)}/rollback`, { method: "POST", body: { snapshot } });
export const snapshotDiff = (kb, from, to, signal) => json(`${of(kb)}/diff`, { query: { before: from, after: to }, signal });

// --- chunks, words, people ----------------------------------------------------------------------------------

/** Work by hand on one chunk ("split", "edit", "alias") or on several ("merge", "exclude", "restore"). */
export const chunkWork = (kb, id, verb, body) =>
  json(["split", "edit", "alias"].includes(verb) ? `${of(kb)}/chunks/${part(id)}/${verb}` : `${of(kb)}/chunk-work/${verb}`, {
    method: "POST",
    body,
  });
/** What was done to the chunks of a document by hand, what is in force. */
export const chunkHistory = async (kb, document, signal) => (await json(`${of(kb)}/chunk-work`, { query: { document }, signal })).work;
export const glossary = (kb, signal) => json(`${of(kb)}/glossary`, { signal });
export const addTerm = (kb, body) => json(`${of(kb)}/glossary`, { method: "POST", body });
export const removeTerm = (kb, term) => json(`${of(kb)}/glossary/${part(term)}`, { method: "DELETE" });
export const keys = (signal) => json("keys", { signal });
export const makeKey = (body) => json("keys", { method: "POST", body });
export const users = (signal) => json("users", { signal });
export const putUser = (body) => json("users", { method: "POST", body });
export const access = (kb, signal) => json(`${of(kb)}/access`, { signal });
export const grant = (kb, body) => json(`${of(kb)}/access/grant`, { method: "POST", body });
export const revoke = (kb, body) => json(`${of(kb)}/access/revoke`, { method: "POST", body });
export const audit = (signal) => json("audit", { query: { newest: true, limit: 100 }, signal });
export const auditCheck = (signal) => json("audit/check", { signal });
export const revokeKey = (id) => json(`keys/${part(id)}`, { method: "DELETE" });

// --- editions, upkeep ---------------------------------------------------------------------------------------

export const editions = (kb, query, signal) => json(`${of(kb)}/editions`, { query, signal });
export const models = (kb, signal) => json(`${of(kb)}/models`, { signal });
export const switchModel = (kb, name) => json(`${of(kb)}/models/${part(name)}/switch`, { method: "POST", body: {} });
export const care = (kb, body) => json(`${of(kb)}/doctor`, { method: "POST", body });
export const optimise = (kb) => json(`${of(kb)}/optimise`, { method: "POST", body: {} });
export const backups = (signal) => json("backups", { signal });
export const backUp = (name) => json(`backups/${part(name)}`, { method: "POST", body: {} });
export const checkBackup = (name) => json(`backups/${part(name)}/check`, { method: "POST", body: {} });
