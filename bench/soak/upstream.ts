import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { accountRow, statusRow } from '../../test/support/mastodon-payloads.ts';
import { fxBody, fxProfile, fxStatus, fxUser } from '../../test/support/x-payloads.ts';
import { fill } from '../attacks/fill.ts';

// One server in place of all upstreams: the API for X under `/fx`, and all Mastodon servers. For 20 seconds it answers,
// for the next 20 seconds it has a fault, then it answers again, and so on through all faults.

const flapMs = 20_000;
const begunMs = Date.now();

type Fault = (response: ServerResponse) => void;

const reply = (status: number, type: string, body: string, headers = {}): Fault => {
  return (response) =>
    void response.writeHead(status, { 'content-type': type, ...headers }).end(body);
};

/** Responses of an upstream that fails, each in its own way. */
const faults: readonly Fault[] = [
  (response) => response.destroy(),
  () => undefined, // never answers
  (response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    const drip = setInterval(() => response.write(' '), 500);
    response.once('close', () => clearInterval(drip));
  },
  reply(500, 'application/json', '{"code":500}'),
  reply(503, 'text/html', '<h1>Service Unavailable</h1>'),
  reply(429, 'application/json', '{"code":429}', { 'retry-after': '5' }),
  reply(200, 'text/html', '<!doctype html><title>Just a moment…</title>'),
  reply(200, 'application/json', '{"code":200,"status":{"id":"1","text":"cut'),
  reply(200, 'application/json', `{"filler":"${fill('x', 16 * 1_048_576)}"}`),
];

/** Returns the current fault; `undefined` while the upstream answers. */
function currentFault(): Fault | undefined {
  const period = Math.floor((Date.now() - begunMs) / flapMs);
  return period % 2 === 0 ? undefined : faults[((period - 1) / 2) % faults.length];
}

function toX(path: string): unknown {
  const id = /\/(?:status|thread|conversation)\/(\d+)/.exec(path)?.[1];
  if (id === undefined) return { ...fxProfile(fxUser('mira_holm')), results: [] };
  return fxBody(fxStatus(id), { thread: [fxStatus(id)], replies: [] });
}

function toMastodon(host: string, path: string): unknown {
  const wren = accountRow(`wren@${host}`, { acct: 'wren', url: `https://${host}/@wren` });
  if (path.includes('/context')) return { ancestors: [], descendants: [] };
  const id = /\/statuses\/(\d+)/.exec(path)?.[1];
  if (id !== undefined) return statusRow(id, wren, {});
  return path.includes('/statuses') ? [statusRow('113000000000000001', wren, {})] : wren;
}

const server = createServer((request: IncomingMessage, response) => {
  const { url: path = '/', headers } = request;
  const fault = currentFault();
  if (fault !== undefined) return fault(response);
  const body = path.startsWith('/fx/') ? toX(path) : toMastodon(headers.host ?? '', path);
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
});
process.once('SIGTERM', () => process.exit(0));
server.listen(Number(process.argv[2]), '127.0.0.1');
