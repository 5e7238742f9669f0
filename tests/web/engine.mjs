// Runs jobs with the engine in WebAssembly: a list of them as JSON on standard input, a list of answers on standard output.
//
//   node engine.mjs lab.wasm [CHROMIUM]     in Node, or in a page of that browser
//
// A job has `scenario` ({text, overrides, seed}) or `plan` (JSON), perhaps `begin` (false: it is only read), `steps` (how many the run is taken in) and
// `limits` ([[at_ps, link, limit], ...]), `disciplines` (the same of a link's queue in the plan), `capture` (how many packets). Its answer has `problems`, or what was `read`, each column's SHA-256 by table,
// the packets, the summary and the seconds that the run took.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [wasm, chromium] = process.argv.slice(2);
const jobs = JSON.parse(readFileSync(0, "utf8"));
const encoded = readFileSync(wasm).toString("base64");
process.stdout.write(JSON.stringify(chromium ? await inBrowser() : await run({ encoded, jobs })));

async function inBrowser() {
  const { chromium: browsers } = createRequire(new URL("../../web/package.json", import.meta.url))("playwright-core");
  const browser = await browsers.launch({ executablePath: chromium, args: ["--no-sandbox", "--disable-gpu"] });
  try {
    const page = await browser.newPage();
    await page.goto(pathToFileURL(process.argv[1]).href); // any page that may use crypto.subtle
    return await page.evaluate(run, { encoded, jobs });
  } finally {
    await browser.close();
  }
}

// all that it needs is in it, so that it can be sent to a page
async function run({ encoded, jobs }) {
  const module = new WebAssembly.Module(Uint8Array.from(atob(encoded), (letter) => letter.charCodeAt(0)));
  const answers = [];
  for (const job of jobs) answers.push(await answer(job));
  return answers;

  async function answer(job) {
    const lab = new WebAssembly.Instance(module, {}).exports;
    // a call may move the memory: the buffer is asked for after it
    const output = () => {
      const [begin, length] = [lab.lab_output(), lab.lab_output_length()];
      return new Uint8Array(lab.memory.buffer.slice(begin, begin + length));
    };
    const text = () => new TextDecoder().decode(output());
    const digest = async () => {
      const bytes = new Uint8Array(await crypto.subtle.digest("SHA-256", output()));
      return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
    };
    const give = (value) => {
      const bytes = new TextEncoder().encode(value);
      const begin = lab.lab_input(bytes.length);
      new Uint8Array(lab.memory.buffer, begin, bytes.length).set(bytes);
    };
    const said = (status) => {
      const read = JSON.parse(text());
      if (status !== 0) throw read;
      return read;
    };
    try {
      give(job.scenario ? JSON.stringify(job.scenario) : job.plan);
      const read = said(job.scenario ? lab.lab_read() : lab.lab_plan());
      if (job.begin === false) return { read };
      const begun = performance.now();
      said(lab.lab_begin());
      for (const [at_ps, link, limit] of job.limits ?? []) {
        lab.lab_advance(BigInt(at_ps));
        give(JSON.stringify(limit));
        said(lab.lab_set_limit(link));
      }
      for (const [at_ps, link, discipline] of job.disciplines ?? []) {
        lab.lab_advance(BigInt(at_ps));
        give(JSON.stringify(discipline));
        said(lab.lab_set_discipline(link));
      }
      const samples = [];
      const insides = [];
      for (let step = 1; step < (job.steps ?? 1); step++) {
        lab.lab_advance(BigInt(Math.floor((step * job.duration_ps) / job.steps)));
        if (lab.lab_sample() !== 0) throw JSON.parse(text());
        samples.push([...new Float64Array(output().buffer)]);
        insides.push(said(lab.lab_inside(0)));
      }
      lab.lab_advance(2n ** 64n - 1n);
      if (lab.lab_waits(0) !== 0) throw JSON.parse(text());
      const waits = [...new Float64Array(output().buffer)];
      const head = said(lab.lab_finish());
      const seconds = (performance.now() - begun) / 1000;
      const tables = {};
      for (const [index, { name, columns }] of head.tables.entries()) {
        tables[name] = {};
        for (const [number, [column]] of columns.entries()) {
          lab.lab_column(index, number);
          tables[name][column] = await digest();
        }
      }
      if (job.capture && lab.lab_capture(job.capture) !== 0) throw JSON.parse(text());
      const capture = job.capture ? await digest() : null;
      return { read, packets: head.packets, summary: head.summary, seconds, samples, insides, waits, tables, capture };
    } catch (problems) {
      if (problems instanceof Error) return { trapped: problems.message, said: text() };
      return { problems };
    }
  }
}
