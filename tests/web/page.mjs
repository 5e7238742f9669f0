// What a reader does with the page, in Debian's Chromium: prints {name: null, or what went wrong} as JSON.
//
//   node page.mjs CHROMIUM ADDRESS [FOLDER FOR PICTURES]
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { deflateRawSync, inflateRawSync } from "node:zlib";

const require = createRequire(new URL("../../web/package.json", import.meta.url));
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

const [executablePath, address, pictures] = process.argv.slice(2);
const quiet = ["background-networking", "component-update", "sync", "gpu", "quic"].map((each) => `--disable-${each}`);
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--no-first-run", ...quiet] });

const SMALL = `
run = { name = "small", duration = "4 s", warmup = "1 s" }
bottleneck = { rate = "10 Mbps", delay = "2 ms", buffer = "40 packets" }
flows = [{ name = "near", count = 2, rtt = "20 ms" }, { name = "far", rtt = "80 ms" }]
`;

const button = (page, name) => page.getByRole("button", { name, exact: true });
const shared = (document) => `#s=${deflateRawSync(JSON.stringify(document)).toString("base64url")}`;
const small = (text = SMALL, overrides = {}) => shared({ version: 1, variants: [{ text, overrides }] });
const summary = (page, index = 0) => page.locator("p.summary").nth(index).textContent();

async function toTheEnd(page) {
  await page.getByLabel("Speed").selectOption({ label: "as fast as it goes" });
  await button(page, "Run").click();
  await page.getByText("What the run came to").first().waitFor();
  await button(page, "Run").waitFor();
}

/** The same by the slider of time, with a picture of the end alone: for tests that are about what is shown then. */
async function atTheEnd(page) {
  await page.getByLabel("Time", { exact: true }).fill("1000");
  await page.getByText("What the run came to").first().waitFor();
}

/** Waits until a field has this value. */
async function shows(field, value) {
  const element = await field.elementHandle();
  await element.evaluate((box, wanted) => new Promise((done, failed) => {
    const until = performance.now() + 10_000;
    const look = () => (box.value === wanted ? done() : performance.now() > until ? failed(new Error(`${box.value}, not ${wanted}`)) : setTimeout(look, 20));
    look();
  }), value);
}

const tests = {
  async "an example is there at once and runs to its end"(open) {
    const page = await open("");
    await page.getByRole("heading", { name: "A call and downloads at a home gateway" }).waitFor();
    await page.getByText("A home gateway: downloads, and a call that should not wait behind them.", { exact: true }).waitFor();
    // before the run there are no charts, and a line says so
    await page.getByText("The charts are here once it runs.").waitFor();
    assert.equal(await page.locator("canvas").count(), 1);
    await button(page, "Step").click();
    await page.getByText("Gray in the charts: the first 12 s, which the table at the end leaves out.").waitFor();
    await page.getByRole("img", { name: /^Goodput of each group.*; not of call: no TCP$/ }).waitFor({ state: "attached" });
    await page.getByRole("img", { name: "Wait in the buffer, ms: mean" }).getByText("time, s").waitFor({ state: "attached" });
    await toTheEnd(page);
    assert.equal(await page.getByText(/^Gray in the charts/).count(), 0);
    assert.deepEqual(await page.getByRole("region", { name: "What the run came to" }).locator("th[scope=col]").allTextContents(), ["packets of", "wait: mean", "lost", "a flow got", "packet took: mean"]);
    await page.getByText(/^call: what is said is heard after \d\d(\.\d)? ms, rating R 93\.2, MOS 4\.4/).waitFor();
    // what words mean is said beside them, also to keys
    await page.getByRole("button", { name: "What does heard after, R, MOS mean?" }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("note").getByText("how good a call is, from its delay and losses (ITU-T G.107)").waitFor();
    await page.keyboard.press("Enter");
    assert.equal(await page.getByRole("note").count(), 0);
    for (const [word, meaning] of [["utilization", "in which the link sends"], ["each of these buffers", "bandwidth-delay product"]]) {
      await page.getByRole("button", { name: `What does ${word} mean?` }).click();
      await page.getByRole("note").getByText(meaning).waitFor();
    }
    assert.equal(await page.getByText("New here?").getByRole("link", { name: "stories" }).getAttribute("href"), "#stories");
    assert.equal(await page.locator(".clock").textContent(), "60 s of 60 s");
    await picture(page, "run");
  },
  async "an engine that comes late is waited for"(open) {
    const page = await open(small(), { slow: 1500 });
    await page.getByRole("heading", { name: "small" }).waitFor();
    assert.equal(await page.getByRole("alert").count(), 0);
  },
  async "a step is a small one, and a limit changes at once"(open) {
    const page = await open(small());
    await button(page, "Step").click();
    await page.getByText("At 4 ms").waitFor();
    assert.match(await summary(page), /of at most 40[;,]/);
    await page.getByRole("button", { name: /^BDP: / }).click();
    await page.getByText(/of at most 33[;,]/).waitFor();
    assert.match(await summary(page), /^At 4 ms/);
    // the units that the form takes
    const buffer = page.getByLabel("Buffer (live), typed");
    for (const [typed, packets] of [["20 ms", 17], ["0.03 MB", 20]]) {
      await buffer.fill(typed);
      await buffer.press("Enter");
      await shows(buffer, `${packets} packets`);
      assert.equal(await page.getByRole("alert").count(), 0, typed);
    }
    await page.getByLabel("Buffer (live)", { exact: true }).focus();
    await page.keyboard.press("Home");
    await page.getByText(/of at most 1[;,]/).waitFor();
  },
  async "what a run came to is measured before and since a change, each by itself, and the link follows"(open) {
    const tables = (page) => page.getByRole("region", { name: /^(What the run came to|Before the change)/ });
    const cells = async (page, index = 0) => (await tables(page).nth(index).locator("tbody, thead").allTextContents()).join();
    const page = await open(small());
    await page.getByLabel("Time", { exact: true }).fill("500");
    await page.getByText("At 2 s").waitFor();
    await button(page, "Share").click();
    const link = page.getByLabel("A link to what is shown here");
    const first = await link.inputValue();
    await page.getByRole("button", { name: /^BDP: / }).click();
    await page.getByRole("heading", { name: "fifo, buffer 33 packets" }).waitFor();
    await page.waitForFunction(([input, value]) => input.value !== value, [await link.elementHandle(), first]);
    const held = JSON.parse(inflateRawSync(Buffer.from((await link.inputValue()).split("#s=")[1], "base64url")));
    assert.equal(held.variants[0].overrides["bottleneck.buffer"], "33 packets");
    await page.getByLabel("Time", { exact: true }).fill("1000");
    await page.getByText("Before the change, from 1 s to 2 s: the link was busy").waitFor();
    await page.getByText("What the run came to since the change at 2 s, up to 4 s: the link was busy").waitFor();
    // the same change as the scenario's own, measured from there on; and a run that ends there
    const since = await open(small(SMALL.replace('warmup = "1 s"', 'warmup = "2 s"').replace('"40 packets"', '"40 packets", changes = [{ at = "2 s", buffer = "33 packets" }]')));
    await atTheEnd(since);
    assert.equal(await cells(page), await cells(since));
    const before = await open(small(SMALL.replace('duration = "4 s"', 'duration = "2 s"')));
    await atTheEnd(before);
    assert.equal(await cells(page, 1), await cells(before));
    assert.notEqual(await cells(page), await cells(page, 1));
    await picture(page, "changed");
  },
  async "a target changes at once, and again on the way back"(open) {
    const page = await open(small(SMALL, { "bottleneck.queue": "codel" }));
    const time = page.getByLabel("Time", { exact: true });
    await time.fill("250");
    await page.getByText("At 1 s").waitFor();
    const target = page.getByLabel("Target of the wait (live)", { exact: true });
    await target.focus();
    await page.keyboard.press("End");
    await shows(page.getByLabel("Target of the wait (live), typed"), "1 s");
    assert.match(await summary(page), /^At 1 s/);
    await time.fill("750");
    await page.getByText(/At 3 s: (2\d|3\d|40) packets wait/).waitFor();
    const then = await summary(page);
    await time.fill("125");
    await page.getByText("At 500 ms").waitFor();
    await shows(page.getByLabel("Target of the wait (live), typed"), "5 ms");
    await time.fill("750");
    await page.getByText("At 3 s").waitFor();
    assert.equal(await summary(page), then);
    await page.getByLabel("Queue").selectOption("fifo");
    await target.waitFor({ state: "detached" });
  },
  async "what of a run is chance is seen by other seeds"(open) {
    const page = await open(small(SMALL.replace('rtt = "20 ms" }', 'rtt = "20 ms", start = "uniform(0 s, 1 s)" }, { name = "ping", rtt = "30 ms", application = { kind = "ping", interval = "50 ms" } }')));
    await atTheEnd(page);
    await page.getByText("what a ping took is of those begun and ended in it").waitFor(); // else its mean may be less than its own wait
    await button(page, "How much of this is chance?").click();
    const found = page.getByRole("region", { name: "What seeds 1 to 8 came to" });
    await found.getByRole("row", { name: /^near [\d.]+ ms to [\d.]+ ms/ }).waitFor();
    // this run, of seed 1, is one of them
    const mean = async (region) => (await region.getByRole("row", { name: /^near/ }).getByRole("cell").first().textContent()).split(" to ").map(parseFloat);
    const [own] = await mean(page.getByRole("region", { name: "What the run came to" }));
    const [least, most] = await mean(found);
    assert.ok(least <= own && own <= most && least < most, `${own} is not of ${least} to ${most}`);
    // a new run is another question
    await page.getByLabel("Queue").selectOption("codel");
    await found.waitFor({ state: "detached" });
    const fixed = await open(small());
    await atTheEnd(fixed);
    await button(fixed, "How much of this is chance?").click();
    await fixed.getByText("nothing in this scenario is random").waitFor();
    assert.deepEqual(await page.getByLabel("Control", { exact: true }).locator("optgroup").evaluateAll((parts) => parts.map((part) => part.label)), ["usual today", "older", "data centers, L4S", "of old kernels: Linux 2.6", "research"]);
  },
  async "a control is chosen, and round trips, goodput and waits are shown on the way"(open) {
    const page = await open(small());
    await page.getByLabel("Time", { exact: true }).fill("700");
    await page.getByText("At 2.8 s").waitFor();
    const before = await summary(page);
    for (const chart of ["Round trip as senders measure it", "Goodput of each group, Mbps", "Wait in the buffer: %"]) {
      await page.getByRole("img", { name: chart }).locator("canvas").waitFor();
    }
    const own = (name) => page.getByLabel(name, { exact: true }).locator("option").first().textContent();
    assert.deepEqual([await own("Queue"), await own("Control")], ["fifo, as in the scenario", "reno, as in the scenario"]);
    await page.getByLabel("Control", { exact: true }).selectOption("scalable");
    await page.getByText("At 0 s").waitFor();
    await page.getByLabel("Time", { exact: true }).fill("700");
    await page.getByText("At 2.8 s").waitFor();
    assert.notEqual(await summary(page), before);
    assert.equal(await own("Control"), "reno, as in the scenario"); // its own, whatever is chosen
  },
  async "a link to share is copied, and sliders are said with units"(open) {
    const page = await open(small());
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await button(page, "Share").click();
    await button(page, "Copy").click();
    await button(page, "Copied").waitFor();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    assert.equal(copied, await page.getByLabel("A link to what is shown here").inputValue());
    await button(page, "Compare with a copy").click();
    const second = page.getByRole("region", { name: "Variant 2" });
    await second.getByLabel("Round trip of near", { exact: true }).focus();
    await page.keyboard.press("End");
    await second.getByLabel("Rate", { exact: true }).focus();
    await page.keyboard.press("ArrowRight");
    await second.getByRole("heading", { name: /fifo, buffer 40 packets, rate 12 Mbps, round trip of near 1 s$/ }).waitFor();
    // in a legend as wide as a phone, a long name goes on beside its mark
    await page.setViewportSize({ width: 390, height: 800 });
    await page.getByText("Draw the lines of all variants").click();
    const series = page.getByRole("img", { name: "Backlog, packets", exact: true }).locator(".u-series").last();
    await series.waitFor();
    const apart = await series.evaluate((row) => row.querySelector(".u-label").getClientRects()[0].top - row.querySelector(".u-marker").getBoundingClientRect().top);
    assert.ok(Math.abs(apart) < 10, `${apart}`);
  },
  async "the least buffer is measured, and is a mark"(open) {
    const page = await open(small());
    await button(page, "Measure").click();
    const mark = page.getByRole("button", { name: /^Measured, 99 %: / });
    await mark.click();
    const packets = Number((await mark.textContent()).match(/(\d+) packets/)[1]);
    assert.ok(packets > 1 && packets < 100, packets);
    await atTheEnd(page);
    // in one place, what each number is the answer to
    const buffers = page.getByRole("region", { name: "Buffers for this link" });
    const rows = await buffers.locator("tbody tr").evaluateAll((all) => all.map((row) => [...row.cells].map((cell) => cell.textContent.trim())));
    assert.deepEqual(rows.map(([name]) => name).sort(), ["BDP", "Measured, 99 %", "Stanford", "Theorem 2, 99 %", "set now"]);
    const [of, drained] = [(name) => rows.find(([each]) => each === name), (count) => `${Number((1.2 * count).toPrecision(3))} ms`];
    assert.deepEqual(of("Measured, 99 %").slice(1, 3), [`${packets}`, drained(packets)]);
    assert.match(of("set now")[3], /^what runs in the laboratory, under fifo: it kept the link (99|100)/);
    assert.match(of("BDP")[3], /one endless Reno flow/);
    await buffers.getByRole("row", { name: /^Stanford/ }).getByRole("button").click();
    await shows(page.getByLabel("Buffer (live), typed"), `${of("Stanford")[1]} packets`);
    await page.getByText("from the next run on").waitFor();
    const busy = (await page.getByText("the link was busy").textContent()).match(/([\d.]+) %/)[1];
    assert.ok(Number(busy) >= 99, busy);
    // a link that is much faster than its flows cannot be kept busy
    const idle = await open(small(`run = { duration = "4 s" }\nbottleneck = { rate = "10 Mbps", buffer = "9 packets" }\nflows = [{ rtt = "20 ms", application = { kind = "ping", interval = "50 ms" } }]`));
    await button(idle, "Measure").click();
    await idle.getByText(/no buffer of up to \d+ packets keeps this link 99 % busy/).waitFor();
  },
  async "charts show a part of the run: the last seconds, or what is drawn over"(open) {
    const page = await open(small());
    await atTheEnd(page);
    const backlog = page.getByRole("img", { name: /^Backlog and limit/ });
    const before = await summary(page);
    assert.match(before, /^At 4 s: .* % of 10 Mbps, mean of the last 40 ms\.$/);
    await page.getByText("What the run came to, from 1 s to 4 s: the link was busy").waitFor();
    const span = page.getByLabel("Charts show");
    assert.deepEqual(await span.locator("option").allTextContents(), ["the whole run", "the last 1 s", "the last 3 s"]);
    const came = await page.getByRole("region", { name: "What the run came to" }).textContent();
    await span.selectOption("the last 1 s");
    await page.getByText("in the red strip: drops; the last 1 s").waitFor();
    await page.getByRole("region", { name: "What the run came to" }).waitFor();
    assert.equal(await page.getByRole("region", { name: "What the run came to" }).textContent(), came); // the same run again
    assert.match(await summary(page), /^At 4 s: .*, mean of the last 24 ms\.$/); // as charts look closer
    const over = backlog.locator(".u-over");
    /** The pointer's work, again if the table above came or went meanwhile and moved the charts. */
    const until = async (text, act) => {
      for (let tries = 0; tries < 5; tries++) {
        await over.hover({ position: { x: 5, y: 40 } });
        const box = await over.boundingBox();
        await act(box);
        if (await page.getByText(text).first().waitFor({ timeout: 8000 }).then(() => true, () => false)) return;
      }
      assert.fail(`${text} was not shown`);
    };
    await until(/in the red strip: drops; 3\.2\d* s to 3\.7\d* s/, async (box) => {
      await page.mouse.move(box.x + 0.25 * box.width, box.y + 40);
      await page.mouse.down();
      await page.mouse.move(box.x + 0.75 * box.width, box.y + 45, { steps: 4 });
      await page.mouse.up();
    });
    assert.match(await span.locator("option:checked").textContent(), /^3\.2\d* s to 3\.7\d* s$/);
    await picture(page, "zoomed");
    await until("in the red strip: drops; the last 1 s", (box) => page.mouse.dblclick(box.x + box.width / 2, box.y + 40));
    await span.selectOption("the whole run");
    await page.getByText("Backlog and limit, packets; in the red strip: drops", { exact: true }).waitFor();
    await backlog.and(page.locator('[data-reach^="4 "]')).waitFor();
  },
  async "how busy the link is does not depend on how many pictures were drawn"(open) {
    const hash = small(SMALL.replace('buffer = "40 packets"', 'buffer = "37500 B"'));
    const [jumped, stepped] = [await open(hash), await open(hash)];
    await jumped.getByLabel("Time", { exact: true }).fill("300");
    for (const [at, said] of [["120", "At 480 ms"], ["270", "At 1.08 s"], ["285", "At 1.14 s"], ["300", "At 1.2 s"]]) {
      await stepped.getByLabel("Time", { exact: true }).fill(at);
      await stepped.getByText(said).waitFor();
    }
    await jumped.getByText("At 1.2 s").waitFor();
    assert.equal(await summary(jumped), await summary(stepped));
    assert.match(await summary(jumped), /of at most 25 full ones, 37\.5 kB;.* the link sends \d+ % of 10 Mbps/); // a limit in bytes
  },
  async "charts of variants side by side have one scale, and begin gray"(open) {
    const variants = ["10 packets", "40 packets"].map((buffer, index) => ({ text: SMALL.replace("4 s", index ? "4 s" : "3 s"), overrides: { "bottleneck.buffer": buffer } }));
    const page = await open(shared({ version: 1, variants }));
    await atTheEnd(page);
    await page.getByText("What the run came to").nth(1).waitFor();
    const reach = await page.locator("section.variant .chart").evaluateAll((charts) => charts.map((chart) => [chart.ariaLabel, chart.dataset.reach]));
    const half = reach.length / 2;
    assert.equal(half, 7);
    for (let at = 0; at < half; at++) assert.equal(reach[at][1], reach[at + half][1], reach[at][0]);
    assert.match(reach[0][1], /^4 52\.5/); // the longer run's end, and the larger buffer's limit, with a strip for drops above it
    const [before, after] = await page.locator("section.variant .chart canvas").first().evaluate((canvas) => {
      const drawn = (from) => {
        const { data } = canvas.getContext("2d").getImageData(from * canvas.width, 0.2 * canvas.height, 0.05 * canvas.width, 0.4 * canvas.height);
        return data.filter((value, at) => at % 4 === 3 && value > 0).length / (data.length / 4);
      };
      return [drawn(0.18), drawn(0.85)];
    });
    assert.ok(before === 1 && after < 0.9, `${before} ${after}`);
    assert.equal(await page.getByText("known here from about 1 s on: a fifo counts waits after the warm-up only").count(), 2);
    await page.getByText("Draw the lines of all variants").click();
    await page.getByText("ms: mean; counted after the warm-up only: 1: fifo").waitFor();
  },
  async "on a phone, what is to be compared stands together"(open) {
    const variants = ["1", "2"].map((seed) => ({ text: SMALL, overrides: { "run.seed": seed } }));
    const page = await open(shared({ version: 1, variants }), { viewport: { width: 390, height: 800 } });
    await page.getByRole("region", { name: "Variant 2" }).getByRole("heading", { name: "fifo, buffer 40 packets, seed 2" }).waitFor();
    await page.getByText("Change Variant 2").click();
    await page.getByRole("region", { name: "Variant 2" }).getByLabel("Queue", { exact: true }).selectOption("codel");
    await atTheEnd(page);
    const compared = page.getByRole("region", { name: "Variants compared" });
    await compared.getByRole("table").nth(1).waitFor();
    assert.equal(await compared.locator("canvas").count(), 4); // the others are folded
    await compared.getByText("More charts: windows").click();
    await compared.locator("canvas").nth(11).waitFor();
    const charts = await compared.getByRole("img").evaluateAll((all) => all.map((chart) => [chart.ariaLabel, chart.getBoundingClientRect().top]));
    assert.equal(charts.length, 12);
    for (let at = 0; at < charts.length; at += 2) {
      const [[first, top], [second, below]] = [charts[at], charts[at + 1]];
      assert.match(first, /^1: fifo, 40 packets: /);
      assert.match(second, /^2: codel, 40 packets: /);
      assert.equal(first.split(/[:,;] /)[3], second.split(/[:,;] /)[3]);
      assert.ok(below > top && below - top < 400, `${below - top}`); // both at once on the screen
    }
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), "wider than a phone");
    await picture(page, "phone-compared");
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      (await page.getByText("Files of Variant 1").click(), button(page, "Charts (PNG)").first().click()),
    ]);
    assert.match(download.suggestedFilename(), /png$/);
    await page.evaluate(() => (window.location.hash = "#story=home.2"));
    await page.getByText("The charts are here once it runs.").waitFor();
    await button(page, "Step").click();
    await page.getByRole("region", { name: "Variants compared" }).getByRole("img", { name: "100 packets: Backlog" }).waitFor();
  },
  async "files of what is shown can be taken along"(open) {
    const page = await open(small());
    await page.getByLabel("Queue").selectOption("codel");
    await page.getByText("Files of Scenario").click();
    await page.getByText("A page without a server makes no SVG, Parquet, CSV or Flent files").waitFor();
    await page.evaluate(() => {
      const write = CanvasRenderingContext2D.prototype.fillText;
      window.written = [];
      CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
        window.written.push([text, x + this.measureText(text).width, this.canvas.width / devicePixelRatio]);
        return write.call(this, text, x, y);
      };
    });
    await atTheEnd(page);
    const files = {};
    for (const name of ["Scenario (TOML)", "Packets (pcapng)", "Charts (PNG)", "Notebook (Jupyter)"]) {
      const [download] = await Promise.all([page.waitForEvent("download"), button(page, name).click()]);
      files[download.suggestedFilename()] = readFileSync(await download.path());
    }
    assert.deepEqual(Object.keys(files), ["small.toml", "small.pcapng", "small.png", "small.ipynb"]);
    assert.match(files["small.toml"].toString(), /codel/);
    assert.deepEqual([...files["small.pcapng"].subarray(0, 4)], [10, 13, 13, 10]); // a section header, as Wireshark reads it
    assert.ok(files["small.pcapng"].length > 100_000);
    assert.equal(files["small.png"].subarray(1, 4).toString(), "PNG");
    const written = await page.evaluate(() => window.written);
    const beyond = written.filter(([, end, width]) => end > width);
    assert.deepEqual(beyond, [], "titles are cut");
    const words = written.map(([text]) => text).join(" ");
    assert.ok(words.includes("a loss was filled, and what waited behind it counts at once"), words);
    const { cells } = JSON.parse(files["small.ipynb"]);
    assert.match(cells[0].source, /Scenario\.from_toml\([^]*codel/);
  },
  async "back is the same run again, with what was done to it"(open) {
    const page = await open(small());
    const time = page.getByLabel("Time", { exact: true });
    await time.fill("250");
    await page.getByText("At 1 s").waitFor();
    await page.getByRole("button", { name: /^Stanford: / }).click();
    await page.getByText(/of at most 19[;,]/).waitFor();
    await time.fill("500");
    await page.getByText("At 2 s").waitFor();
    const then = await summary(page);
    await button(page, "Step").click();
    await page.getByText("At 2.004 s").waitFor();
    await time.fill("125");
    await page.getByText(/At 500 ms: .* of at most 40[;,]/).waitFor();
    await time.fill("501");
    await page.getByText(/At 2.004 s: .* of at most 19[;,]/).waitFor();
    await button(page, "Back").click();
    await page.getByText("At 2 s").waitFor();
    assert.equal(await summary(page), then);
  },
  async "one marker shows one moment in all charts of all variants"(open) {
    const page = await open(small());
    await button(page, "Compare with a copy").click();
    await page.getByRole("region", { name: "Variant 2" }).waitFor();
    await atTheEnd(page);
    const chart = page.getByRole("img", { name: "Congestion window" }).first();
    await chart.scrollIntoViewIfNeeded();
    await chart.locator(".u-over").hover({ position: { x: 150, y: 40 } });
    const moments = page.locator(".chart .u-legend .u-series:first-child").filter({ hasText: "time, s" }).locator(".u-value");
    const said = await moments.allTextContents();
    assert.equal(said.length, 12);
    assert.ok(Number(said[0]) > 0, said.join());
    assert.equal(new Set(said).size, 1, said.join());
  },
  async "controls of a laptop's window cover none of each other"(open) {
    for (const variants of [1, 2, 3]) {
      const page = await open(small(SMALL, { "bottleneck.rate": "9 Mbps" }), { viewport: { width: 1280, height: 900 } });
      for (let copy = 1; copy < variants; copy++) await button(page, "Compare with a copy").click();
      await page.locator(".controls").nth(variants - 1).getByRole("button", { name: "Undo what was set here" }).waitFor();
      const crossed = await page.locator(".controls").evaluateAll((all) =>
        all.flatMap((controls) => {
          const frame = controls.getBoundingClientRect();
          const parts = [...controls.querySelectorAll("label, select, output, input, button")].map((each) => [each.textContent.slice(0, 30), each.getBoundingClientRect()]);
          const beyond = parts.filter(([, box]) => box.right > frame.right + 1).map(([text]) => `${text} sticks out`);
          const over = parts.flatMap(([one, a], index) =>
            parts.slice(index + 1).filter(([, b]) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1).map(([other]) => `${one} over ${other}`),
          );
          return [...beyond, ...over];
        }),
      );
      assert.deepEqual(crossed, []);
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), `${variants} variants are wider than the window`);
      await picture(page, `controls-${variants}`);
    }
  },
  async "one click sets three queues side by side"(open) {
    const page = await open(small());
    await page.getByRole("button", { name: /^BDP: / }).click();
    await button(page, "Compare queues").click();
    for (const [index, queue] of ["fifo", "fq_codel", "splitbuff"].entries()) {
      await page.getByRole("region", { name: `Variant ${index + 1}` }).getByRole("heading", { name: `${queue}, ${queue === "splitbuff" ? "sub-buffers within" : "buffer"} 33 packets` }).waitFor();
    }
    await button(page, "Step").click();
    await page.getByText("At 4 ms").nth(2).waitFor();
    // of flows with one round trip SplitBuff has nothing to split
    const one = await open(small(SMALL.replace(', { name = "far", rtt = "80 ms" }', "")));
    await button(one, "Measure").click();
    const mark = one.getByRole("button", { name: /^Measured, 99 %: / });
    await mark.waitFor();
    await button(one, "Compare queues").click();
    await one.getByRole("region", { name: "Variant 3" }).getByRole("heading", { name: /codel/ }).waitFor();
    // what was measured of one of them is still known
    await one.getByRole("region", { name: "Variant 1" }).getByRole("button", { name: /^Measured, 99 %: / }).waitFor();
  },
  async "single packets move in slow motion, and the link is as busy as it is"(open) {
    for (const reducedMotion of ["no-preference", "reduce"]) {
      const page = await open(small(), { reducedMotion });
      await page.getByLabel("Time", { exact: true }).fill("500");
      await page.getByText("At 2 s").waitFor();
      await button(page, "Back").click();
      await page.getByText("At 1.996 s").waitFor();
      assert.match(await summary(page), /the link sends (9\d|100) % of/); // it ends a few picoseconds beside the moment asked for
      const [early, late] = await page.evaluate(async () => {
        const drawn = () => document.querySelector(".picture canvas").toDataURL();
        [...document.querySelectorAll("button")].find((each) => each.textContent === "Step").click();
        const wait = (ms) => new Promise((done) => setTimeout(done, ms));
        while (!document.querySelector("p.summary").textContent.startsWith("At 2 s")) await wait(5);
        await wait(100);
        const early = drawn();
        await wait(700);
        return [early, drawn()];
      });
      assert.equal(early === late, reducedMotion === "reduce");
    }
  },
  async "the picture of one queue has packets in the order of their arrival, and says so"(open) {
    const page = await open(small(SMALL.replace('rtt = "80 ms"', 'count = 2, rtt = "30 ms"')));
    await page.getByLabel("Time", { exact: true }).fill("500");
    await page.getByText("At 2 s").waitFor();
    assert.match(await summary(page), /packets wait of at most 40, in the order of their arrival, the first at the right;/);
    // colors change along the queue more often than they would by group
    const colors = await page.locator(".picture canvas").evaluate((canvas) => {
      const context = canvas.getContext("2d");
      const right = canvas.width - 90;
      const at = (x, y) => context.getImageData(x, y, 1, 1).data.join();
      return Array.from({ length: 36 }, (_, cell) => at(right - 9 * (1 + Math.floor(cell / 6)) + 3, (150 - 54) / 2 + 9 * (cell % 6) + 3));
    });
    const packets = colors.filter((color) => /^(0,114,178|230,159,0),255$/.test(color));
    const changes = packets.filter((color, place) => place > 0 && color !== packets[place - 1]).length;
    assert.ok(changes > 3, `${changes} of ${packets.length}: ${colors.join(" ")}`);
    await picture(page, "order");
    await page.getByLabel("Queue", { exact: true }).selectOption("fq_codel");
    await page.getByLabel("Time", { exact: true }).fill("500");
    await page.getByText("At 2 s").waitFor();
    assert.doesNotMatch(await summary(page), /order/);
  },
  async "a lesson on the window shows its teeth"(open) {
    const page = await open("#story=buffer.2");
    await atTheEnd(page);
    const chart = page.getByRole("img", { name: "Congestion window, segments: mean of each group; the last 10 s" }).nth(2);
    await chart.and(page.locator('[data-reach^="200 "]')).waitFor();
    // what the pointer says along the axis: it rises and falls several times, with many points to a tooth
    const windows = await chart.evaluate(async (box) => {
      const [over, value] = [box.querySelector(".u-over"), box.querySelector(".u-legend .u-series:last-child .u-value")];
      const { left, top, width } = over.getBoundingClientRect();
      const seen = [];
      over.dispatchEvent(new MouseEvent("mouseenter"));
      for (let x = 2; x < width; x += 2) {
        over.dispatchEvent(new MouseEvent("mousemove", { clientX: left + x, clientY: top + 40 }));
        await Promise.resolve(); // a chart says what is there once what moves the pointer has ended
        seen.push(Number(value.textContent));
      }
      return seen;
    });
    const low = (at) => windows[at] < 16 && windows[at - 1] >= 16;
    const teeth = windows.filter((_, at) => low(at)).length;
    assert.ok(teeth >= 4 && teeth <= 12, `${teeth}: ${windows.join()}`);
    const rising = windows.filter((each, at) => at > 0 && each > windows[at - 1] && each < windows[at - 1] + 3).length;
    assert.ok(rising > windows.length / 2, windows.join());
    await picture(page, "teeth");
  },
  async "a run that needs more memory than there is says so, and the page goes on"(open) {
    const page = await open(small(), { memory: 32 });
    await page.getByText("At 0 s").waitFor();
    const flood = `{ count = 10, rtt = "20 ms", application = { kind = "udp", packet = "100 B", rate = "10 Gbps" } }`;
    await page.evaluate((hash) => (window.location.hash = hash), small(`run = { duration = "4 s" }\nbottleneck = { rate = "1 Mbps", buffer = "100000000 packets" }\nflows = [${flood}]`));
    await page.getByText("10 flows").waitFor();
    await button(page, "Run").click();
    await page.getByRole("alert").getByText("the engine stopped: the run needs more memory than a page has").waitFor();
    await page.getByLabel("Example").selectOption("parking-lot");
    await page.getByText("At 0 s").waitFor();
    assert.equal(await page.getByRole("alert").count(), 0);
    await button(page, "Step").click();
    await page.getByText(/^At [1-9]/).waitFor();
  },
  async "buffers beside each other have one unit, and are explained once"(open) {
    const page = await open(shared({ version: 1, variants: ["1 bdp", "33 packets", "2 bdp"].map((buffer) => ({ text: SMALL, overrides: { "bottleneck.buffer": buffer } })) }));
    for (const [index, heading] of ["33 packets", "33 packets", "67 packets"].entries()) {
      await page.getByRole("region", { name: `Variant ${index + 1}` }).getByRole("heading", { name: `fifo, buffer ${heading}` }).waitFor();
    }
    for (const index of [0, 1, 2]) await page.getByText("Buffers for this link: what each number is the answer to").nth(index).click();
    assert.equal(await page.getByText("They differ as they answer different questions").count(), 1);
  },
  async "of pages that did not end in what is counted it is said"(open) {
    const page = await open(small(SMALL.replace("}]", '}, { name = "pages", application = { kind = "web", size = "1 MB", every = "10 s" }, rtt = "20 ms" }]')));
    await atTheEnd(page);
    const cells = await page.getByRole("region", { name: "What the run came to" }).getByRole("row").evaluateAll((rows) => rows.map((row) => [row.cells[0].textContent, row.cells[4]?.textContent]));
    assert.deepEqual(cells.filter(([name]) => ["near", "pages"].includes(name)), [["near", "–"], ["pages", "none ended"]]);
  },
  async "as a file the page says what it needs"(open) {
    const page = await open(small(), { scripts: false });
    await page.getByText("browsers open such a page from a web server only").waitFor();
  },
  async "in print, charts are dark on white and nothing is to be pressed"(open) {
    const page = await open(small(), { colorScheme: "dark" });
    await atTheEnd(page);
    const ink = () => page.evaluate(() => getComputedStyle(document.querySelector(".chart")).color);
    const drawn = () => page.evaluate(() => document.querySelector(".chart canvas").toDataURL());
    const [light, before] = [await ink(), await drawn()];
    await page.emulateMedia({ media: "print" });
    await page.waitForTimeout(300);
    assert.notEqual(await ink(), light);
    assert.notEqual(await drawn(), before);
    assert.equal(await page.getByRole("button").count(), 0);
    await picture(page, "print");
  },
  async "what may surprise in the table is explained"(open) {
    const text = SMALL.replace("40 packets", "3 packets");
    const page = await open(small(text, { "flows[0].congestion": "bbr" }));
    await atTheEnd(page);
    await page.getByText("BBR, version 1, sends at the rate that it has measured and hardly slows down for a loss").waitFor();
    const idle = await open(small(text));
    await atTheEnd(idle);
    await idle.getByText("Packets are lost although the link is idle at times").waitFor();
    assert.equal(await idle.getByText("BBR, version 1").count(), 0);
    const full = await open(small(SMALL, { "bottleneck.queue": "codel", "bottleneck.buffer": "400 packets" }));
    await atTheEnd(full);
    assert.equal(await full.getByText("although the link is idle").count(), 0);
  },
  async "sliders stop at round values, and any value can be typed"(open) {
    const page = await open(small());
    const trip = page.getByLabel("Round trip of near", { exact: true });
    await trip.focus();
    for (const next of ["25 ms", "30 ms", "40 ms"]) {
      await page.keyboard.press("ArrowRight");
      await trip.and(page.locator(`[aria-valuetext="${next}"]`)).waitFor();
    }
    await page.getByRole("list").getByText("near: 2 flows, round trip 40 ms").waitFor();
    const typed = page.getByLabel("Round trip of near, typed");
    await typed.fill("33");
    await typed.press("Enter");
    await page.getByRole("list").getByText("near: 2 flows, round trip 33 ms").waitFor();
    await shows(typed, "33 ms");
    const buffer = page.getByLabel("Buffer (live), typed");
    await buffer.fill("1 bdp");
    await buffer.press("Enter");
    await page.getByText(/of at most \d+[;,]/).waitFor();
    assert.equal(await buffer.inputValue(), (await page.getByRole("button", { name: /^BDP: / }).textContent()).replace("BDP: ", ""));
    const rate = page.getByLabel("Rate, typed");
    for (const wrong of ["much", "0", "5 ms", "1,5 Mbps"]) {
      await rate.fill(wrong);
      await rate.press("Enter");
      await page.getByText("No such value: type a number, such as 10 Mbps.").waitFor();
    }
    await rate.fill("1.5 Gbps");
    await rate.press("Enter");
    await page.getByText(/% of 1.5 Gbps/).waitFor();
    assert.equal(await page.getByText("No such value").count(), 0);
    // what the scenario cannot have leads back
    await typed.fill("1 ms");
    await typed.press("Enter");
    await page.getByText("This is no scenario:").waitFor();
    await button(page, "Undo what was set here").click();
    await page.getByRole("list").getByText("near: 2 flows, round trip 20 ms").waitFor();
  },
  async "a rate changes with a new run"(open) {
    const page = await open(small());
    await button(page, "Step").click();
    await page.getByText("At 4 ms").waitFor();
    await page.getByLabel("Rate", { exact: true }).focus();
    await page.keyboard.press("End");
    await page.getByText(/% of 1 Gbps/).waitFor();
    await button(page, "Undo what was set here").click();
    await page.getByText(/% of 10 Mbps/).waitFor();
  },
  async "a variant that is no scenario stops no clock"(open) {
    const page = await open(shared({ version: 1, variants: [{ text: SMALL, overrides: {} }, { text: SMALL.replace("10 Mbps", "10 Mops"), overrides: {} }] }));
    await page.getByText("This is no scenario:").waitFor();
    await atTheEnd(page);
    assert.equal(await page.locator(".clock").textContent(), "4 s of 4 s");
    await button(page, "Back").click();
    await page.getByText("At 3.996 s").waitFor();
    await button(page, "Step").click();
    await page.getByText("At 4 s").waitFor();
    assert.equal(await page.locator(".clock").textContent(), "4 s of 4 s");
    // one that was a scenario, and is longer
    await page.getByText("The scenario as text and form").first().click();
    const text = page.getByLabel("TOML or JSON").first();
    await text.fill(SMALL.replace("4 s", "2 s"));
    await button(page, "Use this text").first().click();
    await page.getByText("of 2 s").waitFor();
  },
  async "SplitBuff sizes its own buffer, and the next queue gets the one that it was within"(open) {
    const text = SMALL.replace('buffer = "40 packets"', 'queue = "splitbuff"');
    const page = await open(small(text));
    await page.getByText("SplitBuff: sub-buffers by round-trip time, so that short flows do not wait behind long ones.").waitFor();
    await atTheEnd(page);
    const together = Number((await page.getByText(/^SplitBuff sizes its own: /).textContent()).match(/(\d+) packets together now/)[1]);
    const held = (await summary(page)).match(/hold \d+ of (\d+) and \d+ of (\d+)/).slice(1).map(Number);
    assert.equal(together, held[0] + held[1]);
    await page.getByText("Buffers for this link").click();
    const row = page.getByRole("row", { name: /^sub-buffers now/ });
    assert.equal(await row.getByRole("cell").first().textContent(), `${together}`);
    await page.getByText("sub-buffers together", { exact: true }).waitFor();
    // a buffer that is less than that is felt
    const buffer = page.getByLabel("Most of all sub-buffers (live), typed");
    await buffer.fill("6 packets");
    await buffer.press("Enter");
    await button(page, "Start again").click();
    await atTheEnd(page);
    await page.getByText(/^SplitBuff sizes its own: [3-6] packets together now/).waitFor();
    await button(page, "Undo what was set here").click();
    await page.getByLabel("Queue").selectOption("fifo");
    await page.getByText("first in, first out, tail drop.").waitFor();
    assert.equal(await page.getByRole("alert").count(), 0);
    assert.match(await page.getByLabel("Buffer (live), typed").inputValue(), /^\d+ packets$/);
    await button(page, "Compare queues").click();
    await page.getByRole("heading", { name: /fq_codel/ }).waitFor();
    assert.equal(await page.getByRole("alert").count(), 0);
  },
  async "a picture's packet is timed from the picture on, and says so"(open) {
    const page = await open("#example=video-call");
    await page.getByLabel("Time", { exact: true }).fill("300");
    await page.getByText(/the last packet came [\d.]+ ms after its picture was taken/).waitFor();
    assert.equal(await page.getByText("under way for").count(), 0);
  },
  async "the next lesson and the next story begin at their headings"(open) {
    for (const viewport of [{ width: 1280, height: 800 }, { width: 390, height: 844 }]) {
      const page = await open("#story=home.1", { viewport });
      for (const [from, to] of [["Next lesson:", "h3"], ["Next lesson:", "h3"], ["Next lesson:", "h3"], ["Next story:", "h2"]]) {
        const link = page.getByRole("link", { name: from });
        if (viewport.width > 1000) await link.click();
        else await link.press("Enter");
        await page.waitForFunction((tag) => document.activeElement?.localName === tag, to);
        const top = await page.evaluate(() => document.activeElement.getBoundingClientRect().top);
        assert.ok(top >= -1 && top < 300, `${from} ${top}`);
      }
      await page.getByRole("link", { name: "Open these runs in the laboratory" }).click();
      await page.getByRole("toolbar").waitFor();
      await page.waitForFunction(() => window.scrollY === 0);
    }
  },
  async "two variants run on one clock"(open) {
    const page = await open(small());
    await button(page, "Compare with a copy").click();
    const second = page.getByRole("region", { name: "Variant 2" });
    await second.getByLabel("Queue").selectOption("fq_codel");
    await second.getByText("Undo what was set here").waitFor();
    await page.getByLabel("Speed").selectOption({ label: "real time" });
    await button(page, "Run").click();
    await page.waitForTimeout(700);
    await button(page, "Pause").click();
    await page.waitForTimeout(100);
    const [first, other] = [await summary(page, 0), await summary(page, 1)];
    assert.equal(first.match(/^At [^:]+/)[0], other.match(/^At [^:]+/)[0]);
    await toTheEnd(page);
    assert.notEqual(await summary(page, 0), await summary(page, 1));
    await picture(page, "compare");
    await page.getByRole("link", { name: "Gallery", exact: true }).click();
    await page.getByRole("link", { name: "Laboratory", exact: true }).click();
    assert.equal(await second.getByLabel("Queue", { exact: true }).inputValue(), "fq_codel"); // nothing is lost by a look around
    await page.getByText("What the run came to").nth(1).waitFor();
    await button(page, "Remove Variant 1").click();
    await page.getByRole("region", { name: "Scenario" }).waitFor();
  },
  async "the picture tells what a discipline has inside, and what users feel"(open) {
    const near = `{ name = "near", count = 2, rtt = "20 ms" }`;
    const page = await open(small(SMALL.replace(near, `${near}, { name = "ping", rtt = "30 ms", application = { kind = "ping", interval = "50 ms" } }`)));
    await page.getByRole("button", { name: /^Theorem 2, 99 %: / }).waitFor();
    const time = page.getByLabel("Time", { exact: true });
    await time.fill("700");
    await page.getByText(/the last was back after [\d.]+ ms/).waitFor();
    assert.doesNotMatch(await summary(page), /sub-buffers|hold packets/);
    await page.getByLabel("Queue").selectOption("splitbuff");
    await page.getByText("At 0 s").waitFor();
    await time.fill("700");
    await page.getByText(/sub-buffers parted at [\d.]+ ms hold \d+ of \d+ and \d+ of \d+ packets;/).waitFor();
    assert.match(await summary(page), /^At 2.8 s: \d+ packets wait; sub-buffers/); // the whole limit is not theirs
    await picture(page, "splitbuff");
    await page.getByLabel("Queue").selectOption("fq_codel");
    await page.getByText("At 0 s").waitFor();
    await time.fill("700");
    await page.getByText(/[123] queues? holds? packets, the longest \d+;/).waitFor();
    await picture(page, "fq_codel");
  },
  async "a shared link opens what it was made of"(open) {
    const page = await open(small());
    await page.getByLabel("Queue").selectOption("codel");
    await button(page, "Share").click();
    const link = await page.getByLabel("A link to what is shown here").inputValue();
    await atTheEnd(page);
    const again = await open(new URL(link).hash);
    assert.equal(await again.getByLabel("Queue").inputValue(), "codel");
    assert.equal(await again.getByLabel("TOML or JSON").inputValue(), SMALL);
    await atTheEnd(again);
    assert.equal(await summary(again), await summary(page));
  },
  async "a shared link's variants stay where its address is left, and an address of nothing says so"(open) {
    const variants = ["10 packets", "40 packets"].map((buffer) => ({ text: SMALL, overrides: { "bottleneck.buffer": buffer } }));
    const page = await open(shared({ version: 1, variants }));
    const second = page.getByRole("region", { name: "Variant 2" });
    await second.waitFor();
    await second.getByLabel("Queue").selectOption("codel");
    await page.getByRole("link", { name: "Laboratory", exact: true }).click();
    await page.waitForFunction(() => window.location.hash === "#lab");
    assert.equal(await second.getByLabel("Queue").inputValue(), "codel");
    await page.getByRole("link", { name: "Stories", exact: true }).click();
    await page.getByRole("link", { name: "Laboratory", exact: true }).click();
    await second.getByRole("heading", { name: "codel, buffer 40 packets" }).waitFor();
    await page.evaluate(() => (window.location.hash = "#figure=none"));
    await page.getByRole("alert").getByText("This address names nothing that is here").waitFor();
    await page.getByRole("heading", { name: "A call and downloads" }).waitFor();
  },
  async "a wrong scenario is refused at its line, and mended"(open) {
    const page = await open(small(SMALL.replace("10 Mbps", "10 Mppp")));
    await page.getByRole("alert").getByText("line 3").first().waitFor();
    await button(page, "Go to line 3").click();
    const chosen = await page.evaluate(() => document.activeElement.value.slice(document.activeElement.selectionStart, document.activeElement.selectionEnd));
    assert.equal(chosen, SMALL.split("\n")[2].replace("10 Mbps", "10 Mppp"));
    await page.getByLabel("TOML or JSON").fill(SMALL);
    await button(page, "Use this text").click();
    await page.getByText(/% of 10 Mbps/).waitFor();
    assert.equal(await page.getByRole("alert").count(), 0);
  },
  async "a form changes the text, and the text the form"(open) {
    const text = `# why\n[run]\nname = "small"\nduration = "4 s" # short\nwarmup = "1 s"\n\n[bottleneck]\nrate = "10 Mbps"\nbuffer = "40 packets"\n\n[[flows]]\nname = "near"\nrtt = "20 ms"\n`;
    const page = await open(small(text));
    await page.getByText("The scenario as text and form").click();
    const form = page.getByRole("group", { name: "Form of Scenario" });
    const box = page.getByLabel("TOML or JSON");
    await form.getByLabel("rate", { exact: true }).fill("5 Mbps");
    await form.getByLabel("rate", { exact: true }).press("Tab");
    await page.getByText(/% of 5 Mbps/).waitFor();
    assert.equal(await box.inputValue(), text.replace("10 Mbps", "5 Mbps"));

    // a key is described before it is added, and begins with its default
    await form.getByLabel("Add to bottleneck").selectOption("queue");
    await form.getByRole("group", { name: "bottleneck" }).getByRole("button", { name: "Add", exact: true }).click();
    await form.getByLabel("queue", { exact: true }).selectOption("codel");
    await form.getByLabel("Add to queue").selectOption("target");
    await form.getByText("default 5 ms", { exact: false }).waitFor();
    await form.getByRole("group", { name: "bottleneck" }).getByRole("button", { name: "Add", exact: true }).first().click();
    await form.getByLabel("target", { exact: true }).waitFor();
    const grown = await box.inputValue();
    assert.match(grown, /^# why/);
    assert.match(grown, /duration = "4 s" # short/);
    assert.match(grown, /queue = \{ *discipline = "codel", target = "5 ms" *\}/);
    await form.getByRole("button", { name: "Remove bottleneck.queue.target" }).click();
    await form.getByLabel("target", { exact: true }).waitFor({ state: "detached" });
    assert.match(await box.inputValue(), /queue = "codel"/);
    await form.getByRole("button", { name: "One more of flows" }).click();
    await form.getByRole("group", { name: /^flows, 2/ }).waitFor();
    await form.getByLabel("count", { exact: true }).waitFor({ state: "detached" });

    // what is wrong is said at its field and its line
    await form.getByLabel("buffer", { exact: true }).fill("forty");
    await form.getByLabel("buffer", { exact: true }).press("Tab");
    await form.locator(".field.problems").getByText("bottleneck.buffer").waitFor();
    await button(page, "Go to line 9").waitFor();
    await picture(page, "form");

    // the text's way back
    await box.fill(text.replace("20 ms", "30 ms"));
    assert.equal(await form.getByLabel("rtt", { exact: true }).inputValue(), "30 ms");
    await box.fill(text.replace("[run]", "[run"));
    await form.getByText("The form is here once the text can be read").waitFor();
    await box.fill(text);
    await button(page, "Use this text").click();

    // sliders' values go into the text
    await page.getByRole("button", { name: /^BDP: / }).click();
    await form.getByText("in the place of what the text and the fields say: buffer 17 packets").waitFor();
    await form.getByText("now 17 packets, set by a slider or menu").waitFor();
    await button(page, "Write them into the text").click();
    await page.getByText("Set by sliders and menus").waitFor({ state: "detached" });
    assert.match(await box.inputValue(), /buffer = "17 packets"/);
  },
  async "every example can be changed by its form"(open) {
    const page = await open("", { viewport: { width: 390, height: 800 } }); // where what is not looked at is folded
    const chosen = page.getByLabel("Example");
    const names = (await chosen.locator("option").evaluateAll((options) => options.map((each) => each.value))).filter(Boolean);
    await page.getByText("The scenario as text and form").click();
    const box = page.getByLabel("TOML or JSON");
    for (const name of names) {
      await chosen.selectOption(name);
      const before = await box.inputValue();
      const length = page.getByRole("group", { name: "Form of Scenario" }).getByLabel("duration", { exact: true });
      await length.fill("7 s");
      await length.press("Tab");
      const after = (await box.inputValue()).split("\n");
      const changed = before.split("\n").filter((line, index) => line !== after[index]);
      assert.equal(changed.length, 1, `${name}: ${changed.join(" | ")}`);
      assert.match(changed[0], /duration/, name);
    }
    assert.ok(names.length > 20);
  },
  async "hostile texts stay texts"(open) {
    const evil = `<img src=x onerror="window.harmed=1"><script>window.harmed=1</script>`;
    const text = SMALL.replace('"small"', `'${evil}'`).replace('"near"', `'near'`);
    const page = await open(small(text));
    await page.getByRole("heading", { name: evil }).waitFor();
    await button(page, "Step").click();
    await page.getByText("At 4 ms").waitFor();
    const wrong = await open(small(evil));
    await wrong.getByRole("alert").first().waitFor();
    for (const each of [page, wrong]) {
      assert.equal(await each.evaluate(() => window.harmed), undefined);
      assert.equal(await each.locator("main img").count(), 0);
    }
    const inline = page.evaluate(() => {
      const script = document.createElement("script");
      script.textContent = "window.harmed = 2";
      document.body.append(script);
      return window.harmed;
    });
    assert.equal(await inline, undefined, "the policy forbids scripts in the page");
  },
  async "hostile links are refused"(open) {
    const bomb = `#s=${deflateRawSync(Buffer.alloc(50_000_000)).toString("base64url")}`;
    const links = ["#s=!!", "#s=AAAA", shared({ version: 2 }), shared({ version: 1, variants: [] }), bomb,
      shared({ version: 1, variants: Array(100).fill({ text: "", overrides: {} }) }),
      shared({ version: 1, variants: [{ text: 3, overrides: {} }] })];
    const page = await open(small());
    for (const link of links) {
      await page.evaluate((hash) => (window.location.hash = hash), link);
      await page.getByText("This link cannot be opened").waitFor();
      await page.getByRole("heading", { name: "A call and downloads" }).waitFor();
      await page.evaluate((hash) => (window.location.hash = hash), small());
      await page.getByRole("heading", { name: "small" }).waitFor();
    }
  },
  async "two tabs and a reload in mid-run do not disturb each other"(open) {
    const [one, two] = [await open(small()), await open(small())];
    await button(one, "Run").click();
    await two.reload();
    await toTheEnd(two);
    await button(one, "Pause").or(button(one, "Run")).waitFor();
    assert.match(await summary(two), /^At 4 s/);
  },
  async "keys reach everything, and Enter runs"(open) {
    const page = await open(small());
    for (const name of ["Laboratory", "Gallery", "Stories", "Run"]) {
      await page.keyboard.press("Tab");
      assert.equal(await page.evaluate(() => document.activeElement.textContent), name);
    }
    await page.keyboard.press("Enter");
    await button(page, "Pause").waitFor();
  },
  async "a story is read, run, asked about and answered"(open) {
    const page = await open("#stories", { viewport: { width: 1200, height: 900 } });
    await page.getByRole("link", { name: "Bufferbloat in a home" }).click();
    await page.getByRole("heading", { name: "One download, and everybody waits" }).waitFor();
    await toTheEnd(page);
    const order = await page.locator("section[aria-label=Question], table, section[aria-label=Answer]").evaluateAll((parts) => parts.map((part) => part.ariaLabel ?? "table"));
    assert.deepEqual([order[0], order.at(-1)], ["Question", "Answer"]); // the guess comes before what answers it
    const ping = page.getByRole("row", { name: /^ping/ }).getByRole("cell").last();
    assert.equal(await ping.textContent(), "78.7 ms");
    await page.getByText("What its words mean").click();
    await page.getByRole("definition").filter({ hasText: "the packets that wait in the buffer" }).waitFor();
    const answer = page.getByText("The ping takes 79 ms on average");
    assert.equal(await answer.count(), 0);
    await page.getByLabel("About 4 ms, as before").check();
    await page.getByText("No: about 80 ms").waitFor();
    await page.getByLabel("About 80 ms: it waits").check();
    await page.getByText("Right.", { exact: true }).waitFor();
    assert.equal(await page.getByText("run it").count(), 0);
    assert.equal(await answer.count(), 1);
    await picture(page, "story");
    const link = await page.getByRole("link", { name: "Open these runs in the laboratory" }).getAttribute("href");
    await page.getByRole("link", { name: "Next lesson: How small may the buffer be?" }).click();
    await page.getByRole("region", { name: "5 packets" }).waitFor();
    await page.goBack();
    await page.getByRole("heading", { name: "One download, and everybody waits" }).waitFor();
    const lab = await open(link);
    await lab.getByRole("heading", { name: "A home's line" }).waitFor();
  },
  async "a figure of the gallery has its numbers, and is seen live"(open) {
    const page = await open("");
    await page.getByRole("link", { name: "Gallery", exact: true }).click();
    const figure = page.getByRole("article", { name: "A ping behind a download" });
    await figure.getByRole("img", { name: "Ping's round trip, ms: mean" }).locator("canvas").waitFor();
    assert.deepEqual(await figure.locator(".said dt").allTextContents(), ["The document states", "We measured", "Do they agree?"]);
    // a legend has values where a place is pointed at
    const value = figure.locator(".u-legend .u-value").last();
    await value.waitFor({ state: "hidden" });
    await figure.locator(".u-over").hover();
    await value.waitFor();
    // only what the figure draws is counted
    const fetches = page.getByRole("article", { name: "A page's fetch beside a download" });
    await fetches.getByText("In part: of the values with offload").waitFor();
    assert.deepEqual((await fetches.locator(".u-legend .u-series th").allTextContents()).slice(1), ["Simulated, without offload", "Simulated, with offload", "Published: Table 1"]); // what is last is on top
    await fetches.getByText("Point by point").click();
    await fetches.getByText("Of 3 stated values ours is near 1 (within 20 %, 10 %, 18 %). 3 more cannot be compared.").waitFor();
    await fetches.getByText("so a queued packet was more than one segment.").waitFor();
    await fetches.getByText("mean time of a fetch, queue of 5 packets (without offload; buffer: 5 packets): stated 0.6701 s, here 0.4021 s").waitFor();
    // what is alike of several points is said once, above a table of them
    const least = page.getByRole("article", { name: "The more flows, the less buffer" });
    await least.getByText("Point by point").click();
    await least.getByText("our least buffer over RTT·C/√n; stated: bounded by the theoretical limit").first().waitFor();
    const bounded = least.getByRole("region", { name: "our least buffer over RTT·C/√n", exact: true });
    assert.deepEqual(await bounded.getByRole("row", { name: /^flows: 10 / }).locator("th, td").allTextContents(), ["flows: 10", "0.1536"]);
    // shares are percent, in the chart as in the text
    const kinds = page.getByRole("article", { name: "Five kinds of TCP with the buffers of Theorem 2" });
    await kinds.getByText("The numbers").click();
    await kinds.getByRole("row", { name: /^28 99\.1 / }).waitFor();
    await figure.getByText("The numbers").click();
    const simulated = Number(await figure.getByRole("row", { name: /^20 / }).getByRole("cell").first().textContent());
    await picture(page, "gallery");
    await figure.getByRole("link", { name: "See it live" }).click();
    await page.getByRole("region", { name: "Variant 3" }).getByRole("heading", { name: "100 packets" }).waitFor();
    await page.getByText(/20 packets: 21\.\d \(chart: 20\.7 to 21\.4\); .*These runs have seed \d/).waitFor();
    assert.equal(await page.getByLabel("Link", { exact: true }).first().locator("option:checked").textContent(), "s0-h2"); // where packets wait
    await atTheEnd(page);
    // a chart's legend has rows of these names, too
    const table = page.getByRole("region", { name: "Variant 2" }).getByRole("region", { name: "What the run came to" });
    const live = await table.getByRole("row", { name: /^ping/ }).first().getByRole("cell").last().textContent();
    assert.match(live, / ms$/);
    assert.ok(Math.abs(parseFloat(live) / simulated - 1) < 0.05, `${live}, not ${simulated} ms`); // one seed of five
    await picture(page, "gallery-live");
    await page.getByRole("link", { name: "Back to the gallery" }).click();
    // what an example is about ends with a sentence, not with an initial
    const abouts = await page.locator(".examples .quiet").allTextContents();
    assert.ok(abouts.length > 20);
    assert.deepEqual(abouts.filter((about) => /\b[A-Z]\.$/.test(about) || about.split("(").length !== about.split(")").length), []);
    await page.getByRole("link", { name: "parking-lot", exact: true }).click();
    await page.getByText("Example: parking-lot.").waitFor();
    assert.equal(await page.getByLabel("Example").inputValue(), "parking-lot");
  },
  async "every figure's scenarios can be run, and a name that is none is no harm"(open) {
    const page = await open("#gallery");
    const figures = await page.locator("a.live").evaluateAll((links) => links.map((link) => link.getAttribute("href")));
    assert.ok(figures.length >= 10);
    for (const figure of figures) {
      await page.evaluate((hash) => (window.location.hash = hash), figure);
      await page.getByRole("region", { name: "Variant 2" }).locator("p.summary").waitFor();
      await button(page, "Step").click();
      await page.getByText(/^At [1-9]/).nth(1).waitFor();
      assert.equal(await page.getByRole("alert").count(), 0, figure);
    }
    // back in the gallery, the last figure is where it was left
    await page.getByRole("link", { name: "Back to the gallery" }).click();
    await page.waitForFunction((name) => Math.abs(document.getElementById(name)?.getBoundingClientRect().top ?? 1e6) < 400, figures.at(-1).split("=")[1]);
    for (const none of ["#figure=none", "#figure=__proto__", "#example=%00", "#figure="]) {
      await page.evaluate((hash) => (window.location.hash = hash), none);
      await page.getByRole("region", { name: "Scenario", exact: true }).waitFor();
      await page.evaluate((hash) => (window.location.hash = hash), figures[0]);
      await page.getByRole("region", { name: "Variant 2" }).waitFor();
    }
  },
  async "every lesson's scenarios can be run"(open) {
    const page = await open("#stories");
    const stories = await page.locator(".stories a").evaluateAll((links) => links.map((link) => link.getAttribute("href")));
    assert.equal(stories.length, 5);
    for (const [index, story] of stories.entries()) {
      for (const lesson of index ? [1, 2, 3] : [1, 2, 3, 4]) {
        await page.evaluate((hash) => (window.location.hash = hash), story.replace(/\d+$/, String(lesson)));
        await page.locator(`.lessons li:nth-child(${lesson}) a[aria-current=step]`).waitFor();
        const pictures = page.locator(".picture");
        await pictures.first().waitFor();
        const variants = await page.locator(".variant").count();
        await pictures.nth(variants - 1).waitFor();
        await button(page, "Step").click();
        await page.getByText(/^At \d/).nth(variants - 1).waitFor();
        assert.equal(await page.getByRole("alert").count(), 0, `${index + 1}.${lesson}`);
      }
    }
    // it would give the answer away
    assert.equal(await page.getByText("What to take along").count(), 0);
    await page.getByRole("group").getByRole("radio").first().check();
    await page.getByText("What to take along").waitFor();
    await page.evaluate(() => (window.location.hash = "#story=none.9"));
    await page.getByRole("heading", { name: "Stories" }).waitFor();
  },
  async "axe finds nothing serious, in light and dark, wide and narrow"(open) {
    for (const [scheme, width, hash] of [
      ["light", 1200], ["dark", 1200], ["light", 360], ["dark", 360],
      ["light", 360, "#story=home.1"], ["dark", 1200, "#story=home.1"], ["light", 360, "#stories"],
      ["light", 360, "#gallery"], ["dark", 1200, "#gallery"],
    ]) {
      const page = await open(hash ?? small(), { colorScheme: scheme, viewport: { width, height: 800 }, bypassCSP: true });
      if (!["#stories", "#gallery"].includes(hash)) await atTheEnd(page);
      if (hash === "#gallery") await page.getByText("The numbers").first().click();
      if (!hash) await page.getByText("The scenario as text and form").click();
      if (hash?.startsWith("#story=")) await page.getByLabel("About 4 ms, as before").check();
      await page.evaluate(axe);
      const { violations } = await page.evaluate(() => window.axe.run({ resultTypes: ["violations"] })); // it need not tell what passes
      const serious = violations.filter((each) => ["serious", "critical"].includes(each.impact));
      assert.deepEqual(serious.map((each) => [each.id, each.nodes.map((node) => node.html)]), []);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      assert.ok(wide <= 0, `${wide} pixels are beyond the edge of ${width}`);
      await picture(page, `${scheme}-${width}${(hash ?? "").replace(/\W/g, "-")}`);
      if (hash) continue;
      await page.evaluate(() => window.scrollTo(0, document.documentElement.scrollHeight));
      const bar = await page.getByRole("toolbar").boundingBox();
      const covered = Math.max(0, bar.y + bar.height);
      assert.ok(covered <= 100, `the toolbar covers ${covered} pixels of what is read`);
    }
  },
};

async function picture(page, name) {
  if (pictures) await page.screenshot({ path: `${pictures}/${name}.png`, fullPage: true });
}

/** A module whose memory has no more than that many MiB: the bound is written into its memory section. */
function bounded(module, most) {
  const number = (value) => (value < 128 ? [value] : [(value & 127) | 128, ...number(value >> 7)]);
  const read = (at) => {
    let [value, shift] = [0, 0];
    for (;;) {
      const byte = module[at++];
      value |= (byte & 127) << shift;
      if (byte < 128) return [value, at];
      shift += 7;
    }
  };
  for (let at = 8; at < module.length; ) {
    const [length, begin] = read(at + 1);
    if (module[at] === 5) {
      const [least] = read(begin + 2); // behind the count of memories and the flag that says whether there is a bound
      const section = [1, 1, ...number(least), ...number(most * 16)];
      return Buffer.concat([module.subarray(0, at), Buffer.from([5, section.length, ...section]), module.subarray(begin + length)]);
    }
    at = begin + length;
  }
  throw new Error("the module has no memory");
}

const results = {};
const left = Object.entries(tests);
// two at a time: each waits for pictures most of the time
await Promise.all([inTurn(), inTurn()]);
await browser.close();
process.stdout.write(JSON.stringify(results));

async function inTurn() {
  for (let next = left.shift(); next; next = left.shift()) await tried(...next);
}

async function tried(name, test) {
  const contexts = [];
  const wrong = [];
  async function open(hash, { slow = 0, memory = 0, scripts = true, ...options } = {}) {
    const context = await browser.newContext({ viewport: { width: 1200, height: 900 }, ...options });
    contexts.push(context);
    context.setDefaultTimeout(20_000);
    const page = await context.newPage();
    page.on("pageerror", (error) => wrong.push(error.message));
    page.on("request", (request) => {
      if (!request.url().startsWith(new URL(address).origin)) wrong.push(`asked for ${request.url()}`);
    });
    if (slow) {
      await context.route("**/*.wasm", async (route) => {
        await new Promise((done) => setTimeout(done, slow));
        await route.continue();
      });
    }
    if (memory) {
      await context.route("**/*.wasm", async (route) => {
        const response = await route.fetch();
        await route.fulfill({ response, body: bounded(await response.body(), memory) });
      });
    }
    if (!scripts) {
      await context.route("**/*.js", (route) => route.abort());
      await page.goto(address);
      return page;
    }
    await page.goto(address + hash);
    await page.locator("main .variant, main .stories").first().waitFor();
    return page;
  }
  try {
    await test(open);
    results[name] = wrong.length ? wrong.join("; ") : null;
  } catch (error) {
    results[name] = [error.message, ...wrong].join("; ");
  }
  await Promise.all(contexts.map((context) => context.close()));
}
