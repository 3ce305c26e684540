// What package fixture has, for JavaScript: contents are read from its files when first asked for.
import { readFileSync } from 'node:fs';

const entries = 10_000, pageSize = 1000;
const text = 'text/plain', binary = 'application/octet-stream';
const once = make => { let value; return () => (value ??= make()); };
const file = (name, encoding) => once(() => readFileSync(`${process.env.SERVING_FIXTURES}/${name}`, encoding));

const fixed = [
  { uri: 'text://small', name: 'small', mimeType: text, content: file('small.txt', 'utf8') },
  { uri: 'text://1m', name: 'text1m', mimeType: text, content: file('1m.txt', 'utf8') },
  { uri: 'blob://1m', name: 'blob1m', mimeType: binary, content: file('1m.bin') },
  { uri: 'blob://64m', name: 'blob64m', mimeType: binary, content: file('64m.bin') },
];
const contents = new Map(fixed.map(f => [f.uri, f]));
const listed = fixed.map(({ uri, name, mimeType }) => ({ uri, name, mimeType }));
for (let i = 0; i < entries - fixed.length; i++) {
  const n = String(i).padStart(5, '0');
  const uri = `res://item/${n}`;
  const description = `Generated item number ${n} used for the list benchmark`;
  listed.push({ uri, name: `item-${n}`, description, mimeType: text });
  contents.set(uri, fixed[0]);
}
if (process.env.SERVING_HOLD) fixed.forEach(f => f.content());

export const template = { uriTemplate: 'item://{id}', name: 'item', mimeType: text };

export function read(uri) {
  const found = contents.get(uri);
  const answer = (mimeType, content) => ({ contents: [{ uri, mimeType, ...content }] });
  if (found?.mimeType === binary) return answer(binary, { blob: found.content().toString('base64') });
  if (found) return answer(text, { text: found.content() });
  if (uri.startsWith('item://')) return answer(text, { text: 'item ' + uri.slice(7) });
  throw new Error('not found: ' + uri);
}

export function list(params) {
  const from = params?.cursor ? Number(params.cursor) : 0;
  const page = { resources: listed.slice(from, from + pageSize) };
  if (from + pageSize < entries) page.nextCursor = String(from + pageSize);
  return page;
}
