import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Fastify from 'fastify';
import { Agent, Pool } from 'undici';
import { fxBody, fxReply, fxStatus } from '../test/support/x-payloads.ts';
import { median } from './interleave.ts';
import { cpuSeconds, fromSources, startTarget, type Target } from './processes.ts';

// Eight reads at a time of posts that are not cached, from an upstream on loopback, beside a bare Fastify route that sends
// the same upstream requests, parses the responses and returns them.
//
//   npm run build && npx tsx bench/misses.ts [REPLIES]     about 20 seconds; the exit code is 1 if the goal is missed

const atOnce = 8;
const readsPerTurn = 200;
const rounds = Number(process.env.BENCH_ROUNDS ?? 9);
const maxRatio = 1.5;
const [perchPort, barePort, upstreamPort] = [18_111, 18_112, 18_113] as const;
const upstreamUrl = `http://127.0.0.1:${upstreamPort}`;
const firstId = 2_000_000_000_000;

/** Answers each path with the post that it names and its replies. `/paths` lists the requests since the last call. */
async function serveUpstream(replies: number): Promise<void> {
  const sample = String(firstId);
  const post = fxStatus(sample, { replies });
  const rows = Array.from({ length: replies }, (_, n) =>
    fxReply(String(9e12 + n), sample, `user${n}`),
  );
  const parts = JSON.stringify(
    fxBody(post, { thread: [post], replies: rows, cursor: { bottom: 'more' } }),
  ).split(sample);
  let paths: string[] = [];
  const server = createServer(({ url = '' }, response) => {
    const id = /\d{5,}/.exec(url)?.[0];
    const body = id === undefined ? JSON.stringify(paths.splice(0)) : parts.join(id);
    if (id !== undefined && paths.length < 9) paths = [...paths, url];
    response.writeHead(200, { 'content-type': 'application/json' }).end(body);
  });
  server.listen(upstreamPort, '127.0.0.1');
}

/** Serves a route that requests `paths`, with the id of the post in place of `{id}`, and returns the parsed responses. */
async function serveBare(paths: readonly string[]): Promise<void> {
  const app = Fastify();
  const agent = new Agent({ connections: 64 });
  app.get<{ Params: { id: string } }>('/:handle/status/:id', async ({ params: { id } }) =>
    Promise.all(
      paths.map(async (path) => {
        const options = {
          origin: upstreamUrl,
          path: path.replace('{id}', id),
          method: 'GET',
        } as const;
        const { body } = await agent.request(options);
        return JSON.parse(await body.text());
      }),
    ),
  );
  await app.listen({ port: barePort, host: '127.0.0.1' });
}

let nextId = firstId;
const toUrl = (port: number, id: number) => `http://127.0.0.1:${port}/mira_holm/status/${id}`;

/** Reads posts that were not read before. Returns the milliseconds and the CPU milliseconds for each read. */
async function read({ url, pid }: Target): Promise<readonly [number, number]> {
  const pool = new Pool(new URL(url).origin, { connections: atOnce });
  const cpuBefore = cpuSeconds(pid);
  const begin = performance.now();
  let left = readsPerTurn;
  const ask = async () => {
    for (; left > 0; left -= 1) {
      nextId += 1;
      const answer = await pool.request({ method: 'GET', path: `/mira_holm/status/${nextId}` });
      await answer.body.dump();
      if (answer.statusCode !== 200) throw new Error(`${url}: status ${answer.statusCode}`);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, ask));
  const tookMs = performance.now() - begin;
  await pool.close();
  return [tookMs / readsPerTurn, ((cpuSeconds(pid) - cpuBefore) * 1000) / readsPerTurn];
}

async function compare(replies: string): Promise<void> {
  const file = import.meta.filename;
  const data = mkdtempSync(join(tmpdir(), 'perch-bench-misses-'));
  const env = {
    PORT: String(perchPort),
    PERCH_DATA_DIR: data,
    PERCH_FXTWITTER_URL: upstreamUrl,
    ...limits,
  };
  const started: Target[] = [];
  const start = async (options: Parameters<typeof startTarget>[0]) => {
    started.push(await startTarget(options));
    return started.at(-1) as Target; // it was just added
  };
  try {
    const upstream = [...fromSources, file, 'upstream', replies];
    await start({ name: 'upstream', args: upstream, url: `${upstreamUrl}/paths`, cores: 'any' });
    const args = [join(import.meta.dirname, '../dist/main.js'), 'serve'];
    const perch = await start({ name: 'perch', args, env, url: toUrl(perchPort, firstId) });
    const asked = (await (await fetch(`${upstreamUrl}/paths`)).json()) as readonly string[];
    const paths = asked.map((path) => path.replace(String(firstId), '{id}'));
    const bareArgs = [...fromSources, file, 'bare', ...paths];
    const bare = await start({ name: 'bare', args: bareArgs, url: toUrl(barePort, firstId) });
    for (const target of [perch, bare, perch, bare]) await read(target);
    const turns: (readonly (readonly [number, number])[])[] = [];
    for (let round = 0; round < rounds; round += 1)
      turns.push([await read(perch), await read(bare)]);
    report(paths, turns);
  } finally {
    for (const target of started.reverse()) await target.stop();
    rmSync(data, { recursive: true, force: true });
  }
}

/** Limits that the measurement would otherwise reach. */
const limits = {
  PERCH_FXTWITTER_PER_MINUTE: '100000',
  PERCH_POST_ALLOWANCE: '1000000',
  PERCH_MAX_EVENT_LOOP_DELAY_MS: '0',
};

function report(
  paths: readonly string[],
  turns: readonly (readonly (readonly [number, number])[])[],
): void {
  const ratio = median(turns.map(([perch, bare]) => (perch?.[0] ?? 0) / (bare?.[0] ?? 0)));
  const times = ['Perch', 'bare Fastify'].map((name, at) => {
    const [ms, cpu] = [0, 1].map((part) =>
      median(turns.map((turn) => turn[at]?.[part] ?? 0)).toFixed(2),
    );
    return `${name} ${ms} ms a read (${cpu} ms of CPU)`;
  });
  console.log(
    `${paths.length} upstream request(s): ${paths.join(', ')}\n${times.join(', ')}: ratio ${ratio.toFixed(2)}`,
  );
  if (ratio > maxRatio) process.exitCode = 1;
}

const [role = '', ...given] = process.argv.slice(2);
if (role === 'upstream') await serveUpstream(Number(given[0]));
else if (role === 'bare') await serveBare(given);
else await compare(role || '8');
