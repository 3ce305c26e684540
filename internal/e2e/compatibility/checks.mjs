// Drives one MCP client through everything a client of resources does, and prints a line of JSON for each check:
// {"check": name, "result": "ok" | "no" | "-", "why": text}. "-" says that the client has no call for it.
//
//   node checks.mjs CLIENT stdio COMMAND ARGS…
//   node checks.mjs CLIENT http URL
//
// The server runs the example "everything" with --tools. clients/CLIENT.mjs exports connect(target), which gives an
// object with the calls the client has: see the uses below.
import assert from 'node:assert/strict';

const [name, kind, ...rest] = process.argv.slice(2);
const target = kind === 'http' ? { url: rest[0] } : { command: rest[0], args: rest.slice(1) };
const { connect } = await import(`./clients/${name.split('@')[0]}.mjs`);

const patience = 20_000; // ms, for one check

function within(promise, what) {
  let timer;
  const late = new Promise((_, reject) => { timer = setTimeout(() => reject(new Error(`no ${what} within ${patience / 1000} s`)), patience); });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

function say(check, result, why = '') {
  console.log(JSON.stringify({ check, result, why: String(why).replace(/\s+/g, ' ').slice(0, 300) }));
}

let client = {};

async function check(title, has, run) {
  if (!has) return say(title, '-');
  try {
    say(title, 'ok', await within(run(), 'end') ?? '');
  } catch (e) {
    say(title, 'no', e?.message ?? e);
  }
}

const text = async uri => (await client.read(uri)).map(c => c.text ?? '').join('');

await check('connect', true, async () => {
  client = await connect({ ...target, name });
  return client.revision?.() ?? '';
});
await check('list', client.list, async () => {
  const uris = new Set(await client.list());
  assert.ok(uris.has('test://static-text'), 'the first page is missing');
  assert.ok(uris.size >= 10_000, `${uris.size} of more than 10,000 resources`);
});
await check('templates', client.templates, async () => {
  assert.ok((await client.templates()).includes('test://template/{id}/data'));
});
await check('read text', client.read, async () => {
  assert.equal(await text('test://static-text'), 'This is the content of the static text resource.');
});
await check('read bytes', client.read, async () => {
  const [content] = await client.read('test://static-binary');
  assert.equal(Buffer.from(content.blob, 'base64').subarray(1, 4).toString(), 'PNG');
});
await check('read by template', client.read, async () => {
  assert.equal(JSON.parse(await text('test://template/123/data')).id, '123');
});
await check('read other scripts', client.read, async () => {
  assert.ok((await text('test://ünïcode/日本語')).includes('日本語'));
});
await check('complete', client.complete, async () => {
  const values = await client.complete('test://template/{id}/data', 'id', '1');
  assert.ok(values.length > 0 && values.every(v => v.startsWith('1')), values.join());
});
await check('not found', client.read, async () => {
  await assert.rejects(client.read('test://nothing-here'), e => /not found|-32002|-32602/i.test(`${e.message} ${e.code}`));
  assert.equal(await text('test://empty'), ''); // and the session goes on
});
await check('unknown cursor', client.page, async () => {
  await assert.rejects(client.page('nonsense'));
});
await check('updated', client.subscribe, async () => {
  const told = new Promise(resolve => client.onUpdated(uri => uri === 'test://watched-resource' && resolve()));
  await client.subscribe('test://watched-resource');
  await client.read('test://action/touch');
  await within(told, 'update');
});
await check('list changed', client.onListChanged, async () => {
  const told = new Promise(resolve => client.onListChanged(resolve));
  await client.listening?.();
  await client.read('test://action/list-changed');
  await within(told, 'change of the list');
});
await check('cancel', client.readUntil, async () => {
  const stop = new AbortController();
  setTimeout(() => stop.abort(), 200);
  await assert.rejects(client.readUntil('test://fault/slow', stop.signal));
  assert.equal(await text('test://empty'), '');
});
await check('tools', client.tools, async () => {
  assert.deepEqual((await client.tools()).map(n => n.replace(/^wasmres_/, '')).sort(), ['list_resources', 'read_resource']);
});
await check('call a tool', client.call, async () => {
  const said = JSON.stringify(await client.call('read_resource', { uri: 'test://static-text' }));
  assert.ok(said.includes('content of the static text resource'), said);
});
await check('close', client.close, () => client.close());
process.exit(0);
