// The official TypeScript SDK before version 2, in the version that the name says, as in sdk@1.8.0.
import { uris } from './pages.mjs';

export async function connect({ name, url, command, args }) {
  const from = path => import(`sdk-${name.split('@')[1]}/${path}`);
  const { Client } = await from('client/index.js');
  const types = await from('types.js');
  let transport;
  if (url) {
    const { StreamableHTTPClientTransport } = await from('client/streamableHttp.js');
    transport = new StreamableHTTPClientTransport(new URL(url));
  } else {
    const { StdioClientTransport } = await from('client/stdio.js');
    transport = new StdioClientTransport({ command, args, stderr: 'ignore', env: process.env });
  }
  const client = new Client({ name: 'wasmres-compatibility', version: '1.0.0' }, { capabilities: {} });
  await client.connect(transport);
  const page = cursor => client.listResources(cursor === undefined ? {} : { cursor });
  return {
    revision: () => transport.protocolVersion ?? client.transport?._protocolVersion ?? '',
    page,
    list: () => uris(page),
    templates: async () => (await client.listResourceTemplates()).resourceTemplates.map(t => t.uriTemplate),
    read: async uri => (await client.readResource({ uri })).contents,
    readUntil: (uri, signal) => client.readResource({ uri }, { signal }),
    complete: async (uri, name, value) =>
      (await client.complete({ ref: { type: 'ref/resource', uri }, argument: { name, value } })).completion.values,
    subscribe: uri => client.subscribeResource({ uri }),
    onUpdated: f => client.setNotificationHandler(types.ResourceUpdatedNotificationSchema, n => f(n.params.uri)),
    onListChanged: f => client.setNotificationHandler(types.ResourceListChangedNotificationSchema, () => f()),
    tools: async () => (await client.listTools()).tools.map(t => t.name),
    call: (name, args) => client.callTool({ name, arguments: args }),
    close: () => client.close(),
  };
}
