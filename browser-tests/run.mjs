// Opens a report in a real browser, uses it, and compares what it shows with results.jsonl.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { bench, spread } from "./fixture.mjs";

const { TREERING, CHROMIUM, SCREENSHOTS } = process.env;
// A busy machine may take long; that is not what is tried here.
const PATIENCE = 240_000;
const FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
const work = mkdtempSync(join(tmpdir(), "treering-browser-"));
mkdirSync(SCREENSHOTS, { recursive: true });

const folder = join(work, "results"), report = join(work, "report.html");
const { lines, error } = bench(TREERING, folder);
execFileSync(TREERING, ["report", folder, "-o", report, "--quiet"], { stdio: "inherit" });

const runsOf = (learner, protocol, tokens = 3) =>
  lines.filter(line => line.learner === learner && line.protocol === protocol && line.status === "done" && (line.parameters.tokens ?? 3) === tokens);
const shot = (page, name) => page.screenshot({ path: join(SCREENSHOTS, `${name}.png`), fullPage: true });
const tableRows = page => page.$$eval("#results tbody tr", rows => rows.filter(row => !row.hidden).map(row => [...row.cells].map(cell => cell.textContent)));
const visible = (page, section) => page.locator(`#${section} figure:visible`);

async function download(page, button) {
  const [file] = await Promise.all([page.waitForEvent("download"), button.click()]);
  return { name: file.suggestedFilename(), text: readFileSync(await file.path(), "utf8") };
}

async function readsTheTable(page) {
  const rows = await tableRows(page);
  assert.equal(rows.length, 10, "five learners under two protocols");
  for (const [data, protocol, label, runs, aa, af] of rows) {
    assert.equal(data, "demo (SYNTHETIC)");
    const tokens = Number(/tokens=(\d+)/.exec(label)?.[1] ?? 3);
    const own = runsOf(label.split(" ")[0], protocol, tokens);
    assert.equal(aa, spread(own.map(line => line.aa)).text, `AA of ${label} under ${protocol}`);
    assert.equal(af, spread(own.map(line => line.af)).text, `AF of ${label} under ${protocol}`);
    assert.equal(runs, own.length === 3 ? "3" : "2/3");
  }
}

async function filtersAndSorts(page) {
  await page.selectOption("#filter-protocol", "single");
  assert.deepEqual([...new Set((await tableRows(page)).map(row => row[1]))], ["single"]);
  assert.equal(await page.textContent("#shown"), "5 of 10 rows");
  await page.selectOption("#filter-learner", "tpp");
  assert.equal((await tableRows(page)).length, 1);
  await page.selectOption("#filter-learner", "");
  await page.selectOption("#filter-protocol", "");
  const head = page.locator("#results thead th", { hasText: "AA %" });
  const accuracies = async () => (await tableRows(page)).map(row => parseFloat(row[4]));
  await head.locator("button").click();
  assert.equal(await head.getAttribute("aria-sort"), "descending");
  assert.deepEqual(await accuracies(), (await accuracies()).toSorted((a, b) => b - a));
  // The same by keyboard.
  await head.locator("button").focus();
  await page.keyboard.press("Enter");
  assert.equal(await head.getAttribute("aria-sort"), "ascending");
  assert.deepEqual(await accuracies(), (await accuracies()).toSorted((a, b) => a - b));
}

async function readsAMatrix(page) {
  const figure = visible(page, "matrix");
  const first = await figure.locator("svg").evaluate(svg => svg.outerHTML);
  await page.selectOption("#matrix select.protocol", "single");
  await page.selectOption("#matrix select.learner", "finetune+tp");
  const own = runsOf("finetune+tp", "single"), tasks = own[0].matrix.length;
  assert.equal(await figure.locator(".c").count(), tasks * (tasks + 1) / 2);
  const cell = figure.locator(".c").nth(4);
  await cell.hover({ force: true });
  const mean = spread(own.map(line => line.matrix[2][1])).mean;
  assert.equal(await figure.locator(".read").textContent(), `after task 3, on task 2: ${(Math.round(mean * 10) / 10).toFixed(1)} %`);
  assert.equal(await figure.locator(".v").nth(4).textContent(), (Math.round(mean * 10) / 10).toFixed(1));
  await figure.locator(".wide").focus();
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowDown");
  assert.match(await figure.locator(".read").textContent(), /^after task 2, on task 1: /);
  const csv = await download(page, figure.locator("button.csv"));
  assert.equal(csv.name, "finetune-tp-on-demo-synthetic-protocol-single.csv");
  for (const line of csv.text.trim().split("\n").slice(1)) {
    const [stage, task, accuracy] = line.split(",").map(Number);
    assert.ok(Math.abs(accuracy - spread(own.map(run => run.matrix[stage - 1][task - 1])).mean) < 0.0501, line);
  }
  // Back to what Rust drew: the script has to paint the very same.
  await page.selectOption("#matrix select.protocol", "paper");
  await page.selectOption("#matrix select.learner", "finetune");
  const again = await figure.locator("svg").evaluate(svg => { svg.querySelectorAll(".at").forEach(c => c.classList.remove("at")); return svg.outerHTML; });
  assert.equal(again, first);
}

// A fresh page now and then: Chromium holds a page's eleventh download back, as it would a flood of them.
async function downloadsFigures(page, open) {
  const sections = await page.$$eval(".figures", all => all.map(section => section.id));
  assert.deepEqual(sections, ["aa-af", "learning-curve", "matrix", "group-size", "prompt-size", "costs", "profile-distances", "embeddings", "pair-difference"]);
  let fresh = null;
  for (const [at, section] of sections.entries()) {
    if (at % 4 === 0) {
      await fresh?.close();
      fresh = await open();
    }
    const page = fresh;
    const figure = visible(page, section);
    assert.equal(await figure.count(), 1, `${section} shows one figure`);
    const svg = await download(page, figure.locator("button.svg"));
    assert.match(svg.name, /\.svg$/);
    const parsed = await page.evaluate(text => {
      const document = new DOMParser().parseFromString(text, "image/svg+xml");
      return [document.querySelector("parsererror") === null, document.documentElement.textContent.includes("SYNTHETIC")];
    }, svg.text);
    assert.deepEqual(parsed, [true, true], `${section} is SVG, and marked`);
    const csv = await download(page, figure.locator("button.csv"));
    assert.ok(csv.text.split("\n").length > 2, `${section} has numbers`);
  }
  await fresh.close();
  const bars = await download(page, visible(page, "aa-af").locator("button.csv"));
  const row = bars.text.split("\n").find(line => line.startsWith("tpp,")).split(",").map(Number);
  assert.ok(Math.abs(row[2] - spread(runsOf("tpp", "paper").map(line => line.aa)).mean) < 0.001);
}

async function togglesALine(page) {
  const figure = visible(page, "learning-curve"), key = figure.locator(".key").first();
  await key.focus();
  await page.keyboard.press("Enter");
  assert.equal(await key.getAttribute("aria-pressed"), "false");
  assert.equal(await figure.locator(".series:visible").count(), (await figure.locator(".series").count()) - 1);
  await page.keyboard.press("Enter");
  await key.blur();
}

async function switchesTheme(page, name) {
  const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const before = await paper();
  await page.click("#theme");
  assert.notEqual(await paper(), before);
  await shot(page, `${name}-dark`);
  await page.click("#theme");
  assert.equal(await paper(), before);
}

const browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS, timeout: PATIENCE });
for (const [name, width] of [["wide", 1280], ["narrow", 375]]) {
  const problems = [];
  const open = async () => {
    const page = await browser.newPage({ viewport: { width, height: 800 }, acceptDownloads: true, colorScheme: "light" });
    page.setDefaultTimeout(PATIENCE);
    page.on("console", message => { if (["error", "warning"].includes(message.type())) problems.push(message.text()); });
    page.on("pageerror", problem => problems.push(String(problem)));
    page.on("request", request => { if (!/^(file|blob|data):/.test(request.url())) problems.push(`asked the network for ${request.url()}`); });
    await page.goto(pathToFileURL(report).href);
    return page;
  };
  const page = await open();
  await shot(page, name);
  await readsTheTable(page);
  await filtersAndSorts(page);
  await readsAMatrix(page);
  await downloadsFigures(page, open);
  await togglesALine(page);
  assert.equal((await page.textContent("#failures td.error")), error);
  assert.match(await page.textContent("#made pre"), /--learner 'a<b'/);
  assert.match(await page.textContent("#summary"), /30 runs on test nodes, 1 failed/);
  await switchesTheme(page, name);
  const [body, screen] = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
  assert.ok(body <= screen, `at ${width} pixels the page is ${body} wide`);
  assert.deepEqual(problems, []);
  await page.close();
  console.log(`${name} (${width} pixels): all as it should be`);
}
const paper = await browser.newPage();
paper.setDefaultTimeout(PATIENCE);
await paper.goto(pathToFileURL(report).href);
await paper.emulateMedia({ media: "print" });
await paper.setViewportSize({ width: 794, height: 1123 });
await shot(paper, "print");
await browser.close();
rmSync(work, { recursive: true });
