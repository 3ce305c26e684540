import { MCPClient } from 'mcp-client';

export async function connect({ url, command, args }) {
  const client = new MCPClient({ name: 'wasmres-compatibility', version: '1.0.0' });
  await client.connect(url ? { type: 'httpStream', url } : { type: 'stdio', command, args, stderr: 'ignore', env: process.env });
  return {
    list: async () => (await client.getAllResources()).map(r => r.uri),
    templates: async () => (await client.getAllResourceTemplates()).map(t => t.uriTemplate),
    read: async uri => (await client.getResource({ uri })).contents,
    readUntil: (uri, signal) => client.getResource({ uri }, { requestOptions: { signal } }),
    complete: async (uri, name, value) =>
      (await client.complete({ ref: { type: 'ref/resource', uri }, argument: { name, value } })).completion.values,
    tools: async () => (await client.getAllTools()).map(t => t.name),
    call: (name, args) => client.callTool({ name, arguments: args }),
    close: () => client.close(),
  };
}
