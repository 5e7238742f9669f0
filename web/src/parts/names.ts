/** What variants are called where they are beside each other. */

import { isTable } from "../form/schema";
import { read } from "../form/text";
import { packets } from "../format";
import { wordOf } from "../keys";
import type { Variant } from "../variant.svelte";

const MOST = 2;

/** What sets each apart, as short as it goes: queue and buffer, and where those are the same what else differs. */
export function namesOf(variants: Variant[]): string[] {
  const [queues, apart] = [queuesOf(variants), apartOf(variants)];
  return variants.map((_, index) => `${queues[index]}${apart[index]}`);
}

/** Buffers of variants as people write them, in one unit: in packets where they were written in several. */
export function buffersOf(variants: Variant[]): string[] {
  const units = new Set(variants.map(({ buffer }) => buffer.replace(/^[\d.]+\s*/, "").replace(/^packet$/, "packets")));
  return variants.map(({ buffer, capacity }) => (units.size > 1 && Number.isFinite(capacity) ? packets(capacity) : buffer));
}

/** Behind queue and buffer: what else sets those apart that have both in common. */
export function apartOf(variants: Variant[]): string[] {
  const queues = queuesOf(variants);
  return variants.map((variant, index) => {
    const twins = variants.filter((_, at) => at !== index && queues[at] === queues[index]);
    return differences(variant, twins).map((each) => `, ${each}`).join("");
  });
}

function queuesOf(variants: Variant[]): string[] {
  const buffers = buffersOf(variants);
  return variants.map(({ answer, link: at }, index) => {
    const link = answer?.links[at];
    return link ? `${link.plan.discipline.kind}, ${buffers[index]}` : "no run";
  });
}

/** Settings that one of the others lacks, or has another value of. */
function differences(variant: Variant, twins: Variant[]): string[] {
  const others = twins.map(({ answer }) => settingsOf(answer?.toml));
  const buffer = `${variant.answer?.links[variant.link]?.path}.buffer`; // which they have in common, however it is written
  const own = [...settingsOf(variant.answer?.toml)].filter(([path, value]) => path !== buffer && !/^run\.(name|seed)$|\.queue(\.discipline)?$/.test(path) && others.some((settings) => settings.get(path) !== value));
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
