import type { Asked } from "./engine/types";
import { reachable } from "./format";
import { scalesOf } from "./scales";
import { Variant, type Zoom } from "./variant.svelte";

export const SPEEDS: [string, number][] = [
  ["1/1000 of real time", 0.001],
  ["1/100 of real time", 0.01],
  ["1/10 of real time", 0.1],
  ["real time", 1],
  ["10 times real time", 10],
  ["as fast as it goes", Number.POSITIVE_INFINITY],
];
const STEP_SHARE = 1 / 1000;
/** At full speed, the part of a run that one picture takes at most. */
const FRAME_SHARE = 1 / 50;

/** Seconds of pictures that came late which a run makes up for; a page that was hidden for longer goes on where it was. */
const MOST_MISSED = 0.5;

/** Variants that run side by side on one clock. */
export class Player {
  variants = $state.raw<Variant[]>([]);
  playing = $state(false);
  /** An index of SPEEDS. */
  speed = $state(3);

  readonly running = $derived(this.variants.filter((variant) => variant.runs && !variant.ended));
  /** One clock for all that are scenarios: that of the slowest. */
  readonly clock = $derived(
    Math.max(0, Math.min(...(this.running.length ? this.running : this.variants.filter(({ duration }) => duration)).map((variant) => variant.time), this.longest)),
  );
  /** How many seconds, the last ones, charts show; all of the run if none. */
  shown = $state<number | null>(null);
  /** The part of the run that charts show in the place of that. */
  zoomed = $state.raw<Zoom | null>(null);
  /** Of the charts of all. */
  readonly scales = $derived({ ...scalesOf(this.variants), zoom: (part: Zoom | null) => void this.look(this.shown, part) });
  readonly changed = $derived(this.variants.some((variant) => variant.changed));

  #stopped = false;

  /** When the longest run ends. */
  get longest(): number {
    return Math.max(0, ...this.variants.map((variant) => variant.duration));
  }

  constructor() {
    let last = performance.now();
    const frame = async (): Promise<void> => {
      const elapsed = (performance.now() - last) / 1000;
      last = performance.now();
      if (this.playing && this.running.length) {
        const factor = SPEEDS[this.speed]?.[1] ?? 1;
        await this.#advance(Math.min(factor * Math.min(elapsed, MOST_MISSED), this.longest * FRAME_SHARE));
      } else if (this.playing && this.variants.some((variant) => variant.ended || variant.failure)) this.playing = false;
      if (!this.#stopped) requestAnimationFrame(() => void frame());
    };
    void frame();
  }

  /** Takes these in the place of what there was, and begins their runs. Charts show all of them, or the last seconds. */
  async load(asked: Asked[], shown: number | null = null): Promise<void> {
    this.playing = false;
    this.variants.forEach((variant) => variant.close());
    [this.shown, this.zoomed] = [shown, null];
    this.variants = asked.map((each) => new Variant(each, shown));
    await this.restart();
  }

  /** Charts show the last seconds, or a part of the run: where they look closer than before, by the same run again up to now. */
  async look(shown: number | null, zoomed: Zoom | null = null): Promise<void> {
    [this.shown, this.zoomed] = [shown, zoomed];
    for (const variant of this.variants) [variant.shown, variant.zoomed] = [shown, zoomed];
    if (!this.variants.some((variant) => variant.isCoarse)) {
      for (const variant of this.variants) variant.redraw();
      return;
    }
    const [clock, playing] = [this.clock, this.playing];
    this.playing = false;
    await Promise.all(this.variants.map((variant) => variant.rewind()));
    await this.go(clock);
    this.playing = playing;
  }

  close(): void {
    this.#stopped = true;
    this.variants.forEach((variant) => variant.close());
  }

  async restart(): Promise<void> {
    await Promise.all(this.variants.map((variant) => variant.begin()));
  }

  async play(): Promise<void> {
    if (!this.playing && (this.changed || !this.running.length)) await this.restart();
    this.playing = !this.playing;
  }

  async step(): Promise<void> {
    this.playing = false;
    await this.#advance(this.longest * STEP_SHARE);
  }

  async back(): Promise<void> {
    await this.go(Math.max(0, this.clock - this.longest * STEP_SHARE));
  }

  /** Takes all runs to a moment; back is the same run again, up to there. */
  async go(moment: number): Promise<void> {
    const to = reachable(moment);
    this.playing = false;
    if (to < this.clock) await Promise.all(this.variants.map((variant) => variant.rewind()));
    while (this.running.length && this.clock < to && this.clock < this.longest) {
      await Promise.all(this.running.map((variant) => variant.advance(to)));
    }
  }

  async add(): Promise<void> {
    const last = this.variants.at(-1);
    if (!last) return;
    this.variants = [...this.variants, new Variant(last.asked, this.shown)];
    await this.restart();
  }

  remove(variant: Variant): void {
    variant.close();
    this.variants = this.variants.filter((each) => each !== variant);
  }

  async #advance(seconds: number): Promise<void> {
    const until = reachable(this.clock + seconds);
    await Promise.all(this.running.map((variant) => variant.advance(until)));
  }
}
