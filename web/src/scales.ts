/** What charts of variants side by side have in common, so that they can be compared: one axis for one quantity. */

import type { Columns, Series, Variant, Zoom } from "./variant.svelte";

export interface Scales {
  /** Where the axis of time begins and ends, in seconds. */
  start: number;
  end: number;
  /** Where each chart's y axis ends. */
  most: Record<keyof Series, number>;
  /** A limit above this is not drawn: it would press the backlog flat. */
  reach: number;
  /** The most packets dropped between two points. */
  drops: number;
  /** The longest wait, in seconds. */
  wait: number;
  /** Shows a part of the run, or again what was shown before. */
  zoom?: (part: Zoom | null) => void;
}

const FAR = 4;
/** What to look at first, and what else there is. */
export const FIRST_CHARTS: (keyof Series)[] = ["backlog", "waits"];
export const MORE_CHARTS: (keyof Series)[] = ["windows", "rtts", "rates", "goodputs"];
const CHARTS = [...FIRST_CHARTS, ...MORE_CHARTS];

export function scalesOf(variants: Variant[]): Scales {
  const tables = (chart: keyof Series): Columns[] => variants.flatMap(({ series }) => (series ? [series[chart]] : []));
  const backlog = largest(tables("backlog").map(([, column = []]) => column));
  const reach = FAR * backlog;
  const limits = tables("backlog").map(([, , column = []]) => column.map((each) => (each !== null && each > reach ? null : each)));
  const most = Object.fromEntries(CHARTS.map((chart) => [chart, largest(tables(chart).flatMap((columns) => columns.slice(1)))])) as Scales["most"];
  return {
    ...spanOf(variants),
    most: { ...most, backlog: Math.max(backlog, largest(limits)) },
    reach,
    drops: largest(tables("backlog").map(([, , , column = []]) => column)),
    wait: largest(variants.map(({ waits }) => waits.seconds)),
  };
}

/** All of the longest run, its last seconds, or the part that was asked for. */
function spanOf(variants: Variant[]): Pick<Scales, "start" | "end"> {
  const [{ shown = null, zoomed = null } = {}] = variants;
  if (zoomed) return { start: zoomed[0], end: zoomed[1] };
  if (shown === null) return { start: 0, end: Math.max(0, ...variants.map(({ duration }) => duration)) || 1 };
  const end = Math.max(shown, ...variants.map(({ time }) => time));
  return { start: end - shown, end };
}

export function largest(columns: (number | null)[][]): number {
  return columns.reduce<number>((most, column) => column.reduce<number>((found, each) => Math.max(found, each ?? 0), most), 0);
}
