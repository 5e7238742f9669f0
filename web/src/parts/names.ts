/** What variants are called where they are beside each other. */

import { isTable } from "../form/schema";
import { read } from "../form/text";
import { wordOf } from "../keys";
import type { Variant } from "../variant.svelte";

const MOST = 2;

/** What sets each apart, as short as it goes: queue and buffer, and where those are the same what else differs. */
export function namesOf(variants: Variant[]): string[] {
  const apart = apartOf(variants);
  return variants.map((variant, index) => `${queueOf(variant)}${apart[index]}`);
}

/** Behind queue and buffer: what else sets those apart that have both in common. */
export function apartOf(variants: Variant[]): string[] {
  const queues = variants.map(queueOf);
  return variants.map((variant, index) => {
    const twins = variants.filter((_, at) => at !== index && queues[at] === queues[index]);
    return differences(variant, twins).map((each) => `, ${each}`).join("");
  });
}

function queueOf(variant: Variant): string {
  const link = variant.answer?.links[variant.link];
  return link ? `${link.plan.discipline.kind}, ${variant.buffer}` : "no run";
}

/** Settings that one of the others lacks, or has another value of. */
function differences(variant: Variant, twins: Variant[]): string[] {
  const others = twins.map(({ answer }) => settingsOf(answer?.toml));
  const own = [...settingsOf(variant.answer?.toml)].filter(([path, value]) => !/^run\.(name|seed)$|\.queue(\.discipline)?$/.test(path) && others.some((settings) => settings.get(path) !== value));
  const found = own.slice(0, MOST).map(([path, value]) => `${worded(path, variant)} ${value}`);
  const seed = variant.answer?.seed;
  return twins.some((twin) => twin.answer?.seed !== seed) ? [...found, `seed ${seed}`] : found;
}

/** All that a scenario sets, by path. */
function settingsOf(toml: string | undefined): Map<string, string> {
  const found = new Map<string, string>();
  if (toml) note(read(toml), "", found);
  return found;
}

/** The same for all scenarios that differ in nothing but a link's queue and buffer: what answers about the buffer are known again by. */
export function aboutOf(toml: string, path: string): string {
  const settings = [...settingsOf(toml)].filter(([key]) => !key.startsWith(`${path}.queue`) && key !== `${path}.buffer`);
  let [one, two] = [0, 5381];
  for (const letter of JSON.stringify([path, settings.sort()])) {
    one = Math.imul(one, 31) + letter.charCodeAt(0);
    two = Math.imul(two, 33) ^ letter.charCodeAt(0);
  }
  return `${one >>> 0}-${two >>> 0}`;
}

function note(node: unknown, path: string, found: Map<string, string>): void {
  if (Array.isArray(node)) node.forEach((each, index) => note(each, `${path}[${index}]`, found));
  else if (isTable(node)) Object.entries(node).forEach(([key, each]) => note(each, path ? `${path}.${key}` : key, found));
  else found.set(path, String(node));
}

/** "round trip of near" of `flows[0].rtt`, where there are several groups. */
function worded(path: string, variant: Variant): string {
  const word = wordOf(path);
  const groups = variant.answer?.groups ?? [];
  const group = groups.length > 1 ? groups[Number(/^flows\[(\d+)\]/.exec(path)?.[1] ?? "-1")] : undefined;
  return group ? `${word} of ${group.name}` : word;
}
