// Serves the fixtures with the official TypeScript SDK. Argument: stdio, http (with sessions) or stateless.
import { createServer } from 'node:http';
import { randomUUID } from 'node:crypto';
import { NodeStreamableHTTPServerTransport, toNodeHandler } from '@modelcontextprotocol/node';
import { Server, createMcpHandler } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { list, read, template } from './fixture.mjs';

const mode = process.argv[2] ?? 'stdio';

function server() {
  const s = new Server({ name: 'fixtures', version: '1' }, { capabilities: { resources: {} } });
  s.setRequestHandler('resources/list', r => list(r.params));
  s.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [template] }));
  s.setRequestHandler('resources/read', r => read(r.params.uri));
  return s;
}

function withSessions() {
  const sessions = new Map();
  return async (request, response) => {
    let transport = sessions.get(request.headers['mcp-session-id']);
    if (!transport) {
      transport = new NodeStreamableHTTPServerTransport({
        sessionIdGenerator: () => randomUUID(),
        enableJsonResponse: true,
        onsessioninitialized: id => { sessions.set(id, transport); },
      });
      await server().connect(transport);
    }
    await transport.handleRequest(request, response);
  };
}

if (mode === 'stdio') {
  serveStdio(() => server());
} else {
  const handle = mode === 'stateless' ? toNodeHandler(createMcpHandler(() => server())) : withSessions();
  const http = createServer((request, response) => Promise.resolve(handle(request, response)).catch(error => {
    console.error(error);
    response.destroy();
  }));
  http.keepAliveTimeout = 600_000;
  http.listen(0, '127.0.0.1', () => console.error(`listening at 127.0.0.1:${http.address().port}`));
}
