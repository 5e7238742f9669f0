/** Where the engine comes from: the page has its files beside it, a notebook gives them as bytes. */

import type * as Comlink from "comlink";
import type { Runner } from "./worker";

export interface Started {
  worker: Worker;
  runner: Comlink.Remote<Runner>;
}

let start: (() => Started) | null = null;

export function startWith(how: () => Started): void {
  start = how;
}

/** A run of its own, in a thread of its own. */
export function started(): Started {
  if (!start) throw new Error("nobody said where the engine is");
  return start();
}
