/** From when on the wait in a buffer is known. */

import type { Variant } from "../variant.svelte";

/** Whether waits are known later than packets are queued: some disciplines count them from the warm-up's end on only. */
export function areLate({ series }: Variant, warmup: number, end: number): boolean {
  const [times = [], means = []] = series?.waits ?? [];
  const [, backlog = []] = series?.backlog ?? [];
  const first = times[backlog.findIndex(Boolean)] ?? warmup;
  const known = times[means.findIndex((each) => each !== null)] ?? times.at(-1) ?? 0;
  return first < warmup && known - first > end / 100;
}
