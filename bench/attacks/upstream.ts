import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { accountRow, imageRow, type Row, statusRow } from '../../test/support/mastodon-payloads.ts';
import { fxBody, fxProfile, fxStatus, fxUser } from '../../test/support/x-payloads.ts';
import { fill } from './fill.ts';

// One server in place of all upstreams: the API for X under `/fx`, and all Mastodon servers, selected by `Host`.
// The first label of the host selects the behaviour. The other labels make host names unique.

const mebibyte = 1_048_576;

/** Mastodon post fields that are expensive to parse, by the first word of the simulated server's host name. */
const hostilePosts: Readonly<Record<string, Row>> = {
  pictures: { media_attachments: Array.from({ length: 6000 }, (_, n) => imageRow(`p${n}`)) },
  items: { content: fill('<li>', 0.9 * mebibyte) },
  ends: { content: fill('</i>', 0.9 * mebibyte) },
  nested: { content: fill('<b><i><p>', 0.9 * mebibyte) },
  spaces: { content: fill('a  \t', 0.9 * mebibyte) },
  links: { content: fill('<a href="https://a.example/x">y</a> ', 0.9 * mebibyte) },
  markup: { content: `<p>${fill('*_`[!](', 0.9 * mebibyte)}</p>` },
};

const manyReplies = Array.from({ length: 490 }, (_, n) =>
  statusRow(String(1e17 + n), accountRow(`r${n}`), { content: fill('</i><li>', 1800) }),
);

function answer(response: ServerResponse, body: unknown): void {
  const text = JSON.stringify(body);
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(text);
}

/** Returns the response of a simulated FxTwitter server (a service for reading X) for a path. */
function toX(path: string): unknown {
  const id = /\/(?:status|thread|conversation)\/(\d+)/.exec(path)?.[1];
  if (id === '8000000') return { code: 200, filler: 'x'.repeat(8 * mebibyte - 64) };
  if (id === undefined) return { ...fxProfile(fxUser('mira_holm')), results: [] };
  const status = fxStatus(id);
  return fxBody(status, { thread: [status], replies: [] });
}

/** Returns the simulated response of a Mastodon server for a path. */
function toMastodon(host: string, path: string): unknown {
  const kind = host.split('.')[0]?.split('-')[0] ?? '';
  const wren = accountRow(`wren@${host}`, { acct: 'wren', url: `https://${host}/@wren` });
  const post = statusRow('113000000000000000', wren, hostilePosts[kind] ?? {});
  if (path.includes('/context')) {
    return { ancestors: [], descendants: kind === 'replies' ? manyReplies : [] };
  }
  if (path.includes('/statuses/')) return post;
  if (path.includes('/statuses')) {
    return Array.from({ length: 40 }, (_, n) => ({ ...post, id: `${1e17 + n}` }));
  }
  return wren;
}

/** Stalls responses of hosts `hang…` (no response) and `drip…` (1 byte per second). Returns `false` for other hosts. */
function stall(request: IncomingMessage, response: ServerResponse, host: string): boolean {
  if (host.startsWith('hang')) return true;
  if (!host.startsWith('drip')) return false;
  response.writeHead(200, { 'content-type': 'application/json' });
  const timer = setInterval(() => response.write(' '), 1000);
  request.socket.once('close', () => clearInterval(timer));
  return true;
}

const server = createServer((request, response) => {
  const { host = '' } = request.headers;
  const path = request.url ?? '/';
  if (path.startsWith('/fx/')) answer(response, toX(path));
  else if (!stall(request, response, host)) answer(response, toMastodon(host, path));
});
process.once('SIGTERM', () => process.exit(0));
server.listen(Number(process.argv[2]), '127.0.0.1');
