/** Words of controls and queues, in the parts of a menu: a list of thirty says nothing of which one is meant. */

type Part = [title: string, isOf: RegExp];

const CONTROLS: Part[] = [
  ["usual today", /^(cubic|cubic-linux|bbr3?|bbr1|ledbat\+\+)(\(hystart\))?$/],
  ["older", /^(reno|newreno|tahoe|bic|ctcp|compound)$/],
  ["data centers, L4S", /^(dctcp|prague)$/],
  ["of old kernels: Linux 2.6", /-2\.6$|^cubic-0\./],
  ["research", /./],
];

const QUEUES: Part[] = [
  ["usual on routers", /^(fifo|fq_codel|cake|codel|cobalt|pie|fq_pie|red|drr)$/],
  ["L4S, data centers, research", /./],
];

const parted = (parts: Part[]) => (words: string[]): [title: string, words: string[]][] =>
  parts.map(([title], index): [string, string[]] => [title, words.filter((word) => parts.findIndex(([, isOf]) => isOf.test(word)) === index)]).filter(([, those]) => those.length > 0);

export const controlsParted = parted(CONTROLS);
export const queuesParted = parted(QUEUES);
