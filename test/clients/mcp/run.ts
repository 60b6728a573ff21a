import { createReport, type Report } from '../report.ts';
import type { McpClient, McpConnection } from './client.ts';
import { modelClients } from './model-clients.ts';
import { sdkClients } from './sdk-clients.ts';

/**
 * Tests published MCP clients with a server that has the sample. Arguments: base URL of the server, then paths of its
 * MCP endpoint. The packages of the clients must be installed in a folder above this file. The exit code is 1 if a
 * check fails.
 */
const [base = '', ...paths] = process.argv.slice(2);

const toolNames = 'get_post,list_replies,get_profile,list_followers,list_following,search';
const post = { handle: 'ada.example', id: '1900000000000000001' };

/** Calls that succeed, and the path of the same read over HTTP. Some clients check the arguments against the schema. */
const calls = [
  ['get_post', post, `/api/v1/posts?handle=${post.handle}&id=${post.id}`],
  [
    'get_profile',
    { handle: 'ada.example', limit: 3, cursor: '', until: '', with_replies: true },
    '/api/v1/profiles/ada.example?limit=3&with_replies=true',
  ],
  [
    'search',
    { q: 'heron', platform: 'sample', since: '' },
    '/api/v1/search?q=heron&platform=sample',
  ],
] as const;

async function readHttp(path: string): Promise<string> {
  const reply = await fetch(`${base}${path}`);
  if (!reply.ok) throw new Error(`${path} is answered with ${reply.status}.`);
  return reply.text();
}

function expectEqual(found: unknown, expected: unknown): void {
  const [a, b] = [JSON.stringify(found), JSON.stringify(expected)];
  if (a !== b) throw new Error(`${a?.slice(0, 200)} is not ${b?.slice(0, 200)}`);
}

async function checkConnection(connection: McpConnection, { check }: Report): Promise<void> {
  await check('lists the tools', async () => {
    expectEqual((await connection.listTools()).join(), toolNames);
  });
  for (const [name, args, unbounded] of calls) {
    // Links to the next page have the maximum length that tools use by default.
    const path = `${unbounded}&max_chars=60000`;
    await check(`reads what HTTP returns, with ${name}`, async () => {
      const expected = { text: await readHttp(path), isError: false };
      expectEqual(await connection.call(name, args), expected);
    });
    await check(`reads JSON, with ${name}`, async () => {
      const { markdown, ...expected } = JSON.parse(await readHttp(`${path}&format=json`));
      const { text, isError } = await connection.call(name, { ...args, format: 'json' });
      expectEqual([JSON.parse(text), isError, typeof markdown], [expected, false, 'string']);
    });
  }
  await check('reads an error', async () => {
    const { text, isError } = await connection.call('get_post', { ...post, id: '7' });
    expectEqual([isError, /\ncode: not_found\nresolution: /.test(text)], [true, true]);
  });
  for (const [name, run] of Object.entries(connection.more ?? {})) await check(name, run);
}

/** Checks a client, and returns its title if a check failed. */
async function checkClient({ name, connect }: McpClient, path: string): Promise<readonly string[]> {
  const title = `${name}, ${path}`;
  const report = createReport(title);
  try {
    const connection = await report.check('connects', () => connect(`${base}${path}`));
    try {
      await checkConnection(connection, report);
    } finally {
      await connection.close();
    }
    return [];
  } catch {
    return [title]; // the report has printed the reason
  }
}

const failed: string[] = [];
for (const client of [...sdkClients, ...modelClients]) {
  for (const path of paths) failed.push(...(await checkClient(client, path)));
}
for (const title of failed) console.log(`mcp-clients: FAILED: ${title}`);
if (failed.length === 0) console.log('mcp-clients: ok');
process.exit(failed.length === 0 ? 0 : 1); // some clients keep timers
