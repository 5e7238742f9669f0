// What a reader asks of `bufferlab serve`, in Debian's Chromium: prints what went wrong, or nothing.
//
//   node served.mjs CHROMIUM ADDRESS [FOLDER FOR PICTURES]
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { deflateRawSync } from "node:zlib";

const require = createRequire(new URL("../../web/package.json", import.meta.url));
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

const [executablePath, address, pictures] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
const context = await browser.newContext({ viewport: { width: 1200, height: 900 } });
context.setDefaultTimeout(60_000);
const page = await context.newPage();
const wrong = [];
context.on("console", (said) => { if (said.text().includes("derived_inert")) wrong.push(said.text()); });
page.on("pageerror", (error) => wrong.push(error.message));
page.on("request", (request) => {
  if (!request.url().startsWith(new URL(address).origin)) wrong.push(`asked for ${request.url()}`);
});

const text = `
run = { name = "small", duration = "4 s", warmup = "1 s" }
bottleneck = { rate = "10 Mbps", delay = "2 ms", buffer = "40 packets" }
flows = [{ name = "near", count = 2, rtt = "20 ms" }]
`;
const link = deflateRawSync(JSON.stringify({ version: 1, variants: [{ text, overrides: {} }] })).toString("base64url");

await page.goto(`${address}#s=${link}`);
await page.getByRole("heading", { name: "small" }).waitFor();
await page.getByLabel("Queue").selectOption("codel");
await page.getByRole("button", { name: "Share", exact: true }).click();
// what is passed on has no token
const passedOn = await page.getByLabel("A link to what is shown here").inputValue();
assert.ok(passedOn.startsWith(`${new URL(address).origin}/#s=`), passedOn);
const receiver = await context.newPage();
await receiver.goto(passedOn);
await receiver.getByRole("heading", { name: "small" }).waitFor();
assert.equal(await receiver.getByText("Ask this computer:").count(), 0);
await receiver.getByText("need the address that bufferlab serve prints").waitFor();
await receiver.close();
await page.getByText("Ask this computer:").click();
await page.getByText("The scenario's text has no targets").waitFor();
await page.getByRole("button", { name: /^run: / }).click();
const job = page.getByRole("region", { name: "run, done" });
await job.waitFor();
const said = job.getByRole("group", { name: "Answer of run" });
await said.getByRole("rowheader", { name: "utilization, %" }).waitFor();
assert.match(await said.textContent(), /codel/);
assert.ok((await said.locator(".terms dt").allTextContents()).includes("used"));
assert.equal(await said.locator("pre").count(), 0);
const figure = job.locator("img.figure").first();
await figure.waitFor();
assert.ok(await figure.evaluate((image) => image.decode().then(() => image.naturalWidth)));
const files = await job.getByRole("link").allTextContents();
for (const file of ["run.pcapng", "run.flent.gz", "scenario.toml"]) assert.ok(files.includes(file), files.join());
const toml = await page.evaluate((path) => fetch(path).then((answer) => answer.text()), await job.getByRole("link", { name: "scenario.toml", exact: true }).getAttribute("href"));
assert.match(toml, /codel/);

// how busy the link has to be is one number, for size as for Measure
const use = page.getByLabel("The link has to be busy, % of the time");
assert.deepEqual([await use.inputValue(), await use.getAttribute("placeholder")], ["", "automatic: 99 or 90"]);
await use.fill("97");
await use.press("Enter");
await page.getByText("advise and size will ask for utilization >= 97 %.").waitFor();
await page.getByText("Measure asks for 97 % busy alone").waitFor();
await page.getByRole("button", { name: /^size: / }).click();
await page.getByText("Asked of “small”, changed here: queue codel, targets utilization at least 97 %.").waitFor();
await page.getByRole("button", { name: "Cancel" }).click();
await page.getByRole("region", { name: /^size, (canceled|done)/ }).waitFor();
await page.getByRole("button", { name: "Back to our default" }).click();
await use.fill("150");
await use.press("Enter");
await page.getByRole("alert").getByText("150 % is no such share").waitFor();
await use.fill("99");
await use.press("Enter");
await page.getByRole("alert").waitFor({ state: "detached" });
await use.fill(""); // as "Back to our default" does
await use.press("Enter");
await page.getByRole("button", { name: "Back to our default" }).waitFor({ state: "detached" });
await page.getByText("Measure asks for 99 % busy alone").waitFor();

await page.getByText("sweep: Many settings").click();
// lines for what this scenario has; one takes the place of that which varies the same
const varied = page.getByLabel("What to vary");
await page.getByRole("button", { name: "flows[0].count=2,4" }).click();
await page.getByRole("button", { name: "bottleneck.buffer=20 packets,40 packets,80 packets" }).click();
await page.getByRole("button", { name: "flows[0].rtt=20 ms,40 ms" }).click();
assert.equal(await varied.inputValue(), "bottleneck.queue=fifo,codel,fq_codel\nbottleneck.buffer=20 packets,40 packets,80 packets\nflows[0].count=2,4\nflows[0].rtt=20 ms,40 ms");
await varied.fill("bottleneck.queue=fifo,codel\nbottleneck.buffer=10 packets,40 packets");
await page.getByLabel("Runs of each setting").fill("2");
await page.getByRole("button", { name: "Sweep", exact: true }).click();
const swept = page.getByRole("region", { name: "sweep, done" });
await swept.waitFor();
for (const word of ["queue", "buffer"]) await swept.getByRole("columnheader", { name: word, exact: true }).waitFor();
assert.doesNotMatch(await swept.textContent(), /bottleneck\./);
await swept.getByText(/10 Mbps, delay 2 ms, queue and buffer as below/).waitFor();
await page.getByRole("link", { name: "Runs", exact: true }).first().click();
await page.getByText("Show only some of the runs").click();
await page.getByText("What a condition can name").click();
await page.getByRole("listitem").filter({ hasText: /^bottleneck\.queue queue$/ }).waitFor();
await page.getByLabel("Only runs where").fill("bottleneck.queue = 'codel' or bottleneck.queue = 'fifo'");
await page.getByRole("button", { name: "Show these" }).click();
await page.getByText(/^8 runs\./).waitFor();
// each job has a name: what it is, when it began, its runs; below it of what, and what sliders had changed that was not varied
await page.getByRole("radio", { name: /^sweep of queue and buffer, \d\d:\d\d, 8 runs small \(10 Mbps, 2 flows, round trip 20 ms\)$/ }).waitFor();
// rows are ordered by what was varied, numbers as numbers
assert.deepEqual(await page.locator("tbody tr td:nth-child(3)").allTextContents(), [10, 10, 40, 40, 10, 10, 40, 40].map((each) => `${each} packets`));
// figures are those that some run has; where filtered runs have none, it is said
const offers = await page.getByLabel("The chart shows", { exact: true }).locator("option").allTextContents();
assert.ok(offers.includes("wait: mean, ms") && !offers.includes("call: rating R"), offers.join());
await page.getByLabel("for each", { exact: true }).selectOption("bottleneck.buffer");
const waitsOver = page.getByRole("img", { name: "wait: mean, ms" });
await waitsOver.waitFor();
// what the chart is of, in a sentence
await page.getByText("What you see: wait: mean, ms, for each buffer from left to right, a line for each queue. A point is the mean of 2 runs that differ in the seed, the start of their random draws, alone.").waitFor();
await page.getByText("wait: mean, ms: Mean of the times in the queue").waitFor();
// lines differ in more than their color, and the one that is pointed at stands out
const names = waitsOver.locator(".u-legend .u-series th");
assert.deepEqual((await names.allTextContents()).slice(1), ["fifo", "codel"]);
const styles = await waitsOver.locator(".u-marker").evaluateAll((marks) => marks.slice(-2).map((mark) => mark.style.borderStyle || mark.style.border));
assert.ok(styles[0].includes("solid") && styles[1].includes("dashed"), styles.join());
const drawn = () => waitsOver.locator("canvas").evaluate((canvas) => canvas.toDataURL());
const before = await drawn();
await names.last().hover();
await page.waitForTimeout(100);
assert.notEqual(await drawn(), before);
await page.getByRole("button", { name: "wait: mean, ms" }).click();
const waits = await page.locator("tbody tr td:nth-child(7)").allTextContents();
assert.equal(waits.length, 8);
assert.deepEqual(waits.map(Number), waits.map(Number).sort((a, b) => a - b));
for (const row of [1, 8]) await page.getByLabel(`Tick row ${row}`, { exact: true }).check();
await page.getByRole("img", { name: "wait: mean, ms, of the chosen runs" }).waitFor();
if (pictures) await page.screenshot({ path: `${pictures}/runs.png`, fullPage: true });
await page.getByRole("button", { name: "Open the ticked runs in the laboratory (2 of at most 4)" }).click();
await page.getByRole("region", { name: "Variant 2" }).getByText(/^Seed \d+: /).waitFor();
await page.getByText("Draw the lines of all variants").click();
await page.getByLabel("Speed").selectOption({ label: "as fast as it goes" });
await page.getByRole("button", { name: "Run", exact: true }).click();
await page.getByText("What the run came to").nth(1).waitFor();
// simulated again, they are the same runs: the table's waits are the store's
for (const [place, wait] of [waits[0], waits[7]].entries()) {
  const said = await page.getByRole("region", { name: "What the run came to" }).nth(place).locator("tbody tr td:nth-child(2)").first().textContent();
  const ms = Number.parseFloat(said) * (said.endsWith("µs") ? 1e-3 : 1);
  assert.ok(Math.abs(ms - Number(wait)) <= 0.006 * Number(wait), `${said} is not ${wait} ms`);
}
await page.getByRole("img", { name: "Wait, ms: % of packets that waited no longer" }).waitFor();
const over = page.locator("details.jobs .chart").first().locator(".u-series");
assert.equal(await over.count(), 3);
await page.getByLabel("1: codel, 10 packets").uncheck();
await over.nth(2).waitFor({ state: "detached" });
assert.deepEqual(await over.locator("th").allTextContents(), ["time, s", "2: fifo, 40 packets"]);
await page.getByLabel("1: codel, 10 packets").check();
await over.nth(2).waitFor();
if (pictures) await page.screenshot({ path: `${pictures}/overlay.png`, fullPage: true });
await page.evaluate(() => (window.location.hash = "#runs"));
await page.getByText("Show only some of the runs").click();
await page.getByLabel("Only runs where").fill("nonsense > 1");
await page.getByRole("button", { name: "Show these" }).click();
await page.getByRole("alert").getByText("nonsense is no column").waitFor();
assert.doesNotMatch(await page.getByRole("alert").textContent(), /--/);
// what is refused filters nothing, which is said for as long as it stands there
await page.waitForTimeout(2500); // jobs have been looked at since
await page.getByRole("alert").getByText("nonsense is no column").waitFor();
assert.equal(await page.locator("details.filter > summary").textContent(), "Show only some of the runs, or means");
await page.getByLabel("Only runs where").fill("seed = 1");
await page.getByRole("button", { name: "Show these" }).click();
await page.getByText("Only runs where seed = 1 are shown").waitFor();
assert.equal(await page.getByRole("alert").count(), 0);
// charts that a live run of the gallery takes the place of ask nothing of what is gone
await page.getByRole("link", { name: "Gallery", exact: true }).click();
await page.getByRole("link", { name: /live/ }).first().click();
await page.getByText("Back to the gallery").waitFor();
await page.goto(`${address}#s=${link}`);

await page.reload();
await page.getByText("Ask this computer: advise, size, compare, run, sweep (3 asked)").click();
await job.waitFor();
// a buffer that is set on the way is part of what is asked of, and runs today
await page.getByRole("button", { name: "Step", exact: true }).click();
await page.getByRole("button", { name: /^BDP: / }).click();
await page.getByRole("heading", { name: "fifo, buffer 17 packets" }).waitFor();
await page.getByLabel("My router runs today what is shown now (fifo, buffer 17 packets)").check(); // only the reader knows
await page.getByRole("button", { name: /^size: / }).click();
await page.getByRole("region", { name: "size, done" }).waitFor();
await page.getByRole("button", { name: /^advise: / }).click();
const advice = page.getByRole("region", { name: "advise, done" });
await advice.waitFor();
assert.match(await advice.locator(".glance strong").textContent(), /^(Run|Keep|Any|Take) /);
if (/[\d.]+ % sure/.test(await advice.locator(".glance p").first().textContent())) await advice.getByText("is about the targets, with this traffic").waitFor();
const beside = advice.getByRole("region", { name: "What is beside the answer" });
// "Keep what runs today": then it is what the answer is about, and what was found beside it is a change
assert.equal(await beside.getByRole("rowheader", { name: /^(this answer|after the change)$/ }).count(), 1);
// what it does stands beside what was asked for
const why = advice.getByRole("region", { name: "Why: what it does, and what was asked for" });
await why.getByRole("row", { name: /^time in which the link is busy .* at least 9\d %, our default met/ }).waitFor();
await why.getByText(/asked for; mean of \d+ runs of 4 s, measured from 1 s on$/).waitFor();
await why.getByRole("row", { name: /^mean wait in the buffer .* ms/ }).waitFor();
assert.match(await beside.getByRole("row", { name: /^today/ }).getByRole("cell").first().textContent(), /^fifo, 17 packets$/);
await advice.getByText("What it rests on").click();
await advice.getByText("Judged first by targets").waitFor();
// beside the other buffers of this link; those of a scenario with another queue are the same link's, those with another rate are not
const buffers = page.getByRole("region", { name: "Buffers for this link" });
assert.match(await buffers.getByRole("row", { name: /^advise / }).first().textContent(), /“utilization at least 9\d %”/);
await page.getByLabel("Rate, typed").fill("12 Mbps");
await page.getByLabel("Rate, typed").press("Enter");
await buffers.getByRole("row", { name: /^advise / }).first().waitFor({ state: "detached" });
assert.ok(await buffers.isVisible()); // it stays open
await page.getByLabel("Rate, typed").fill("10 Mbps");
await page.getByLabel("Rate, typed").press("Enter");
await page.getByLabel("Queue", { exact: true }).selectOption("codel");
await buffers.getByRole("row", { name: /^advise / }).first().waitFor();
const widths = await beside.getByRole("row").evaluateAll((rows) => new Set(rows.map((row) => row.cells.length)).size);
assert.equal(widths, 1);
await advice.getByText("What to type on a router").click();
assert.match(await advice.getByRole("region", { name: "Lines to type" }).first().textContent(), /^tc qdisc/);
assert.doesNotMatch(await advice.textContent(), /[│╭─]/);
// it says what it was asked of, and what its words mean, each once
await advice.getByText("Asked of “small”, changed here: buffer 17 packets.").waitFor();
await job.getByText("Asked of “small”, changed here: queue codel. It has 10 Mbps, 2 flows, round trip 20 ms.").waitFor();
const words = await advice.locator(".terms dt").allTextContents();
for (const word of ["today", "Jain", "used", "next best queue"]) assert.ok(words.includes(word), words.join());
assert.equal(new Set(words).size, words.length);
assert.ok(!words.includes("runner-up"));
assert.equal(await advice.getByText("docs/").count(), 0);
// the document that explains it is a press away, on this server
const [explained] = await Promise.all([context.waitForEvent("page"), advice.getByRole("link", { name: "How advise finds its answers" }).click()]);
await explained.getByRole("heading", { level: 1 }).waitFor();
await explained.close();
await advice.getByRole("columnheader", { name: "packets" }).waitFor();
if (pictures) await page.screenshot({ path: `${pictures}/advice.png`, fullPage: true });
// what-ifs that do not all hold are a line each
const severalLines = await context.newPage();
await severalLines.route(/\/api\/jobs$/, async (route) => {
  const response = await route.fetch({ maxRetries: 3 });
  const jobs = await response.json();
  const lines = jobs.flatMap((each) => each.view ?? []).filter((part) => part.kind === "box").flatMap((part) => part.lines);
  for (const line of lines.filter(({ label }) => label === "what if")) line.text = "4 long flows  met; about 30 packets suffice\nhalf the RTT  missed: loss";
  for (const part of jobs.flatMap((each) => each.view ?? []).filter(({ kind }) => kind === "box")) part.head.push("It waits long; --max-delay bounds it, --target 'loss <= 1 %' asks for less.");
  for (const { buffers } of jobs.filter(({ verb }) => verb === "advise")) buffers.push({ is_answer: false, queue: "fifo", setting: "6 packets", packets: 6, targets: "loss at most 1 %", meets: true });
  await route.fulfill({ response, json: jobs });
});
await severalLines.goto(`${address}#s=${link}`);
await severalLines.getByText("Ask this computer:").click();
// an option of the command is explained where it is read first
await severalLines.getByRole("region", { name: "advise, done" }).getByText("Only at a terminal: --max-delay").waitFor();
// one that the text can have is said as it is written there
await severalLines.getByRole("region", { name: "advise, done" }).getByText('with those that are there, targets = ["loss <= 1 %"]').first().waitFor();
await severalLines.getByRole("region", { name: "advise, done" }).getByText("More about the answer").click();
const whatIfs = severalLines.getByRole("region", { name: "advise, done" }).locator(".line").filter({ hasText: "what if" }).getByRole("listitem");
await whatIfs.first().waitFor();
assert.deepEqual(await whatIfs.allTextContents(), ["4 long flows: met; about 30 packets suffice", "half the RTT: missed: loss"]);
// of the FIFO beside another answer it is said what it is: no FIFO is the best one in all
await severalLines.getByRole("region", { name: "Buffers for this link" }).getByRole("row", { name: "advise: smallest FIFO that meets the targets 6 " }).waitFor();
// in a narrow column a long name has lines, and is not below the number
await severalLines.setViewportSize({ width: 360, height: 800 });
const crossing = await severalLines.getByRole("region", { name: "Buffers for this link" }).locator("tbody th").evaluateAll((cells) => cells.filter((cell) => cell.scrollWidth > cell.clientWidth).map((cell) => cell.textContent));
assert.deepEqual(crossing, []);
// a line is one, also where another has a point between two of its own
const gapped = await context.newPage();
await gapped.route(/\/api\/runs\?/, async (route) => {
  const response = await route.fetch({ maxRetries: 3 });
  const list = await response.json();
  const [queue, buffer] = ["bottleneck.queue", "bottleneck.buffer"].map((name) => list.columns.findIndex((column) => column.name === name));
  const [row] = list.rows.filter((each) => each.labels[queue] === "codel");
  const made = (kind, packets) => ({ ...row, labels: row.labels.map((label, at) => (at === queue ? kind : at === buffer ? `${packets} packets` : label)), values: row.values.map(() => packets) });
  await route.fulfill({ response, json: { ...list, groups: list.groups.filter(({ name }) => name === row.group), rows: [made("fifo", 10), made("fifo", 30), made("codel", 20), made("codel", 25), { ...made("codel", 0), labels: made("codel", 0).labels.map((label, at) => (at === buffer ? null : label)) }] } });
});
await gapped.goto(`${address}#runs`);
await gapped.locator(".chart .u-legend").waitFor();
await gapped.waitForTimeout(200); // it is drawn a moment later
await gapped.getByText("Not in the chart: 1 run without buffer.").waitFor();
const reach = await gapped.locator(".chart canvas").evaluate((canvas) => {
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  const isFifo = (at) => Math.abs(data[at] - 0x00) + Math.abs(data[at + 1] - 0x72) + Math.abs(data[at + 2] - 0xb2) < 60 && data[at + 3] > 100;
  const columns = Array.from({ length: canvas.width }, (_, x) => Array.from({ length: canvas.height }, (_, y) => 4 * (y * canvas.width + x)).some(isFifo));
  return columns.filter(Boolean).length / canvas.width;
});
assert.ok(reach > 0.7, `the line of fifo has ${reach} of the chart's width`);
await gapped.close();
// lines are named by what differs: those of the scenario as it is come first
const differing = await context.newPage();
await differing.route(/\/api\/runs\?/, async (route) => {
  const response = await route.fetch({ maxRetries: 3 });
  const list = await response.json();
  const at = list.columns.findIndex(({ name }) => name === "bottleneck.buffer");
  list.columns.splice(at + 1, 0, { name: "flows[0].made_up", title: "number of flows", figure: false });
  const of = list.rows.filter(({ labels }) => labels[at] !== null);
  const [row] = of.filter(({ group }) => group === of.at(-1).group);
  const made = (count, packets) => ({ ...row, labels: row.labels.map((label, each) => (each === at ? `${packets} packets` : label)).toSpliced(at + 1, 0, count), values: row.values.map(() => packets) });
  const groups = list.groups.filter(({ name }) => name === row.group);
  await route.fulfill({ response, json: { ...list, groups, rows: [made(4, 10), made(4, 300), made(null, 9), made(null, 200), ...several.flatMap((count) => [made(count, 10), made(count, 20)])] } });
});
let several = [];
await differing.goto(`${address}#runs`);
const called = differing.locator(".chart .u-legend .u-series th");
await called.nth(1).waitFor();
assert.deepEqual((await called.allTextContents()).slice(1), ["the scenario as it is", "number of flows 4"]);
// a chart has six lines at first, and more where they are asked for
several = [5, 6, 7, 8, 9, 10];
await differing.reload();
await differing.getByText("The chart has 6 of 8 lines").waitFor();
await differing.getByRole("button", { name: "Show 2 more" }).click();
await called.nth(8).waitFor();
await differing.unroute(/\/api\/runs\?/);
await differing.route(/\/api\/runs\?/, async (route) => {
  const response = await route.fetch({ maxRetries: 3 });
  const list = await response.json();
  const more = Array.from({ length: 4 }, (_, index) => ({ ...list.groups[0], name: `made up ${index}` }));
  await route.fulfill({ response, json: { ...list, groups: [...list.groups, ...more], rows: list.rows.map((row) => ({ ...row, values: row.values.map(() => null) })) } });
});
await differing.reload();
await differing.getByText("No run of this job has this figure").waitFor();
// a list of many jobs begins with the latest; its end is not hidden
const listedJobs = differing.locator(".joblist input");
assert.equal(await listedJobs.count(), 5);
const [, hidden] = /^Show (\d+) more$/.exec(await differing.locator(".joblist button").textContent());
await differing.locator(".joblist button").click();
assert.equal(await listedJobs.count(), 5 + Number(hidden));
await differing.close();
// a job that is not at its end says so, and its list grows by itself
const growing = await context.newPage();
let came = 1;
await growing.route(/\/api\/runs\?/, async (route) => {
  const response = await route.fetch({ maxRetries: 3 });
  const list = await response.json();
  const [group] = list.groups.filter(({ title }) => title === "advise");
  await route.fulfill({ response, json: { ...list, groups: came ? [group] : [], rows: list.rows.filter((row) => row.group === group.name).slice(0, came) } });
});
await growing.route(/\/api\/jobs$/, async (route) => {
  const response = await route.fetch({ maxRetries: 3 });
  const jobs = await response.json();
  await route.fulfill({ response, json: jobs.map((each) => (each.verb === "advise" ? { ...each, state: came < 3 ? "running" : "canceled" } : each)) });
});
await growing.goto(`${address}#runs`);
await growing.getByRole("radio", { name: /, running, 1 run so far / }).waitFor();
await growing.getByText("It is still running").waitFor();
await growing.getByText("of a setting: as the scenario has it").waitFor();
await growing.getByLabel("Tick row 1", { exact: true }).check();
came = 2;
await growing.getByRole("radio", { name: /, running, 2 runs so far / }).waitFor();
assert.equal(await growing.getByRole("checkbox", { name: /^Tick row/, checked: true }).count(), 1); // what is ticked stays
came = 3;
await growing.getByRole("radio", { name: /, canceled, 3 runs / }).waitFor();
assert.equal(await growing.getByText("It is still running").count(), 0);
came = 0;
await growing.reload();
await growing.getByText("advise of “small” is running, and has no run in the store yet.").waitFor();
await growing.close();
// a story leads to the document that it is after: beside our numbers, on this server
const told = await context.newPage();
await told.goto(`${address}#story=root.1`);
const [reproduced] = await Promise.all([context.waitForEvent("page"), told.getByRole("link", { name: /^what it states and what runs gave/ }).click()]);
await reproduced.getByRole("heading", { name: "sizing-mininet", exact: true }).waitFor();
await reproduced.close();
await told.getByRole("link", { name: "Its figures beside ours" }).click();
await told.getByRole("article", { name: "The more flows, the less buffer" }).waitFor();
await told.waitForFunction(() => Math.abs(document.getElementById("sizing-mininet").getBoundingClientRect().top) < 400);
await told.close();
// an example's own targets are said, whatever sliders change
const targeted = await context.newPage();
await targeted.goto(`${address}#lab`);
await targeted.getByText("Ask this computer:").click();
await targeted.getByText("utilization >= 95 %, call.r > 80", { exact: true }).waitFor();
const own = targeted.getByLabel("The link has to be busy, % of the time");
assert.deepEqual([await own.inputValue(), await own.getAttribute("placeholder")], ["", "95, by the text"]);
await targeted.evaluate(() => (window.location.hash = "#runs"));
await targeted.getByRole("heading", { name: "Stored runs" }).waitFor();
await targeted.evaluate(() => (window.location.hash = "#lab")); // what was left and is shown again follows the field, too
await targeted.getByText("Ask this computer:").click();
await own.fill("98");
await own.press("Enter");
await targeted.getByText("utilization >= 98 %, call.r > 80", { exact: true }).waitFor(); // its other targets stay
await targeted.getByText("Measure asks for 98 % busy alone").waitFor();
// what the field has asked for is not said to be the text's; side by side, charts may have axes of their own, and lines are of who has values
const field = await context.newPage();
await field.route(/\/api\/jobs$/, async (route) => {
  const response = await route.fetch({ maxRetries: 3 });
  const jobs = JSON.parse((await response.text()).replaceAll("our default", "by [advise]"));
  await route.fulfill({ response, json: jobs.map((each) => ({ ...each, changed: "queue codel, targets utilization at least 99 %" })) });
});
await field.goto(`${address}#lab`);
await field.getByText("Ask this computer:").click();
await field.getByRole("region", { name: "advise, done" }).getByText(/at least 9\d %, as asked above/).first().waitFor();
assert.equal(await field.getByRole("region", { name: "advise, done" }).getByText("by [advise]").count(), 0);
await field.getByRole("button", { name: "Compare with a copy" }).click();
await field.getByRole("region", { name: "Variant 2" }).waitFor();
await field.getByRole("region", { name: "Variant 2" }).getByRole("button", { name: /^BDP: / }).click();
await field.getByLabel("Speed").selectOption({ label: "as fast as it goes" });
await field.getByRole("button", { name: "Run", exact: true }).click();
await field.getByText("What the run came to").nth(1).waitFor();
const reaches = () => field.getByRole("img", { name: /^Backlog and limit/ }).evaluateAll((charts) => charts.map((chart) => chart.dataset.reach));
assert.equal(new Set(await reaches()).size, 1);
await field.getByLabel("A y axis of its own for each chart").check();
await field.waitForTimeout(300);
assert.equal(new Set(await reaches()).size, 2);
const windows = field.getByRole("img", { name: /^Congestion window/ }).first();
assert.deepEqual((await windows.locator(".u-legend .u-series th").allTextContents()).slice(1), ["downloads"]);
assert.equal(await field.getByText("before and since changes").count(), 0); // it began so
await field.close();
const checked = await (await browser.newContext({ bypassCSP: true })).newPage();
await checked.goto(`${address}#s=${link}`);
await checked.getByText("Ask this computer:").click();
await checked.getByRole("region", { name: "run, done" }).waitFor();
await checked.getByText("sweep: Many settings").click();
await passes("served");
await checked.setViewportSize({ width: 360, height: 800 });
await checked.evaluate(() => (window.location.hash = "#runs"));
await checked.getByRole("radio", { name: /^advise \(which queue, and how large\?\), \d\d:\d\d, \d+ runs with buffer 17 packets: small \(10 Mbps, 2 flows, round trip 20 ms\)$/ }).waitFor();
// an answer's sentence is above its chart, in which it is marked; what it compares comes first
const sentence = await advice.locator(".do").textContent();
const compared = (await beside.getByRole("row", { name: /^(this answer|next best queue|smallest FIFO) / }).getByRole("cell").allTextContents()).filter((cell) => /^[a-z_]+, /.test(cell)).map((cell) => cell.split(", ")[0]);
await checked.locator("strong", { hasText: sentence }).waitFor();
// the chart begins with the queues that it compares, each with its setting, and the answer first
const alongAxis = checked.getByLabel("for each", { exact: true });
assert.equal(await alongAxis.inputValue(), "compared");
await checked.getByText(/for each queue with its setting\. A bar is /).waitFor();
assert.equal(await checked.getByText("Point at a").count(), 0); // bars say what they are
const bars = checked.locator("table.bars");
assert.match(await bars.locator("tr").first().textContent(), /\(the answer\)/);
const lengths = await bars.locator("rect").evaluateAll((all) => all.map((bar) => [bar.getBoundingClientRect().width, Number.parseFloat(bar.closest("tr").lastElementChild.textContent)]));
const [longest] = lengths.toSorted(([one], [other]) => other - one);
for (const [width, value] of lengths) assert.ok(Math.abs(width / longest[0] - value / longest[1]) < 0.02, `${width} ${value}`);
// along the buffer, as numbers, what the answer compares comes first
await alongAxis.selectOption("bottleneck.buffer");
const drawnLines = (await checked.locator(".chart .u-legend .u-series th").allTextContents()).slice(1);
assert.equal(drawnLines.at(-1), "the answer");
assert.deepEqual(drawnLines.slice(0, compared.length).map((line) => line.split(" ")[0]), compared);
await checked.getByRole("img", { name: "wait: mean, ms" }).getByText("buffer, packets").waitFor({ state: "attached" });
// where lists add up to more than there are runs, it is said why
const counted = (await checked.locator(".joblist input + span").allTextContents()).map((each) => Number(/, (\d+) runs?$/.exec(each)[1]));
const total = Number(/(\d+) runs/.exec(await checked.locator("p[aria-live]").textContent())[1]);
assert.equal(await checked.getByText("Jobs share runs").count(), Number(counted.reduce((sum, each) => sum + each, 0) > total));
await checked.getByText("Show only some of the runs").click();
const filter = async (condition) => {
  await checked.getByLabel("Only runs where").fill(condition);
  await checked.getByRole("button", { name: "Show these" }).click();
};
await filter("seed > 1000 or (seed = 1 and queue = 'codel' and buffer = '10 packets')");
await checked.getByText(/^sweep of .*, 1 run$/).waitFor();
await filter("queue = 'none'");
await checked.getByText(/^0 runs/).waitFor();
await checked.getByText("What a condition can name").waitFor();
await filter("");
await checked.getByText(/^sweep of queue and buffer, .*, 8 runs$/).waitFor();
const jobs = (await checked.locator(".joblist input + span").allTextContents()).map((each) => each.split(/,| \(/)[0]);
assert.deepEqual(jobs.slice(0, 3), ["advise", "size", "sweep of queue and buffer"]); // the latest first
// what has words for places is bars
await checked.getByLabel("for each", { exact: true }).selectOption({ label: "queue" });
await checked.locator("table.bars").waitFor();
// a job that is chosen has its own chart and table
await checked.getByRole("radio", { name: /^sweep of queue and buffer, .*, 8 runs/ }).check();
await checked.getByRole("checkbox", { name: /^Tick row/ }).nth(7).waitFor();
await checked.getByLabel("for each", { exact: true }).selectOption({ label: "queue" });
await checked.locator("table.bars th", { hasText: "codel" }).waitFor();
await passes("runs-360");
// what is wider than the screen says so
await checked.getByText("This goes on at the right").waitFor();
await checked.setViewportSize({ width: 1200, height: 800 });
await checked.getByText("This goes on at the right").waitFor({ state: "detached" });
await checked.setViewportSize({ width: 360, height: 800 });
assert.ok(await checked.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), "wider than a phone");

/** axe finds nothing serious in what is shown. */
async function passes(name) {
  await checked.evaluate(axe);
  const { violations } = await checked.evaluate(() => window.axe.run());
  const serious = violations.filter((each) => ["serious", "critical"].includes(each.impact));
  assert.deepEqual(serious.map((each) => [each.id, each.nodes.map((node) => node.html)]), []);
  if (pictures) await checked.screenshot({ path: `${pictures}/${name}.png`, fullPage: true });
}
// so it is of size: what it was asked for follows its sentence
await checked.getByRole("radio", { name: /^size \(how small may the buffer be\?\), .* with buffer 17 packets: small \(10 Mbps, 2 flows, round trip 20 ms\)$/ }).check();
await checked.locator("strong", { hasText: /^Take 17 packets .* meets the target.* Asked for: utilization at least 99 %\.$/ }).waitFor();
await checked.locator(".chart .u-legend .u-series th", { hasText: "the answer" }).waitFor();
if (pictures) await checked.screenshot({ path: `${pictures}/runs-size-360.png`, fullPage: true });
// all of an answer is where it is kept
await checked.getByRole("radio", { name: /^advise/ }).check();
await checked.getByRole("link", { name: "All of this answer" }).click();
await checked.getByRole("region", { name: "advise, done" }).getByText(sentence).waitFor();
// of a comparison of queues each has its place, under the scenario's own buffer, too
await checked.getByRole("button", { name: /^compare: / }).click();
const comparedHere = checked.getByRole("region", { name: "compare, done" });
await comparedHere.waitFor();
// what would be typed at a terminal is pressed here
await comparedHere.getByText("advise, the button above").waitFor();
assert.doesNotMatch(await comparedHere.getByRole("group", { name: "Answer of compare" }).innerText(), /bufferlab advise|More --/);
await checked.evaluate(() => (window.location.hash = "#runs"));
await checked.getByRole("radio", { name: /^compare \(/ }).check();
await checked.getByLabel("for each", { exact: true }).locator("option:checked", { hasText: /^queue$/ }).waitFor({ state: "attached" });
await checked.locator("table.bars tr").nth(10).waitFor();
assert.equal(await checked.getByText("Not in the chart").count(), 0);
assert.deepEqual(wrong, []);
await browser.close();
