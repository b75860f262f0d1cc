/** Words of the console in Chinese and English. A message may hold {name} places and a plural: {n|one file|{n} files}. */

import en from "../messages/en.js";
import zh from "../messages/zh.js";
import { keep, lasting } from "./prefs.js";

const MESSAGES = { en, zh };
let language = lasting("language") ?? (navigator.language.toLowerCase().startsWith("zh") ? "zh" : "en");
if (!(language in MESSAGES)) language = "en";

/** The language shown: "zh" or "en". */
export function lang() {
  return language;
}

/** Choose a language. */
export function setLang(name) {
  language = name in MESSAGES ? name : "en";
  keep("language", language);
  showLang();
}

/** Tell the document which language it is in. */
export function showLang() {
  document.documentElement.lang = language === "zh" ? "zh-CN" : "en";
  document.title = t("app.title");
}

/** Return a message with its places filled; the key itself where no file has it. */
export function t(key, values = {}) {
  const text = MESSAGES[language][key] ?? MESSAGES.en[key] ?? key;
  return text
    .replace(/\{(\w+)\|([^|{}]*(?:\{\w+\}[^|{}]*)*)\|([^|{}]*(?:\{\w+\}[^|{}]*)*)\}/g, (_, name, one, many) =>
      Number(values[name]) === 1 ? one : many,
    )
    .replace(/\{(\w+)\}/g, (whole, name) => (name in values ? show(values[name]) : whole));
}

/** Whether there is a message of that key. */
export function has(key) {
  return key in MESSAGES.en;
}

function show(value) {
  return typeof value === "number" ? number(value) : String(value);
}

/** A number as people of the language write it. */
export function number(value, digits = 0) {
  return new Intl.NumberFormat(locale(), { maximumFractionDigits: digits }).format(value);
}

/** A score between 0 and 1 or any other real number, at most `digits` after the point. */
export function decimal(value, digits = 3) {
  return Number.isFinite(value) ? value.toFixed(digits) : "–";
}

/** Seconds since 1970 as date and time. */
export function moment(seconds) {
  if (!seconds) return "–";
  return new Intl.DateTimeFormat(locale(), { dateStyle: "medium", timeStyle: "short" }).format(seconds * 1000);
}

/** Seconds since 1970 as a distance from now ("3 minutes ago"), or a date when it is long ago. */
export function ago(seconds) {
  if (!seconds) return "–";
  const passed = seconds - Date.now() / 1000;
  const steps = [["day", 86400], ["hour", 3600], ["minute", 60]];
  if (Math.abs(passed) > 30 * 86400) return moment(seconds);
  for (const [unit, length] of steps) {
    if (Math.abs(passed) >= length) {
      return new Intl.RelativeTimeFormat(locale(), { numeric: "auto" }).format(Math.round(passed / length), unit);
    }
  }
  return t("time.now");
}

/** Milliseconds as a length of time. */
export function took(milliseconds) {
  if (milliseconds >= 1000) return t("time.seconds", { n: (milliseconds / 1000).toFixed(1) });
  return t("time.milliseconds", { n: milliseconds < 10 ? milliseconds.toFixed(1) : Math.round(milliseconds) });
}

function locale() {
  return language === "zh" ? "zh-CN" : "en-GB";
}
