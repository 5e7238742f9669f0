/** What `advise` and `size` will ask for: docs/advise.md. */

import { read, withValue, written } from "../form/text";
import { isTable, type Table } from "../form/schema";

/** A scenario's own targets, and for whom most of all; nothing if it has none of either. */
export function ownTargets(toml: string): { targets: string[]; most: string } {
  const own = toml ? read(toml)["advise"] : undefined;
  const { targets, for: most } = isTable(own) ? own : {};
  const named = isTable(most) ? Object.entries(most).map(([name, weight]) => `${name} (weight ${String(weight)})`).join(", ") : typeof most === "string" ? most : "";
  return { targets: Array.isArray(targets) ? targets.map(String) : [], most: named };
}

const USE = /^\s*utilization\s*>=?\s*([\d.]+)\s*(%?)/;

/** How busy a scenario's own targets want the link, in percent. */
export function useOf(toml: string): number | null {
  const [, number, unit] = ownTargets(toml).targets.map((each) => USE.exec(each)).find(Boolean) ?? [];
  return number ? Number(number) * (unit ? 1 : 100) : null;
}

/** A scenario's own targets with another one of how busy the link is. */
export const targetsWith = (toml: string, percent: number): string[] => [`utilization >= ${percent} %`, ...ownTargets(toml).targets.filter((each) => !USE.test(each))];

/** The scenario with these targets. */
export const withTargets = (toml: string, targets: string[]): string => written(toml, withValue(read(toml), ["advise", "targets"], targets) as Table);
