import { MCPServerStdio, MCPServerStreamableHttp } from '@openai/agents';
import { uris } from './pages.mjs';

export async function connect({ url, command, args }) {
  const server = url ? new MCPServerStreamableHttp({ url, name: 'wasmres' }) : new MCPServerStdio({ command, args, name: 'wasmres' });
  await server.connect();
  const page = cursor => server.listResources(cursor === undefined ? {} : { cursor });
  return {
    page,
    list: () => uris(page),
    templates: async () => (await server.listResourceTemplates()).resourceTemplates.map(t => t.uriTemplate),
    read: async uri => (await server.readResource(uri)).contents,
    tools: async () => (await server.listTools()).map(t => t.name),
    call: (name, args) => server.callTool(name, args),
    close: () => server.close(),
  };
}
