import { MultiServerMCPClient } from '@langchain/mcp-adapters';

export async function connect({ url, command, args }) {
  const server = url ? { transport: 'http', url } : { transport: 'stdio', command, args };
  const client = new MultiServerMCPClient({ mcpServers: { wasmres: server }, useStandardContentBlocks: true, outputHandling: { resource: "content" } });
  await client.initializeConnections();
  return {
    list: async () => (await client.listResources('wasmres')).wasmres.map(r => r.uri),
    templates: async () => (await client.listResourceTemplates('wasmres')).wasmres.map(t => t.uriTemplate),
    read: uri => client.readResource('wasmres', uri),
    tools: async () => (await client.getTools()).map(t => t.name),
    call: async (name, args) => (await client.getTools()).find(t => t.name === name).invoke(args),
    close: () => client.close(),
  };
}
