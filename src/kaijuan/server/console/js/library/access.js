/** Who may read one document: the bindings that govern it, and sharing it alone. */

import * as api from "../api.js";
import { h } from "../dom.js";
import { t } from "../i18n.js";
import { grantDialog, revokeBinding } from "../parts/people.js";
import { badge, button, load, table } from "../parts/ui.js";

const FOLDER = "folder:";

/** The panel of a document's page. */
export function documentAccess(kb, version, signal) {
  const root = h("div", {});
  const begin = () => load(root, () => api.access(kb, signal), ({ bindings }) => draw(kb, version, bindings, begin), signal);
  begin();
  return root;
}

function draw(kb, version, bindings, again) {
  const { from, found } = governing(version, bindings);
  const rows = found.map((one) => [
    h("strong", {}, one.principal),
    one.role ? badge(t(`role.${one.role}`), "info") : "–",
    { node: from === "document" && button(t("access.revoke"), { kind: "quiet", glyph: "trash", bare: true, on: { click: () => revokeBinding(kb, one.principal, version.document_id, again) } }), class: "act" },
  ]);
  return h(
    "div",
    { class: "stack" },
    h("div", { class: "toolbar" }, h("p", { class: "muted grow" }, t(`access.from.${from}`, { folder: found[0]?.resource.slice(FOLDER.length) ?? "" })), button(t("access.grant"), { kind: "primary", glyph: "plus", on: { click: () => grantDialog(kb, again, version.document_id) } })),
    table([t("access.who"), t("keys.role"), ""], rows, { label: t("doc.access") }),
  );
}

/** The document's own bindings, else those of the innermost folder, else the base's. */
function governing(version, bindings) {
  const own = bindings.filter((one) => one.resource === version.document_id);
  if (own.length) return { from: "document", found: own };
  const folders = bindings.filter((one) => one.resource.startsWith(FOLDER) && version.source.startsWith(one.resource.slice(FOLDER.length)));
  const longest = Math.max(0, ...folders.map((one) => one.resource.length));
  if (folders.length) return { from: "folder", found: folders.filter((one) => one.resource.length === longest) };
  return { from: "base", found: bindings.filter((one) => one.resource === "") };
}
