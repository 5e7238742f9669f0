/** What a sweep may vary of a scenario, as lines to type: its own values and some beside them. */

import { typed } from "../format";
import type { Variant } from "../variant.svelte";

const MOST_GROUPS = 4;

export interface Example {
  line: string;
  /** What it varies, in words. */
  says: string;
}

/** A line for the queue, the buffer and the rate of the link that is shown, and for each group's flows and round trip. */
export function examplesOf(variant: Variant): Example[] {
  const { answer } = variant;
  const link = answer?.links[variant.link];
  if (!answer || !link) return [];
  const packets = Math.max(2, Number.isFinite(variant.capacity) ? Math.round(variant.capacity) : 100);
  const groups = answer.groups.slice(0, MOST_GROUPS).flatMap(({ name, flows, rtt_s }, index) => [
    { line: `flows[${index}].count=${flows},${2 * flows}`, says: `number of flows of ${name}` },
    { line: `flows[${index}].rtt=${typed(rtt_s)},${typed(2 * rtt_s)}`, says: `round trip of ${name}` },
  ]);
  return [
    { line: `${link.path}.queue=fifo,codel,fq_codel`, says: "queue" },
    { line: `${link.path}.buffer=${Math.round(packets / 2)} packets,${packets} packets,${2 * packets} packets`, says: "buffer" },
    ...groups,
  ];
}

/** Lines with one more, in the place of that which varies the same. */
export function withLine(lines: string, line: string): string {
  const path = line.split("=")[0] ?? "";
  const kept = lines.split("\n").filter((each) => each.trim());
  const at = kept.findIndex((each) => each.split("=")[0]?.trim() === path);
  return (at < 0 ? [...kept, line] : kept.with(at, line)).join("\n");
}
