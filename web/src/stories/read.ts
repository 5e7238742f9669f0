/** The stories, from web/stories/*.toml, which Vite reads when the page is built. */

import type { Asked } from "../engine/types";

export interface Fact {
  text: string;
  source: string;
}

export interface Step {
  title: string;
  text: string;
  /** In the place of the story's. */
  scenario?: string;
  /** An index of the player's speeds. */
  speed?: number;
  charts?: Chart[];
  /** How many seconds, the last ones, its charts show; without, all of the run. */
  shown?: number;
  variants: { name: string; set?: Record<string, string> }[];
  question: string;
  choices: string[];
  /** Which of them is right, from 0. */
  right: number;
  answer: string;
  facts?: Fact[];
}

export type Chart = "backlog" | "windows" | "rates" | "waits";

export interface Story {
  /** Its file's. */
  name: string;
  title: string;
  /** In one sentence. */
  about: string;
  /** Whose work it tells. */
  document: string;
  /** What reproductions and the gallery call it, and where it is published, if that is known. */
  of: string;
  link?: string;
  scenario: string;
  steps: Step[];
  /** What to do with it. */
  end: string;
}

const files = import.meta.glob("../../stories/*.toml", { import: "default", eager: true }) as Record<string, Omit<Story, "name">>;

export const STORIES: Story[] = Object.entries(files).map(([path, story]) => ({
  name: path.replace(/^.*\/\d+-|\.toml$/g, ""),
  ...story,
}));

/** Where in the stories an address is; null if it is elsewhere. */
export function placeOf(hash: string): { story: Story | null; step: number } | null {
  if (hash !== "#stories" && !hash.startsWith("#story=")) return null;
  const [name, step] = hash.slice("#story=".length).split(".");
  const story = STORIES.find((each) => each.name === name) ?? null;
  const last = (story?.steps.length ?? 1) - 1;
  return { story, step: Math.min(last, Math.max(0, (Number.parseInt(step ?? "1", 10) || 1) - 1)) };
}

export const addressOf = (story: Story, step = 0): string => `#story=${story.name}.${step + 1}`;

/** A source, cut at the documents that it names: "docs/reproduce.md, splitbuff/fig1" is one, at a place of its own. */
export const cited = (source: string): string[] => source.split(/(docs\/[\w-]+\.md(?:, [a-z0-9-]+(?:\/\w+)?)?)/);

/** Where below docs/ a part of `cited` is, with the name that its heading has there; nothing if it is no document. */
export function documentIn(part: string): string | null {
  const [, file, place] = /^docs\/([\w-]+\.md)(?:, (.+))?$/.exec(part) ?? [];
  return file ? `${file}${place ? `#${place.replace("/", "")}` : ""}` : null;
}

/** What a step runs. */
export function askedOf(story: Story, step: Step): Asked[] {
  return step.variants.map(({ set }) => ({ text: step.scenario ?? story.scenario, overrides: { ...set } }));
}
