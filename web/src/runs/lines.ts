/** A chart of stored figures: what is varied along x, a line for each combination of what else is. */

import { color, dash } from "../format";
import { QUESTIONS, type Contender, type Group, type Job, type Listed, type Stored, type Value } from "../served";
import type { Columns } from "../variant.svelte";

export interface Drawn {
  columns: Columns;
  lines: { label: string; color: string; dash: number[]; points: boolean; joined: boolean; mark?: boolean }[];
  /** That the numbers along x have, if any. */
  unit: string;
  /** What the lines differ in. */
  of: string[];
  /** Of the x axis, if its values are no numbers. */
  words: string[] | undefined;
  /** Lines that there is no room for. */
  left: number;
  /** Runs that have no place along x, and those of the others that have no such figure. */
  unplaced: number;
  without: number;
  /** Runs of a point, the least and the most. */
  runs: [number, number];
}

export const MOST_LINES = 6;
/** A color that no line has. */
const ANSWER = "#9b5de5";
const NUMBER = /^([+-]?\d+(?:\.\d+)?)\s*(.*)$/;
const UNITS: Record<string, number> = { ns: 1e-9, us: 1e-6, "µs": 1e-6, ms: 1e-3, kbps: 1e3, Mbps: 1e6, Gbps: 1e9, KB: 1e3, MB: 1e6 };

/** Which of two values comes first: numbers as such, in whatever unit they are written, and none before all. */
export function ordered(a: Value, b: Value): number {
  if (a === null || b === null) return Number(b === null) - Number(a === null);
  const [one, two] = [a, b].map((each) => NUMBER.exec(String(each)));
  const amount = ([, number, unit]: RegExpExecArray): number => Number(number) * (UNITS[unit ?? ""] ?? 1);
  return one && two ? amount(one) - amount(two) : String(a).localeCompare(String(b), "en", { numeric: true });
}

/** Rows by what was varied, column by column. */
export const inOrder = (rows: Stored[]): Stored[] =>
  [...rows].sort((a, b) => a.labels.reduce<number>((before, label, at) => before || ordered(label, b.labels[at] ?? null), 0));

/** Rows that belong together, under what they are called. */
export interface Together {
  name: string;
  title: string;
  /** The title with the question that it answers. */
  called: string;
  /** Of which scenario, and what was changed in it. */
  about: string;
  /** What became of its job, if it is known. */
  state: Job["state"] | undefined;
  rows: Stored[];
}

/** The list's groups with their rows, in the order that these have; of those whose job is known also the scenario's numbers. */
export function grouped(list: Listed, rows: Stored[], known: Job[] = []): Together[] {
  const found = new Map<string, Stored[]>(list.groups.map(({ name }) => [name, []]));
  for (const row of rows) found.get(row.group)?.push(row);
  const titles = titled(list.groups);
  const called = titled(list.groups, (title) => (title in QUESTIONS ? `${title} (${QUESTIONS[title]})` : title));
  const of = new Map(list.groups.map((group) => [group.name, group]));
  return [...found].map(([name, rows], index) => {
    const group = of.get(name);
    const job = known.find((each) => each.name === group?.job);
    return { name, title: titles[index] ?? name, called: called[index] ?? name, about: group ? aboutOf(group, job) : "", state: job?.state, rows };
  });
}

/** What differs between jobs comes first. */
function aboutOf({ scenario, changed }: Group, job: Job | undefined): string {
  return `${changed ? `with ${changed}: ` : ""}${scenario}${job?.numbers ? ` (${job.numbers})` : ""}`;
}

/** "sweep of queue, 14:02"; with seconds where two began in one minute. */
function titled(groups: Group[], named: (title: string) => string = (title) => title): string[] {
  const said = (seconds: boolean) => groups.map(({ title, began_at }) => [named(title), ...(began_at ? [clock(new Date(began_at), seconds)] : [])].join(", "));
  const [plain, exact] = [said(false), said(true)];
  return plain.map((each, index) => (plain.indexOf(each) === plain.lastIndexOf(each) ? each : (exact[index] ?? each)));
}

/** The reader's own time, and the day if it is another one. */
function clock(moment: Date, seconds: boolean): string {
  const time = moment.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit", ...(seconds ? { second: "2-digit" } : {}) });
  return moment.toDateString() === new Date().toDateString() ? time : `${moment.toLocaleDateString("en-GB", { day: "numeric", month: "short" })} ${time}`;
}

/** Labels that may be on the x axis: those that differ. */
export function axes(list: Listed): string[] {
  return labels(list).filter((name) => name !== "runs" && new Set(list.rows.map((row) => valueOf(list, row, name))).size > 1);
}

const isQueue = (name: string): boolean => name.endsWith("queue");

/** What a chart shows, as a sentence: its axes, its lines, what a point is, and what the ring is. */
export function seenIn(chart: Drawn, x: string, figure: string, means: boolean): string {
  const { of, runs: [least, most] } = chart;
  const kind = chart.words ? "bar" : "line";
  const lines = of.length > 2 ? `, a ${kind} for each other setting that was tried` : of.length ? `, a ${kind} for each ${of.join(" and ")}` : "";
  const several = `${least === most ? most : `${least} to ${most}`} runs that differ in the seed, the start of their random draws, alone`;
  const point = means ? "the mean over its seeds" : most === 1 ? "one run" : `the mean of ${several}`;
  const ring = chart.lines.some(({ mark }) => mark) && !chart.words ? " The ring is the answer." : "";
  return `${figure}, for each ${x}${chart.words ? "" : " from left to right"}${lines}. A ${chart.words ? "bar" : "point"} is ${point}.${ring}`;
}

/** What lines differ in: the queue first, always, as no line leads from one to another; what was changed in some runs alone, as no line leads from the
 * scenario as it is to another; of others what does not follow from x and those before. */
function parting(list: Listed, rows: Stored[], x: string): string[] {
  const key = (row: Stored, names: string[]): string => JSON.stringify(names.map((name) => valueOf(list, row, name)));
  const kinds = (names: string[]): number => new Set(rows.map((row) => key(row, names))).size;
  const others = axes(list).filter((name) => name !== x && name !== "seed");
  const isSome = (name: string): boolean => rows.some((row) => valueOf(list, row, name) === null);
  const parts = (kept: string[], name: string): boolean => {
    const beside = isSome(name) && !isSome(x) ? kept : [x, ...kept];
    return kinds([...beside, name]) > kinds(beside);
  };
  return others
    .sort((a, b) => Number(isQueue(b)) - Number(isQueue(a)))
    .reduce<string[]>((kept, name) => (isQueue(name) || parts(kept, name) ? [...kept, name] : kept), []);
}

/** The one to begin with: of a comparison of queues the queue; else the buffer; then numbers, as between words no line leads; then what has most values, but for seeds. */
export function firstAxis(list: Listed, isOfQueues: boolean): string | undefined {
  const count = (name: string): number => (name === "seed" ? 0 : new Set(list.rows.map((row) => valueOf(list, row, name))).size);
  const places = (name: string): Value[] => list.rows.map((row) => valueOf(list, row, name)).filter((each) => each !== null);
  const ranked = (name: string): number => (isOfQueues && isQueue(name) ? 3000 : 0) + (name !== "seed" && numeric(places(name)) ? (name.endsWith("buffer") ? 2000 : 1000) : 0) + count(name);
  return axes(list).sort((a, b) => ranked(b) - ranked(a))[0];
}

/** The axis of queues as an answer compares them, each with the setting that was found for it. */
export const COMPARED = "compared";
const QUEUES = "Queues,";

/** What an answer of advise compares, as a list of its own, the answer first; null where there is none. The runs are those of seeds that all have. */
export function contestOf(list: Listed, rows: Stored[], job: Job | undefined): Listed | null {
  const grid = job?.view?.find((part) => part.kind === "grid" && part.title.startsWith(QUEUES));
  if (grid?.kind !== "grid") return null;
  const whole = grid.rows.map(([name = ""]) => name.replace("the scenario's ", ""));
  const brief = whole.map((name) => name.replace(/^([^,]+),.* (\S+ \S+)$/, "$1, $2"));
  const names = new Set(brief).size === brief.length ? brief : whole;
  const found = rows.flatMap((row) => {
    const at = whole.findIndex((name) => isNamed(list, row, name));
    return at < 0 ? [] : [{ at, row, seed: valueOf(list, row, "seed") }];
  });
  const places = new Set(found.map(({ at }) => at));
  const isCommon = (seed: Value): boolean => [...places].every((place) => found.some((each) => each.at === place && each.seed === seed));
  const kept = found.filter(({ seed }) => isCommon(seed)).sort((a, b) => a.at - b.at);
  if (places.size < 2 || !kept.length) return null;
  const column = { name: COMPARED, title: "queue with its setting, as the answer compares them", figure: false };
  return { ...list, columns: [column, ...list.columns.filter(({ figure }) => figure)], rows: kept.map(({ at, row }) => ({ ...row, labels: [names[at] ?? ""] })) };
}

/** Whether a run is of a queue as an answer names it, "pie, target 15 ms" or "fifo, 32 packets", with the scenario's own traffic. */
function isNamed(list: Listed, row: Stored, name: string): boolean {
  const others = labels(list).filter((each) => !isQueue(each) && !each.endsWith("buffer") && each !== "seed" && each !== "runs");
  const at = (isOne: (name: string) => boolean): string => String(valueOf(list, row, labels(list).find(isOne) ?? ""));
  const queue = at(isQueue).replace(/ \((.*)\)$/, ", $1");
  return others.every((each) => valueOf(list, row, each) === null) && [queue, `${queue}, ${at((each) => each.endsWith("buffer"))}`].includes(name);
}

/** Whether a queue as lists name it, "fq_codel (target 5 ms)", is one of an answer, "fq_codel" with "5 ms". */
const isOf = ({ queue, setting }: Contender, label: Value): boolean => label === queue || (String(label).startsWith(`${queue} (`) && String(label).includes(` ${setting}`));

/** Means of a figure over the rows that agree in all but the seed, as so many lines at most; those that an answer compares come first, and its point is marked. */
export function drawn(list: Listed, rows: Stored[], x: string, figure: string, most: number, compared: Contender[] = []): Drawn {
  const at = list.columns.filter((column) => column.figure).findIndex((column) => column.name === figure);
  const others = parting(list, rows, x);
  const severalGroups = new Set(rows.map((row) => row.group)).size > 1;
  const titles = new Map(grouped(list, []).map(({ name, title }) => [name, title]));
  const groups = new Map<string, Map<Value, number[]>>();
  /** By how many settings each line departs from the scenario, behind what is compared. */
  const departing = new Map<string, number>();
  const answers = new Map<Value, number[]>();
  for (const row of rows) {
    const [place, value] = [valueOf(list, row, x), row.values[at]];
    if (place === null || value === null || value === undefined) continue;
    const of = severalGroups ? (titles.get(row.group) ?? "") : "";
    const values = others.flatMap((each) => shortOf(each, titleOf(list, each) ?? each, valueOf(list, row, each)));
    const name = [...new Set(values), ...(of ? [of] : [])].join(", ") || (others.length ? "the scenario as it is" : (titleOf(list, figure) ?? figure));
    const changes = others.filter((each) => !isQueue(each) && valueOf(list, row, each) !== null).length;
    const rank = changes ? -1 : compared.findIndex((each) => !each.queue || others.some((other) => isQueue(other) && isOf(each, valueOf(list, row, other))));
    const far = rank < 0 ? changes : (rank - compared.length) / compared.length;
    departing.set(name, Math.min(departing.get(name) ?? far, far));
    if (rank === 0 && isAnswer(list, row, compared[0])) answers.set(place, [...(answers.get(place) ?? []), value]);
    const group = groups.get(name) ?? new Map<Value, number[]>();
    groups.set(name, group.set(place, [...(group.get(place) ?? []), value]));
  }
  const placed = rows.filter((row) => valueOf(list, row, x) !== null);
  const places = [...new Set(rows.map((row) => valueOf(list, row, x)).filter((each) => each !== null))];
  const numbers = numeric(places);
  const inWords = (a: number, b: number): number => x === COMPARED ? a - b : ordered(places[a] ?? null, places[b] ?? null);
  const order = places.map((_, index) => index).sort((a, b) => (numbers ? (numbers[a] ?? 0) - (numbers[b] ?? 0) : inWords(a, b)));
  const shown = [...groups].sort(([a, one], [b, two]) => (departing.get(a) ?? 0) - (departing.get(b) ?? 0) || two.size - one.size).slice(0, most);
  const counts = shown.flatMap(([, group]) => [...group.values()].map(({ length }) => length));
  const mean = (values: number[] | undefined): number | null => (values ? values.reduce((sum, each) => sum + each, 0) / values.length : null);
  const marked = answers.size ? [{ label: "the answer", color: ANSWER, dash: [], points: true, joined: false, mark: true }] : [];
  return {
    columns: [
      order.map((index, at) => (numbers ? (numbers[index] ?? 0) : at)),
      ...[...shown.map(([, group]) => group), ...marked.map(() => answers)].map((group) => order.map((index) => mean(group.get(places[index] ?? null)))),
    ],
    lines: [...shown.map(([label], index) => ({ label, color: color(index), dash: dash(index), points: true, joined: numbers !== null })), ...marked],
    unit: numbers ? unitOf(places[0] ?? null) : "",
    of: others.map((each) => titleOf(list, each) ?? each),
    words: numbers ? undefined : order.map((index) => String(places[index])),
    left: groups.size - shown.length,
    unplaced: rows.length - placed.length,
    without: placed.filter((row) => row.values[at] == null).length,
    runs: [Math.min(...counts), Math.max(...counts)],
  };
}

/** Of a FIFO, and where all runs have one queue, the buffer is the setting; a queue with a target names it. */
function isAnswer(list: Listed, row: Stored, answer: Contender | undefined): boolean {
  const said = labels(list).map((name) => valueOf(list, row, name));
  return answer !== undefined && ((answer.queue !== "" && !said.includes(answer.queue)) || said.includes(answer.setting));
}

/** A value with its name, or alone if it says itself what it is; nothing where it is the scenario's own. */
function shortOf(name: string, title: string, value: Value): string[] {
  if (value === null) return [];
  return [isQueue(name) || typeof value === "string" && (!NUMBER.test(value) || name.endsWith("buffer")) ? String(value) : `${title} ${value}`];
}

export function valueOf(list: Listed, row: Stored, name: string): Value {
  return row.labels[labels(list).indexOf(name)] ?? null;
}

export const titleOf = (list: Listed, name: string): string | undefined => list.columns.find((column) => column.name === name)?.title;

const labels = (list: Listed): string[] => list.columns.filter((column) => !column.figure).map((column) => column.name);

/** "packets", of one as of several. */
const unitOf = (value: Value): string => (typeof value === "number" ? "" : (NUMBER.exec(String(value))?.[2] ?? "")).replace(/^packet$/, "packets");

/** Numbers of values that are some, all of one unit. */
function numeric(values: Value[]): number[] | null {
  const read = values.map((value) => (typeof value === "number" ? ["", String(value), ""] : NUMBER.exec(String(value))));
  const units = new Set(values.map(unitOf));
  return read.every(Boolean) && units.size <= 1 ? read.map((each) => Number(each?.[1])) : null;
}
