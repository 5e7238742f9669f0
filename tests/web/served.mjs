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
await page.getByText("Ask this computer").click();
await page.getByRole("button", { name: /^run: / }).click();
const job = page.getByRole("region", { name: "run, done" });
await job.waitFor();
assert.match(await job.locator("pre").textContent(), /codel[^]*utilization, %/);
const figure = job.locator("img.figure").first();
await figure.waitFor();
assert.ok(await figure.evaluate((image) => image.decode().then(() => image.naturalWidth)));
const files = await job.getByRole("link").allTextContents();
for (const file of ["run.pcapng", "run.flent.gz", "scenario.toml"]) assert.ok(files.includes(file), files.join());
const toml = await page.evaluate((path) => fetch(path).then((answer) => answer.text()), await job.getByRole("link", { name: "scenario.toml", exact: true }).getAttribute("href"));
assert.match(toml, /codel/);

await page.getByRole("button", { name: /^size: / }).click();
await page.getByRole("button", { name: "Cancel" }).click();
await page.getByRole("region", { name: /^size, (canceled|done)/ }).waitFor();

await page.reload();
await page.getByText("Ask this computer: advise, size, compare, run (2 asked)").click();
await job.waitFor();
const checked = await (await browser.newContext({ bypassCSP: true })).newPage();
await checked.goto(`${address}#s=${link}`);
await checked.getByText("Ask this computer").click();
await checked.getByRole("region", { name: "run, done" }).waitFor();
await checked.evaluate(axe);
const { violations } = await checked.evaluate(() => window.axe.run());
const serious = violations.filter((each) => ["serious", "critical"].includes(each.impact));
assert.deepEqual(serious.map((each) => [each.id, each.nodes.map((node) => node.html)]), []);
if (pictures) await checked.screenshot({ path: `${pictures}/served.png`, fullPage: true });
assert.deepEqual(wrong, []);
await browser.close();
