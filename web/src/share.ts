/** A link that holds what the page shows, after "#", which browsers do not send to a server. */

import type { Asked } from "./engine/types";

const LONGEST_LINK = 100_000;
const LONGEST_TEXT = 200_000;
export const MOST_VARIANTS = 4;

export async function encode(variants: Asked[]): Promise<string> {
  const text = JSON.stringify({ version: 1, variants });
  const bytes = new Uint8Array(await collected(piped(new TextEncoder().encode(text), new CompressionStream("deflate-raw"))));
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
}

/** What a link holds.
 * @throws Error if it is none of ours, with what is wrong. */
export async function decode(link: string): Promise<Asked[]> {
  if (link.length > LONGEST_LINK) throw new Error("it is longer than any that this page makes");
  let document: unknown;
  try {
    const bytes = Uint8Array.from(atob(link.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
    const text = await collected(piped(bytes, new DecompressionStream("deflate-raw")));
    document = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(text));
  } catch {
    throw new Error("it is damaged");
  }
  const variants = isRecord(document) && document["version"] === 1 ? document["variants"] : null;
  if (!Array.isArray(variants) || variants.length < 1 || variants.length > MOST_VARIANTS || !variants.every(isAsked)) {
    throw new Error("it holds no scenarios of this version of the page");
  }
  return variants.map(({ text, overrides }) => ({ text, overrides: { ...overrides } }));
}

function isAsked(value: unknown): value is Asked {
  return (
    isRecord(value) &&
    typeof value["text"] === "string" &&
    isRecord(value["overrides"]) &&
    Object.values(value["overrides"]).every((each) => typeof each === "string")
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function piped(bytes: Uint8Array<ArrayBuffer>, through: ReadableWritablePair<Uint8Array<ArrayBuffer>, BufferSource>) {
  return new Blob([bytes]).stream().pipeThrough(through);
}

/** All of a stream; refuses what a small link may unpack to without end. */
async function collected(stream: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<ArrayBuffer> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  const reader = stream.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return await new Blob(parts).arrayBuffer();
    length += value.length;
    if (length > LONGEST_TEXT) {
      await reader.cancel();
      throw new Error("too long");
    }
    parts.push(value);
  }
}
