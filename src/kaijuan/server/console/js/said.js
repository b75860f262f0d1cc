/** Sentences that the service says in English (reasons, warnings, findings), in the language shown. */

import said_ from "../messages/said_zh.js";
import { has, lang, t } from "./i18n.js";

const PLACE = /\{(\w+)\}/g;
const NUMBERS = new Set(["n", "m", "a", "b", "s", "best"]);
const NUMBER = "([\\d.,]*\\d%?)";
const exact = new Map();
const patterns = [];
for (const [english, chinese] of Object.entries(said_)) {
  const names = [...english.matchAll(PLACE)].map((match) => match[1]);
  if (!names.length) exact.set(english, chinese);
  else patterns.push({ shape: shapeOf(english), names, chinese, fixed: english.replace(PLACE, "").length });
}
// The most words in common first: "{n} points" must not take what "{n} of the sample ..." says better.
patterns.sort((one, other) => other.fixed - one.fixed);

function shapeOf(english) {
  const parts = english.split(PLACE).map((part, at) => (at % 2 ? (NUMBERS.has(part) ? NUMBER : "(.+?)") : part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")));
  return new RegExp(`^${parts.join("")}$`, "s");
}

/** A sentence in the language shown; null where it has no words of its own in it. */
export function known(text) {
  if (!text || lang() !== "zh") return text || null;
  return exact.get(text) ?? filled(text) ?? joined(text);
}

/** A sentence in the language shown; as the service said it where nothing else is known. */
export const said = (text) => known(text) ?? text;

function filled(text) {
  for (const { shape, names, chinese } of patterns) {
    const match = shape.exec(text);
    if (match) {
      const values = Object.fromEntries(names.map((name, at) => [name, value(match[at + 1])]));
      return chinese.replace(PLACE, (whole, name) => values[name] ?? whole);
    }
  }
  return null;
}

/** What stands in a place of a sentence: words, a finding, or a list of numbers as Chinese parts them. */
function value(text) {
  return known(text) ?? finding(text) ?? (/^\d+(, \d+)+$/.test(text) ? text.replaceAll(", ", "、") : text);
}

/** Several at once, as "; " or ", " part them. A part without words of its own stays, a name among figures. */
function joined(text) {
  for (const [mark, between] of [["; ", "；"], [", ", "，"]]) {
    if (!text.includes(mark)) continue;
    const parts = text.split(mark);
    const found = parts.map(known);
    if (found.some(Boolean)) return found.map((part, at) => part ?? parts[at]).join(between);
  }
  return null;
}

const FINDING = /^(\w+): (.+?)(?: \((\d+)\))?(?:, page (\d+)|, (.+))?$/;

/** A finding of the gate: its detector, what it is, how often and where. Null for any other text. */
function finding(text) {
  const match = FINDING.exec(text);
  if (!match || !has(`detector.${match[1]}`)) return null;
  const [, detector, what, count, page, place] = match;
  const where = page ? `，${t("ask.pages", { pages: page })}` : place ? `，${said(place)}` : "";
  return `${t(`detector.${detector}`)}：${said(what)}${count ? `（${count}）` : ""}${where}`;
}

/** Why a document is kept back, or what is said of it beside: findings of the gate, warnings of the parser. */
export function warning(text) {
  if (lang() !== "zh") return text;
  return (text ?? "").split("; ").map((part) => finding(part) ?? part).map((part) => said(part)).join("；");
}

/** Why a source or a run failed: the sentence, else what its code means. */
export function reason(code, text) {
  const own = known(text);
  if (own) return own;
  return code && has(`error.${code}`) ? t(`error.${code}`) : (text ?? "");
}
