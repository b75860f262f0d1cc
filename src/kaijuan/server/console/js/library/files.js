/** Files out of a drop or a file dialog, folders walked, each with its path inside the folder. */

const MOST = 5000;

/** Return [{file, path}] of what was dropped. */
export async function dropped(transfer) {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  if (!entries.length) return [...transfer.files].map((file) => ({ file, path: file.name }));
  const found = [];
  for (const entry of entries) await walk(entry, "", found);
  return found;
}

async function walk(entry, above, found) {
  if (found.length >= MOST || entry.name.startsWith(".")) return;
  if (entry.isFile) {
    const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
    found.push({ file, path: above + entry.name });
    return;
  }
  const reader = entry.createReader();
  for (;;) {
    // A folder gives its entries a hundred at a time.
    const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (!some.length) return;
    for (const inner of some) await walk(inner, `${above}${entry.name}/`, found);
  }
}

/** Return [{file, path}] of a file input. */
export function picked(input) {
  return [...input.files].map((file) => ({ file, path: file.webkitRelativePath || file.name }));
}

/** Bytes as people read them. */
export function size(bytes) {
  if (!(bytes >= 0)) return "–";
  const units = ["B", "kB", "MB", "GB"];
  let at = 0;
  let value = bytes;
  while (value >= 1000 && at < units.length - 1) {
    value /= 1000;
    at += 1;
  }
  return `${value < 10 && at ? value.toFixed(1) : Math.round(value)} ${units[at]}`;
}
