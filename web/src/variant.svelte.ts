import type * as Comlink from "comlink";
import { started } from "./engine/host";
import { Layout, type LinkView } from "./engine/layout";
import type { Answer, Asked, Discipline, Inside, Limit, Mark, Move, Problem, Summary, Waits } from "./engine/types";
import type { Runner } from "./engine/worker";
import { packets, typed } from "./format";
import { Measurement, USUAL, wanted } from "./measure.svelte";
import { useOf } from "./parts/targets";
import { Parted } from "./parted.svelte";
import { Seeds } from "./seeds.svelte";

const BUDGET_MS = 30;
/** How busy a link is, is seen over this many full packets at least. */
const SEEN_PACKETS = 20;
/** Samples that a run's charts have; those of its last seconds alone have half of that at once. */
const CELLS = 1000;
/** Samples of a run at most. */
const MOST_CELLS = 50_000;
const PACKET_BITS = 12_000;
/** Cells that a rate is the mean of: in one there may be room for a few packets only. */
const SMOOTHED = 10;
let made = 0;

/** Columns of a chart: the first is time. */
export type Columns = (number | null)[][];

export interface Series {
  backlog: Columns;
  windows: Columns;
  rtts: Columns;
  rates: Columns;
  goodputs: Columns;
  waits: Columns;
}

const namesOf = (answer: Answer | null): string => JSON.stringify(answer?.links.map((link) => link.plan.name));

/** The link where packets wait, as far as rates say: a scenario's links are shown one at a time. */
function slowest(answer: Answer): number {
  const rates = answer.links.map((link) => link.plan.rate_bps);
  return rates.indexOf(Math.min(...rates));
}

/** Disciplines whose target can be another one while they run: crates/qdisc/src/change.rs. */
const WITH_TARGET = ["codel", "fq_codel", "pie"];

/** A part of a run, in seconds. */
export type Zoom = [from: number, to: number];

/** A scenario with its run. */
export class Variant {
  readonly id = ++made;
  text = $state("");
  overrides = $state<Record<string, string>>({});
  problems = $state.raw<Problem[]>([]);
  answer = $state.raw<Answer | null>(null);
  failure = $state("");
  /** The link that is shown. */
  link = $state(0);
  now = $state.raw<Float64Array | null>(null);
  /** The sample before, for what happened since. */
  before = $state.raw<Float64Array | null>(null);
  /** Samples of the charts a cell earlier, for what was dropped, and some cells, for how busy the link is: the same ones, however many
   * pictures were drawn. */
  justBefore = $state.raw<Float64Array | null>(null);
  earlier = $state.raw<Float64Array | null>(null);
  series = $state.raw<Series | null>(null);
  /** What the run came to, once it has ended. */
  results = $state.raw<Summary | null>(null);
  limit = $state.raw<Limit>("unlimited");
  /** The wait that the discipline aims at, if it has one that can be set on the way. */
  target = $state<number | null>(null);
  inside = $state.raw<Inside | null>(null);
  waits = $state.raw<Waits>({ seconds: [], percent: [] });
  readonly measurement = new Measurement();
  /** What it came to before and since changes on the way. */
  readonly parted = new Parted();
  /** What it came to with other seeds. */
  readonly seeds = new Seeds();
  /** What sliders did on the way, as far as the run has seen it. */
  moved = $state.raw<Move[]>([]);
  /** The buffer of the next run, in packets, where it was set after this one had ended. */
  coming = $state<number | null>(null);
  /** Text or sliders changed since the run began. */
  changed = $state(false);

  #layout: Layout | null = null;
  /** Samples that the charts of this run have at its end. */
  #sampled = CELLS;
  #rows: Float64Array[] = [];
  #limits: number[] = [];
  /** All that sliders did, and how much of it the run has seen. */
  #moves: Move[] = [];
  #seen = 0;
  /** What the run began as: sliders' values are those of the next one, too. */
  #begun: Asked = { text: "", overrides: {} };
  #worker: Worker;
  #runner: Comlink.Remote<Runner>;
  #queue: Promise<unknown> = Promise.resolve();

  /** How many seconds, the last ones, charts show; all of the run if none. */
  shown = $state<number | null>(null);
  /** The part of the run that charts show in the place of that. */
  zoomed = $state.raw<Zoom | null>(null);

  constructor(asked: Asked, shown: number | null = null) {
    this.shown = shown;
    this.text = asked.text;
    this.overrides = asked.overrides;
    ({ worker: this.#worker, runner: this.#runner } = started());
  }

  get asked(): Asked {
    return { text: this.text, overrides: { ...this.overrides } };
  }

  get time(): number {
    return this.now?.[0] ?? 0;
  }

  /** How long its run is, in seconds; 0 of what is no scenario now. */
  get duration(): number {
    return this.problems.length ? 0 : (this.answer?.duration_s ?? 0);
  }

  /** Samples that the run's charts have at its end. */
  get #cells(): number {
    const duration = this.answer?.duration_s ?? 0;
    const seen = this.zoomed ? this.zoomed[1] - this.zoomed[0] : this.shown;
    return seen === null ? CELLS : Math.max(CELLS, Math.min(MOST_CELLS, Math.ceil((CELLS / 2) * (duration / seen))));
  }

  /** Seconds between two samples of the charts. */
  get #cell(): number {
    return (this.answer?.duration_s ?? 0) / this.#sampled;
  }

  /** Whether the run has to be made again for charts that look this close. */
  get isCoarse(): boolean {
    return this.runs && this.#sampled < this.#cells;
  }

  /** Draws what there is in the part that charts now show. */
  redraw(): void {
    this.#show();
  }

  /** Seconds that a rate is the mean of. */
  get smoothed(): number {
    return SMOOTHED * this.#cell;
  }

  get ended(): boolean {
    return this.results !== null;
  }

  get runs(): boolean {
    return this.now !== null && !this.failure;
  }

  close(): void {
    this.measurement.end();
    this.parted.end();
    this.seeds.end();
    this.#worker.terminate();
  }

  /** Reads the scenario and begins its run. */
  begin(): Promise<void> {
    return this.#alone(async () => {
      if (this.failure) {
        // what stopped may hold all the memory that there is
        this.#worker.terminate();
        ({ worker: this.#worker, runner: this.#runner } = started());
      }
      this.failure = "";
      this.results = this.now = this.before = this.justBefore = this.earlier = this.series = null;
      this.changed = false;
      this.#begun = this.asked;
      this.parted.end();
      this.seeds.end();
      this.moved = [];
      const read = await this.#runner.read(this.#begun);
      this.problems = "problems" in read ? read.problems : [];
      if (!("answer" in read)) return;
      const links = namesOf(this.answer);
      this.answer = read.answer;
      if (namesOf(read.answer) !== links) this.link = slowest(read.answer);
      this.#layout = new Layout(read.answer.links.length, read.answer.groups.length);
      this.#moves = [];
      await this.#start();
    });
  }

  /** Begins the same run anew: what was done to it will be done again at the same moments. */
  rewind(): Promise<void> {
    return this.#alone(async () => {
      if (this.runs) await this.#start();
    });
  }

  async #start(): Promise<void> {
    this.results = this.before = this.justBefore = this.earlier = null;
    this.coming = null;
    this.limit = this.#discipline?.limit ?? "unlimited";
    this.target = WITH_TARGET.includes(this.#discipline?.kind ?? "") ? (this.#discipline?.target_ps ?? 0) / 1e12 : null;
    this.#sampled = this.#cells;
    this.#rows = [];
    this.#limits = [];
    this.#see(0);
    this.parted.end();
    ({ now: this.now, inside: this.inside, waits: this.waits } = await this.#runner.begin(this.link, this.#sampled));
    this.#show();
  }

  /** Takes the run to a moment, if there is time for it. */
  advance(until: number): Promise<void> {
    return this.#alone(async () => {
      const { answer } = this;
      if (!this.runs || this.ended || !answer || until <= this.time) return;
      const move = this.#moves[this.#seen];
      if (move && move.time <= this.time) {
        this.#see(this.#seen + 1);
        await this.#apply(move);
      }
      const next = this.#moves[this.#seen]?.time ?? Number.POSITIVE_INFINITY;
      const { rows, now, inside, waits } = await this.#runner.advance(Math.min(until, next, answer.duration_s), BUDGET_MS, this.link);
      const width = now.length;
      for (let at = 0; at < rows.length; at += width) {
        const row = rows.slice(at, at + width);
        this.#rows.push(row);
        this.#limits.push(this.#limitAt(row[0] ?? 0));
      }
      this.before = this.now;
      this.justBefore = this.#before(now, 1);
      this.earlier = this.#before(now, SMOOTHED);
      this.now = now;
      this.inside = inside;
      this.waits = waits;
      if (rows.length > 0) this.#show();
      if ((now[0] ?? 0) < answer.duration_s) return;
      this.results = await this.#runner.finish();
      void this.parted.begin(this.#begun, this.moved, answer.warmup_s, answer.duration_s);
    });
  }

  /** The last of the charts' samples that is so many cells, and some packets, older. */
  #before(now: Float64Array, cells: number): Float64Array | null {
    const cell = this.#cell;
    const rate = this.answer?.links[this.link]?.plan.rate_bps ?? 1;
    // a run ends a step some picoseconds beside the moment asked for
    const until = (now[0] ?? 0) - Math.max(cells * cell, (SEEN_PACKETS * PACKET_BITS) / rate) + cell / 1000;
    return this.#rows.findLast((row) => (row[0] ?? 0) <= until) ?? null;
  }

  /** Runs what this began as with other seeds. */
  trySeeds(): Promise<void> {
    return this.seeds.begin(this.#begun);
  }

  /** Another buffer, from now on. */
  setBuffer(packets: number): Promise<void> {
    return this.#change("buffer", `${packets} packets`, { limit: { packets } });
  }

  /** Another target of the discipline, from now on. */
  setTarget(target_s: number): Promise<void> {
    const us = Math.round(target_s * 1e6);
    const discipline = this.#discipline;
    return discipline ? this.#change("queue.target", typed(us / 1e6), { discipline: { ...discipline, target_ps: 1e6 * us } }) : Promise.resolve();
  }

  /** What a key of the link is set to: at once in a run that goes on, and from the start in the next. */
  #change(key: string, value: string, to: Move["to"]): Promise<void> {
    return this.#alone(async () => {
      const path = this.answer?.links[this.link]?.path;
      if (!path) return;
      this.overrides[`${path}.${key}`] = value;
      if (!this.runs || this.ended) {
        this.changed = true;
        if ("limit" in to) this.coming = packetsOf(to.limit);
        return;
      }
      const move = { time: this.time, link: this.link, to };
      this.#moves = [...this.#moves.slice(0, this.#seen), move];
      this.#see(this.#moves.length);
      await this.#apply(move);
    });
  }

  #see(moves: number): void {
    this.#seen = moves;
    this.moved = this.#moves.slice(0, moves);
  }

  async #apply(move: Move): Promise<void> {
    await this.#runner.change(move);
    if ("limit" in move.to) this.limit = move.to.limit;
    else this.target = (move.to.discipline.target_ps ?? 0) / 1e12;
  }

  /** The buffer that runs now, as people write it. */
  get buffer(): string {
    const isMoved = this.moved.some(({ link, to }) => link === this.link && "limit" in to);
    return isMoved ? packets(this.capacity) : (this.answer?.links[this.link]?.buffer ?? "");
  }

  /** Changes that the measurement has in it: one during the warm-up is before all of it. */
  get changes(): number {
    return this.moved.filter((move) => move.time > (this.answer?.warmup_s ?? 0)).length;
  }

  /** What the run came to with what is set now; nothing before it has ended. */
  get came(): Summary | null {
    return this.changes ? (this.parted.since?.summary ?? null) : this.results;
  }

  get #discipline(): Discipline | undefined {
    return this.answer?.links[this.link]?.plan.discipline;
  }

  /** Another value of a key, with the next run; nothing for the text's own. */
  set(path: string, value: string | null): void {
    if (value === null) delete this.overrides[path];
    else this.overrides[path] = value;
    this.changed = true;
  }

  /** What sliders have set, under another queue: parameters were those of the queue before. Only SplitBuff needs no buffer:
   * the next queue gets the one that it was within. */
  under(queue: string): Record<string, string> {
    const { path = "", buffer = "", plan } = this.answer?.links[this.link] ?? {};
    const kept = Object.entries(this.overrides).filter(([key]) => !key.startsWith(`${path}.queue`));
    const within = plan?.discipline.kind === "splitbuff" ? { [`${path}.buffer`]: buffer } : {};
    return { ...within, ...Object.fromEntries(kept), ...(queue ? { [`${path}.queue`]: queue } : {}) };
  }

  /** Shows another link. */
  show(link: number): void {
    this.link = link;
    this.#show();
  }

  /** Packets that a SplitBuff's sub-buffers have room for together now; 0 of other queues. */
  get room(): number {
    return this.view(this.now)?.room ?? 0;
  }

  view(row: Float64Array | null): LinkView | null {
    return row && this.#layout ? this.#layout.link(row, this.link) : null;
  }

  /** Packets of each group in the buffer or in transmission. */
  held(): number[] {
    const { now, answer } = this;
    return answer?.groups.map((_, group) => (now && this.#layout?.held(now, this.link, group)) || 0) ?? [];
  }

  /** Of each group, packets that came, were dropped, and left since the sample before; nothing if there is none. */
  passed(): [number, number, number][] {
    const { now, before, answer } = this;
    const layout = this.#layout;
    if (!now || !before || !answer || !layout) return [];
    return answer.groups.map((_, group) => {
      const [came, dropped, left] = layout.passed(now, this.link, group);
      const [cameBefore, droppedBefore, leftBefore] = layout.passed(before, this.link, group);
      return [came - cameBefore, dropped - droppedBefore, left - leftBefore];
    });
  }

  /** Bytes that each group sent through the link since the earlier sample. */
  sent(): number[] {
    const { now, earlier, answer } = this;
    const bytes = (row: Float64Array | null, group: number) => (row && this.#layout?.groupBytes(row, this.link, group)) || 0;
    return answer?.groups.map((_, group) => bytes(now, group) - bytes(earlier, group)) ?? [];
  }

  /** Seconds that a group's last page, ping or datagram took; 0 if there is none. */
  felt(group: number): number {
    return (this.now && this.#layout?.exchange(this.now, group)) || 0;
  }

  /** The scenario with all that sliders have set, also of what moved on the way, as TOML.
   * @throws Error if it is none. */
  async written(): Promise<string> {
    const { worker, runner } = started();
    try {
      const read = await runner.read(this.asked);
      if ("problems" in read) throw new Error(read.problems.map(({ message }) => message).join("; "));
      return read.answer.toml;
    } finally {
      worker.terminate();
    }
  }

  /** How busy the link has to be, in percent: what the reader asks for, else the scenario. */
  get wanted(): number {
    return wanted.percent ?? useOf(this.answer?.toml ?? "") ?? USUAL; // no $derived: it would end with what is shown, and variants stay
  }

  /** What rules ask for, and what was measured. */
  get marks(): Mark[] {
    const { marks: rules = [], path = "" } = this.answer?.links[this.link] ?? {};
    const packets = this.measurement.answerTo(this.asked, this.link, path, this.wanted);
    return packets ? [...rules, { name: `Measured, ${this.wanted} %`, packets }] : rules;
  }

  /** Measures the least buffer that keeps the link busy. */
  async measure(most: number): Promise<void> {
    const path = this.answer?.links[this.link]?.path;
    if (path) await this.measurement.begin(this.asked, this.link, path, most, this.wanted);
  }

  /** How many packets the limit is. */
  get capacity(): number {
    return packetsOf(this.limit);
  }

  #limitAt(time: number): number {
    const changes = this.answer?.links[this.link]?.plan.changes ?? [];
    const last = changes.filter((change) => change.at_ps / 1e12 <= time).at(-1);
    return packetsOf(last ? last.limit : this.limit);
  }

  /** Of the samples those that charts show: the first, and the one behind the last. */
  #part(cell: number): [number, number] {
    const count = this.#rows.length;
    if (!this.zoomed) return [this.shown === null ? 0 : Math.max(0, count - Math.ceil(this.shown / cell) - 1), count];
    const [from, to] = this.zoomed;
    return [Math.min(count, Math.max(0, Math.floor(from / cell) - 1)), Math.min(count, Math.ceil(to / cell) + 1)];
  }

  #show(): void {
    const { answer } = this;
    const layout = this.#layout;
    if (!answer || !layout) return;
    const cell = this.#cell;
    const [first, end] = this.#part(cell);
    const rows = this.#rows.slice(first, end);
    const limits = this.#limits.slice(first, end);
    const before = this.view(this.#rows[first - 1] ?? null);
    const times = rows.map((row) => row[0] ?? 0);
    const views = rows.map((row) => layout.link(row, this.link));
    const since = (index: number, read: (view: LinkView) => number): number => {
      const [view, last] = [views[index], views[index - 1] ?? before];
      return (view ? read(view) : 0) - (last ? read(last) : 0);
    };
    /** Mbps of what counts bytes. */
    const rated = (read: (row: Float64Array) => number): number[] =>
      rows.map((row, index) => {
        const last = this.#rows[first + index - SMOOTHED];
        return (8 * (read(row) - (last ? read(last) : 0))) / (cell * Math.min(SMOOTHED, first + index + 1)) / 1e6;
      });
    const groups = answer.groups.map((_, group) => group);
    this.series = {
      backlog: [
        times,
        views.map((view) => view.backlog),
        limits.map((limit, index) => views[index]?.room || (Number.isFinite(limit) ? limit : null)),
        times.map((_, index) => since(index, (view) => view.dropped) || null),
      ],
      windows: [times, ...groups.map((group) => rows.map((row) => (answer.groups[group]?.is_tcp ? layout.window(row, group) : null)))],
      rtts: [times, ...groups.map((group) => rows.map((row) => 1000 * layout.rtt(row, group) || null))],
      rates: [times, ...groups.map((group) => rated((row) => layout.groupBytes(row, this.link, group)))],
      goodputs: [
        times,
        ...groups.map((group) => {
          const bytes = answer.groups[group]?.segment_bytes ?? 0;
          return bytes ? rated((row) => bytes * layout.acknowledged(row, group)) : times.map(() => null);
        }),
      ],
      waits: [
        times,
        times.map((_, index) => {
          const [served, waited] = [since(index, (view) => view.served), since(index, (view) => view.waited)];
          return served > 0 && waited >= 0 ? (1000 * waited) / served : null; // both begin anew after the warm-up
        }),
      ],
    };
  }

  /** One thing at a time: what the worker does has an order. */
  #alone(work: () => Promise<void>): Promise<void> {
    const done = this.#queue.then(work).catch((error: unknown) => {
      this.failure = error instanceof Error ? error.message : String(error);
    });
    this.#queue = done;
    return done;
  }
}

/** A limit in packets; full packets, if it counts bytes. */
export function packetsOf(limit: Limit): number {
  if (limit === "unlimited") return Number.POSITIVE_INFINITY;
  return "packets" in limit ? limit.packets : Math.max(1, Math.round(limit.bytes / 1500));
}
