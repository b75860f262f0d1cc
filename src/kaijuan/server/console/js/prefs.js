/** What the console remembers: choices for good in localStorage, the key and the open answers for this tab only. */

const PREFIX = "kaijuan.";

function read(store, name, otherwise) {
  try {
    const text = store.getItem(PREFIX + name);
    return text === null ? otherwise : JSON.parse(text);
  } catch {
    return otherwise; // Storage is switched off, or holds something else.
  }
}

function write(store, name, value) {
  try {
    if (value === null) store.removeItem(PREFIX + name);
    else store.setItem(PREFIX + name, JSON.stringify(value));
  } catch {
    // Full or switched off: the console works without a memory.
  }
}

export const lasting = (name, otherwise = null) => read(localStorage, name, otherwise);
export const keep = (name, value) => write(localStorage, name, value);
export const passing = (name, otherwise = null) => read(sessionStorage, name, otherwise);
export const hold = (name, value) => write(sessionStorage, name, value);

const dark = window.matchMedia("(prefers-color-scheme: dark)");

/** "light", "dark", or "auto" for what the system says. */
export function theme() {
  return lasting("theme", "auto");
}

/** Choose and show a theme. */
export function setTheme(name) {
  keep("theme", name);
  showTheme();
}

/** Put the theme on the page. */
export function showTheme() {
  const chosen = theme();
  document.documentElement.dataset.theme = chosen === "auto" ? (dark.matches ? "dark" : "light") : chosen;
}

dark.addEventListener("change", showTheme);
