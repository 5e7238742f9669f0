/** Keys of scenarios in words: python/bufferlab/render/setting_text.py has them for lists of runs. */

const WORDS: Record<string, string> = {
  rtt: "round trip",
  rtt_spread: "spread of round trips",
  count: "flows",
  congestion: "control",
  interval: "time between packets",
  packet: "packet size",
};

const KEY = /^(?:bottleneck|run|host|(?<kind>links|flows)(?:\[(?<number>\d+)\]|\.(?<name>[^.[\]]+)))(?:\.\w+)+$/;

/** The last part of a key's path in words. */
export function wordOf(path: string): string {
  const last = path.split(".").at(-1) ?? path;
  return WORDS[last] ?? last.replaceAll("_", " ");
}

/** "round trip of near" of `flows.near.rtt`; what is no key, as it is. */
export function said(text: string): string {
  const found = KEY.exec(text);
  if (!found) return text;
  const { kind, number, name } = found.groups ?? {};
  const owner = name ?? (kind ? `${kind === "links" ? "link" : "group"} ${Number(number) + 1}` : "");
  return owner ? `${wordOf(text)} of ${owner}` : wordOf(text);
}
