import { started } from "./engine/host";
import type { Asked, Move, Summary } from "./engine/types";

/** A part of a run: what it came to from one moment to another. */
export interface Part {
  from: number;
  to: number;
  summary: Summary;
}

/** What a run came to before its first change on the way, and since its last: the same run twice again, each measured in its part alone. */
export class Parted {
  before = $state.raw<Part | null>(null);
  since = $state.raw<Part | null>(null);
  problem = $state("");
  #worker: Worker | null = null;

  /** Measures a run that began so, and to which this was done after its warm-up. */
  async begin(asked: Asked, moves: Move[], warmup: number, duration: number): Promise<void> {
    this.end();
    const [first, last] = [moves.find(({ time }) => time > warmup)?.time, moves.at(-1)?.time];
    if (first === undefined || last === undefined || last >= duration) return;
    const { worker, runner } = started();
    this.#worker = worker;
    const measured = async (from: number, to: number): Promise<Part | null> => {
      const window = { "run.warmup": seconds(from), "run.duration": seconds(to) };
      const summary = await runner.whole({ ...asked, overrides: { ...asked.overrides, ...window } }, moves.filter(({ time }) => time < to));
      return this.#worker === worker ? { from, to, summary } : null;
    };
    try {
      this.since = (await measured(last, duration)) ?? this.since;
      this.before = (await measured(warmup, first)) ?? this.before;
    } catch (error) {
      if (this.#worker === worker) this.problem = error instanceof Error ? error.message : String(error);
    } finally {
      worker.terminate();
    }
  }

  end(): void {
    this.#worker?.terminate();
    this.#worker = null;
    this.since = this.before = null;
    this.problem = "";
  }
}

/** The engine's moments are whole picoseconds. */
const seconds = (value: number): string => `${value.toFixed(12)} s`;
