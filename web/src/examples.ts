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
