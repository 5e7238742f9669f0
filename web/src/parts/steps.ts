/** Values that a slider stops at, and values that are typed. */

const DECADE = [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8];
/** A number, with commas before each three digits or without, and its unit. */
const TYPED = /^(\d{1,3}(?:,\d{3})+|\d*)(\.\d+|\.)?\s*(\D*)$/;

/** Round values from the least to the most, each about a quarter larger than the one before: 30 ms and 20 Mbps are as easy to hit as 10. */
export function stopsOf(least: number, most: number, isWhole: boolean): number[] {
  const [first, last] = [Math.floor(Math.log10(least)), Math.ceil(Math.log10(most))];
  const all = Array.from({ length: last - first + 1 }, (_, index) => DECADE.map((each) => Number((each * 10 ** (first + index)).toPrecision(2))));
  return [least, ...all.flat().filter((each) => each > least && each < most && (!isWhole || Number.isInteger(each))), most];
}

/** The stop that is nearest to a value, as steps of equal ratio go. */
export function nearest(stops: number[], value: number): number {
  const far = (each: number): number => Math.abs(Math.log(each / Math.max(value, Number.MIN_VALUE)));
  return stops.reduce((found, each, index) => (far(each) < far(stops[found] ?? each) ? index : found), 0);
}

/** What was typed, as the slider's own number; a number without a unit has that of what stood there. Nothing if it is none. */
export function valueOf(typed: string, stood: string, units: Record<string, number>): number | null {
  const [, digits = "", part = "", unit = ""] = TYPED.exec(typed.trim()) ?? [];
  const own = TYPED.exec(stood)?.[3] ?? Object.keys(units)[0] ?? "";
  const factor = units[(unit || own).trim().toLowerCase()];
  const value = Number(`${digits.replaceAll(",", "")}${part}` || "0") * (factor ?? 0);
  return value > 0 && Number.isFinite(value) ? Number(value.toPrecision(12)) : null;
}
