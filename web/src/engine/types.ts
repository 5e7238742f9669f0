/** What the engine is asked and what it answers: crates/web/src/asked.rs and tables.rs. */

export interface Asked {
  text: string;
  overrides: Record<string, string>;
}

/** What a published rule asks for. */
export interface Mark {
  name: string;
  packets: number;
}

export interface Problem {
  message: string;
  line: number | null;
  column: number | null;
}

/** "unlimited", or a number of one of both. */
export type Limit = "unlimited" | { packets: number } | { bytes: number };

/** What a slider does to a link of a run that is under way. */
export interface Move {
  time: number;
  link: number;
  to: { limit: Limit } | { discipline: Discipline };
}

/** As the plan has it, with its parameters. */
export interface Discipline {
  kind: string;
  limit: Limit;
  target_ps?: number | null;
}

export interface LinkAnswer {
  plan: {
    name: string;
    rate_bps: number;
    discipline: Discipline;
    changes: { at_ps: number; limit: Limit }[];
  };
  buffer: string;
  path: string;
  /** The discipline that the text has, whatever sliders say; none if the text alone is no scenario. */
  own_queue: string | null;
  marks: Mark[];
}

export interface GroupAnswer {
  name: string;
  flows: number;
  rtt_s: number;
  forward: number[];
  is_tcp: boolean;
  /** Payload of TCP's full segments; 0 without TCP. */
  segment_bytes: number;
  echoes: boolean;
  /** Whether its packets are of pictures of a video call. */
  films: boolean;
  /** The congestion control that the text has, whatever sliders say. */
  own_control: string | null;
}

export interface Answer {
  title: string;
  hash: string;
  toml: string;
  seed: number;
  duration_s: number;
  warmup_s: number;
  links: LinkAnswer[];
  groups: GroupAnswer[];
  /** What `queue` may be in one word. */
  queues: Word[];
  /** What `congestion` may be. */
  controls: Word[];
}

/** A word of scenarios, and what it is. */
export interface Word {
  word: string;
  doc: string;
}

export type Read = { answer: Answer } | { problems: Problem[] };

/** What a discipline has inside: crates/web/src/inside.rs. */
export interface Inside {
  classes: { packets: number; limit: Limit; threshold_s: number | null; rtt_s: number | null; delay_s: number }[];
  queues: { packets: number; group: number; is_new: boolean }[];
  queues_in_all: number;
  /** The groups of every first, second, third, … packet in one queue, the next one to be out first; nothing if there are several queues. */
  order: { every: number; groups: number[] };
}

/** What a step of a run brought. */
export interface Progress {
  /** Samples at the grid's moments, one behind the other. */
  rows: Float64Array;
  /** One at the moment reached. */
  now: Float64Array;
  /** Of the link that is looked at, then. */
  inside: Inside;
  waits: Waits;
}

/** Of packets at a link's queue. */
export interface Queued {
  loss: number;
  wait_mean_ms: number;
}

/** What a run came to: crates/web/src/summary.rs. */
export interface Summary {
  links: { utilization: number; all: Queued; groups: (Queued | null)[] }[];
  groups: OfGroup[];
}

/** What users of a group felt; `null` where it has no such traffic. */
export interface OfGroup {
  goodput_bps: number;
  exchange_s: number | null;
  call: { rating: number; score: number; delay_ms: number | null } | null;
  frames: { late: number; p95_ms: number | null } | null;
}

/** How many of 100 packets wait no longer. */
export interface Waits {
  seconds: number[];
  percent: number[];
}
