/** The files of examples/ that need no other file, by title. */

const files = import.meta.glob("../../examples/*.toml", { query: "?raw", import: "default", eager: true }) as Record<string, string>;

export interface Example {
  name: string;
  text: string;
}

export const EXAMPLES: Example[] = Object.entries(files)
  .filter(([, text]) => !text.includes(".csv"))
  .map(([path, text]) => ({ name: path.replace(/^.*\/|\.toml$/g, ""), text }));

export const FIRST = EXAMPLES.find((example) => example.name === "home-gateway") ?? { name: "", text: "" };

/** Where a comment's first sentence ends: at a full stop that is none of an initial, or at a colon before what is no sentence. */
const FIRST_SENTENCE = /^.*?(?:(?<!\b[A-Z]|\b(?:e\.g|i\.e|etc|vs|al))\.(?= |$)|:$)/;

/** What an example is about: the first sentence of its comment. */
export function aboutOf(text: string): string {
  const lines = text.split("\n");
  const end = lines.findIndex((line) => !/^# ?\S/.test(line));
  const comment = lines.slice(0, end).map((line) => line.replace(/^# ?/, "")).join(" ");
  return FIRST_SENTENCE.exec(comment)?.[0].replace(/:$/, ".") ?? comment;
}
