/** What words of the page and of the commands' answers mean: docs/advise.md, docs/metrics.md and docs/glossary.md. */

import { BESIDE, type Part } from "../served";

/** A word, where it stands in an answer, and what it means. */
type Term = [string, RegExp, string];

const RATING = "how good a call is, from its delay and losses (ITU-T G.107): 0 to 100. 80 and more satisfies, below 70 many are dissatisfied, below 60 nearly all.";
const SCORE = "mean opinion score: R as people grade calls, from 1 (bad) to 5 (excellent). The formula goes up to 4.5.";
const HEARD = "delay from mouth to ear: a packet's way, the speech that fills it, and the phone's wait for packets that are later than others.";

export const LATE = "later than 150 ms after it was taken (ITU-T G.114: up to there hardly anybody is disturbed). What is lost is not sent again.";

/** Of a run with calls. */
export const CALL: [string, string][] = [["heard after", HEARD], ["R", RATING], ["MOS", SCORE]];

/** Figures of stored runs, beside what the server says of them. */
export const FIGURES: Record<string, string> = { call_r: RATING, call_mos: SCORE, call_delay_ms: HEARD };

export const USED = "utilization: the part of the time in which the link sends. What it does not use is lost to all.";

/** Published rules, by the names of the marks on the buffer's slider: crates/web/src/rules.rs. */
export const RULES: Record<string, string> = {
  Stanford: "rule BDP/√n, 2004: keeps a link nearly always busy with n endless Reno flows, if many and not in step.",
  "Theorem 2, 99 %": "rule BDP/(1 − z·a/√n) − BDP, 2013: a full link 99 % of the time, with endless flows that are not in step; a is how far their control's window swings, z how sure one wants to be: 2.33 for 99 %.",
  BDP: "bandwidth-delay product: rate × round trip, what a full line has under way. As a rule for the buffer, 1994: keeps the link always busy with one endless Reno flow, or with flows in step.",
};

const TERMS: Term[] = [
  ["R", /\bR\b/, RATING],
  ["MOS", /\bMOS\b|opinion score/, SCORE],
  ["Jain", /\bJain/, "how evenly flows share: 1 is equal; of n flows of which one has all, 1/n."],
  ["p99", /\bp99\b/, "99th percentile: 99 of 100 packets wait no longer."],
  ["99th percentile", /99th percentile/, "99 of 100 packets wait no longer."],
  ["used", /\bused\b|utilization/, USED],
  ["±", /±/, "half of the 95 % confidence interval: what other random draws might have brought."],
  ["stanford", /\bstanford\b(?!-)/i, RULES["Stanford"] ?? ""],
  ["heterogeneous", /\bheterogeneous\b|Theorem 2/, `Theorem 2, ${RULES["Theorem 2, 99 %"] ?? ""}`],
  ["stanford-erf", /\bstanford-erf\b/, "rule of 2004: the least buffer with which many endless Reno flows that are not in step keep the link as busy as is asked."],
  ["single-flow", /\bsingle-flow\b/, "rule (1/β − 1)·BDP, 2021: for one flow, or flows in step, whose window falls to β of what it was."],
  ["spang", /\bspang\b/, "rule 2·BDP/√n, 2021: the upper end of what was measured for n endless flows that share fairly."],
  ["tiny", /\btiny\b/, "rule log(W²)/log(1/ρ), 2005: enough for a link that is not full, ρ busy, if senders space their packets evenly; W is their largest window."],
  ["bscl", /\bbscl\b/, "rule of 2005 for congested links: it bounds losses, too, and takes flows to be partly in step."],
  ["BDP", /\bbdp\b/i, RULES["BDP"] ?? ""],
  ["flow", /\bflows?\b/i, "one connection, such as a download or a call."],
  ["round trip, RTT", /\bRTT\b|\bround.trips?\b/i, "the time of a packet to its receiver and of the answer back, on an empty line."],
  ["window", /\bwindows?\b/i, "how much a sender has under way before it waits for acknowledgments. TCP lets it grow, and cuts it after a loss."],
  ["control", /\bcontrols?\b/i, "congestion control: how a TCP sender chooses its window. CUBIC is usual today, Reno the oldest, BBR measures the rate."],
  ["frame", /\bframes?\b/i, "a packet with what a link adds to it for its own use."],
  ["acknowledgment", /\backnowledgments?\b/i, "a receiver's short answer to data: it says what has come, and takes a place in the queues of its way back."],
  ["offload", /\boffload\b/i, "network cards join packets of a flow to larger ones, and cut them again: a place in a buffer then holds several packets."],
  ["jitter", /\bjitter\b/i, "random small delays, here of senders: without them, computers keep step as real ones do not."],
  ["segment", /\bsegments?\b/i, "a packet's worth of TCP's data."],
  ["backlog", /\bbacklog\b/i, "the packets that wait in the buffer."],
  ["goodput", /\bgoodput\b/i, "what a receiver gets of its data a second, without headers and without what came twice."],
  ["seed", /\bseeds?\b/i, "the start of a run's random draws: a run with another seed differs by chance alone."],
  ["sub-buffer", /\bsub-buffers?\b|\bsplitbuff\b/i, "a part of the buffer for one kind of flows. SplitBuff has one for near and one for far flows, and the link serves them in turn."],
  ["AQM", /\bAQM\b/, "active queue management: a queue that drops before it is full, so that senders slow down early."],
  ["ECN", /\bECN\b/i, "explicit congestion notification: packets are marked in place of dropped, and their senders slow down."],
  ["FIFO", /\bfifo\b/i, "one queue, first in, first out, that drops what its buffer has no room for."],
  ["codel", /\bcodel\b/i, "a queue that drops when packets have waited longer than its target (5 ms) for a while."],
  ["fq_codel", /\bfq.codel\b/i, "a queue for each flow, each with CoDel, served in turn: who sends little does not wait behind who sends much. Usual in home routers that do better than FIFO."],
  ["pie", /\bpie\b/i, "a queue that drops by chance, the more the longer packets wait beyond its target (15 ms)."],
  ["cake", /\bcake\b/i, "like fq_codel, with equal shares also among computers, and with a limit of its own on the rate."],
];

/** Rows and lines of the answer at a glance, by their labels. */
const LABELS: [string, string][] = [
  ["today", "what you said the router runs now: the queue and buffer that the laboratory showed."],
  ["default", "what such a router runs where nobody configured a queue."],
  ["runner-up", "the best of the other queues, with the setting that its own search found."],
  ["half", "the answer with half of its buffer."],
  ["plain", "what many routers have alone: the smallest FIFO that meets the targets and with which users together fare nearly as well as with larger ones (within 5 %). What a better queue brings is seen beside it."],
  ["as large", "a FIFO as large as the answer's class for the rest."],
  ["lacking", "FQ-CoDel, which this router does not have."],
  ["what if", "the answer tried with other traffic: more and fewer flows, other round trips, other controls."],
  ["beware", "what makes the answer less sure than it looks."],
];

/** Each word that an answer shows, once. */
export function termsOf(parts: Part[]): [string, string][] {
  const labels = new Set(parts.flatMap((part) => (part.kind === "box" ? part.lines.filter((line) => line.text).map((line) => line.label) : [])));
  const text = parts.map((part) => (part.kind === "typing" ? "" : JSON.stringify(part))).join("\n");
  return [
    ...LABELS.filter(([label]) => labels.has(label)).map(([label, meaning]): [string, string] => [BESIDE[label] ?? label, meaning]),
    ...termsIn(text),
  ];
}

/** Each word that a text has, once. */
export const termsIn = (text: string): [string, string][] => TERMS.filter(([, found]) => found.test(text)).map(([word, , meaning]) => [word, meaning]);

/** Words of the laboratory's controls and charts, with the queue and the control that it has. */
export const termsOfLab = (queues: string[], controls: string[]): [string, string][] =>
  termsIn(`flow round trip window control segment backlog goodput BDP ${queues.join(" ")} ${controls.join(" ")}`);
