/** Where the numbers of a sample are: crates/web/src/sampled.rs. */

const LINK = 9;
const GROUP = 4;
const SENDERS = 6;

export interface LinkView {
  arrived: number;
  dropped: number;
  departed: number;
  departedBytes: number;
  backlog: number;
  backlogBytes: number;
  served: number;
  waited: number;
  /** Packets that sub-buffers of a discipline which sizes them have room for together; 0 of others. */
  room: number;
}

/** Reads samples of a run. */
export class Layout {
  readonly width: number;

  constructor(
    readonly links: number,
    readonly groups: number,
  ) {
    this.width = 1 + links * (LINK + groups * GROUP) + groups * SENDERS;
  }

  link(row: Float64Array, link: number): LinkView {
    const at = this.#link(link);
    const get = (offset: number) => row[at + offset] ?? 0;
    const [arrived, dropped, departed, departedBytes] = [get(0), get(1), get(2), get(3)];
    const [backlog, backlogBytes, served, waited, room] = [get(4), get(5), get(6), get(7), get(8)];
    return { arrived, dropped, departed, departedBytes, backlog, backlogBytes, served, waited, room };
  }

  /** Packets of a group that wait or are in transmission. */
  held(row: Float64Array, link: number, group: number): number {
    const at = this.#group(link, group);
    return (row[at] ?? 0) - (row[at + 1] ?? 0) - (row[at + 2] ?? 0);
  }

  /** Packets of a group that came, were dropped, and left. */
  passed(row: Float64Array, link: number, group: number): [number, number, number] {
    const at = this.#group(link, group);
    return [row[at] ?? 0, row[at + 1] ?? 0, row[at + 2] ?? 0];
  }

  groupBytes(row: Float64Array, link: number, group: number): number {
    return row[this.#group(link, group) + 3] ?? 0;
  }

  /** Mean window in segments. */
  window(row: Float64Array, group: number): number {
    return row[this.#senders(group)] ?? 0;
  }

  /** Mean smoothed round-trip time in seconds. */
  rtt(row: Float64Array, group: number): number {
    return row[this.#senders(group) + 1] ?? 0;
  }

  /** Seconds that the last exchange took, mean of those that have one; 0 if there is none. */
  exchange(row: Float64Array, group: number): number {
    return row[this.#senders(group) + 2] ?? 0;
  }

  /** Segments that were acknowledged. */
  acknowledged(row: Float64Array, group: number): number {
    return row[this.#senders(group) + 4] ?? 0;
  }

  #link(link: number): number {
    return 1 + link * (LINK + this.groups * GROUP);
  }

  #group(link: number, group: number): number {
    return this.#link(link) + LINK + group * GROUP;
  }

  #senders(group: number): number {
    return this.#link(this.links) + group * SENDERS;
  }
}
