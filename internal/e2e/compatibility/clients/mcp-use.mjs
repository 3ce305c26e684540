import { MCPClient } from 'mcp-use';

export async function connect({ url, command, args }) {
  const client = MCPClient.fromDict({ mcpServers: { wasmres: url ? { url } : { command, args } } });
  const session = await client.createSession('wasmres');
  return {
    page: cursor => session.listResources(cursor),
    list: async () => (await session.listAllResources()).resources.map(r => r.uri),
    read: async uri => (await session.readResource(uri)).contents,
    complete: async (uri, name, value) =>
      (await session.complete({ ref: { type: 'ref/resource', uri }, argument: { name, value } })).completion.values,
    subscribe: uri => session.subscribeToResource(uri),
    onUpdated: f => session.on('notification', n => n.method === 'notifications/resources/updated' && f(n.params.uri)),
    onListChanged: f => session.on('notification', n => n.method === 'notifications/resources/list_changed' && f()),
    tools: async () => (await session.listTools()).map(t => t.name),
    call: (name, args) => session.callTool(name, args),
    close: () => client.closeAllSessions(),
  };
}
