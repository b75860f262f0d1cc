/** The chunks of a document beside it, and the work on them by hand where the service offers it. */

import * as api from "../api.js";
import { h, put } from "../dom.js";
import { ago, has, t } from "../i18n.js";
import { dialog, prompt, sorry, toast } from "../parts/notices.js";
import { badge, button, empty } from "../parts/ui.js";
import { refresh } from "../router.js";
import { Characters, count } from "../reader/characters.js";

const AT_ONCE = 60;

/** The list; `pointed(chunk)` is called when the person chooses one. */
export function chunkList(kb, view, { pointed, mayWrite, signal }) {
  const text = new Characters(view.text);
  const chunks = view.chunks.filter((one) => one.level === "child");
  const list = h("ol", { class: "chunks" });
  const head = h("div", { class: "chunks-head" }, h("h2", {}, t("doc.chunkList")), h("span", { class: "muted small" }, t("doc.chunks", { n: chunks.length })));
  let shown = 0;
  const more = button(t("act.more"), { on: { click: () => grow() } });

  function grow() {
    const some = chunks.slice(shown, shown + AT_ONCE);
    some.forEach((chunk, at) => list.append(item(chunk, shown + at)));
    shown += some.length;
    more.hidden = shown >= chunks.length;
  }

  function item(chunk, at) {
    const choose = () => {
      for (const each of list.children) each.classList.toggle("open", each === element);
      pointed(chunk);
    };
    const element = h(
      "li",
      { class: "chunk" },
      h(
        "button",
        { type: "button", class: "chunk-body", on: { click: choose } },
        h("span", { class: "chunk-head" }, h("strong", {}, `${at + 1}`), h("span", { class: "muted small" }, t("doc.tokens", { n: chunk.tokens })), chunk.strategy && badge(chunk.strategy), chunk.origin && chunk.origin !== "auto" && badge(t("chunk.manual"), "info"), chunk.stale && badge(t("chunk.stale"), "warn"), chunk.excluded && badge(t("chunk.excluded"), "bad"), chunk.mark && badge(chunk.mark, "warn")),
        chunk.context && h("span", { class: "muted small" }, chunk.context),
        chunk.title_path?.length > 0 && h("span", { class: "muted small ellipsis" }, chunk.title_path.join(" › ")),
        h("span", { class: "chunk-text" }, text.slice(...chunk.span)),
      ),
      mayWrite && work(kb, chunk, chunks[at + 1], text),
    );
    return element;
  }

  grow();
  signal.addEventListener("abort", () => put(list));
  const done = h("div", {});
  if (mayWrite && api.has("kbs/{}/chunk-work")) showWork(kb, view.version.document_id, done, signal);
  return h("div", {}, head, done, chunks.length ? list : empty("split", t("doc.noChunks"), null), more);
}

/** What people did to the chunks, each with a way to undo it. */
async function showWork(kb, document, place, signal) {
  try {
    const found = await api.chunkHistory(kb, document, signal);
    if (!found.length) return;
    put(place, h("details", { class: "work-done" }, h("summary", {}, t("chunk.byHand", { n: found.length })), h("ul", {}, found.map((one) => workLine(kb, one)))));
  } catch (error) {
    sorry(error);
  }
}

function workLine(kb, { work: one, state, why }) {
  const undo = async () => {
    try {
      await api.chunkWork(kb, one.id, "restore", { chunks: [one.id] });
      toast(t("chunk.done"), "good");
      refresh();
    } catch (error) {
      sorry(error);
    }
  };
  const words = one.said || one.passage?.quote || "";
  return h(
    "li",
    {},
    h("div", { class: "grow" }, h("div", { class: "row wrap" }, badge(has(`chunk.kind.${one.kind}`) ? t(`chunk.kind.${one.kind}`) : one.kind, "info"), state === "stale" && badge(t("chunk.stale"), "warn", { title: why }), h("span", { class: "muted small" }, [one.by, ago(one.at)].filter(Boolean).join(" · "))), words && h("p", { class: "small clamp" }, words)),
    button(t("chunk.restore"), { kind: "quiet small", glyph: "again", on: { click: undo } }),
  );
}

const WORKS = ["split", "merge", "edit", "alias", "exclude"];

/** Buttons for the work by hand that the service has. */
function work(kb, chunk, next, text) {
  if (!api.has("kbs/{}/chunk-work")) return null;
  const send = async (verb, body) => {
    try {
      await api.chunkWork(kb, chunk.id, verb, body);
      toast(t("chunk.done"), "good");
      refresh();
    } catch (error) {
      sorry(error);
    }
  };
  const acts = {
    split: ["split", () => splitDialog(chunk, text).then((at) => at !== null && send("split", { at: [at - chunk.span[0]] }))],
    merge: ["plus", () => next && send("merge", { chunks: [chunk.id, next.id] })],
    edit: ["edit", async () => {
      const words = await prompt(t("chunk.edit"), t("chunk.editLabel"), t("act.save"), { value: chunk.search_text || text.slice(...chunk.span), multiline: true });
      if (words) send("edit", { text: words });
    }],
    alias: ["ask", async () => {
      const words = await prompt(t("chunk.alias"), t("chunk.aliasLabel"), t("act.save"));
      if (words) send("alias", { questions: [words] });
    }],
    exclude: ["close", () => send("exclude", { chunks: [chunk.id] })],
  };
  const fits = WORKS.filter((verb) => verb !== "merge" || next);
  return h("div", { class: "chunk-work row tight" }, fits.map((verb) => button(t(`chunk.${verb}`), { kind: "quiet", glyph: acts[verb][0], bare: true, on: { click: acts[verb][1] } })));
}

/** Let the person put the cursor where the chunk is to be parted; resolves to a position in the document. */
function splitDialog(chunk, text) {
  const words = text.slice(...chunk.span);
  return dialog(t("chunk.split"), (close) => {
    const input = h("textarea", { class: "input", rows: 10, readonly: true, "aria-label": t("chunk.splitLabel") });
    input.value = words;
    const part = () => {
      const at = count(words.slice(0, input.selectionStart));
      if (at > 0 && at < count(words)) close(chunk.span[0] + at);
    };
    return h("div", { class: "stack" }, h("p", {}, t("chunk.splitLabel")), input, h("div", { class: "row end" }, button(t("act.cancel"), { on: { click: () => close() } }), button(t("chunk.split"), { kind: "primary", on: { click: part } })));
  }, { wide: true });
}
