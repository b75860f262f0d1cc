/**
 * Files on their way to the service. Few and small ones go in one request; all others in pieces, so that a line that
 * breaks, a service that restarts and a page that is loaded anew go on where they were.
 */

import * as api from "../api.js";
import { keep, lasting } from "../prefs.js";

const PIECE = 1 << 20;
const SMALL = 1 << 21;
const FEW = 100;
/** Files of one run: as many as the service takes at once. */
const MOST = 500;
const PAUSES = [500, 1000, 2000, 4000, 8000];
/** Tries without any byte getting through before a person is asked: more than ten minutes. */
const PATIENCE = 80;

/**
 * Send files ([{file, path}]) and return the ids of the runs that take them in. `told({sent, total, broken})` is called
 * as bytes arrive; `broken` says that the line is down and is tried again.
 */
export async function send(kb, files, told, signal) {
  const total = files.reduce((sum, { file }) => sum + file.size, 0);
  if (total <= SMALL && files.length <= FEW) {
    try {
      return [(await api.upload(kb, files, signal)).id];
    } catch (error) {
      if (error.name === "AbortError" || !error.retry) throw error;
    }
  }
  const state = { sent: 0, total, broken: false };
  const runs = [];
  for (let first = 0; first < files.length; first += MOST) {
    runs.push(await batch(kb, files.slice(first, first + MOST), state, () => told(state), signal));
  }
  return runs;
}

async function batch(kb, files, state, told, signal) {
  const ids = [];
  try {
    for (const each of files) ids.push(await whole(kb, each, state, told, signal));
    const { id } = await patiently(() => api.finishUploads(kb, ids, signal), state, told, signal);
    return id;
  } finally {
    // Taken in, given up or refused: in any case nothing to come back to, but where only the line failed.
    if (!state.broken || signal.aborted) for (const each of files) forget(kb, each);
    if (signal.aborted) await Promise.allSettled(ids.map((id) => api.dropUpload(kb, id)));
  }
}

/** Send one file to its end, from where an earlier attempt left off; its id. */
async function whole(kb, each, state, told, signal) {
  const before = state.sent;
  let { id, offset } = await begun(kb, each, state, told, signal);
  try {
    while (offset < each.file.size) {
      state.sent = before + offset;
      told();
      const at = offset;
      ({ offset } = await patiently(async (again) => {
        if (again) {
          const come = await api.uploadState(kb, id, signal);
          if (come.offset !== at) return come;
        }
        return sent(kb, id, at, each.file.slice(at, at + PIECE), signal);
      }, state, told, signal));
    }
  } catch (error) {
    if (signal.aborted) await Promise.allSettled([api.dropUpload(kb, id)]);
    throw error;
  }
  state.sent = before + each.file.size;
  told();
  return id;
}

async function sent(kb, id, at, piece, signal) {
  try {
    return await api.sendPiece(kb, id, at, piece, signal);
  } catch (error) {
    // The service has not yet noticed that the piece before broke off, or has more of it than was known here.
    if (error.status === 409) error.retry = true;
    throw error;
  }
}

async function begun(kb, { file, path }, state, told, signal) {
  const known = remembered(kb, { file, path });
  if (known) {
    try {
      return await patiently(() => api.uploadState(kb, known, signal), state, told, signal);
    } catch (error) {
      if (error.status !== 404) throw error; // Forgotten by the service: from the beginning then.
    }
  }
  const made = await patiently(() => api.beginUpload(kb, path || file.name, file.size, signal), state, told, signal);
  keep("uploads", { ...lasting("uploads", {}), [nameOf(kb, { file, path })]: made.id });
  return made;
}

/** Do something until it works, as long as trying again can help. */
async function patiently(action, state, told, signal) {
  for (let tries = 0; ; tries += 1) {
    try {
      const done = await action(tries > 0);
      state.broken = false;
      return done;
    } catch (error) {
      if (error.name === "AbortError") throw error;
      if (!error.retry || tries >= PATIENCE) {
        state.broken = error.retry === true;
        throw error;
      }
      state.broken = true;
      told();
      await pause(PAUSES[Math.min(tries, PAUSES.length - 1)], signal);
    }
  }
}

function pause(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => (clearTimeout(timer), reject(signal.reason)), { once: true });
  });
}

// The same file chosen again goes on with its upload: told by name, size and date, for nobody reads it all to ask.
const nameOf = (kb, { file, path }) => [kb, path || file.name, file.size, file.lastModified].join("|");
const remembered = (kb, each) => lasting("uploads", {})[nameOf(kb, each)] ?? null;

function forget(kb, each) {
  const all = lasting("uploads", {});
  delete all[nameOf(kb, each)];
  keep("uploads", Object.keys(all).length ? all : null);
}
