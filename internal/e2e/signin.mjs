// Signs in with the OAuth flow of the official TypeScript client, as a user of its issuer, and reads a resource of a server.
//
//   node signin.mjs ERA URL CLIENT_ID CLIENT_SECRET REDIRECT_URI
//
// ERA is legacy, auto or a pinned revision. The secret is empty for a public client. The server permits note at once, and draft with the scope
// drafts, for which the client signs in again. Prints a line for each check; the exit status says whether all passed.
import assert from 'node:assert/strict';
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client';

const [era, url, id, secret, redirect] = process.argv.slice(2);
const mode = /^\d/.test(era) ? { pin: era } : era;

/** What a client keeps about its issuer, in memory; and a user's browser that signs in at the issuer's pages. */
class User {
  asked = []; // URLs to which the client has sent the browser
  get redirectUrl() { return redirect; }
  get clientMetadata() { return { client_name: 'wasmres-e2e', redirect_uris: [redirect] }; }
  clientInformation() { return secret ? { client_id: id, client_secret: secret } : { client_id: id }; }
  tokens() { return this.saved; }
  saveTokens(tokens) { this.saved = tokens; }
  saveCodeVerifier(verifier) { this.verifier = verifier; }
  codeVerifier() { return this.verifier; }
  redirectToAuthorization(to) { this.asked.push(new URL(to)); }

  /** Follows the redirects of the issuer, fills in its form, and returns the URL with the code. */
  async signIn() {
    let at = this.asked.at(-1);
    const follow = async (init) => {
      const answer = await fetch(at, { redirect: 'manual', ...init });
      if (answer.status < 300 || answer.status > 399) return answer;
      at = new URL(answer.headers.get('location'), at);
      return at.href.startsWith(redirect) ? undefined : follow();
    };
    const form = await follow();
    const page = await form.text();
    const hidden = /name="id" value="([^"]*)"/.exec(page)?.[1];
    assert.ok(hidden, `the issuer shows no form: ${form.status} ${page}`);
    at = new URL('/login/username', at);
    await follow({
      method: 'POST', body: new URLSearchParams({ id: hidden, username: 'test-user@' + at.hostname, password: 'verysecure' }),
    });
    assert.ok(at.href.startsWith(redirect), `the issuer has not sent the browser back, but to ${at}`);
    return at;
  }
}

const user = new User();
let transport;

async function connect() {
  transport = new StreamableHTTPClientTransport(new URL(url), { authProvider: user });
  const client = new Client({ name: 'wasmres-e2e', version: '1.0.0' }, { versionNegotiation: { mode } });
  await client.connect(transport);
  return client;
}

async function check(name, run) {
  await run();
  console.log(`ok ${era}: ${name}`);
}

await check('a client without a token is sent to the issuer', async () => {
  await assert.rejects(connect(), UnauthorizedError);
  const to = user.asked.at(-1);
  assert.equal(to.searchParams.get('resource'), url);
  assert.equal(to.searchParams.get('code_challenge_method'), 'S256');
  assert.equal(to.searchParams.get('scope'), 'openid');
  await transport.finishAuth((await user.signIn()).searchParams);
  assert.ok(user.saved.access_token);
});

let client;
await check('a client with a token reads what it may', async () => {
  client = await connect();
  const { contents } = await client.readResource({ uri: 'memory://context/note' });
  assert.equal(contents[0].text, 'a note');
  const { resources } = await client.listResources();
  assert.ok(!resources.some(r => r.uri.includes('draft')), 'the list has what the token does not permit');
});

await check('a client signs in again for a scope', async () => {
  await assert.rejects(client.readResource({ uri: 'memory://context/draft' }));
  const to = user.asked.at(-1);
  assert.ok(to.searchParams.get('scope').split(' ').includes('drafts'), `it asks for ${to.searchParams.get('scope')}`);
  await transport.finishAuth((await user.signIn()).searchParams);
  const { contents } = await client.readResource({ uri: 'memory://context/draft' });
  assert.equal(contents[0].text, 'a draft');
});

await client.close();
