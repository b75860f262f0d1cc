/** Server-sent events read from a fetch stream, so that a POST and a key in a header work as well. */

/** Yield {event, data} of a response's body; data is parsed JSON where it is JSON. */
export async function* events(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { value, done } = await reader.read();
      rest += done ? "\n\n" : value;
      const parts = rest.split(/\r\n\r\n|\n\n|\r\r/);
      rest = parts.pop();
      for (const part of parts) {
        const found = one(part);
        if (found) yield found;
      }
      if (done) return;
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

function one(part) {
  let event = "message";
  const data = [];
  for (const line of part.split(/\r\n|\n|\r/)) {
    if (line.startsWith(":")) continue;
    const at = line.indexOf(":");
    const name = at < 0 ? line : line.slice(0, at);
    const value = at < 0 ? "" : line.slice(at + 1).replace(/^ /, "");
    if (name === "event") event = value;
    else if (name === "data") data.push(value);
  }
  if (!data.length) return null;
  const text = data.join("\n");
  try {
    return { event, data: JSON.parse(text) };
  } catch {
    return { event, data: text };
  }
}
