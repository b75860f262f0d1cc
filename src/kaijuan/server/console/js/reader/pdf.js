/** A PDF by pdf.js, drawn page by page as pages come near: 1,600 pages cost as much as the few that are seen. */

import * as api from "../api.js";
import { debounce, h, place, put } from "../dom.js";
import { t } from "../i18n.js";
import { button } from "../parts/ui.js";

const VENDOR = new URL("../../vendor/pdfjs/", import.meta.url);
const SHARPEST = 2;
const MOST_PIXELS = 16_000_000;
const PAUSE_MS = 70;
const NARROW = 520;
const STEPS = [0.75, 1, 1.25, 1.5, 2, 3];
let library = null;

async function pdfjs() {
  if (!library) {
    library = await import(new URL("pdf.min.mjs", VENDOR).href);
    library.GlobalWorkerOptions.workerSrc = new URL("pdf.worker.min.mjs", VENDOR).href;
  }
  return library;
}

/** Open a version's original; boxes are points from the top left corner of the page as shown. */
export async function pdfViewer(kb, version, signal) {
  const lib = await pdfjs();
  const task = lib.getDocument({
    url: api.originalOf(kb, version.id),
    httpHeaders: api.headers(),
    cMapUrl: new URL("cmaps/", VENDOR).href,
    standardFontDataUrl: new URL("standard_fonts/", VENDOR).href,
    wasmUrl: new URL("wasm/", VENDOR).href,
    iccUrl: new URL("iccs/", VENDOR).href,
    // Only what the pages in sight need is fetched: an original may be hundreds of megabytes.
    disableAutoFetch: true,
    disableStream: true,
    isEvalSupported: false,
    enableXfa: false,
  });
  const stop = () => task.destroy();
  signal?.addEventListener("abort", stop);
  try {
    const file = await task.promise;
    const first = await file.getPage(1);
    return new PdfView(lib, task, file, first.getViewport({ scale: 1 })).viewer();
  } catch (error) {
    // A reader that was closed meanwhile has taken the file away: that is no error of the file.
    signal?.throwIfAborted();
    throw error;
  } finally {
    // From here on the viewer lives for whoever shows it, whatever becomes of the request that opened it.
    signal?.removeEventListener("abort", stop);
  }
}

class PdfView {
  constructor(lib, task, file, size) {
    this.lib = lib;
    this.task = task;
    this.file = file;
    this.zoom = 1;
    this.drawn = new Map();
    this.wanted = new Set();
    this.drawing = false;
    this.marks = new Map();
    this.number = h("input", { class: "input page-number", type: "number", min: 1, max: file.numPages, value: "1", "aria-label": t("reader.page"), on: { change: () => this.goTo(Number(this.number.value)) } });
    this.scroller = h("div", { class: "pdf-scroll", tabindex: "0", role: "document", "aria-label": t("reader.pages", { n: file.numPages }), on: { scroll: debounce(() => this.tell(), 80) } });
    this.pages = Array.from({ length: file.numPages }, (_, at) => this.page(at + 1, size));
    put(this.scroller, this.pages);
    this.element = h("div", { class: "pdf" }, this.bar(), this.scroller);
    this.watch();
    requestAnimationFrame(() => this.fit());
  }

  /** On a phone a page as wide as the screen cannot be read. */
  fit() {
    if (this.fitted || !this.scroller.clientWidth) return;
    this.fitted = true;
    if (this.scroller.clientWidth < NARROW) this.magnify(2);
  }

  viewer() {
    return { element: this.element, show: (evidence) => this.show(evidence), destroy: () => this.destroy() };
  }

  page(number, size) {
    const element = h("div", { class: "pdf-page", data: { page: number }, role: "group", "aria-label": t("reader.pageNumber", { n: number }) });
    return this.sized(element, size);
  }

  sized(element, size) {
    element.points = { width: size.width, height: size.height };
    return place(element, { aspectRatio: `${size.width} / ${size.height}` });
  }

  bar() {
    const step = (way) => button(t(way > 0 ? "reader.zoomIn" : "reader.zoomOut"), { kind: "quiet", glyph: way > 0 ? "plus" : "minus", bare: true, on: { click: () => this.magnify(way) } });
    const turn = (way) => button(t(way > 0 ? "reader.nextPage" : "reader.previousPage"), { kind: "quiet", glyph: way > 0 ? "right" : "left", bare: true, on: { click: () => this.goTo(Number(this.number.value) + way) } });
    return h("div", { class: "pdf-bar" }, turn(-1), this.number, h("span", { class: "muted small" }, t("reader.ofPages", { n: this.file.numPages })), turn(1), h("span", { class: "grow" }), step(-1), step(1));
  }

  watch() {
    this.near = new IntersectionObserver((seen) => {
      for (const { target, isIntersecting } of seen) {
        if (isIntersecting) this.want(target);
        else this.forget(target);
      }
    }, { root: this.scroller, rootMargin: "80% 0px" });
    for (const page of this.pages) this.near.observe(page);
    this.resized = new ResizeObserver(debounce(() => this.again(), 150));
    this.resized.observe(this.scroller);
  }

  /** Pages that only fly past are not drawn: what is still near after a moment is, one after the other. */
  want(element) {
    this.wanted.add(element);
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.work();
    }, PAUSE_MS);
  }

  async work() {
    if (this.drawing) return;
    this.drawing = true;
    while (this.wanted.size) {
      const next = this.nearest();
      this.wanted.delete(next);
      await this.draw(next);
    }
    this.drawing = false;
  }

  nearest() {
    const middle = this.scroller.scrollTop + this.scroller.clientHeight / 2;
    const away = (page) => Math.abs(page.offsetTop + page.offsetHeight / 2 - middle);
    return [...this.wanted].reduce((best, page) => (away(page) < away(best) ? page : best));
  }

  async draw(element) {
    if (this.drawn.has(element) || !element.clientWidth) return;
    const state = { work: null, gone: false, width: element.clientWidth };
    this.drawn.set(element, state);
    try {
      const page = await this.file.getPage(Number(element.dataset.page));
      if (state.gone) return;
      const size = page.getViewport({ scale: 1 });
      this.sized(element, size);
      this.highlight(element);
      const scale = element.clientWidth / size.width;
      const canvas = h("canvas", { "aria-hidden": "true" });
      const sharp = Math.min(window.devicePixelRatio || 1, SHARPEST, Math.sqrt(MOST_PIXELS / (size.width * size.height)) / scale);
      const viewport = page.getViewport({ scale: scale * sharp });
      canvas.width = Math.floor(viewport.width);
      canvas.height = Math.floor(viewport.height);
      state.work = page.render({ canvas, canvasContext: canvas.getContext("2d", { alpha: false }), viewport });
      await state.work.promise;
      if (state.gone) return;
      const words = h("div", { class: "textLayer" });
      place(element, { "--scale-factor": scale, "--total-scale-factor": scale, "--user-unit": page.userUnit ?? 1 });
      element.querySelector("canvas")?.remove();
      element.querySelector(".textLayer")?.remove();
      element.prepend(canvas, words);
      await new this.lib.TextLayer({ textContentSource: page.streamTextContent(), container: words, viewport: page.getViewport({ scale }) }).render();
      element.dataset.ready = "true";
    } catch (error) {
      if (error.name !== "RenderingCancelledException" && !state.gone) element.dataset.failed = "true";
    }
  }

  forget(element) {
    this.wanted.delete(element);
    const state = this.drawn.get(element);
    if (!state) return;
    state.gone = true;
    state.work?.cancel();
    this.drawn.delete(element);
    delete element.dataset.ready;
    element.querySelector("canvas")?.remove();
    element.querySelector(".textLayer")?.remove();
  }

  /** Draw the pages in sight again when they have another width. */
  again() {
    for (const [element, state] of [...this.drawn]) {
      if (Math.abs(element.clientWidth - state.width) < 2) continue;
      this.forget(element);
      this.want(element);
    }
  }

  magnify(way) {
    const at = STEPS.indexOf(this.zoom) + way;
    if (at < 0 || at >= STEPS.length) return;
    const share = this.scroller.scrollTop / this.scroller.scrollHeight;
    this.zoom = STEPS[at];
    for (const page of this.pages) page.style.width = `${this.zoom * 100}%`;
    this.scroller.scrollTop = share * this.scroller.scrollHeight;
    this.again();
  }

  async goTo(number) {
    const at = Math.min(Math.max(Math.round(number) || 1, 1), this.pages.length);
    this.scroller.scrollTop = this.pages[at - 1].offsetTop - 8;
    this.number.value = at;
  }

  tell() {
    const middle = this.scroller.scrollTop + this.scroller.clientHeight * 0.4;
    let [low, high] = [0, this.pages.length - 1];
    while (low < high) {
      const half = (low + high) >> 1;
      if (this.pages[half].offsetTop + this.pages[half].offsetHeight > middle) high = half;
      else low = half + 1;
    }
    this.number.value = low + 1;
  }

  highlight(element) {
    for (const old of element.querySelectorAll(".highlight")) old.remove();
    const { width, height } = element.points;
    for (const box of this.marks.get(Number(element.dataset.page)) ?? []) {
      element.append(
        place(h("div", { class: "highlight" }), {
          left: `${(box.x0 / width) * 100}%`,
          top: `${(box.y0 / height) * 100}%`,
          width: `${((box.x1 - box.x0) / width) * 100}%`,
          height: `${((box.y1 - box.y0) / height) * 100}%`,
        }),
      );
    }
  }

  async show({ boxes = [], pages = [] }) {
    const before = [...this.marks.keys()];
    this.marks = new Map();
    for (const box of boxes) this.marks.set(box.page, [...(this.marks.get(box.page) ?? []), box]);
    for (const at of new Set([...before, ...this.marks.keys()])) if (this.pages[at - 1]) this.highlight(this.pages[at - 1]);
    const number = boxes[0]?.page ?? pages[0] ?? 1;
    const element = this.pages[number - 1];
    if (!element) return false;
    const size = await this.sizeOf(number);
    if (!size) return false;
    this.sized(element, size);
    this.highlight(element);
    this.fit();
    this.reveal(element, boxes[0]);
    this.number.value = number;
    return boxes.length > 0;
  }

  /** The size of a page, null where the viewer was closed meanwhile. */
  async sizeOf(number) {
    try {
      return (await this.file.getPage(number)).getViewport({ scale: 1 });
    } catch (error) {
      if (this.closed) return null;
      throw error;
    }
  }

  /** Come to a box on a page, or to the page. */
  reveal(element, box) {
    const top = box ? (box.y0 / element.points.height) * element.offsetHeight : 0;
    const left = box ? (box.x0 / element.points.width) * element.offsetWidth : 0;
    this.scroller.scrollTop = element.offsetTop + top - this.scroller.clientHeight * 0.3;
    this.scroller.scrollLeft = Math.max(0, left - this.scroller.clientWidth * 0.08);
  }

  destroy() {
    this.closed = true;
    clearTimeout(this.timer);
    this.wanted.clear();
    this.near.disconnect();
    this.resized.disconnect();
    for (const element of [...this.drawn.keys()]) this.forget(element);
    this.task.destroy();
  }
}
