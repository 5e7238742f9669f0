/** What variants are called where they are beside each other. */

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

/** Lines of a scenario that one of the others lacks. */
function differences(variant: Variant, twins: Variant[]): string[] {
  const linesOf = ({ answer }: Variant): string[] => (answer?.toml ?? "").split("\n").map((line) => line.replace(/\s*#.*/, "").trim());
  const others = twins.map((twin) => new Set(linesOf(twin)));
  const own = linesOf(variant).filter((line) => /^[\w.]+ = /.test(line) && !/^(name|seed) = /.test(line) && others.some((lines) => !lines.has(line)));
  const found = own.slice(0, MOST).map((line) => line.replace(" = ", " ").replaceAll('"', ""));
  const seed = variant.answer?.seed;
  return twins.some((twin) => twin.answer?.seed !== seed) ? [...found, `seed ${seed}`] : found;
}
