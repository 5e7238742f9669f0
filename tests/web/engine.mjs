// Runs jobs with the engine in WebAssembly: a list of them as JSON on standard input, a list of answers on standard output.
//
//   node engine.mjs lab.wasm
//
// A job has `scenario` ({text, overrides, seed}) or `plan` (JSON), perhaps `steps` (how many the run is taken in) and
// `limits` ([[at_ps, link, limit], ...]). Its answer has `problems`, or the plan's `hash`, each column's SHA-256 by table,
// the packets and the seconds that the run took.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

const module = new WebAssembly.Module(readFileSync(process.argv[2]));
const jobs = JSON.parse(readFileSync(0, "utf8"));
process.stdout.write(JSON.stringify(jobs.map(answer)));

function answer(job) {
  const lab = new WebAssembly.Instance(module, {}).exports;
  // a call may move the memory: the buffer is asked for after it
  const output = () => {
    const [begin, length] = [lab.lab_output(), lab.lab_output_length()];
    return Buffer.from(lab.memory.buffer, begin, length);
  };
  const give = (text) => {
    const bytes = Buffer.from(text);
    const begin = lab.lab_input(bytes.length);
    new Uint8Array(lab.memory.buffer, begin, bytes.length).set(bytes);
  };
  const told = (status) => {
    const read = JSON.parse(output());
    if (status !== 0) throw read;
    return read;
  };
  try {
    give(job.scenario ? JSON.stringify(job.scenario) : job.plan);
    const read = told(job.scenario ? lab.lab_read() : lab.lab_plan());
    const begun = performance.now();
    told(lab.lab_begin());
    for (const [at_ps, link, limit] of job.limits ?? []) {
      lab.lab_advance(BigInt(at_ps));
      give(JSON.stringify(limit));
      told(lab.lab_set_limit(link));
    }
    const samples = [];
    for (let step = 1; step < (job.steps ?? 1); step++) {
      lab.lab_advance(BigInt(Math.floor((step * job.duration_ps) / job.steps)));
      if (lab.lab_sample() !== 0) throw JSON.parse(output());
      const bytes = output();
      samples.push(Array.from({ length: bytes.length / 8 }, (_, index) => bytes.readDoubleLE(8 * index)));
    }
    lab.lab_advance(2n ** 64n - 1n);
    const head = told(lab.lab_finish());
    const seconds = (performance.now() - begun) / 1000;
    const tables = head.tables.map((table, index) => [table.name, columns(table, index)]);
    return { read, packets: head.packets, events: head.events, seconds, samples, tables: Object.fromEntries(tables) };
  } catch (problems) {
    if (problems instanceof Error) return { trapped: problems.message, said: output().toString() };
    return { problems };
  }

  function columns(table, index) {
    const hash = (column) => {
      lab.lab_column(index, column);
      return createHash("sha256").update(output()).digest("hex");
    };
    return Object.fromEntries(table.columns.map(([name], column) => [name, hash(column)]));
  }
}
