import { started } from "./engine/host";
import type { Asked, Summary } from "./engine/types";

/** Draws of what is random. */
export const SEEDS = 8;

/** The same run with other seeds: how much of what it came to is chance. */
export class Seeds {
  /** How many have run, while it goes on. */
  runs = $state<number | null>(null);
  found = $state.raw<Summary[]>([]);
  problem = $state("");
  #worker: Worker | null = null;

  async begin({ text, overrides }: Asked): Promise<void> {
    this.end();
    const { worker, runner } = started();
    this.#worker = worker;
    this.runs = 0;
    const found: Summary[] = [];
    try {
      for (let seed = 1; seed <= SEEDS; seed += 1) {
        found.push(await runner.whole({ text, overrides: { ...overrides, "run.seed": String(seed) } }));
        if (this.#worker !== worker) return;
        this.runs = seed;
      }
      this.found = found;
    } catch (error) {
      if (this.#worker === worker) this.problem = error instanceof Error ? error.message : String(error);
    } finally {
      worker.terminate();
      if (this.#worker === worker) this.runs = null;
    }
  }

  end(): void {
    this.#worker?.terminate();
    this.#worker = null;
    this.runs = null;
    this.found = [];
    this.problem = "";
  }
}
