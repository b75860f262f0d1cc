/** Which viewer shows a version: the PDF itself, the picture itself, or the blocks that were read from it. */

import { pictureViewer } from "./picture.js";
import { pdfViewer } from "./pdf.js";
import { textViewer } from "./text.js";

/**
 * Make the viewer of a version {id, kind}. A viewer is {element, show(evidence), destroy()}: `show` marks a span or
 * its boxes, scrolls there and tells whether the exact place was found. A file that its viewer cannot open is shown
 * as blocks.
 */
export async function versionViewer(kb, version, signal) {
  const own = { pdf: pdfViewer, image: pictureViewer }[version.kind];
  if (!own) return textViewer(kb, version, signal);
  try {
    return await own(kb, version, signal);
  } catch (error) {
    if (error.name === "AbortError" || error.status === 404 || error.status === 403) throw error;
    console.warn(error);
    return textViewer(kb, version, signal);
  }
}
