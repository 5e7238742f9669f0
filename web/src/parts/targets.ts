/** What `advise` and `size` will ask for: docs/advise.md. */

import { read } from "../form/text";
import { isTable } from "../form/schema";

/** A scenario's own targets, and for whom most of all; nothing if it has none of either. */
export function ownTargets(toml: string): { targets: string[]; most: string } {
  const own = toml ? read(toml)["advise"] : undefined;
  const { targets, for: most } = isTable(own) ? own : {};
  const named = isTable(most) ? Object.entries(most).map(([name, weight]) => `${name} (weight ${String(weight)})`).join(", ") : typeof most === "string" ? most : "";
  return { targets: Array.isArray(targets) ? targets.map(String) : [], most: named };
}
