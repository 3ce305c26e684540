// Reads the skills of the example "skills", served at a URL, with the official TypeScript client, which verifies sizes, digests and
// frontmatter.
//
//   node skills.mjs URL
import assert from 'node:assert/strict';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { SkillsClient } from '@modelcontextprotocol/client/ext/skills';

const client = new Client({ name: 'wasmres-e2e', version: '1.0.0' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
await client.connect(new StreamableHTTPClientTransport(new URL(process.argv[2])));
const skills = new SkillsClient(client);
assert.ok(skills.supported && skills.directoryRead);

const { skills: all } = await skills.list();
assert.deepEqual(all.map(s => s.uri).sort(), ['skill://acme/refunds/SKILL.md', 'skill://git-workflow/SKILL.md']);
for (const skill of all) {
  assert.equal((await skills.get(skill.uri)).skill.uri, skill.uri);
  assert.equal(skill.resources.length, 2);
  for (const { uri } of skill.resources) assert.ok((await skills.read(skill, uri)).verified);
}
const children = async uri => (await skills.readDirectory(uri)).resources.map(r => [r.uri, r.mimeType]);
assert.deepEqual(await children('skill://git-workflow'), [
  ['skill://git-workflow/SKILL.md', 'text/markdown'], ['skill://git-workflow/references', 'inode/directory'],
]);
for (const uri of ['skill://git-workflow/SKILL.md', 'skill://none']) {
  await assert.rejects(skills.readDirectory(uri), e => e.code === -32602);
  await assert.rejects(skills.get(uri.replace('SKILL', 'OTHER')), e => e.code === -32602);
}
await client.close();
console.log('ok');
