import type { Answer, Asked, Discipline, Inside, Limit, Problem, Read, Summary, Waits } from "./types";

/** The module's C interface: crates/web/src/lib.rs. */
interface Exports {
  memory: WebAssembly.Memory;
  lab_input(length: number): number;
  lab_output(): number;
  lab_output_length(): number;
  lab_read(): number;
  lab_begin(): number;
  lab_advance(until_ps: bigint): bigint;
  lab_sample(): number;
  lab_set_limit(link: number): number;
  lab_set_discipline(link: number): number;
  lab_inside(link: number): number;
  lab_waits(link: number): number;
  lab_finish(): number;
  lab_capture(most: number): number;
}

const PS = 1e12;

/** A run in an instance of the engine. */
export class Lab {
  readonly #calls: Exports;

  constructor(module: WebAssembly.Module) {
    this.#calls = new WebAssembly.Instance(module, {}).exports as unknown as Exports;
  }

  read(asked: Asked): Read {
    this.#give(asked);
    const failed = this.#calls.lab_read();
    return failed ? { problems: this.#said() as Problem[] } : { answer: this.#said() as Answer };
  }

  begin(): void {
    this.#check(this.#calls.lab_begin());
  }

  /** Runs up to a moment in seconds. */
  advance(until: number): void {
    this.#calls.lab_advance(BigInt(Math.round(until * PS)));
  }

  setLimit(link: number, limit: Limit): void {
    this.#give(limit);
    this.#check(this.#calls.lab_set_limit(link));
  }

  setDiscipline(link: number, discipline: Discipline): void {
    this.#give(discipline);
    this.#check(this.#calls.lab_set_discipline(link));
  }

  sample(): Float64Array {
    this.#check(this.#calls.lab_sample());
    return new Float64Array(this.#output());
  }

  inside(link: number): Inside {
    this.#check(this.#calls.lab_inside(link));
    return this.#said() as Inside;
  }

  /** How long packets waited at a link by now, as far as that is known. */
  waits(link: number): Waits {
    this.#check(this.#calls.lab_waits(link));
    const numbers = new Float64Array(this.#output());
    const waits: Waits = { seconds: [], percent: [] };
    let sum = 0;
    for (let at = 0; at < numbers.length; at += 2) {
      sum += numbers[at + 1] ?? 0;
      waits.seconds.push(numbers[at] ?? 0);
      waits.percent.push(sum);
    }
    waits.percent = waits.percent.map((count) => (100 * count) / sum);
    return waits;
  }

  /** Ends the run: what it came to. */
  finish(): Summary {
    this.#check(this.#calls.lab_finish());
    return (this.#said() as { summary: Summary }).summary;
  }

  /** The first packets at the senders in a run of what was read last, as pcapng. */
  capture(most: number): ArrayBuffer {
    this.#check(this.#calls.lab_capture(most));
    return this.#output();
  }

  /** What a panic said, if one broke the instance. */
  lastWords(): string {
    try {
      return new TextDecoder().decode(this.#output());
    } catch {
      return "";
    }
  }

  // a call may move the memory, so its buffer is asked for after it
  #give(value: unknown): void {
    const bytes = new TextEncoder().encode(JSON.stringify(value));
    const begin = this.#calls.lab_input(bytes.length);
    new Uint8Array(this.#calls.memory.buffer, begin, bytes.length).set(bytes);
  }

  #output(): ArrayBuffer {
    const [begin, length] = [this.#calls.lab_output(), this.#calls.lab_output_length()];
    return this.#calls.memory.buffer.slice(begin, begin + length) as ArrayBuffer;
  }

  #said(): unknown {
    return JSON.parse(new TextDecoder().decode(this.#output()));
  }

  #check(failed: number): void {
    if (failed) throw new Error((this.#said() as Problem[]).map((each) => each.message).join("\n"));
  }
}
