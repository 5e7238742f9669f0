/** A scenario's text and the tables that it stands for, both ways. */

import { parse, patch, stringify } from "@decimalturn/toml-patch";
import { isTable, type Table } from "./schema";

const isJson = (text: string): boolean => text.trimStart().startsWith("{");

/** @throws Error where the text is neither. */
export function read(text: string): Table {
  const document: unknown = isJson(text) ? JSON.parse(text) : plain(parse(text));
  if (!isTable(document)) throw new Error("this is no table");
  return document;
}

/** The text with other values; comments and the order of what stays are kept. */
export function written(text: string, document: Table): string {
  if (isJson(text)) return `${JSON.stringify(document, null, 2)}\n`;
  try {
    const changed = patch(text, document);
    if (same(read(changed), document)) return changed;
  } catch {
    // a text that cannot be changed in its place is written anew
  }
  return stringify(document);
}

/** A copy with another value at a path; without the key, if the value is undefined. */
export function withValue(node: unknown, path: (string | number)[], value: unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return value;
  if (typeof key === "number") {
    const list = Array.isArray(node) ? [...(node as unknown[])] : [];
    if (rest.length === 0 && value === undefined) list.splice(key, 1);
    else list[key] = withValue(list[key], rest, value);
    return list;
  }
  const table: Table = isTable(node) ? { ...node } : ofWord(node, key);
  if (rest.length === 0 && value === undefined) delete table[key];
  else table[key] = withValue(table[key], rest, value);
  return table;
}

/** A queue that is a word has parameters in its table. */
const ofWord = (node: unknown, key: string): Table => (typeof node === "string" && key !== "discipline" ? { discipline: node } : {});

/** A path as overrides and messages have it: `flows[0].rtt`. */
export const pathText = (path: (string | number)[]): string =>
  path.map((key, index) => (typeof key === "number" ? `[${key}]` : index ? `.${key}` : key)).join("");

/** The path that a text stands for. */
export const pathOf = (text: string): (string | number)[] =>
  [...text.matchAll(/\[(\d+)\]|([^.[\]]+)/g)].map(([, index, key]) => (index === undefined ? (key ?? "") : Number(index)));

/** Whole numbers may come as bigint. */
function plain(value: unknown): unknown {
  if (typeof value === "bigint") return Number(value);
  if (Array.isArray(value)) return value.map(plain);
  return isTable(value) ? Object.fromEntries(Object.entries(value).map(([key, each]) => [key, plain(each)])) : value;
}

function same(one: unknown, other: unknown): boolean {
  if (Array.isArray(one) && Array.isArray(other)) return one.length === other.length && one.every((each, index) => same(each, other[index]));
  if (!isTable(one) || !isTable(other)) return one === other;
  const keys = Object.keys(one);
  return keys.length === Object.keys(other).length && keys.every((key) => key in other && same(one[key], other[key]));
}
