/** The scenario's JSON Schema, as a form needs it: docs/scenario.schema.json, which is made from the engine's declarations. */

import document from "../../../docs/scenario.schema.json";

/** Context that gives what a slider has set in the place of a field, by its path. */
export const MOVED = Symbol("moved");

export interface Schema {
  $ref?: string;
  type?: string;
  description?: string;
  default?: unknown;
  examples?: string[];
  enum?: string[];
  const?: unknown;
  minimum?: number;
  maximum?: number;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
}

export type Table = Record<string, unknown>;

/** How a value is entered. */
export type Kind = "table" | "tables" | "lines" | "choice" | "flag" | "number" | "text" | "named";

/** A table that has a word for a name, such as a queue: `queue = "codel"`, or `queue = { discipline = "codel", … }`. */
export interface Named {
  /** The key that holds the word. */
  key: string;
  schemas: Record<string, Schema>;
}

export const SCENARIO = resolved(document as unknown as Schema);

/** A schema with what it refers to; what it says itself goes before. */
export function resolved(schema: Schema): Schema {
  if (!schema.$ref) return schema;
  const definitions = (document as unknown as { $defs: Record<string, Schema> }).$defs;
  return { ...definitions[schema.$ref.replace("#/$defs/", "")], ...schema };
}

export function kindOf(schema: Schema): Kind {
  if (schema.type === "object") return "table";
  if (schema.type === "array") return resolved(schema.items ?? {}).type === "object" ? "tables" : "lines";
  if (named(schema)) return "named";
  if (schema.enum) return "choice";
  if (schema.type === "boolean") return "flag";
  return schema.type === "integer" || schema.type === "number" ? "number" : "text";
}

export function named(schema: Schema): Named | null {
  const tables = schema.anyOf?.find((each) => each.oneOf)?.oneOf?.map(resolved);
  const key = tables && Object.entries(tables[0]?.properties ?? {}).find(([, each]) => each.const !== undefined)?.[0];
  if (!tables || !key) return null;
  return { key, schemas: Object.fromEntries(tables.map((each) => [String(each.properties?.[key]?.const), each])) };
}

/** Whether a word alone stands for a table with no other key. */
export function isWord(schema: Schema, word: string): boolean {
  return schema.anyOf?.some((each) => each.enum?.includes(word)) ?? false;
}

/** What may be written, for a list beside the field. */
export function suggestions(schema: Schema): string[] {
  const parts = [schema, ...(schema.anyOf ?? [])];
  return [...new Set(parts.flatMap((each) => [...(each.enum ?? []), ...(each.examples ?? [])]))];
}

/** A text as the value that it means: some keys take a number or a flag as well. */
export function typed(schema: Schema, text: string): unknown {
  const types = [schema, ...(schema.anyOf ?? [])].map((each) => each.type);
  if (types.includes("boolean") && (text === "true" || text === "false")) return text === "true";
  const number = types.includes("number") ? /^[+-]?\d+(\.\d+)?(e[+-]?\d+)?$/i : types.includes("integer") ? /^[+-]?\d+$/ : null;
  return number?.test(text) ? Number(text) : text;
}

/** What a key begins with when it is added. */
export function first(schema: Schema): unknown {
  const known = schema.default ?? schema.examples?.[0] ?? schema.enum?.[0] ?? suggestions(schema)[0];
  switch (kindOf(schema)) {
    case "table":
      return Object.fromEntries((schema.required ?? []).map((key) => [key, first(resolved(schema.properties?.[key] ?? {}))]));
    case "tables":
      return [first(resolved(schema.items ?? {}))];
    case "named": {
      const { key, schemas } = named(schema) ?? { key: "", schemas: {} };
      const [word = ""] = Object.keys(schemas);
      return isWord(schema, word) ? word : { [key]: word };
    }
    case "lines":
      return schema.default ?? [];
    case "flag":
      return schema.default ?? true;
    case "number":
      return schema.default ?? schema.minimum ?? 1;
    default:
      return known ?? "";
  }
}

/** What a key means, its default and its bounds, without markup. */
export function described(schema: Schema): string {
  const said = [];
  if (schema.default !== undefined && typeof schema.default !== "object") said.push(`default ${String(schema.default)}`);
  if (schema.minimum !== undefined || schema.maximum !== undefined) said.push(`${schema.minimum ?? ""} … ${schema.maximum ?? ""}`);
  if (kindOf(schema) === "text" && schema.examples) said.push(`such as ${schema.examples.join(", ")}`);
  const text = (schema.description ?? "").replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").replaceAll("`", "");
  return said.length ? `${text} (${said.join("; ")})` : text;
}

export function isTable(value: unknown): value is Table {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);
}
