import { createMCPClient } from '@ai-sdk/mcp';
import { Experimental_StdioMCPTransport } from '@ai-sdk/mcp/mcp-stdio';
import { uris } from './pages.mjs';

export async function connect({ url, command, args }) {
  const transport = url ? { type: 'http', url } : new Experimental_StdioMCPTransport({ command, args, stderr: 'ignore' });
  const client = await createMCPClient({ transport });
  const page = cursor => client.listResources(cursor === undefined ? {} : { params: { cursor } });
  return {
    page,
    list: () => uris(page),
    templates: async () => (await client.listResourceTemplates()).resourceTemplates.map(t => t.uriTemplate),
    read: async uri => (await client.readResource({ uri })).contents,
    readUntil: (uri, signal) => client.readResource({ uri, options: { signal } }),
    tools: async () => Object.keys(await client.tools()),
    call: async (name, args) => (await client.tools())[name].execute(args, { messages: [], toolCallId: '1' }),
    close: () => client.close(),
  };
}
