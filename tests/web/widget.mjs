// A notebook's widget in Debian's Chromium, given to it as anywidget does: prints what went wrong, or nothing.
//
//   node widget.mjs CHROMIUM ADDRESS [FOLDER FOR PICTURES]
import assert from "node:assert/strict";
import { createRequire } from "node:module";

const require = createRequire(new URL("../../web/package.json", import.meta.url));
const { chromium } = require("playwright-core");

const [executablePath, address, pictures] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
const page = await browser.newPage({ viewport: { width: 900, height: 900 } });
page.setDefaultTimeout(30_000);
const wrong = [];
page.on("pageerror", (error) => wrong.push(error.message));
page.on("request", (request) => {
  if (!request.url().startsWith(address) && !request.url().startsWith("blob:")) wrong.push(`asked for ${request.url()}`);
});

await page.goto(address);
await page.evaluate(async () => {
  const { default: widget } = await import("./widget.js");
  const state = await (await fetch("state.json")).json();
  const engine = new DataView(await (await fetch("lab.wasm")).arrayBuffer());
  const listeners = [];
  const model = {
    get: (name) => (name === "engine" ? engine : state[name]),
    on: (event, then) => listeners.push([event, then]),
    off: (event, then) => listeners.splice(listeners.findIndex((each) => each[0] === event && each[1] === then), 1),
  };
  window.put = (variants) => {
    state.variants = variants;
    listeners.filter(([event]) => event === "change:variants").forEach(([, then]) => then());
  };
  window.listening = () => listeners.length;
  const el = document.querySelector("#cell");
  window.close = widget.render({ model, el });
  window.again = () => widget.render({ model, el: document.querySelector("#other") });
});
const cell = page.locator("#cell");
await cell.getByRole("region", { name: "Variant 2" }).waitFor();
await cell.getByLabel("Speed").selectOption({ label: "as fast as it goes" });
await cell.getByRole("button", { name: "Run", exact: true }).click();
await cell.getByText("What the run came to").nth(1).waitFor();
assert.equal(await cell.getByRole("button", { name: "Share" }).count(), 0); // a notebook has no address of its own
const [small, large] = await cell.locator(":not(.buffers *) > table > tbody > tr:first-child td:nth-child(2)").allTextContents();
await cell.getByText(/of at most 10;/).waitFor();
await cell.getByText(/of at most 40;/).waitFor();
assert.notEqual(small, large);
assert.equal(await page.evaluate(() => getComputedStyle(document.body).margin), "7px"); // the notebook's own style
if (pictures) await page.screenshot({ path: `${pictures}/widget.png`, fullPage: true });

await page.evaluate(() => window.again());
await page.locator("#other").getByRole("region", { name: "Variant 2" }).waitFor();
await page.evaluate(() => fetch("state.json").then((answer) => answer.json()).then((state) => window.put([state.variants[0]])));
await cell.getByRole("region", { name: "Scenario", exact: true }).waitFor();
await page.evaluate(() => window.close());
await cell.getByRole("region", { name: "Scenario", exact: true }).waitFor({ state: "detached" });
assert.equal(await page.evaluate(() => window.listening()), 1);
assert.deepEqual(wrong, []);
await browser.close();
