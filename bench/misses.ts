import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Fastify from 'fastify';
import { Agent } from 'undici';
import { fxBody, fxReply, fxStatus } from '../test/support/x-payloads.ts';
import { median } from './interleave.ts';
import { cpuSeconds, fromSources, startTarget, type Target } from './processes.ts';

// Eight reads at a time of posts that are not cached, from an upstream on loopback, beside a bare Fastify route
// that sends the same upstream requests, parses the responses and returns them.
//
//   npm run build && npx tsx bench/misses.ts [REPLIES]      under a minute; the exit code is 1 if the goal is missed

const [atOnce, readsPerTurn, maxRatio] = [8, 200, 1.5] as const;
const rounds = Number(process.env.BENCH_ROUNDS ?? 9);
const [perchPort, barePort, upstreamPort] = [18_111, 18_112, 18_113] as const;
const upstreamUrl = `http://127.0.0.1:${upstreamPort}`;
const firstId = 2_000_000_000_000;

/** Responds with the post that a path names. `/paths` lists the first requests since the start. */
function serveUpstream(replies: number): void {
  const sample = String(firstId);
  const post = fxStatus(sample, { replies });
  const toReply = (_: unknown, n: number) => fxReply(`${9e12 + n}`, sample, `user${n}`);
  const rows = { replies: Array.from({ length: replies }, toReply), cursor: { bottom: 'more' } };
  const body = fxBody(post, { thread: [post], ...rows });
  const parts = JSON.stringify(body).split(sample);
  const paths: string[] = [];
  const server = createServer(({ url = '' }, response) => {
    const id = /\d{5,}/.exec(url)?.[0];
    if (id === sample) paths.push(url);
    response.setHeader('content-type', 'application/json');
    response.end(id === undefined ? JSON.stringify(paths) : parts.join(id));
  });
  server.listen(upstreamPort, '127.0.0.1');
}

/** Serves a route that requests `paths`, with an id in place of `{id}`, and returns the parsed responses. */
async function serveBare(paths: readonly string[]): Promise<void> {
  const app = Fastify();
  const agent = new Agent({ connections: 64 });
  const ask = async (path: string) => {
    const { body } = await agent.request({ origin: upstreamUrl, path, method: 'GET' });
    return JSON.parse(await body.text());
  };
  app.get<{ Params: { id: string } }>('/:handle/status/:id', ({ params: { id } }) =>
    Promise.all(paths.map((path) => ask(path.replace('{id}', id)))),
  );
  await app.listen({ port: barePort, host: '127.0.0.1' });
}

let nextId = firstId;
const toUrl = (port: number, id: number) => `http://127.0.0.1:${port}/mira_holm/status/${id}`;

/** Returns the milliseconds, and those of CPU time, for each read of posts that were not read before. */
async function measure({ url, pid }: Target): Promise<readonly number[]> {
  const headers = { 'accept-encoding': 'identity' };
  const cpuBefore = cpuSeconds(pid);
  const begin = performance.now();
  let left = readsPerTurn;
  const read = async () => {
    for (; left > 0; left -= 1) {
      nextId += 1;
      const answer = await fetch(toUrl(Number(new URL(url).port), nextId), { headers });
      await answer.arrayBuffer();
      if (!answer.ok) throw new Error(`${answer.url}: status ${answer.status}`);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, read));
  const cpuMs = (cpuSeconds(pid) - cpuBefore) * 1000;
  return [performance.now() - begin, cpuMs].map((ms) => ms / readsPerTurn);
}

async function compare(replies: string): Promise<void> {
  const sources = [...fromSources, import.meta.filename];
  const data = mkdtempSync(join(tmpdir(), 'perch-bench-misses-'));
  const limits = { PERCH_FXTWITTER_PER_MINUTE: '100000', PERCH_POST_ALLOWANCE: '1000000' };
  const places = { PERCH_DATA_DIR: data, PERCH_FXTWITTER_URL: upstreamUrl };
  const env = { ...places, ...limits, PORT: `${perchPort}`, PERCH_MAX_EVENT_LOOP_DELAY_MS: '0' };
  const started: Target[] = [];
  const start = async (name: string, args: readonly string[], url: string) => {
    const target = await startTarget({ name, args, url, env });
    started.unshift(target);
    return target;
  };
  try {
    await start('upstream', [...sources, 'upstream', replies], `${upstreamUrl}/paths`);
    const main = join(import.meta.dirname, '../dist/main.js');
    const perch = await start('perch', [main, 'serve'], toUrl(perchPort, firstId));
    const asked = JSON.parse(await (await fetch(`${upstreamUrl}/paths`)).text()) as string[];
    const paths = asked.map((path) => path.replace(String(firstId), '{id}'));
    const bare = await start('bare', [...sources, 'bare', ...paths], toUrl(barePort, firstId));
    const turns: (readonly number[])[] = [];
    for (let round = -2; round < rounds; round += 1) {
      turns.push([...(await measure(perch)), ...(await measure(bare))]);
    }
    report(paths, turns.slice(2)); // the first rounds compile the code
  } finally {
    for (const target of started) await target.stop();
    rmSync(data, { recursive: true, force: true });
  }
}

function report(paths: readonly string[], turns: readonly (readonly number[])[]): void {
  const of = (at: number) => median(turns.map((turn) => turn[at] ?? 0)).toFixed(2);
  const ratio = median(turns.map(([perch = 0, , bare = 1]) => perch / bare));
  console.log(`${paths.length} upstream request(s): ${paths.join(', ')}`);
  console.log(
    `Perch: ${of(0)} ms a read, ${of(1)} ms of CPU; bare: ${of(2)} ms, ${of(3)} ms of CPU`,
  );
  console.log(`ratio ${ratio.toFixed(2)}, goal ${maxRatio}`);
  if (ratio > maxRatio) process.exitCode = 1;
}

const [role = '8', ...given] = process.argv.slice(2);
if (role === 'upstream') serveUpstream(Number(given[0]));
else if (role === 'bare') await serveBare(given);
else await compare(role);
