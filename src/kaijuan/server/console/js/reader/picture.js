/** A picture with boxes around the words that were read in it. */

import * as api from "../api.js";
import { h, place, put } from "../dom.js";
import { t } from "../i18n.js";

/** Open a version's original; a dot of the picture is a point. */
export async function pictureViewer(kb, version, signal) {
  const source = await api.blobAddress(api.originalOf(kb, version.id), signal);
  const image = h("img", { src: source, alt: version.title || t("reader.picture") });
  await image.decode();
  const over = h("div", { class: "picture-marks" });
  const sheet = h("div", { class: "picture-sheet" }, image, over);
  const element = h("div", { class: "picture", tabindex: "0", role: "document", "aria-label": t("reader.picture") }, sheet);
  const share = (part, whole) => `${(part / whole) * 100}%`;
  return {
    element,
    async show({ boxes = [] }) {
      put(
        over,
        boxes.map((box) =>
          place(h("div", { class: "highlight" }), {
            left: share(box.x0, image.naturalWidth),
            top: share(box.y0, image.naturalHeight),
            width: share(box.x1 - box.x0, image.naturalWidth),
            height: share(box.y1 - box.y0, image.naturalHeight),
          }),
        ),
      );
      over.firstElementChild?.scrollIntoView({ block: "center" });
      return boxes.length > 0;
    },
    destroy: () => URL.revokeObjectURL(source),
  };
}
