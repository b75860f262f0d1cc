/** Positions in texts: the service counts characters, JavaScript counts UTF-16 units; 𠮷 and 😀 are one and two. */

/** A text that can be cut by the service's positions. */
export class Characters {
  constructor(text) {
    this.text = text;
    this.units = /[\ud800-\udfff]/.test(text) ? unitsOf(text) : null;
  }

  /** The text between two positions. */
  slice(start, end) {
    if (!this.units) return this.text.slice(start, end);
    return this.text.slice(this.at(start), this.at(end));
  }

  at(position) {
    return this.units[Math.min(Math.max(position, 0), this.units.length - 1)];
  }

  /** How many characters there are. */
  get length() {
    return this.units ? this.units.length - 1 : this.text.length;
  }
}

function unitsOf(text) {
  const units = [];
  let at = 0;
  for (const character of text) {
    units.push(at);
    at += character.length;
  }
  units.push(at);
  return units;
}

/** How many characters a string has as the service counts. */
export function count(text) {
  let n = 0;
  for (const _ of text) n += 1;
  return n;
}
