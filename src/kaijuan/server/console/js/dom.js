/** Elements from data. Text goes in as text nodes only: nothing in the console parses a string as HTML. */

const SVG = "http://www.w3.org/2000/svg";

/**
 * Make an element. `props` holds attributes; `on` holds listeners, `data` the data attributes; `class` may be a list.
 * Values of null, undefined and false are left out, true becomes an empty attribute. Children are nodes, strings,
 * numbers, or lists of them.
 */
export function h(tag, props = {}, ...children) {
  return fill(document.createElement(tag), props, children);
}

/** Make an SVG element. */
export function svg(tag, props = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), props, children);
}

function fill(element, props, children) {
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") {
      for (const [event, listener] of Object.entries(value)) element.addEventListener(event, listener);
    } else if (name === "data") {
      for (const [key, item] of Object.entries(value)) element.dataset[key] = item;
    } else if (name === "class") {
      element.setAttribute("class", [value].flat().filter(Boolean).join(" "));
    } else if (name === "value" || name === "checked" || name === "disabled" || name === "indeterminate") {
      element[name] = value;
    } else {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
  append(element, children);
  return element;
}

/** Append nodes, strings and lists of them. */
export function append(element, children) {
  for (const child of [children].flat(Infinity)) {
    if (child === null || child === undefined || child === false || child === "") continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return element;
}

/** Replace all that an element holds. */
export function put(element, ...children) {
  element.replaceChildren();
  return append(element, children);
}

/** Place an element by numbers through the style object, which the content policy allows. */
export function place(element, styles) {
  for (const [name, value] of Object.entries(styles)) {
    if (name.startsWith("--")) element.style.setProperty(name, value);
    else element.style[name] = value;
  }
  return element;
}

/** Call `action` when `milliseconds` have passed without another call. */
export function debounce(action, milliseconds) {
  let timer = 0;
  return (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => action(...values), milliseconds);
  };
}
