// Looks at the web pages of wasmres as people do, in Chromium, and prints what is wrong with them, a line each. The argument is a
// JSON object: chromium, dashboard (a URL), key, version (path of a version that waits), viewer (a URL), resource (a URI of
// Markdown), file (which has it), picture (of the version in the documentation, without .png) and write (not empty to make it).
import {readFileSync, writeFileSync} from "node:fs";
import {createRequire} from "node:module";
import puppeteer from "puppeteer-core";

const given = JSON.parse(process.argv[2]);
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const problems = new Set();
const wrong = (page, text) => problems.add(`${new URL(page.url()).pathname}: ${text}`);

const browser = await puppeteer.launch({
  executablePath: given.chromium, acceptInsecureCerts: true, timeout: 60000,
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});

// open returns a page whose errors count. Scripts are on unless noScript.
async function open(noScript) {
  const page = await (await browser.createBrowserContext()).newPage();
  await page.setJavaScriptEnabled(!noScript);
  page.on("console", (m) => { if (["error", "warn", "assert"].includes(m.type())) wrong(page, `console: ${m.text()}`); });
  page.on("pageerror", (e) => wrong(page, `script: ${e.message}`));
  page.on("dialog", (d) => { wrong(page, `dialog: ${d.message()}`); d.dismiss(); });
  page.on("requestfailed", (r) => { if (r.failure()?.errorText !== "net::ERR_ABORTED") wrong(page, `not loaded: ${r.url()} ${r.failure()?.errorText}`); });
  page.on("request", (r) => { if (!r.url().startsWith(given.dashboard) && !r.url().startsWith(new URL(given.viewer).origin) && r.url() !== "about:blank") wrong(page, `loads ${r.url()}`); });
  return page;
}

async function go(page, url) {
  const answer = await page.goto(url, {waitUntil: "load"});
  if (answer && answer.status() !== 200) wrong(page, `status ${answer.status()}`);
}

// check looks for what people with a reader of the screen, a keyboard or a small window would miss.
async function check(page, scheme, width) {
  await page.emulateMediaFeatures([{name: "prefers-color-scheme", value: scheme}]);
  await page.setViewport({width, height: 900});
  const found = await page.evaluate(`${axe}; axe.run(document, {resultTypes: ["violations"]}).then((r) => (r.passes.length < 10 ? ["too few rules apply"] : []).concat(r.violations.map((v) => v.id + ": " + v.help + ": " + v.nodes.slice(0, 2).map((n) => n.html.slice(0, 200)).join(" | "))))`);
  found.forEach((text) => wrong(page, `${scheme}, ${width}: ${text}`));
  await narrow(page, width);
}

// narrow looks whether all of a page is within a small window.
async function narrow(page, width) {
  await page.setViewport({width, height: 900});
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  if (wide > 0) wrong(page, `${width}: the page is ${wide} pixels too wide`);
}

// picture holds the picture of a page in the documentation to what the page has: its labels. With given.write it makes both.
async function picture(page) {
  await page.emulateMediaFeatures([{name: "prefers-color-scheme", value: "light"}]);
  await page.setViewport({width: 1000, height: 700});
  const labels = await page.$$eval("header a, main h1, main h2, main th[scope=col], main dt, main button", (all) => all.map((e) => e.textContent.trim() + "\n").join(""));
  if (given.write) {
    writeFileSync(given.picture + ".txt", labels);
    await page.screenshot({path: given.picture + ".png"});
  } else if (readFileSync(given.picture + ".txt", "utf8") !== labels) {
    wrong(page, `has other labels than ${given.picture}.png: go test ./internal/e2e -run TestPagesInChromium -pictures makes it again`);
  }
}

async function signIn(page) {
  await go(page, given.dashboard + "/");
  await page.focus("input[name=key]");
  await page.keyboard.type(given.key);
  await Promise.all([page.waitForNavigation(), page.keyboard.press("Enter")]);
}

// pagesBelow returns one URL for each kind of page that links lead to.
async function pagesBelow(page, first, most) {
  const kinds = new Map(), todo = [first];
  while (todo.length > 0 && kinds.size < most) {
    const url = todo.shift(), kind = new URL(url).pathname.replace(/\/(tenants|providers|versions|ledger|crashes)\/[^/]+/g, "/$1/*");
    if (kinds.has(kind)) continue;
    kinds.set(kind, url);
    await go(page, url);
    todo.push(...await page.$$eval("main a:not([download]), header a", (links) => links.map((a) => a.href)));
    for (let i = todo.length - 1; i >= 0; i--) if (!todo[i].startsWith(given.dashboard) || todo[i].includes("#")) todo.splice(i, 1);
  }
  return [...kinds.values()];
}

// press presses Tab until an element with a text has the focus, then Enter.
async function press(page, text) {
  for (let i = 0; i < 60; i++) {
    await page.keyboard.press("Tab");
    const at = await page.evaluate(() => {
      const e = document.activeElement, style = getComputedStyle(e);
      return {text: e.textContent.trim(), seen: style.outlineStyle !== "none" && style.outlineWidth !== "0px"};
    });
    if (!at.seen && at.text !== "") wrong(page, `the focus on ${at.text.slice(0, 40)} is not seen`);
    if (at.text === text) {
      await Promise.all([page.waitForNavigation(), page.keyboard.press("Enter")]);
      return;
    }
  }
  wrong(page, `the keyboard does not reach ${text}`);
}

async function dashboard() {
  const page = await open(false);
  await go(page, given.dashboard + "/");
  await check(page, "light", 360);
  await signIn(page);
  const urls = await pagesBelow(page, page.url(), 30);
  if (urls.length < 12) wrong(page, `links lead to ${urls.length} kinds of pages`);
  for (const [i, url] of urls.entries()) {
    await go(page, url);
    await check(page, i % 2 === 0 ? "light" : "dark", i % 3 === 0 ? 360 : 1200);
    await narrow(page, 360);
  }
  await go(page, given.dashboard + given.version);
  await picture(page);
  await page.setViewport({width: 1200, height: 900});
  await press(page, "Approve");
  if (!(await page.content()).includes("The version is approved.")) wrong(page, "the keyboard has not approved the version");

  const plain = await open(true);
  await signIn(plain);
  for (const url of urls) {
    await go(plain, url);
    if (!(await plain.$("main h1"))) wrong(plain, "without scripts it has no heading");
  }
  await Promise.all([plain.waitForNavigation(), plain.click("form.who button")]);
  if (!(await plain.$("input[name=key]"))) wrong(plain, "signing out without scripts does not end the session");
}

async function viewer() {
  const page = await open(false);
  await go(page, given.viewer);
  await check(page, "light", 1200);
  await narrow(page, 360);
  const base = page.url();
  const links = await page.$$eval("#resources a", (all) => all.map((a) => a.href));
  for (const url of [...links.slice(0, 4), base + "log"]) {
    await go(page, url);
    await check(page, "dark", 360);
  }
  await go(page, base + "read?uri=" + encodeURIComponent(given.resource));
  await check(page, "dark", 1200);
  const bad = await page.$$eval("a", (all) => all.map((a) => a.href).filter((h) => /^(javascript|data|file|vbscript):/i.test(h)));
  bad.forEach((h) => wrong(page, `a link leads to ${h}`));
  if (await page.$("main script, main iframe, main img, main [onerror], main [style]")) wrong(page, "the Markdown has made markup of its own");
  await page.evaluate(() => { window.before = document.querySelector("h1").textContent; });
  writeFileSync(given.file, "# Changed while you look\n");
  await page.waitForFunction(() => document.body.textContent.includes("Changed while you look"), {timeout: 20000}).catch(() => wrong(page, "a change is not shown"));
  if (!(await page.evaluate(() => window.before))) wrong(page, "the page was loaded again for a change");
}

try {
  await dashboard();
  await viewer();
} catch (e) {
  problems.add(`the test has failed: ${e.stack}`);
} finally {
  await browser.close();
}
for (const text of problems) console.log(text);
process.exit(problems.size > 0 ? 1 : 0);
