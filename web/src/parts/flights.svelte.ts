import { MediaQuery } from "svelte/reactivity";

type Way = "comes" | "falls" | "leaves";
const WAYS: Way[] = ["comes", "falls", "leaves"];

/** How long a packet is seen to move. */
const FLIGHT_MS = 300;
/** More packets at once are a stream, in which none can be followed. */
const FEW = 16;

/** Single packets on their way into the buffer, out of it or lost, where a picture has so few of them that eyes can follow. */
export class Flights {
  /** Changes as they move. */
  moment = $state(0);

  readonly #still = new MediaQuery("(prefers-reduced-motion: reduce)");
  #flights: { group: number; way: Way; begun: number }[] = [];
  #moves = false;

  /** Of each group, packets that came, were dropped, and left. */
  begin(passed: [number, number, number][]): void {
    if (this.#still.current) return;
    // what is dropped has come, too: it is seen to come, and then to fall
    const begun = performance.now();
    const flights = passed.flatMap((counts, group) =>
      WAYS.flatMap((way, index) => Array.from({ length: Math.min(FEW + 1, Math.max(0, counts[index] ?? 0)) }, () => ({ group, way, begun }))),
    );
    if (flights.length === 0 || flights.length > FEW) return;
    // one behind the other
    const gap = FLIGHT_MS / 4 / flights.length;
    this.#flights.push(...flights.map((each, index) => ({ ...each, begun: begun + index * gap + (each.way === "falls" ? FLIGHT_MS : 0) })));
    if (!this.#moves) this.#move();
  }

  /** Where they are, as parts of their ways. */
  now(): { group: number; way: Way; part: number }[] {
    const now = performance.now();
    return this.#flights.map(({ group, way, begun }) => ({ group, way, part: (now - begun) / FLIGHT_MS })).filter(({ part }) => part >= 0 && part < 1);
  }

  #move(): void {
    const now = performance.now();
    this.#flights = this.#flights.filter(({ begun }) => now < begun + FLIGHT_MS);
    this.moment = now;
    this.#moves = this.#flights.length > 0;
    if (this.#moves) requestAnimationFrame(() => this.#move());
  }
}
