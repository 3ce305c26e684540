// The official TypeScript client from version 2 on. The name says the era: client@legacy, client@auto.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { uris } from './pages.mjs';

export async function connect({ name, url, command, args }) {
  const mode = name.split('@')[1];
  const transport = url ? new StreamableHTTPClientTransport(new URL(url))
    : new StdioClientTransport({ command, args, stderr: 'ignore', env: process.env });
  const client = new Client({ name: 'wasmres-compatibility', version: '1.0.0' }, { versionNegotiation: { mode } });
  await client.connect(transport);
  const page = cursor => client.listResources(cursor === undefined ? { cursor: undefined } : { cursor });
  const modern = client.getNegotiatedProtocolVersion() >= '2026-07-28';
  return {
    revision: () => client.getNegotiatedProtocolVersion(),
    page,
    list: () => uris(page),
    templates: async () => (await client.listResourceTemplates()).resourceTemplates.map(t => t.uriTemplate),
    read: async uri => (await client.readResource({ uri }, { cacheMode: 'bypass' })).contents,
    readUntil: (uri, signal) => client.readResource({ uri }, { signal }),
    complete: async (uri, name, value) =>
      (await client.complete({ ref: { type: 'ref/resource', uri }, argument: { name, value } })).completion.values,
    subscribe: uri => modern ? client.listen({ resourceSubscriptions: [uri] }) : client.subscribeResource({ uri }),
    listening: () => modern ? client.listen({ resourcesListChanged: true }) : undefined,
    onUpdated: f => client.setNotificationHandler('notifications/resources/updated', n => f(n.params.uri)),
    onListChanged: f => client.setNotificationHandler('notifications/resources/list_changed', () => f()),
    tools: async () => (await client.listTools()).tools.map(t => t.name),
    call: (name, args) => client.callTool({ name, arguments: args }),
    close: () => client.close(),
  };
}
