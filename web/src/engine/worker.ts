import * as Comlink from "comlink";
import { reachable } from "../format";
import { Lab } from "./lab";
import type { Asked, Move, Progress, Read, Summary } from "./types";

/** The parts of a cell that a run begins with: nothing is known yet of how much happens in one. */
const CAUTION = 256;
/** The milliseconds that a step may take: a pause waits for its end. */
const STEP_MS = 10;
/** The shortest step, in seconds. */
const SHORTEST = 1e-9;
/** What a panic says if there is no room for something. */
const NO_ROOM = "capacity overflow";

/** One run, in a thread of its own. */
class Runner {
  #lab: Lab | null = null;
  #module: Promise<WebAssembly.Module> | null = null;
  #duration = 0;
  #cell = 0;
  /** Samples that charts have at the end of the run. */
  #cells = 1;
  /** How far a step goes at most, in seconds. */
  #stride = 0;

  /** Takes the engine, as an address or as bytes; what is asked meanwhile waits for it. */
  load(engine: string | BufferSource): void {
    this.#module = compiled(engine);
  }

  async read(asked: Asked): Promise<Read> {
    if (!this.#module) throw new Error("the engine was not loaded");
    const module = await this.#module;
    // an instance that trapped cannot be used again
    this.#lab = new Lab(module);
    const read = this.#guarded((lab) => lab.read(asked));
    if ("answer" in read) this.#duration = read.answer.duration_s;
    return read;
  }

  begin(link: number, cells: number): Progress {
    this.#cell = 0;
    this.#cells = cells;
    this.#stride = this.#duration / cells / CAUTION;
    return this.#guarded((lab) => {
      lab.begin();
      return { rows: new Float64Array(), ...seen(lab, link) };
    });
  }

  /** Runs up to a moment, or for that many milliseconds. */
  advance(until: number, budget: number, link: number): Progress {
    const stop = performance.now() + budget;
    const rows: Float64Array[] = [];
    return this.#guarded((lab) => {
      let now = lab.sample();
      while ((now[0] ?? 0) < until) {
        const grid = reachable((this.#duration * (this.#cell + 1)) / this.#cells);
        const begun = performance.now();
        const reached = (now[0] ?? 0) + this.#stride;
        lab.advance(Math.min(until, grid, reached));
        now = lab.sample();
        if (grid <= Math.min(until, reached)) {
          this.#cell += 1;
          rows.push(now);
        }
        const ended = performance.now();
        if (ended - begun > STEP_MS) this.#stride = Math.max(this.#stride / 2, SHORTEST);
        else if (ended - begun < STEP_MS / 4 && this.#stride < this.#duration) this.#stride *= 2;
        if (ended > stop) break;
      }
      return { rows: joined(rows, now.length), ...seen(lab, link) };
    });
  }

  change({ link, to }: Move): void {
    this.#guarded((lab) => ("limit" in to ? lab.setLimit(link, to.limit) : lab.setDiscipline(link, to.discipline)));
  }

  finish(): Summary {
    return this.#guarded((lab) => lab.finish());
  }

  /** A whole run at once, with what is done to it on the way: what it came to.
   * @throws Error if it is none. */
  async whole(asked: Asked, moves: Move[] = []): Promise<Summary> {
    await this.#sound(asked);
    return this.#guarded((lab) => {
      lab.begin();
      for (const move of moves) {
        lab.advance(move.time);
        this.change(move);
      }
      lab.advance(this.#duration);
      return lab.finish();
    });
  }

  /** The first packets at the senders in a whole run, as pcapng.
   * @throws Error if it is none. */
  async capture(asked: Asked, most: number): Promise<ArrayBuffer> {
    await this.#sound(asked);
    return this.#guarded((lab) => lab.capture(most));
  }

  async #sound(asked: Asked): Promise<void> {
    const read = await this.read(asked);
    if ("problems" in read) throw new Error(read.problems.map((each) => each.message).join("; "));
  }

  #guarded<T>(work: (lab: Lab) => T): T {
    if (!this.#lab) throw new Error("nothing was read");
    const lab = this.#lab;
    try {
      return work(lab);
    } catch (error) {
      if (!(error instanceof WebAssembly.RuntimeError) && !(error instanceof RangeError)) throw error;
      const said = lab.lastWords();
      this.#lab = null;
      const reason = said.includes("panicked") && !said.includes(NO_ROOM) ? said : "the run needs more memory than a page has";
      throw new Error(`the engine stopped: ${reason}`, { cause: error });
    }
  }
}

async function compiled(engine: string | BufferSource): Promise<WebAssembly.Module> {
  return WebAssembly.compile(typeof engine === "string" ? await (await fetch(engine)).arrayBuffer() : engine);
}

function seen(lab: Lab, link: number): Omit<Progress, "rows"> {
  return { now: lab.sample(), inside: lab.inside(link), waits: lab.waits(link) };
}

function joined(rows: Float64Array[], width: number): Float64Array {
  const all = new Float64Array(rows.length * width);
  rows.forEach((row, index) => all.set(row, index * width));
  return all;
}

export type { Runner };
Comlink.expose(new Runner());
