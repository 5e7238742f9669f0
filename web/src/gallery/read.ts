/** The gallery: figures of documents, from web/gallery/figures.json, and the examples. */

import made from "../../gallery/figures.json";
import type { Asked } from "../engine/types";
import { EXAMPLES } from "../examples";
import { color, dash } from "../format";
import type { Columns } from "../variant.svelte";

type Point = [number, number];

interface Axis {
  title: string;
  log?: boolean;
  /** Where it begins, if not at 0. */
  from?: number;
}

export interface Figure {
  name: string;
  /** What `bufferlab reproduce` calls it. */
  of: string;
  title: string;
  /** What it shows, what the document states of it, and what came of our runs. */
  shows: string;
  states: string;
  found: string;
  /** Whether these agree, where no number is compared. */
  agree: string;
  /** What is compared, where that is not what is drawn. */
  compares: string;
  x: Axis;
  y: Axis;
  lines: { title: string; published: boolean; points: Point[] }[];
  /** Numbers that the document states. */
  published: { point: Point; what: string; place: string }[];
  /** What the document promises for all of the figure. */
  level: number | null;
  verdicts: { verdict: string; is_bound: boolean; count: number }[];
  /** How far values may be from the stated ones. */
  tolerance: string;
  /** The points that were compared, by verdict, and why they do not agree with what is stated. */
  reasons: { verdict: string; why: string; points: string[] }[];
  /** Of all live runs; none where nothing is random. */
  seed: number | null;
  /** What is called otherwise there than here. */
  groups: string;
  /** Scenarios to see live, what each comes to of what the chart draws, and of the chart's runs there the least and the most, if it draws it. */
  variants: { name: string; text: string; here: number; chart: [number, number] | [null, null] }[];
  /** Whether the live runs are shorter than those of the points. */
  shortened: boolean;
}

export interface Document {
  title: string;
  citation: string;
  figures: Figure[];
}

export const DOCUMENTS = made as unknown as Document[];

/** What is shown live from the start, and what to say of it. */
export interface Start {
  title: string;
  /** How its runs are beside what its figure draws. */
  said?: string;
  asked: Asked[];
}

export const liveOf = (figure: Figure): string => `#figure=${figure.name}`;
export const exampleOf = (name: string): string => `#example=${encodeURIComponent(name)}`;

/** What an address of the gallery begins the laboratory with; null if it is none, or of nothing that there is. */
export function startOf(hash: string): Start | null {
  const [kind, name = ""] = hash.split("=", 2);
  if (kind === "#example") {
    const example = EXAMPLES.find((each) => exampleOf(each.name) === hash);
    return example ? { title: `Example: ${example.name}`, asked: [{ text: example.text, overrides: {} }] } : null;
  }
  const figure = kind === "#figure" ? DOCUMENTS.flatMap((document) => document.figures).find((each) => each.name === name) : undefined;
  return figure ? { title: figure.title, said: besideChart(figure), asked: figure.variants.map(({ text }) => ({ text, overrides: {} })) } : null;
}

/** What live runs come to, beside the runs of the chart at the same points. */
function besideChart({ y, seed, groups, variants, shortened }: Figure): string {
  const short = (value: number): string => String(Number(value.toPrecision(3)));
  const points = variants.flatMap(({ name, here, chart: [least, most] }) => {
    if (least === null) return [];
    const [from, to] = [short(least), short(most)];
    return [`${name}: ${short(here)} (chart: ${from === to ? from : `${from} to ${to}`})`];
  });
  const values = points.length ? `${y.title}, in these runs and in those of the chart, at the end: ${points.join("; ")}.` : "";
  const of = seed === null ? "" : `These runs have seed ${seed}, of 1 to 8 the one nearest to the usual${shortened ? "; they are shorter than the chart's" : ""}.`;
  return [groups, values, of].filter(Boolean).join(" ");
}

export interface Drawn {
  columns: Columns;
  lines: { label: string; color: string; points: boolean; joined: boolean; dash?: number[] }[];
}

/** A figure's lines over one x axis. */
export function drawn(figure: Figure): Drawn {
  const found: (Drawn["lines"][number] & { places: Map<number, number> })[] = figure.lines.map((line, index) => ({
    label: line.title,
    color: color(index),
    points: true,
    joined: !line.published,
    dash: dash(index),
    places: new Map(line.points),
  }));
  if (figure.published.length) {
    const places = new Map(figure.published.map((each) => each.point));
    found.push({ label: "Published", color: "#d55e00", points: true, joined: false, places });
  }
  const all = [...new Set(found.flatMap((line) => [...line.places.keys()]))].sort((a, b) => a - b);
  if (figure.level !== null) {
    const level = figure.level;
    found.push({ label: "Published", color: "#d55e00", points: false, joined: true, dash: [6, 3], places: new Map(all.map((x) => [x, level])) });
  }
  return {
    columns: [all, ...found.map((line) => filled(all, line.places))],
    lines: found.map(({ places: _, ...line }) => line),
  };
}

/** Null where a line has no point, and undefined between its points, through which lines are drawn. */
function filled(all: number[], places: Map<number, number>): (number | null)[] {
  const ends = [Math.min(...places.keys()), Math.max(...places.keys())] as const;
  return all.map((x) => places.get(x) ?? (x > ends[0] && x < ends[1] ? (undefined as unknown as null) : null));
}

/** Whether what was measured agrees with what was published: "In part. Limits that are kept: 18 of 21; values within their tolerance (50 %): 4 of 5. 5 more cannot
 * be compared." A limit says less than a value, so they are counted apart. */
export function agreementOf({ agree, compares, verdicts, tolerance }: Figure): string {
  if (agree) return agree;
  const count = (wanted: string, isOf = (_: boolean): boolean => true): number => verdicts.filter((each) => each.verdict === wanted && isOf(each.is_bound)).reduce((sum, each) => sum + each.count, 0);
  const kept = (what: string, isOf: (isBound: boolean) => boolean): string[] => {
    const [agreeing, all] = [count("agrees", isOf), count("agrees", isOf) + count("differs", isOf)];
    return all ? [`${what}: ${agreeing} of ${all}`] : [];
  };
  const parts = [...kept("limits that are kept", (isBound) => isBound), ...kept(tolerance ? `values within their tolerance (${tolerance})` : "values that are the stated ones", (isBound) => !isBound)].join("; ");
  const left = count("not comparable");
  return [count("differs") ? (count("agrees") ? "In part." : "No.") : "Yes.", compares, `${parts.charAt(0).toUpperCase()}${parts.slice(1)}.`, left ? `${left} more cannot be compared.` : ""].filter(Boolean).join(" ");
}

/** "3 points differ". */
export function verdictOf(verdict: string, count: number): string {
  const one = count === 1;
  const does = { agrees: one ? "agrees" : "agree", differs: one ? "differs" : "differ" }[verdict] ?? "cannot be compared";
  return `${count} ${one ? "point" : "points"} ${does}`;
}
