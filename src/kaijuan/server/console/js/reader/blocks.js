/** Blocks as elements. Every character stands in a text node, those of marked spans inside <mark>. */

import { h } from "../dom.js";
import { t } from "../i18n.js";
import { count } from "./characters.js";

/** Return the text between two positions as nodes, with the parts that marked spans share in <mark>. */
export function inline(characters, start, end, marks) {
  const edges = new Set([start, end]);
  for (const [from, to] of marks) {
    if (from > start && from < end) edges.add(from);
    if (to > start && to < end) edges.add(to);
  }
  const cuts = [...edges].sort((a, b) => a - b);
  return cuts.slice(1).map((to, at) => {
    const from = cuts[at];
    const piece = characters.slice(from, to);
    return marks.some(([a, b]) => a <= from && to <= b) ? h("mark", {}, piece) : document.createTextNode(piece);
  });
}

/** Draw one block {kind, span, level, place, table}. */
export function blockElement(characters, block, marks) {
  const [start, end] = block.span;
  const whole = () => inline(characters, start, end, marks);
  const props = { class: ["block", block.kind], data: { block: block.id ?? "" } };
  if (block.kind === "heading") return h(`h${Math.min((block.level || 1) + 1, 6)}`, props, whole());
  if (block.kind === "table") return h("div", { ...props, class: ["block", "table", "table-wrap"], tabindex: "0", role: "region", "aria-label": t("reader.table") }, tableElement(characters, block, marks));
  if (block.kind === "code" || block.kind === "formula") return h("pre", { ...props, tabindex: "0" }, h("code", {}, whole()));
  if (block.kind === "list") return h("div", props, lines(characters, start, end).map(([from, to]) => listLine(characters, from, to, marks)));
  if (block.kind === "quote") return h("blockquote", props, whole());
  if (block.kind === "figure") return h("figure", props, h("figcaption", {}, whole()));
  return h("p", props, whole());
}

function lines(characters, start, end) {
  const found = [];
  let from = start;
  for (const line of characters.slice(start, end).split("\n")) {
    const to = from + count(line);
    if (line.trim()) found.push([from, to]);
    from = to + 1;
  }
  return found;
}

function listLine(characters, from, to, marks) {
  const [whole, indent, sign] = characters.slice(from, to).match(/^(\s*)((?:[-*+•·]|\d+[.)、])\s+)?/);
  const ordered = /\d/.test(sign ?? "");
  const skip = count(indent) + (ordered || !sign ? 0 : count(sign));
  const line = h("div", { class: ["list-line", sign && !ordered && "dotted"] }, inline(characters, from + skip, to, marks));
  if (indent.length) line.style.marginInlineStart = `${Math.min(indent.length / 2, 6)}em`;
  return whole === null ? null : line;
}

function tableElement(characters, block, marks) {
  const rows = block.table?.cells ? gridRows(block.table) : pipeRows(characters, block.span);
  return h(
    "table",
    { class: "doc-table" },
    h(
      "tbody",
      {},
      rows.map((cells) =>
        h(
          "tr",
          {},
          cells.map((cell) =>
            h(
              cell.header ? "th" : "td",
              { rowspan: cell.rows > 1 ? cell.rows : null, colspan: cell.columns > 1 ? cell.columns : null, scope: cell.header ? "col" : null },
              cell.span && inline(characters, cell.span[0], cell.span[1], marks),
            ),
          ),
        ),
      ),
    ),
  );
}

/** Rows of a table whose cells are known; places that no cell with words covers stay empty. */
function gridRows(table) {
  const taken = new Set();
  const starts = new Map(table.cells.map((cell) => [`${cell.row},${cell.column}`, cell]));
  const rows = [];
  for (let row = 0; row < table.rows; row += 1) {
    const cells = [];
    for (let column = 0; column < table.columns; column += 1) {
      if (taken.has(`${row},${column}`)) continue;
      const cell = starts.get(`${row},${column}`) ?? { rows: 1, columns: 1, header: false, span: null };
      for (let down = 0; down < cell.rows; down += 1) {
        for (let right = 0; right < cell.columns; right += 1) taken.add(`${row + down},${column + right}`);
      }
      cells.push(cell);
    }
    rows.push(cells);
  }
  return rows;
}

/** Rows of a table written with bars, as the canonical text has it; the line of dashes below the head is left out. */
function pipeRows(characters, [start, end]) {
  const rows = [];
  for (const [from, to] of lines(characters, start, end)) {
    const text = characters.slice(from, to);
    if (/^\s*\|?[\s:|-]+\|?\s*$/.test(text) && text.includes("-")) {
      for (const cell of rows.at(-1) ?? []) cell.header = rows.length === 1;
      continue;
    }
    rows.push(pipeCells(text, from));
  }
  return rows;
}

function pipeCells(text, from) {
  const cells = [];
  let at = 0;
  let begin = 0;
  let started = false;
  const points = [...text];
  const close = (stop) => {
    let [a, b] = [begin, stop];
    while (a < b && /\s/.test(points[a])) a += 1;
    while (b > a && /\s/.test(points[b - 1])) b -= 1;
    cells.push({ rows: 1, columns: 1, header: false, span: [from + a, from + b] });
  };
  for (; at < points.length; at += 1) {
    if (points[at] === "\\") at += 1;
    else if (points[at] === "|") {
      if (started || points.slice(0, at).some((one) => one.trim())) close(at);
      started = true;
      begin = at + 1;
    }
  }
  if (points.slice(begin).some((one) => one.trim())) close(points.length);
  return cells;
}
