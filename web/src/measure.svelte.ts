import { started } from "./engine/host";
import type { Asked } from "./engine/types";

/** How busy a link has to be, in percent, where neither the reader nor the scenario says so. */
export const USUAL = 99;
/** What the reader asks for in the place of that. */
export const wanted = $state<{ percent: number | null }>({ percent: null });
/** The answer may be larger than the least buffer by this share. */
const RESOLUTION = 0.03;

const keyOf = ({ text, overrides }: Asked, link: number, path: string, percent: number): string => {
  const { [`${path}.buffer`]: _, ...others } = overrides;
  return JSON.stringify([text, others, link, percent]);
};

/** What was measured, by what it was measured of: it stays true where that is shown again. */
let measured = $state.raw<ReadonlyMap<string, number>>(new Map());

/** The least buffer with which a link is busy, by halving: a run of each buffer, with the scenario's seed. `bufferlab size` says
 * how sure such an answer is. */
export class Measurement {
  /** The runs so far, while it goes on. */
  runs = $state<number | null>(null);
  problem = $state("");
  #worker: Worker | null = null;

  /** What was measured of this, if it was. */
  answerTo(asked: Asked, link: number, path: string, percent: number): number | null {
    return measured.get(keyOf(asked, link, path, percent)) ?? null;
  }

  async begin(asked: Asked, link: number, path: string, most: number, percent: number): Promise<void> {
    this.end();
    const { worker, runner } = started();
    this.#worker = worker;
    const suffices = async (packets: number): Promise<boolean> => {
      const buffer = { [`${path}.buffer`]: `${packets} packets` };
      const { links } = await runner.whole({ text: asked.text, overrides: { ...asked.overrides, ...buffer } });
      if (this.#worker === worker) this.runs = (this.runs ?? 0) + 1;
      return (links[link]?.utilization ?? 0) >= percent / 100;
    };
    this.runs = 0;
    try {
      let [low, high] = [0, most];
      if (!(await suffices(most))) throw new Error(`no buffer of up to ${most} packets keeps this link ${percent} % busy`);
      while (high - low > Math.max(1, Math.floor(RESOLUTION * high))) {
        const middle = Math.max(low + 1, Math.min(high - 1, Math.round(Math.sqrt(Math.max(1, low) * high))));
        if (await suffices(middle)) high = middle;
        else low = middle;
      }
      if (this.#worker === worker) measured = new Map([...measured, [keyOf(asked, link, path, percent), high]]);
    } catch (error) {
      if (this.#worker === worker) this.problem = error instanceof Error ? error.message : String(error);
    } finally {
      if (this.#worker === worker) this.end(this.problem);
    }
  }

  end(problem = ""): void {
    this.#worker?.terminate();
    this.#worker = null;
    this.runs = null;
    this.problem = problem;
  }
}
