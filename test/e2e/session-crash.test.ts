import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { postTo, readStream, startSession, wholeLines } from '../support/session-client.ts';
import { parseEvents } from '../support/session-rig.ts';
import { temporaryFolder } from '../support/spawn-perch.ts';

/** How often the server is killed; 50 is the whole check. */
const rounds = Number(process.env.PERCH_CRASH_ROUNDS ?? 4);

const script = fileURLToPath(new URL('../support/session-server.ts', import.meta.url));
const tsx = import.meta.resolve('tsx');

interface ServerProcess {
  readonly base: string;
  kill(): Promise<void>;
}

async function startServer(folder: string): Promise<ServerProcess> {
  const child = spawn(process.execPath, ['--import', tsx, script], {
    env: {
      PATH: process.env.PATH ?? '',
      PORT: '0',
      PERCH_SESSIONS: 'on',
      PERCH_DATA_DIR: folder,
      PERCH_PROVIDERS: 'archive',
      PERCH_SAMPLE: 'false',
      PERCH_SESSION_START_BURST: '100000',
      PIECE_MS: '3',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const base = await new Promise<string>((resolve, reject) => {
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      const [, address] = /listening at (\S+)\n/.exec(text) ?? [];
      if (address !== undefined) resolve(address);
    });
    void ended.then(() => reject(new Error(`the server ended: ${text}`)));
  });
  return {
    base,
    kill: () => {
      child.kill('SIGKILL');
      return ended;
    },
  };
}

/** What a client was told of its session before the crash. */
interface Witness {
  readonly id: string;
  readonly token: string;
  readonly deliveries: string[];
  /** The longest history that any of its readers saw. */
  seen: readonly string[];
}

/** Asks in one session, again and again, until the server is gone. */
async function keepAsking(base: string, witnesses: Witness[]): Promise<void> {
  try {
    const { id, token } = await startSession(base, 'the first question');
    const witness: Witness = { id, token, deliveries: [], seen: [] };
    witnesses.push(witness);
    for (;;) {
      const said = await postTo(base, `session/${id}`, { token, body: { message: 'another' } });
      if (said.status === 202) witness.deliveries.push(String(said.body.deliveryId));
      const body = await readStream(base, id);
      witness.seen = wholeLines(body);
    }
  } catch {
    // The server is gone: what was acknowledged until now has to be there.
  }
}

/** Everything acknowledged has a whole turn, and what was seen is as it was. */
async function expectKept(base: string, { id, deliveries, seen }: Witness): Promise<void> {
  const lines = wholeLines(await readStream(base, id));
  expect(lines.slice(0, seen.length)).toEqual(seen);
  const events = parseEvents(lines.map((line) => `${line}\n`).join(''));
  expect(events.map(({ meta }) => meta.index)).toEqual(events.map((_, index) => index));
  expect(new Set(events.map(({ meta }) => meta.id)).size).toBe(events.length);
  const ended = new Set<string>();
  for (const { type, meta } of events) {
    if (type === 'session.waiting') ended.add(meta.deliveryIds?.[0] ?? '');
  }
  for (const delivery of deliveries) expect(ended).toContain(delivery);
  const kinds = events.map(({ type }) => type);
  const count = (type: string) => kinds.filter((kind) => kind === type).length;
  expect(count('turn.started')).toBe(count('session.waiting'));
  expect(count('turn.started')).toBe(count('message.completed'));
}

describe('a server that is killed under load', () => {
  it('keeps all that was acknowledged and seen', {
    timeout: 60_000 + rounds * 30_000,
  }, async () => {
    const folder = `${temporaryFolder()}/data`;
    const witnesses: Witness[] = [];
    let server = await startServer(folder);
    for (let round = 0; round < rounds; round += 1) {
      const { base } = server;
      const fresh: Witness[] = [];
      const asking = Array.from({ length: 8 }, () => keepAsking(base, fresh));
      await new Promise((resolve) => setTimeout(resolve, 150 + Math.random() * 700));
      await server.kill();
      await Promise.all(asking);
      witnesses.push(...fresh);

      server = await startServer(folder);
      for (const witness of witnesses) await expectKept(server.base, witness);
      expect(fresh.length).toBeGreaterThan(0);
    }
    await server.kill();
  });
});
