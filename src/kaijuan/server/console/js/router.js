/** Addresses of views: #/BASE/VIEW/PART?query. Going somewhere aborts what the view before was doing. */

let current = null;
const watchers = new Set();

/** Take an address apart. */
export function parse(hash = location.hash) {
  const [path, query = ""] = hash.replace(/^#\/?/, "").split("?");
  const [kb = "", view = "", ...parts] = path.split("/").map(decode);
  return { kb, view, parts, query: new URLSearchParams(query) };
}

function decode(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Write an address. */
export function href(kb, view, parts = [], query = {}) {
  const path = [kb, view, ...parts].map(encodeURIComponent).join("/");
  const pairs = Object.entries(query).filter(([, value]) => value !== null && value !== undefined && value !== "");
  const words = new URLSearchParams(pairs.map(([name, value]) => [name, String(value)])).toString();
  return `#/${path}${words ? `?${words}` : ""}`;
}

/** Go to a view. */
export function go(...where) {
  const address = href(...where);
  if (address === location.hash) refresh();
  else location.hash = address;
}

/** Change the query of the address without drawing anew, so that a reload comes back here. */
export function note(query) {
  const { kb, view, parts } = parse();
  history.replaceState(null, "", href(kb, view, parts, query));
}

/** Draw the view again. */
export function refresh() {
  for (const watcher of watchers) watcher();
}

/** Call `show` with the route now and on every change. `show` gets a signal that ends with the route. */
export function start(show) {
  const changed = () => {
    current?.abort();
    current = new AbortController();
    show(parse(), current.signal);
  };
  watchers.add(changed);
  window.addEventListener("hashchange", changed);
  changed();
}
