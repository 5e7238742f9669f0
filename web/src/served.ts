/** What the server of `bufferlab serve` does for the page: python/bufferlab/web/api.py. As files on a host the page has none. */

const API = document.querySelector<HTMLMetaElement>('meta[name="bufferlab-api"]')?.content ?? null;

export const isServed = API !== null;

/** Where the server has documents, if it has. */
export const DOCS = document.querySelector<HTMLMetaElement>('meta[name="bufferlab-docs"]')?.content ?? null;

/** What may be asked for, and the question that it answers. */
export const VERBS: [string, string][] = [
  ["advise", "Which queue, and how large?"],
  ["size", "How small may the buffer be?"],
  ["compare", "What do users feel under each queue?"],
  ["run", "This run, with files for other tools"],
];

/** By command, within a sentence. */
export const QUESTIONS: Record<string, string> = Object.fromEntries(VERBS.map(([verb, question]) => [verb, question.charAt(0).toLowerCase() + question.slice(1)]));

export const [ADVISE, SIZE, COMPARE, SWEEP, RUN] = ["advise", "size", "compare", "sweep", "run"];

/** What their answers are judged by, where two of them may prefer different queues or buffers: docs/advise.md, compare.md and sizing.md. */
export const JUDGED: Record<string, string> = {
  advise: `Judged first by targets (the scenario's own, else a link that is 99 % busy, 90 % beside calls, pages, pings or videos), each queue with the buffer that a search finds for it; of those that meet them,
    by what users feel and by how they do with other traffic. compare searches no buffer, asks for no
    use of the link and tries no other traffic: it may prefer another queue.`,
  compare: `Judged by what users feel alone, with this traffic. Each queue has the scenario's own buffer, and FIFO also those of rules; nothing is searched, and how busy the link is
    counts only if the scenario has targets. advise judges by targets first, each queue with the buffer that it needs, and tries other traffic: it may prefer another queue.`,
  size: `Judged by the targets alone (the scenario's own, else a link that is 99 % busy, 90 % beside calls, pages, pings or videos): the smallest buffer of this queue that meets them, whatever users feel.
    advise may take a larger one with which they fare better.`,
};

export interface Job {
  name: string;
  verb: string;
  /** Title of what it was asked of. */
  scenario: string;
  /** What tells it from others of its title: "75 Mbps, 7 flows, round trip 35 ms". */
  numbers: string;
  /** What sliders had changed in the scenario, in words; empty if nothing. */
  changed: string;
  /** Of a sweep: what it varies, with its values, and how many seeds, in words. */
  varied: string[];
  state: "running" | "done" | "failed" | "canceled";
  seconds: number;
  progress: string[];
  /** What the command has printed, and part by part what it has shown, once it has ended. */
  answer: string;
  view: Part[] | null;
  /** What explains it: a document of the server's, empty if it has none. */
  document: string;
  /** By what the page knows again what it was asked about, and the buffers that its answer names. */
  about: string;
  buffers: Answered[];
  files: string[];
}

/** A buffer of an answer: python/bufferlab/web/answered.py. */
export interface Answered {
  /** Whether it is what was taken; else the FIFO beside that. */
  is_answer: boolean;
  queue: string;
  setting: string;
  packets: number;
  /** In words. */
  targets: string;
  meets: boolean;
}

/** A part of what a command shows: python/bufferlab/render/view.py. */
export type Part =
  | { kind: "text" | "heading"; text: string }
  | { kind: "typing"; lines: string[] }
  | { kind: "terms"; lines: [string, string][] }
  | { kind: "box"; title: string; head: string[]; lines: BoxLine[]; figures: Grid | null }
  | ({ kind: "grid" } & Grid);

export interface Grid {
  title: string;
  labels: number;
  heads: { text: string; align: string }[];
  rows: string[][];
}

/** A line of an answer at a glance; of a row of a table the cells. */
export interface BoxLine {
  label: string;
  text: string;
  verbatim: boolean;
  cells: string[];
}

/** What an answer is compared with, by the labels of its box's rows, and where there is room for what they are. */
export const BESIDE: Record<string, string> = { answer: "this answer", change: "after the change", "runner-up": "next best queue", plain: "smallest FIFO", half: "half the buffer", lacking: "not on this router", default: "the router's default" };

/** An answer's sentence, and what it compares: the answer, the next best queue, the smallest FIFO; of size the answer alone, of compare nothing. Null for of jobs that give no answer. */
export function answerOf(job: Job | undefined): { sentence: string; compared: Contender[] } | null {
  if (job && [SIZE, COMPARE].includes(job.verb)) return headedOf(job);
  const box = job?.view?.find((part) => part.kind === "box");
  const rows = ["answer", "runner-up", "plain"].flatMap((label) => box?.lines.filter((line) => line.label === label && line.cells.length) ?? []);
  const compared = rows.map(({ cells }) => { const [queue = "", ...setting] = (cells[0] ?? "").split(", "); return { queue, setting: setting.join(", ") }; });
  return box?.head[0] ? { sentence: firstOf(box.head), compared } : null;
}

/** What an answer begins with: its first sentence, with the cases that it announces. */
function firstOf([first = "", ...others]: string[]): string {
  return [first, ...(first.endsWith(":") ? others.filter(isCase) : [])].join(" ");
}

/** Whether a sentence of an answer is a case of it, which has a line of its own: python/bufferlab/render/advise/cases.py. */
export function isCase(sentence: string): boolean {
  return sentence.startsWith("- ");
}

function headedOf({ view, buffers }: Job): { sentence: string; compared: Contender[] } | null {
  const heading = view?.flatMap((part) => (part.kind === "heading" ? [part.text] : []))[0];
  const asked = buffers.map(({ targets }) => ` Asked for: ${targets}.`).join("");
  return heading ? { sentence: heading + asked, compared: buffers.map(({ setting }) => ({ queue: "", setting })) } : null;
}

/** A queue with its setting, as answers name them: "fq_codel", "5 ms"; no queue where all runs have one. */
export interface Contender {
  queue: string;
  setting: string;
}

export const jobs = (): Promise<Job[]> => asked<Job[]>("jobs");
export const cancel = (job: Job): Promise<Job> => asked<Job>(`jobs/${job.name}/cancel`, { method: "POST" });

/** What some commands ask for besides their scenario. */
export interface More {
  /** Of a sweep: lines "PATH=VALUES". */
  vary?: string[];
  seeds?: number;
  /** Of advise: whether the scenario's queue and buffer are what runs today. */
  today?: boolean;
}

/** @throws Error with what the server says, if it refuses. */
export const begin = (verb: string, text: string, changed: Record<string, string>, about: string, more: More = {}): Promise<Job> =>
  asked<Job>("jobs", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ verb, text, changed, about, ...more }) });

export const documentOf = (job: Job): string => `${DOCS}/${job.document}`;

export const addressOf = (job: Job, file: string): string =>
  `${API}/jobs/${job.name}/files/${file.split("/").map(encodeURIComponent).join("/")}`;

export type Value = string | number | null;

/** A stored run, or the mean over a point's seeds: python/bufferlab/web/runs.py. */
export interface Stored {
  scenario_hash: string | null;
  /** The name of a group: rows that have it in common belong together. */
  group: string;
  problem: string | null;
  /** What it is, then its figures with half the widths of their confidence intervals, as the columns say. */
  labels: Value[];
  values: (number | null)[];
  widths: (number | null)[];
}

/** What asked for runs: a command; of runs that name none, a scenario and what was varied. */
export interface Group {
  name: string;
  title: string;
  scenario: string;
  /** UTC. */
  began_at: string | null;
  /** What was changed in the scenario for all of them, in words, but for what was varied. */
  changed: string;
  /** The name of the server's job, which it may have no more. */
  job: string;
  /** The figures that some of its runs have, and that which its chart begins with. */
  figures: string[];
  figure: string;
}

export interface Listed {
  store: string;
  total: number;
  stored: number;
  /** How many of the total have rows. */
  listed: number;
  /** Runs by other versions of the engine, which are not listed. */
  others: number;
  notes: string[];
  columns: { name: string; title: string; figure: boolean }[];
  figures: { name: string; title: string; meaning: string }[];
  groups: Group[];
  rows: Stored[];
}

/** @throws Error if the condition cannot be used. */
export const listed = (condition: string, means: boolean, figure: string): Promise<Listed> =>
  asked<Listed>(`runs?${new URLSearchParams({ where: condition, means: means ? "1" : "0", figure })}`);

/** The scenario of a stored run, with all that was changed in it. */
export const scenarioOf = async (run: Stored): Promise<string> =>
  (await asked<{ text: string }>(`runs/scenarios/${encodeURIComponent(run.scenario_hash ?? "-")}`)).text;

async function asked<T>(path: string, options?: RequestInit): Promise<T> {
  const answer = await fetch(`${API}/${path}`, options).catch(() => {
    throw new Error("the server does not answer: has bufferlab serve ended?");
  });
  const said: unknown = await answer.json().catch(() => null);
  if (answer.ok) return said as T;
  throw new Error((said as { problem?: string } | null)?.problem ?? `the server refuses this (${answer.status})`);
}
