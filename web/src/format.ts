/** Numbers for people. */

function scaled(value: number, units: readonly [number, string][], digits = 3): string {
  const [factor, unit] = units.find(([least]) => value >= least) ?? units[units.length - 1] ?? [1, ""];
  return `${Number((value / factor).toPrecision(digits))} ${unit}`;
}

export const rate = (bps: number): string =>
  scaled(bps, [[1e9, "Gbps"], [1e6, "Mbps"], [1e3, "kbps"], [1, "bps"]]);

export const bytes = (count: number): string => scaled(count, [[1e9, "GB"], [1e6, "MB"], [1e3, "kB"], [1, "B"]]);

const SECONDS: [number, string][] = [[1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"]];

export const time = (seconds: number): string => (seconds === 0 ? "0 s" : scaled(seconds, SECONDS));

/** What may stand behind typed numbers, in the unit that the page computes in. */
export const TIMES = { ms: 1e-3, s: 1, "µs": 1e-6, us: 1e-6, ns: 1e-9 };
export const RATES = { mbps: 1e6, bps: 1, kbps: 1e3, gbps: 1e9, "mbit/s": 1e6, "bit/s": 1, "kbit/s": 1e3, "gbit/s": 1e9 };
export const SIZES = { b: 1, kb: 1e3, mb: 1e6, kib: 1024, mib: 1_048_576 };
export const COUNTS = { "": 1, flows: 1, flow: 1 };

/** As scenarios have it. */
export const typed = (seconds: number): string => time(seconds).replace("µ", "u");

/** The engine's time is in whole picoseconds: 0.8 - 0.1 is a little more than the moment that a run can reach. */
export const reachable = (seconds: number): number => Math.round(seconds * 1e12) / 1e12;

/** A moment of a run: a thousandth of the run shows. */
export const moment = (seconds: number): string => (seconds === 0 ? "0 s" : scaled(seconds, SECONDS, 4));

/** A share. */
export const percent = (share: number): string => `${Number((100 * share).toPrecision(3))} %`;

export const whole = (value: number): string => Math.round(value).toLocaleString("en-US");

export const packets = (count: number): string => `${whole(count)} ${count === 1 ? "packet" : "packets"}`;

/** Okabe and Ito's colors, which people who see few colors can tell apart. */
const COLORS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#b8a800", "#7f7f7f"];

/** Lines of a chart differ in more than their color. */
const DASHES = [[], [8, 4], [3, 2], [12, 3, 3, 3], [5, 3]];

export const dash = (line: number): number[] => DASHES[line % DASHES.length] ?? [];

export const color = (group: number): string => COLORS[group % COLORS.length] ?? "#7f7f7f";

/** A mean and half its confidence interval, of few runs: with no more digits than four of the mean, and two of the interval. */
export function spread(mean: number, half: number): string {
  const digits = (value: number, kept: number): number => Math.max(0, kept - 1 - Math.floor(Math.log10(Math.abs(value) || 1)));
  const decimals = Math.min(digits(mean, 4), digits(half, 2));
  const least = 10 ** -decimals;
  return `${mean.toFixed(decimals)} ± ${half < least / 2 ? `less than ${Number(least.toPrecision(1))}` : half.toFixed(decimals)}`;
}
