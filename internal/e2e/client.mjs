// Drives wasmres serving the example "everything" with the official TypeScript client.
//
//   node client.mjs ERA http URL
//   node client.mjs ERA stdio COMMAND ARGS…
//
// ERA is legacy, auto or a pinned revision. Prints a line for each check; the exit status says whether all passed.
import assert from 'node:assert/strict';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const [era, kind, ...target] = process.argv.slice(2);
const mode = /^\d/.test(era) ? { pin: era } : era;
const modern = era !== 'legacy';

const transport = kind === 'http'
  ? new StreamableHTTPClientTransport(new URL(target[0]))
  : new StdioClientTransport({ command: target[0], args: target.slice(1), stderr: 'inherit', maxBufferSize: 256 << 20 });
const client = new Client({ name: 'wasmres-e2e', version: '1.0.0' }, { versionNegotiation: { mode } });

async function check(name, run) {
  const began = performance.now();
  await run();
  console.log(`ok ${era} ${kind}: ${name} (${Math.round(performance.now() - began)} ms)`);
}

/** Collects notifications, and waits for one that matches. */
function inbox() {
  const seen = [];
  const waiting = new Set();
  return {
    seen,
    put(message) {
      seen.push(message);
      for (const look of waiting) look();
    },
    wait(matches, what) {
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error(`no ${what} within 15 s`)), 15_000);
        const look = () => {
          const found = seen.find(matches);
          if (!found) return;
          clearTimeout(timer);
          waiting.delete(look);
          resolve(found);
        };
        waiting.add(look);
        look();
      });
    },
  };
}

const notices = inbox();
client.setNotificationHandler('notifications/resources/updated', n => notices.put({ updated: n.params.uri }));
client.setNotificationHandler('notifications/resources/list_changed', () => notices.put({ listChanged: true }));

const international = 'test://ünïcode/日本語'; // as the provider writes it; clients get URIs as RFC 3986 has them

const patternByte = i => (i * 31 + (i >> 8)) & 0xff;

function assertPattern(blob, size) {
  const bytes = Buffer.from(blob, 'base64');
  assert.equal(bytes.length, size);
  const block = Buffer.from(Array.from({ length: 65536 }, (_, i) => patternByte(i)));
  for (let at = 0; at < size; at += block.length) {
    assert.equal(block.compare(bytes, at, Math.min(at + block.length, size), 0, Math.min(block.length, size - at)), 0, `bytes from ${at}`);
  }
}

const read = async uri => (await client.readResource({ uri }, { timeout: 600_000 })).contents;

await check('connects', () => client.connect(transport));
await check('speaks the revision asked for', () => {
  const spoken = client.getNegotiatedProtocolVersion();
  assert.equal(spoken, modern ? '2026-07-28' : '2025-11-25');
});
await check('lists 10,000 entries and more through the cursors', async () => {
  const uris = new Set();
  let cursor, pages = 0;
  do {
    const page = await client.listResources(cursor === undefined ? { cursor: undefined } : { cursor });
    for (const r of page.resources) uris.add(r.uri);
    cursor = page.nextCursor;
    pages++;
  } while (cursor !== undefined && pages < 1000);
  assert.ok(uris.size >= 10_000, `${uris.size} different entries`);
  for (const uri of ['test://static-text', encodeURI(international), 'test://entry/0', 'test://entry/9999']) assert.ok(uris.has(uri), uri);
});
await check('lists templates', async () => {
  const { resourceTemplates } = await client.listResourceTemplates();
  assert.ok(resourceTemplates.some(t => t.uriTemplate === 'test://template/{id}/data'));
});
await check('reads text', async () => {
  assert.equal((await read('test://static-text'))[0].text, 'This is the content of the static text resource.');
});
await check('reads an empty text', async () => assert.equal((await read('test://empty'))[0].text, ''));
await check('reads a long text with quotes and other scripts', async () => {
  const [content] = await read('test://text/1m');
  assert.ok(Buffer.byteLength(content.text) >= 1 << 20 && content.text.includes('"') && /[^\x00-\x7f]/.test(content.text));
});
await check('reads a URI that is not ASCII', async () => {
  for (const uri of [international, encodeURI(international)]) {
    const [content] = await read(uri);
    assert.equal(content.uri, encodeURI(international));
    assert.ok(content.text.includes('日本語'));
  }
});
await check('reads several contents', async () => {
  const contents = await read('test://multi');
  assert.ok(contents.length >= 2 && contents.some(c => 'text' in c) && contents.some(c => 'blob' in c));
});
await check('reads a picture', async () => {
  const [content] = await read('test://static-binary');
  assert.equal(content.mimeType, 'image/png');
  assert.equal(Buffer.from(content.blob, 'base64').subarray(1, 4).toString(), 'PNG');
});
await check('reads a 1 MiB blob byte-exact', async () => assertPattern((await read('test://blob/1m'))[0].blob, 1 << 20));
// This client joins what it has at each 64 KiB that come through a pipe, which takes it minutes.
if (kind !== 'stdio') await check('reads a 64 MiB blob byte-exact', async () => assertPattern((await read('test://blob/64m'))[0].blob, 64 << 20));
await check('reads a template', async () => {
  assert.equal(JSON.parse((await read('test://template/123/data'))[0].text).id, '123');
});
await check('completes', async () => {
  const { completion } = await client.complete({
    ref: { type: 'ref/resource', uri: 'test://template/{id}/data' }, argument: { name: 'id', value: '1' },
  });
  assert.ok(completion.values.length > 0 && completion.values.every(v => v.startsWith('1')));
});
await check('gets a clear not-found', async () => {
  await assert.rejects(read('test://nothing-here'), e => {
    assert.ok(e.code === -32602 || (!modern && e.code === -32002), `code ${e.code}`); // this client maps one to the other
    assert.equal(e.data?.uri, 'test://nothing-here');
    return true;
  });
});
for (const fault of ['trap', 'badtext', 'baduri', 'exit', 'internal']) {
  await check(`survives a provider that does ${fault}`, async () => {
    await assert.rejects(read(`test://fault/${fault}`), e => {
      assert.ok(!/goroutine|wasm|\.go:|panic/.test(e.message), e.message);
      return true;
    });
    assert.equal((await read('test://empty'))[0].text, '');
  });
}
await check('never sees what a provider writes to standard output', async () => {
  assert.ok((await read('test://fault/stdout'))[0].text.length > 0);
});
await check('hears of changes it asked for, and of no others', async () => {
  let subscription;
  if (modern) {
    subscription = await client.listen({ resourcesListChanged: true, resourceSubscriptions: ['test://watched-resource', 'test://clock'] });
  } else {
    await client.subscribeResource({ uri: 'test://watched-resource' });
    await client.subscribeResource({ uri: 'test://clock' });
  }
  await client.readResource({ uri: 'test://action/touch' }, { cacheMode: 'bypass' });
  await client.readResource({ uri: 'test://action/list-changed' }, { cacheMode: 'bypass' });
  await notices.wait(n => n.updated === 'test://watched-resource', 'update of the watched resource');
  await notices.wait(n => n.updated === 'test://clock', 'update of the clock');
  await notices.wait(n => n.listChanged, 'change of the list');
  assert.deepEqual(notices.seen.filter(n => n.updated && !['test://watched-resource', 'test://clock'].includes(n.updated)), []);
  await subscription?.close();
});
await check('closes', () => client.close());
