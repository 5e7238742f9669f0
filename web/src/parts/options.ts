/** Options of the commands, which answers name, as what the page has for them. */

/** What to do here in the place of an option. */
const HERE: [option: string, here: string][] = [
  ["--set", "change it with the sliders or in the scenario's text, and ask again"],
  ["--utilization", "the field “The link has to be busy” above"],
  ["--target", "targets under [advise] in the scenario's text, with those that are there"],
  ["--for", "for under [advise] in the scenario's text"],
  ["--today", "the tick at “My router runs today what is shown now”"],
];

const OPTION = /(?:^|[\s"(])(--[a-z][a-z-]*)/g;

/** The options that a part of an answer names, each once. */
const named = (of: unknown): string[] => [...new Set([...JSON.stringify(of).matchAll(OPTION)].map(([, option]) => option ?? ""))];

export const hasOptions = (of: unknown): boolean => named(of).length > 0;

/** What to do in the page in the place of these options; and those that only a terminal has. */
export function waysOf(of: unknown): { here: string[]; terminal: string[] } {
  const options = named(of);
  const targets = [...new Set([...JSON.stringify(of).matchAll(/--target '([^']+)'/g)].map(([, target = ""]) => target))];
  const asText = targets.map((target) => `, targets = [${JSON.stringify(target)}]`).join(" or");
  const here = HERE.filter(([option]) => options.includes(option)).map(([option, way]) => `${option}: ${way}${option === "--target" ? asText : ""}`);
  return { here, terminal: options.filter((option) => !HERE.some(([known]) => known === option)) };
}

/** An answer's text with the page's own parts in the place of commands to type. */
export const inPage = (text: string): string =>
  text
    .replace(/bufferlab (advise|size|compare|sweep|run) scenario\.toml((?: --[a-z-]+ [^\s:;"]+)*)/g, (_, verb: string, options: string) => `${verb}, the button above${options ? ` (at a terminal with${options})` : ""}`)
    .replace(/use --set run\.warmup='([^']+)' --set run\.duration='([^']+)'/g, "set warmup to $1 and duration to $2 under [run] in the scenario's text")
    .replace(/\bMore --(seeds|runs) may/g, "More $1 (at a terminal: --$1) may")
    .replace(/bufferlab results [^\s"\\]+/g, "Runs, at the top of this page");
