/** What may surprise in a run's table, in a sentence each. */

import type { Answer, Summary } from "../engine/types";

const MUCH_LOST = 0.01;
const SOME_LOST = 0.001;
const IDLE = 0.95;

export function surprises(answer: Answer, ended: Summary, link: number): string[] {
  const came = ended.links[link];
  if (!came) return [];
  const found: string[] = [];
  if (/congestion = "bbr1?"/.test(answer.toml) && came.all.loss >= MUCH_LOST) {
    found.push("BBR, version 1, sends at the rate that it has measured and hardly slows down for a loss: where it keeps more under way than link and buffer hold, packets are lost.");
  }
  if (came.utilization < IDLE && came.all.loss >= SOME_LOST) {
    found.push("Packets are lost although the link is idle at times: there are moments at which more comes than it can send, and others at which nothing does. The chart of the backlog has both.");
  }
  return found;
}
