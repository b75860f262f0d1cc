/** Who may come in and read: users, keys, and the access to a base. */

import * as api from "../api.js";
import { h, put } from "../dom.js";
import { moment, t } from "../i18n.js";
import { decodeEnd } from "../ask/answer.js";
import { href } from "../router.js";
import { copy, dialog, sorry, sure, toast } from "./notices.js";
import { badge, banner, button, empty, field, load, select, table } from "./ui.js";

const ROLES = ["reader", "editor", "owner", "auditor"];
const roleChoice = () => select(ROLES.map((role) => [role, t(`role.${role}`)]), "reader");

/** The keys of the tenant. */
export function keysPanel(signal) {
  const root = h("div", {});
  const begin = () => load(root, () => api.keys(signal), draw, signal);
  begin();
  return root;

  function draw({ keys }) {
    const rows = keys.map((one) => [
      h("strong", {}, one.user),
      one.label || "–",
      (one.scopes ?? []).map((scope) => badge(t(`action.${scope}`))),
      moment(one.created_at),
      one.expires_at ? moment(one.expires_at) : t("keys.never"),
      { node: one.revoked_at ? badge(t("keys.revoked"), "bad") : button(t("keys.revoke"), { kind: "quiet", glyph: "trash", bare: true, on: { click: () => revoke(one) } }), class: "act" },
    ]);
    return [
      h("div", { class: "toolbar" }, button(t("keys.create"), { kind: "primary", glyph: "plus", on: { click: create } })),
      rows.length ? table([t("keys.user"), t("keys.label"), t("keys.scopes"), t("keys.created"), t("keys.expires"), ""], rows, { label: t("health.keys") }) : empty("key", t("keys.emptyTitle"), t("keys.emptyDetail")),
    ];
  }

  async function create() {
    const user = h("input", { class: "input", type: "text", required: true, maxlength: 100 });
    const label = h("input", { class: "input", type: "text", maxlength: 200 });
    const days = h("input", { class: "input", type: "number", min: 1, max: 36500 });
    const wanted = await form(t("keys.create"), [field(t("keys.user"), user), field(t("keys.label"), label), field(t("keys.days"), days, t("keys.daysHint"))], () => ({ user: user.value.trim(), label: label.value.trim(), days: days.value ? Number(days.value) : null }));
    if (!wanted) return;
    try {
      const made = await api.makeKey(wanted);
      await dialog(t("keys.made"), () => [h("p", {}, t("keys.once")), h("code", { class: "break" }, made.key), h("div", { class: "row end" }, button(t("act.copy"), { glyph: "copy", kind: "primary", on: { click: () => copy(made.key) } }))]);
      begin();
    } catch (error) {
      sorry(error);
    }
  }

  async function revoke(one) {
    if (!(await sure(t("keys.revoke"), t("keys.revokeDetail", { name: one.label || one.user }), t("keys.revoke")))) return;
    try {
      await api.revokeKey(one.id);
      begin();
    } catch (error) {
      sorry(error);
    }
  }
}

/** The users of the tenant. */
export function usersPanel(signal) {
  const root = h("div", {});
  const begin = () => load(root, () => api.users(signal), draw, signal);
  begin();
  return root;

  function draw({ users }) {
    const rows = users.map((one) => [h("strong", {}, one.name), badge(t(`role.${one.role}`), "info"), h("span", { class: "row wrap" }, (one.groups ?? []).map((group) => badge(group))), one.disabled_at ? badge(t("users.disabled"), "bad") : badge(t("users.active"), "good"), { node: button(t("act.edit"), { kind: "quiet", glyph: "edit", bare: true, on: { click: () => edit(one) } }), class: "act" }]);
    return [
      h("div", { class: "toolbar" }, button(t("users.add"), { kind: "primary", glyph: "plus", on: { click: () => edit(null) } })),
      rows.length ? table([t("keys.user"), t("keys.role"), t("users.groups"), t("feedback.status"), ""], rows, { label: t("health.users") }) : empty("key", t("users.emptyTitle"), t("users.emptyDetail")),
    ];
  }

  async function edit(one) {
    const name = h("input", { class: "input", type: "text", required: true, maxlength: 100, value: one?.name ?? "", readonly: Boolean(one) });
    const role = select(ROLES.map((each) => [each, t(`role.${each}`)]), one?.role ?? "reader");
    const groups = h("input", { class: "input", type: "text", value: (one?.groups ?? []).join(", ") });
    const off = h("input", { type: "checkbox", checked: Boolean(one?.disabled_at) });
    const wanted = await form(one ? t("users.edit") : t("users.add"), [field(t("keys.user"), name), field(t("keys.role"), role), field(t("users.groups"), groups, t("glossary.synonymsHint")), h("label", { class: "check" }, off, h("span", {}, t("users.disable")))], () => ({ name: name.value.trim(), role: role.value, disabled: off.checked, groups: groups.value.split(/[,，、]/).map((each) => each.trim()).filter(Boolean) }));
    if (!wanted) return;
    try {
      await api.putUser(wanted);
      begin();
    } catch (error) {
      sorry(error);
    }
  }
}

/** Who is bound to a base, its folders and documents. */
export function accessPanel(kb, signal) {
  const root = h("div", {});
  const gather = async () => {
    const { bindings } = await api.access(kb, signal);
    return { bindings, titles: await titlesOf(kb, bindings, signal) };
  };
  const begin = () => load(root, gather, draw, signal);
  begin();
  return root;

  function draw({ bindings, titles }) {
    const rows = bindings.map((one) => [
      h("strong", {}, one.principal),
      one.role ? badge(t(`role.${one.role}`), "info") : "–",
      place(one.resource, titles),
      { node: one.principal === "all" ? "" : button(t("access.revoke"), { kind: "quiet", glyph: "trash", bare: true, on: { click: () => revokeBinding(kb, one.principal, one.resource.replace(/^folder:/, ""), begin) } }), class: "act" },
    ]);
    return [
      h("div", { class: "toolbar" }, button(t("access.grant"), { kind: "primary", glyph: "plus", on: { click: () => grantDialog(kb, begin) } }), h("p", { class: "muted small" }, t("access.detail"))),
      table([t("access.who"), t("keys.role"), t("access.on"), ""], rows, { label: t("health.access") }),
    ];
  }

  /** What a binding is about: the base, a folder, or a document by its title. */
  function place(resource, titles) {
    if (!resource) return t("access.whole");
    if (titles.has(resource)) return h("a", { href: href(kb, "document", [resource]) }, titles.get(resource));
    return h("code", { class: "break" }, resource.replace(/^folder:/, ""));
  }
}

/** Titles of the documents that bindings name, as far as the caller may read them. */
async function titlesOf(kb, bindings, signal) {
  const ids = [...new Set(bindings.map((one) => one.resource))].filter((id) => id && !id.startsWith("folder:"));
  const found = await Promise.allSettled(ids.map((id) => api.document_(kb, id, signal)));
  return new Map(found.flatMap((one, at) => (one.status === "fulfilled" ? [[ids[at], one.value.version.title || decodeEnd(one.value.version.source)]] : [])));
}

/** Ask whom to share with, and share: the base or a part of it, or the one document or folder that `what` names. */
export async function grantDialog(kb, done, what = "") {
  const who = h("input", { class: "input", type: "text", required: true, maxlength: 200 });
  const role = roleChoice();
  const on = h("input", { class: "input", type: "text", maxlength: 4000 });
  const wanted = await form(t("access.grant"), [field(t("access.who"), who, t("access.whoHint")), field(t("keys.role"), role), !what && field(t("access.on"), on, t("access.onHint"))].filter(Boolean), () => ({ principal: who.value.trim(), role: role.value, on: what || on.value.trim() }));
  if (!wanted) return;
  try {
    await api.grant(kb, wanted);
    toast(t("access.granted"), "good");
    done();
  } catch (error) {
    sorry(error);
  }
}

/** Ask, then take a binding away. */
export async function revokeBinding(kb, principal, on, done) {
  if (!(await sure(t("access.revoke"), t("access.revokeDetail", { who: principal }), t("access.revoke")))) return;
  try {
    await api.revoke(kb, { principal, on });
    done();
  } catch (error) {
    sorry(error);
  }
}

/** The audit log: who did what, and whether its chain is whole. */
export function auditPanel(signal) {
  const root = h("div", {});
  const gather = async () => {
    const [{ events }, chain] = await Promise.all([api.audit(signal), api.auditCheck(signal)]);
    return { events, chain };
  };
  load(root, gather, ({ events, chain }) => [
    banner(chain.ok ? "good" : "bad", t(chain.ok ? "audit.whole" : "audit.broken", { n: chain.broken_at ?? 0 })),
    events.length
      ? table(
          [t("feedback.when"), t("keys.user"), t("audit.action"), t("audit.on"), t("audit.decision"), t("audit.more")],
          events.map((one) => [moment(one.at), h("strong", {}, one.who || "–"), one.action, h("code", { class: "break small" }, one.resource), badge(t(`audit.${one.decision}`), one.decision === "allowed" ? "good" : "bad"), h("span", { class: "muted small break" }, one.detail)]),
          { label: t("health.audit") },
        )
      : empty("clock", t("audit.emptyTitle"), t("audit.emptyDetail")),
  ], signal);
  return root;
}

/** A dialog with fields; resolves to what `read` makes of them, null when dismissed. */
function form(title, fields, read) {
  return dialog(title, (close) =>
    put(
      h("form", { class: "stack", on: { submit: (event) => (event.preventDefault(), close(read())) } }),
      fields,
      h("div", { class: "row end" }, button(t("act.cancel"), { on: { click: () => close() } }), h("button", { type: "submit", class: "button primary" }, t("act.save"))),
    ),
  );
}
