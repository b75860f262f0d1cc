/** A version as the blocks that were read from it, the cited words marked; for every format without fixed pages. */

import * as api from "../api.js";
import { h, put } from "../dom.js";
import { t } from "../i18n.js";
import { Characters } from "./characters.js";
import { blockElement } from "./blocks.js";

/** Open a version as blocks. */
export async function textViewer(kb, version, signal) {
  const [text, blocks] = await Promise.all([api.versionText(kb, version.id, signal), api.versionBlocks(kb, version.id, signal)]);
  return blocksViewer(text, blocks);
}

/** A viewer over a text and its blocks; `show` takes evidence with a span, `mark` any spans with a class. */
export function blocksViewer(text, blocks) {
  const characters = new Characters(text);
  const sheet = h("div", { class: "sheet" });
  const element = h("div", { class: "text-scroll", tabindex: "0", role: "document", "aria-label": t("reader.text") }, sheet);
  const drawn = blocks.map((block) => blockElement(characters, block, []));
  put(sheet, drawn.length ? drawn : h("p", { class: "muted" }, t("reader.noBlocks")));
  let touched = new Set();

  function mark(spans) {
    const before = touched;
    touched = new Set();
    blocks.forEach((block, at) => {
      const own = spans.filter(([start, end]) => start < block.span[1] && block.span[0] < end);
      if (own.length) touched.add(at);
      else if (!before.has(at)) return;
      const fresh = blockElement(characters, block, own);
      drawn[at].replaceWith(fresh);
      drawn[at] = fresh;
    });
    return sheet.querySelector("mark");
  }

  /** Come to a mark; blocks out of sight have no height of their own yet, so look again once they have. */
  function reveal(found) {
    found.scrollIntoView({ block: "center" });
    requestAnimationFrame(() => found.isConnected && found.scrollIntoView({ block: "center" }));
  }

  return {
    element,
    mark,
    async show({ span, quote }) {
      let found = mark([span]);
      let exact = Boolean(found) && (quote === undefined || characters.slice(...span) === quote);
      if (!found) {
        // The place between blocks: the nearest block before it, said to be approximate.
        const nearest = blocks.filter((block) => block.span[0] <= span[0]).at(-1) ?? blocks[0];
        found = nearest && mark([nearest.span]);
        exact = false;
      }
      if (found) setTimeout(() => reveal(found), 0);
      return exact;
    },
    destroy: () => {},
  };
}
