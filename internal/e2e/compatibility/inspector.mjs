// Operates the web page of the MCP inspector in Chromium, and prints a line of JSON for each check, as checks.mjs does.
// A screenshot of the last page goes to the file that WASMRES_SCREENSHOT names, if it names one.
import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';

const [kind, ...rest] = process.argv.slice(2);
function say(check, result, why = '') {
  console.log(JSON.stringify({ check, result, why: String(why).replace(/\s+/g, ' ').slice(0, 300) }));
}

const freePort = () => new Promise(resolve => {
  const s = createServer().listen(0, '127.0.0.1', () => { const { port } = s.address(); s.close(() => resolve(port)); });
});

const port = await freePort();
const target = kind === 'http' ? ['--server-url', rest[0], '--transport', 'http'] : rest;
const env = { ...process.env, CLIENT_PORT: port, HOST: '127.0.0.1', MCP_AUTO_OPEN_ENABLED: 'false', HOME: mkdtempSync(join(tmpdir(), 'inspector-')) };
const inspector = spawn(process.execPath, ['node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js', '--web', ...target], { env });
const address = await new Promise((resolve, reject) => {
  let said = '';
  const look = data => {
    said += data;
    const found = said.match(/https?:\/\/[^\s]*(?:token|TOKEN)=[^\s]+/) ?? said.match(/https?:\/\/(?:127\.0\.0\.1|localhost):\d+\S*/);
    if (found) setTimeout(() => resolve(found[0]), 500);
  };
  inspector.stdout.on('data', look);
  inspector.stderr.on('data', look);
  setTimeout(() => reject(new Error(`the inspector does not start: ${said}`)), 60_000);
});

const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
});
const view = await browser.newPage({ viewport: { width: 1400, height: 900 } });
view.setDefaultTimeout(30_000);
async function check(title, run) {
  try {
    await run();
    say(title, 'ok');
  } catch (e) {
    say(title, 'no', e?.message ?? e);
  }
}
await view.goto(address);
await check('connect', async () => {
  await view.locator('label:has([role=switch]), [role=switch]').first().click({ force: true });
  await view.getByText('Resources', { exact: true }).first().waitFor();
});
await check('list', async () => {
  await view.getByText('Resources', { exact: true }).first().click();
  await view.getByText(/URIs \(1\d{4}\)/).waitFor(); // more than 10,000
});
await check('templates', () => view.getByText('template-data', { exact: true }).waitFor());
await check('read text', async () => {
  await view.getByText('Static text', { exact: true }).first().click();
  await view.getByText('This is the content of the static text resource.').first().waitFor();
});
await check('read bytes', async () => {
  await view.getByText('static-binary', { exact: true }).first().click();
  await view.locator('img[src^="data:image/png"], img[src^="blob:"]').first().waitFor();
});
await check('tools', async () => {
  if (process.env.WASMRES_SCREENSHOT) await view.screenshot({ path: process.env.WASMRES_SCREENSHOT });
  await view.getByText('Tools', { exact: true }).first().click();
  await view.getByText(/List resources|list_resources/).first().waitFor();
});
await browser.close();
inspector.kill();
process.exit(0);
