import { MCPClient } from '@mastra/mcp';

export async function connect({ url, command, args }) {
  const server = url ? { url: new URL(url) } : { command, args };
  const client = new MCPClient({ id: 'wasmres-compatibility', servers: { wasmres: server } });
  const resources = client.resources;
  return {
    list: async () => (await resources.list()).wasmres.map(r => r.uri),
    templates: async () => (await resources.templates()).wasmres.map(t => t.uriTemplate),
    read: async uri => (await resources.read('wasmres', uri)).contents,
    subscribe: uri => resources.subscribe('wasmres', uri),
    onUpdated: f => resources.onUpdated('wasmres', p => f(p.uri)),
    onListChanged: f => resources.onListChanged('wasmres', () => f()),
    tools: async () => Object.keys(client.listTools ? await client.listTools() : await client.getTools()),
    call: async (name, args) => {
      const tools = client.listTools ? await client.listTools() : await client.getTools();
      return tools[`wasmres_${name}`].execute({ context: args });
    },
    close: () => client.disconnect(),
  };
}
