/** What the server of `bufferlab serve` does for the page: python/bufferlab/web/api.py. As files on a host the page has none. */

const API = document.querySelector<HTMLMetaElement>('meta[name="bufferlab-api"]')?.content ?? null;

export const isServed = API !== null;

/** What may be asked for, and the question that it answers. */
export const VERBS: [string, string][] = [
  ["advise", "Which queue, and how large?"],
  ["size", "How small may the buffer be?"],
  ["compare", "What do users feel under each queue?"],
  ["run", "This run, with files for other tools"],
];

export interface Job {
  name: string;
  verb: string;
  state: "running" | "done" | "failed" | "canceled";
  seconds: number;
  progress: string[];
  answer: string;
  files: string[];
}

export const jobs = (): Promise<Job[]> => asked<Job[]>("jobs");
export const cancel = (job: Job): Promise<Job> => asked<Job>(`jobs/${job.name}/cancel`, { method: "POST" });

/** @throws Error with what the server says, if it refuses. */
export const begin = (verb: string, text: string): Promise<Job> =>
  asked<Job>("jobs", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ verb, text }) });

export const addressOf = (job: Job, file: string): string =>
  `${API}/jobs/${job.name}/files/${file.split("/").map(encodeURIComponent).join("/")}`;

async function asked<T>(path: string, options?: RequestInit): Promise<T> {
  const answer = await fetch(`${API}/${path}`, options).catch(() => {
    throw new Error("the server does not answer: has bufferlab serve ended?");
  });
  const said: unknown = await answer.json().catch(() => null);
  if (answer.ok) return said as T;
  throw new Error((said as { problem?: string } | null)?.problem ?? `the server refuses this (${answer.status})`);
}
