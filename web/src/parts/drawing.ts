/** The parts of the picture of a link, on a canvas. */

import type { Inside } from "../engine/types";
import { color, time, whole } from "../format";
import { packetsOf } from "../variant.svelte";

const ROWS = 6;
const SIZE = 9;
const EMPTY = "#8885";

export interface Frame {
  context: CanvasRenderingContext2D;
  ink: string;
  /** Where the buffer may be. */
  left: number;
  right: number;
  height: number;
}

/** What waits in one queue, its head at the right, column by column: in the order of arrival, or by group where the discipline keeps
 * the order to itself. Returns where its tail is. */
export function drawQueue({ context, ink, left, right, height }: Frame, held: number[], limit: number, order: Inside["order"]): number {
  const total = held.reduce((sum, each) => sum + each, 0);
  const columns = Math.max(4, Math.floor((right - left) / SIZE));
  const capacity = Number.isFinite(limit) ? limit + 1 : Math.max(total, 100);
  const each = Math.max(1, Math.ceil(Math.max(capacity, total) / (columns * ROWS)));
  const used = Math.ceil(Math.min(capacity, 1e9) / each);
  const tail = right - SIZE * Math.ceil(Math.min(used, columns * ROWS) / ROWS) - 3;
  const top = (height - ROWS * SIZE) / 2;
  const bounds = held.map((_, group) => held.slice(0, group + 1).reduce((sum, one) => sum + one, 0));
  for (let cell = 0; cell < Math.max(used, Math.ceil(total / each)) && cell < columns * ROWS; cell++) {
    const group = cell * each >= total ? -1 : order.groups.length ? (order.groups[Math.floor((cell * each) / order.every)] ?? -1) : bounds.findIndex((bound) => cell * each < bound);
    context.fillStyle = group >= 0 ? color(group) : EMPTY;
    context.fillRect(right - SIZE * (1 + Math.floor(cell / ROWS)), top + SIZE * (cell % ROWS), SIZE - 2, SIZE - 2);
  }
  if (Number.isFinite(limit)) end(context, ink, tail, top - 8, top + ROWS * SIZE + 6);
  unit(context, ink, left, each);
  return tail;
}

/** The sub-buffers of a discipline with classes, each with its limit, and the round-trip time where the next begins. */
export function drawClasses({ context, ink, left, right, height }: Frame, classes: Inside["classes"]): number {
  const rows = Math.max(1, Math.floor(ROWS / classes.length));
  const limits = classes.map((each) => packetsOf(each.limit));
  const most = Math.max(1, ...classes.map((each, index) => Math.max(each.packets, Math.min(1e9, limits[index] ?? 0))));
  const columns = Math.max(4, Math.floor((right - left) / SIZE));
  const each = Math.max(1, Math.ceil(most / (columns * rows)));
  const lane = (height - 30) / classes.length;
  let tail = right;
  let from = 0;
  classes.forEach((one, index) => {
    const top = 24 + lane * index;
    const limit = Math.min(1e9, limits[index] ?? 0);
    const used = Math.min(columns * rows, Math.ceil(Math.max(limit, one.packets) / each));
    for (let cell = 0; cell < used; cell++) {
      context.fillStyle = cell * each < one.packets ? ink : EMPTY;
      context.fillRect(right - SIZE * (1 + Math.floor(cell / rows)), top + SIZE * (cell % rows), SIZE - 2, SIZE - 2);
    }
    const edge = right - SIZE * Math.ceil(Math.min(used, limit / each) / rows) - 3;
    end(context, ink, edge, top - 3, top + rows * SIZE + 1);
    tail = Math.min(tail, edge);
    const to = one.threshold_s;
    const range = to === null ? (from ? `from ${time(from)}` : "all") : from ? `${time(from)} to ${time(to)}` : `below ${time(to)}`;
    context.fillStyle = ink;
    context.textAlign = "right";
    const label = `${range}: ${whole(one.packets)} of ${whole(limit)}`;
    context.fillText(label, right, top - 9);
    context.textAlign = "left";
    tail = Math.min(tail, right - context.measureText(label).width); // lines of senders do not cross it
    from = to ?? from;
  });
  unit(context, ink, 4, each);
  return tail;
}

/** A line for each queue of a discipline that keeps flows apart, in the order of their turns. */
export function drawFlowQueues({ context, ink, left, right, height }: Frame, inside: Inside): number {
  const { queues } = inside;
  const lane = Math.min(SIZE + 2, (height - 34) / Math.max(1, queues.length));
  const most = Math.max(1, ...queues.map((queue) => queue.packets));
  const columns = Math.max(4, Math.floor((right - left) / SIZE));
  const each = Math.max(1, Math.ceil(most / columns));
  const top = (height - lane * queues.length) / 2;
  queues.forEach((queue, index) => {
    context.fillStyle = color(queue.group);
    const y = top + lane * index;
    for (let cell = 0; cell * each < queue.packets; cell++) {
      context.fillRect(right - SIZE * (cell + 1), y, SIZE - 2, Math.max(1, lane - 2));
    }
  });
  context.fillStyle = ink;
  context.textAlign = "right";
  const shown = inside.queues_in_all > queues.length ? `, the first ${queues.length} shown` : "";
  context.fillText(`${whole(inside.queues_in_all)} ${inside.queues_in_all === 1 ? "queue" : "queues"} with packets${shown}`, right, 10);
  context.textAlign = "left";
  unit(context, ink, 4, each);
  return right - SIZE * Math.ceil(most / each) - 3;
}

/** What the discipline has inside, in words. */
export function words(inside: Inside | null): string {
  if (!inside) return "";
  if (inside.classes.length) {
    const parts = inside.classes.map((one) => `${whole(one.packets)} of ${whole(packetsOf(one.limit))}`);
    const thresholds = inside.classes.flatMap((one) => (one.threshold_s === null ? [] : [time(one.threshold_s)]));
    return `; sub-buffers${thresholds.length ? ` parted at ${thresholds.join(", ")}` : ""} hold ${parts.join(" and ")} packets`;
  }
  if (!inside.queues_in_all) return "";
  const longest = Math.max(...inside.queues.map((queue) => queue.packets));
  return `; ${whole(inside.queues_in_all)} ${inside.queues_in_all === 1 ? "queue holds" : "queues hold"} packets, the longest ${whole(longest)}`;
}

function end(context: CanvasRenderingContext2D, ink: string, x: number, from: number, to: number): void {
  context.strokeStyle = ink;
  context.lineWidth = 2;
  context.beginPath();
  context.moveTo(x, from);
  context.lineTo(x, to);
  context.stroke();
}

function unit(context: CanvasRenderingContext2D, ink: string, x: number, each: number): void {
  context.fillStyle = ink;
  if (each > 1) context.fillText(`■ = ${whole(each)} packets`, x, 10);
}
