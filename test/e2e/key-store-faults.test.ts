import {
  copyFileSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { Client } from 'undici';
import { describe, expect, onTestFinished } from 'vitest';
import { clause } from '../support/clause.ts';
import { lockFromOutside } from '../support/key-rig.ts';
import { runHere } from '../support/run-here.ts';
import { spawnPerch, temporaryFolder } from '../support/spawn-perch.ts';

/** Fault of the key store, and its repair. */
interface Fault {
  readonly name: string;
  /** Breaks the store at a path; returns the function that repairs it. */
  strike(path: string): Promise<() => Promise<void>> | (() => Promise<void>);
}

/** Restores the copy that was made before. */
const restore = (path: string) => async () => {
  rmSync(path, { recursive: true, force: true });
  copyFileSync(`${path}.copy`, `${path}.new`);
  renameSync(`${path}.new`, path);
};

const faults: readonly Fault[] = [
  {
    name: 'deleted',
    strike: (path) => {
      rmSync(path);
      return restore(path);
    },
  },
  {
    name: 'truncated to nothing',
    strike: (path) => {
      truncateSync(path, 0);
      return restore(path);
    },
  },
  {
    name: 'truncated in the middle',
    strike: (path) => {
      truncateSync(path, Math.floor(statSync(path).size / 2));
      return restore(path);
    },
  },
  {
    name: 'filled with garbage',
    strike: (path) => {
      writeFileSync(path, Buffer.alloc(statSync(path).size, 'garbage '));
      return restore(path);
    },
  },
  {
    name: 'filled with garbage behind its first page',
    strike: (path) => {
      const bytes = readFileSync(path);
      writeFileSync(path, Buffer.concat([bytes.subarray(0, 100), bytes.subarray(100).fill('x')]));
      return restore(path);
    },
  },
  {
    name: 'replaced by a directory',
    strike: (path) => {
      rmSync(path);
      mkdirSync(path);
      return restore(path);
    },
  },
  { name: 'locked by another process', strike: lockFromOutside },
];

interface Served {
  readonly status: number;
  readonly keyStatus: unknown;
  readonly policy: unknown;
  readonly caching: unknown;
}

/** Server with one key, under load from callers with and without it. */
async function openLoadedServer() {
  const folder = temporaryFolder();
  const path = `${folder}/perch.db`;
  const env = { PERCH_DATA_DIR: folder, PORT: '0', PERCH_CACHE_TTL_SECONDS: '360000' };
  const server = spawnPerch(['serve'], env);
  const created = await runHere(['keys', 'create', '--label', 'load'], env);
  expect(created).toMatchObject({ code: 0 }); // else what it complains of is shown
  const key = created.stdout.trim();
  copyFileSync(path, `${path}.copy`);
  const [, url = ''] = await server.printed(/Server listening at (http:[^"]+)"/);
  const connect = (): Caller => {
    const client = new Client(url);
    onTestFinished(() => client.destroy());
    return {
      keyed: () => ask(client, { authorization: `Bearer ${key}` }),
      anonymous: () => ask(client, {}),
    };
  };
  expect(key).toMatch(/^perch_/);
  await connect().anonymous();
  return { path, connect };
}

/** Client with its own connection. */
interface Caller {
  keyed(): Promise<Served>;
  anonymous(): Promise<Served>;
}

async function ask(client: Client, headers: Record<string, string>): Promise<Served> {
  const reply = await client.request({ method: 'GET', path: '/ada.example?limit=2', headers });
  await reply.body.dump();
  return {
    status: reply.statusCode,
    keyStatus: reply.headers['x-api-key-status'],
    policy: String(reply.headers['ratelimit-policy']).split(';')[0],
    caching: reply.headers['cache-control'],
  };
}

type LoadedServer = Awaited<ReturnType<typeof openLoadedServer>>;

/** Sends requests until it is stopped; returns the numbers of answers with and without a key. */
function startLoad(server: LoadedServer) {
  const keyed: Served[] = [];
  const anonymous: Served[] = [];
  let isOver = false;
  const keepAsking = async () => {
    const caller = server.connect();
    while (!isOver) {
      keyed.push(await caller.keyed());
      anonymous.push(await caller.anonymous());
    }
  };
  const callers = Promise.all([keepAsking(), keepAsking(), keepAsking()]);
  return {
    stop: async () => {
      isOver = true;
      await callers;
      return { keyed, anonymous };
    },
  };
}

/** Sends requests with the key until an answer has a status; returns that answer. */
async function askUntil(caller: Caller, keyStatus: string): Promise<Served> {
  for (;;) {
    const served = await caller.keyed();
    if (served.keyStatus === keyStatus) return served;
  }
}

const kinds = (served: readonly Served[]) => new Set(served.map((one) => JSON.stringify(one)));

const valid = {
  status: 200,
  keyStatus: 'valid',
  policy: '"key"',
  caching: 'private, no-store',
};
const unverified = { ...valid, keyStatus: 'unverified', policy: '"public"' };
const anonymous = {
  status: 200,
  keyStatus: 'anonymous',
  policy: '"public"',
  caching: 'public, max-age=60, stale-while-revalidate=300',
};

describe('a server under load and its key store', () => {
  clause('read.key_status.unverified', 'read.auth.unverified_soft_degradation').each(faults)(
    '$name, no request fails, and keys count again when it is back',
    async ({ strike }) => {
      const server = await openLoadedServer();
      const load = startLoad(server);
      const caller = server.connect();
      await askUntil(caller, 'valid');

      const repair = await strike(server.path);
      await askUntil(caller, 'unverified');
      await repair();
      await askUntil(caller, 'valid');

      const served = await load.stop();
      expect(kinds(served.keyed)).toEqual(kinds([valid, unverified]));
      expect(kinds(served.anonymous)).toEqual(kinds([anonymous]));
    },
  );
});
