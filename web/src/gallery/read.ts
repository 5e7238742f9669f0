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
  /** What values are shown times, such as 100 for shares in percent. */
  times?: number;
}

/** What is compared at a point of a figure: what, where, what is stated of it and what came of it here. */
export interface Place {
  what: string;
  place: string;
  stated: string;
  here: string;
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
  /** Whether these agree, and why or why not. */
  agree: string;
  /** What else there is to know of what is compared or drawn. */
  note: string;
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
  reasons: { verdict: string; why: string; points: Place[] }[];
  /** Of all live runs; none where nothing is random. */
  seed: number | null;
  /** What is called otherwise there than here. */
  groups: string;
  /** Scenarios to see live, what each comes to of what the chart draws, the least and the most of eight seeds, and of the chart's runs there, if it draws it. */
  variants: { name: string; text: string; here: number; tried: Point; chart: Point | [null, null] }[];
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
  /** The gallery, there where it is offered. */
  back: string;
}

/** The id of the list of examples. */
export const EXAMPLES_PLACE = "examples";

/** The gallery's address that shows a figure, a document's figures or the examples. */
export const placeOf = (id: string): string => `#gallery.${id}`;

export const liveOf = (figure: Figure): string => `#figure=${figure.name}`;
export const exampleOf = (name: string): string => `#example=${encodeURIComponent(name)}`;

/** What an address of the gallery begins the laboratory with; null if it is none, or of nothing that there is. */
export function startOf(hash: string): Start | null {
  const [kind, name = ""] = hash.split("=", 2);
  if (kind === "#example") {
    const example = EXAMPLES.find((each) => exampleOf(each.name) === hash);
    return example ? { title: `Example: ${example.name}`, asked: [{ text: example.text, overrides: {} }], back: placeOf(EXAMPLES_PLACE) } : null;
  }
  const figure = kind === "#figure" ? DOCUMENTS.flatMap((document) => document.figures).find((each) => each.name === name) : undefined;
  return figure ? { title: figure.title, said: besideChart(figure), asked: figure.variants.map(({ text }) => ({ text, overrides: {} })), back: placeOf(figure.name) } : null;
}

/** What live runs come to, beside the runs of the chart at the same points. */
function besideChart({ y, seed, groups, variants, shortened }: Figure): string {
  const short = (value: number): string => String(Number(scaled(y, value).toPrecision(3)));
  const span = ([least, most]: Point): string => (short(least) === short(most) ? short(least) : `${short(least)} to ${short(most)}`);
  const points = variants.flatMap(({ name, here, tried, chart: [least, most] }) => {
    if (least === null) return [];
    const chance = here < 0.95 * least || here > 1.05 * most ? `; by chance, seeds 1 to 8: ${span(tried)}` : "";
    return [`${name}: ${short(here)} (chart: ${span([least, most])}${chance})`];
  });
  const values = points.length ? `${y.title}, in these runs and in those of the chart, at the end: ${points.join("; ")}.` : "";
  const of = seed === null ? "" : `These runs have seed ${seed}, of 1 to 8 the one nearest to the usual${shortened ? "; they are shorter than the chart's" : ""}.`;
  return [groups, values, of].filter(Boolean).join(" ");
}

/** A value as it is shown. */
export const scaled = ({ times = 1 }: Axis, value: number): number => Number((times * value).toPrecision(6));

export interface Drawn {
  columns: Columns;
  lines: { label: string; color: string; points: boolean; joined: boolean; dash?: number[] }[];
}

/** Colors of what was published, which no simulated line has. */
const PUBLISHED = ["#d55e00", "#9b2226"];

/** A figure's lines over one x axis. */
export function drawn(figure: Figure): Drawn {
  // what was published comes last, so that nothing hides it
  const ordered = [...figure.lines].sort((a, b) => Number(a.published) - Number(b.published));
  const firstPublished = ordered.findIndex(({ published }) => published);
  const found: (Drawn["lines"][number] & { places: Map<number, number> })[] = ordered.map((line, index) => ({
    label: line.title,
    color: line.published ? (PUBLISHED[index - firstPublished] ?? color(index)) : color(index),
    points: true,
    joined: !line.published,
    dash: line.published ? [] : dash(index),
    places: placesOf(figure.y, line.points),
  }));
  if (figure.published.length) {
    const places = placesOf(figure.y, figure.published.map((each) => each.point));
    const from = [...new Set(figure.published.map(({ place }) => place))].join("; ");
    found.push({ label: `Published: ${from}`, color: PUBLISHED[0] ?? "", points: true, joined: false, places });
  }
  const all = [...new Set(found.flatMap((line) => [...line.places.keys()]))].sort((a, b) => a - b);
  if (figure.level !== null) {
    const level = scaled(figure.y, figure.level);
    found.push({ label: `Published: ${level}`, color: PUBLISHED[0] ?? "", points: false, joined: true, dash: [6, 3], places: new Map(all.map((x) => [x, level])) });
  }
  return {
    columns: [all, ...found.map((line) => filled(all, line.places))],
    lines: found.map(({ places: _, ...line }) => line),
  };
}

const placesOf = (y: Axis, points: Point[]): Map<number, number> => new Map(points.map(([at, value]) => [at, scaled(y, value)]));

/** Null where a line has no point, and undefined between its points, through which lines are drawn. */
function filled(all: number[], places: Map<number, number>): (number | null)[] {
  const ends = [Math.min(...places.keys()), Math.max(...places.keys())] as const;
  return all.map((x) => places.get(x) ?? (x > ends[0] && x < ends[1] ? (undefined as unknown as null) : null));
}

/** What of the points was counted: "Of 21 stated limits ours keeps 18; of 5 stated values ours is near 4 (within 50 %). 5 more cannot be compared." A limit says
 * less than a value, so they are counted apart. */
export function countsOf({ verdicts, tolerance }: Figure): string {
  const count = (wanted: string, isOf = (_: boolean): boolean => true): number => verdicts.filter((each) => each.verdict === wanted && isOf(each.is_bound)).reduce((sum, each) => sum + each.count, 0);
  const kept = (what: string, does: string, isOf: (isBound: boolean) => boolean): string[] => {
    const [agreeing, all] = [count("agrees", isOf), count("agrees", isOf) + count("differs", isOf)];
    if (all === 1) return [`the stated ${what} is ${agreeing ? "" : "not "}${what === "limit" ? "kept" : "met"}`];
    return all ? [`of ${all} stated ${what}s ours ${does} ${agreeing || "none"}`] : [];
  };
  const near = kept("value", tolerance ? "is near" : "is", (isBound) => !isBound).map((text) => (tolerance ? `${text} (within ${tolerance})` : text));
  const parts = [...kept("limit", "keeps", (isBound) => isBound), ...near].join("; ");
  const left = count("not comparable");
  return [`${parts.charAt(0).toUpperCase()}${parts.slice(1)}.`, left ? `${left} more cannot be compared.` : ""].filter(Boolean).join(" ");
}

/** Points by what is compared and what is stated of it, where it is the same of several. */
export function tablesOf(points: Place[]): { what: string; stated: string; points: Place[] }[] {
  const found = new Map<string, Place[]>();
  for (const point of points) found.set(point.what, [...(found.get(point.what) ?? []), point]);
  return [...found].map(([what, those]) => ({ what, stated: those.every(({ stated }) => stated === those[0]?.stated) ? (those[0]?.stated ?? "") : "", points: those }));
}

/** "3 points differ". */
export function verdictOf(verdict: string, count: number): string {
  const one = count === 1;
  const does = { agrees: one ? "agrees" : "agree", differs: one ? "differs" : "differ" }[verdict] ?? "cannot be compared";
  return `${count} ${one ? "point" : "points"} ${does}`;
}
