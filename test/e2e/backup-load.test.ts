import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { openArchiveStore } from '../../src/archive/store/store.ts';
import { loadUntilGone, type SessionRecording } from '../support/crash-load.ts';
import { startServer, wait } from '../support/crash-rig.ts';
import { dumpArchive, importExport } from '../support/exports/import-export.ts';
import { makeXExport, writeExport } from '../support/exports/x-export.ts';
import { isLongRun } from '../support/long-run.ts';
import { dumpDatabase, withDatabase } from '../support/saved-data.ts';
import { readStream, startSession } from '../support/session-client.ts';
import { spawnPerch, temporaryFolder } from '../support/spawn-perch.ts';

/** Number of backups. */
const rounds = isLongRun ? 20 : 1;

const adminToken = 'a'.repeat(40);

/** Pair of changes that a client made one after the other: first the key, then the session. */
interface Pair {
  readonly label: string;
  readonly session: string;
}

/** Clients that create a key and then a session, again and again. */
const pairClients = ['a', 'b', 'c', 'd', 'e', 'f'];

/** Changes that the server acknowledged. The lists grow while the load runs. */
interface Load {
  readonly labels: string[];
  readonly pairs: Pair[];
  readonly sessions: SessionRecording[];
  /** Values of `X-Api-Key-Status` in responses to reads with a key. */
  readonly keyStatuses: Set<string | null>;
  /** Resolves when the server is gone. Rejects if a request failed before. */
  readonly ended: Promise<unknown>;
}

/** Creates a key over HTTP. @throws Error unless the key was created at once */
async function createKey(base: string, label: string): Promise<string> {
  const response = await fetch(`${base}/api/admin/keys`, {
    method: 'POST',
    headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' },
    body: JSON.stringify({ label }),
  });
  const body = await response.text();
  if (response.status !== 201) throw new Error(`a key was refused: ${response.status} ${body}`);
  return JSON.parse(body).key;
}

/** Calls `work` again and again until the server is gone. */
async function repeatUntilGone(work: (number: number) => Promise<void>): Promise<void> {
  try {
    for (let number = 0; ; number += 1) await work(number);
  } catch (error) {
    const { code, cause } = error as { code?: unknown; cause?: { code?: unknown } };
    const gone = /^(?:ECONNRESET|ECONNREFUSED|EPIPE|UND_ERR_SOCKET)$/;
    if (!gone.test(String(code ?? cause?.code))) throw error;
  }
}

/** Sends messages, creates keys and reads with a key, all at the same time. */
async function startLoad(base: string): Promise<Load> {
  const key = await createKey(base, 'reader');
  const labels = ['reader'];
  const pairs: Pair[] = [];
  const sessions: SessionRecording[] = [];
  const keyStatuses = new Set<string | null>();
  const talking = ['one', 'two'].map((name) =>
    loadUntilGone(base, { name, onStarted: (session) => void sessions.push(session) }),
  );
  const pairing = pairClients.map((client) =>
    repeatUntilGone(async (number) => {
      const label = `pair ${client} ${number}`;
      await createKey(base, label);
      labels.push(label);
      const { id } = await startSession(base, label);
      pairs.push({ label, session: id });
    }),
  );
  const reading = repeatUntilGone(async () => {
    const headers = { authorization: `Bearer ${key}` };
    const response = await fetch(`${base}/api/v1/profiles/nobody.example`, { headers });
    keyStatuses.add(response.headers.get('x-api-key-status'));
    await response.text();
    await wait(10);
  });
  return {
    labels,
    pairs,
    sessions,
    keyStatuses,
    ended: Promise.all([...talking, ...pairing, reading]),
  };
}

/** Acknowledged changes at one moment. */
function takeAcknowledged({ labels, pairs, sessions }: Load) {
  return {
    labels: [...labels],
    pairs: [...pairs],
    messages: sessions.flatMap(({ session, acknowledged }) =>
      acknowledged.map(({ deliveryId, text }) => ({ id: session.id, deliveryId, text })),
    ),
  };
}

type Acknowledged = ReturnType<typeof takeAcknowledged>;

const query = <Row>(folder: string, name: string, sql: string): readonly Row[] =>
  withDatabase(`${folder}/${name}`, (database) => database.prepare<[], Row>(sql).all());

const selectLabels = 'SELECT label FROM keys ORDER BY label';
const selectMessages = `SELECT id, delivery_id AS deliveryId, text FROM messages
  JOIN sessions ON session = number`;
const selectEvents = `SELECT id, position, line FROM events JOIN sessions ON session = number
  ORDER BY id, position`;

type Label = Readonly<{ label: string }>;
type Message = Acknowledged['messages'][number];
type EventRow = Readonly<{ id: string; position: number; line: string }>;

function expectStateBetween(
  { restored, original }: { readonly restored: string; readonly original: string },
  before: Acknowledged,
): void {
  for (const name of ['archive.db', 'perch.db', 'sessions.db']) dumpDatabase(`${restored}/${name}`);
  const labels = query<Label>(restored, 'perch.db', selectLabels).map(({ label }) => label);
  const messages = query<Message>(restored, 'sessions.db', selectMessages);
  expect(labels).toEqual(expect.arrayContaining(before.labels));
  const texts = new Set(messages.map((message) => JSON.stringify(message)));
  expect(before.messages.filter((message) => !texts.has(JSON.stringify(message)))).toEqual([]);

  // Each session and key is a prefix of what the server stored until the end.
  const allLabels = query<Label>(original, 'perch.db', selectLabels).map(({ label }) => label);
  expect(allLabels).toEqual(expect.arrayContaining(labels));
  const readEvents = (folder: string) =>
    groupById(query<EventRow>(folder, 'sessions.db', selectEvents));
  const allEvents = readEvents(original);
  for (const [id, lines] of readEvents(restored)) {
    expect(lines).toEqual(allEvents.get(id)?.slice(0, lines.length));
  }
  expectOneMoment(labels, messages);
}

function groupById(rows: readonly EventRow[]): ReadonlyMap<string, readonly string[]> {
  const lines = new Map<string, string[]>();
  for (const { id, line } of rows) {
    const known = lines.get(id) ?? [];
    lines.set(id, known);
    known.push(line);
  }
  return lines;
}

/** Checks that keys and sessions are from the same moment: each key was created before the session of the same name. */
function expectOneMoment(labels: readonly string[], messages: readonly Message[]): void {
  const texts = messages.map(({ text }) => text);
  for (const client of pairClients) {
    const start = `pair ${client} `;
    const isOfClient = (text: string) => text.startsWith(start);
    const [keys, sessions] = [labels.filter(isOfClient), texts.filter(isOfClient)];
    const inOrder = (names: readonly string[]) => names.map((_, number) => `${start}${number}`);
    expect(new Set(keys)).toEqual(new Set(inOrder(keys)));
    expect(new Set(sessions)).toEqual(new Set(inOrder(sessions)));
    expect([0, 1]).toContain(keys.length - sessions.length);
  }
}

/** Opens the archive of a folder until the end of the test. */
function openArchive(folder: string) {
  const store = openArchiveStore(`${folder}/archive.db`, 'http://localhost:8080');
  onTestFinished(() => store.close());
  return store;
}

it('is a state that existed, made while sessions, keys and imports are written', {
  timeout: 60_000 + rounds * 120_000,
}, async () => {
  const path = writeExport(temporaryFolder(), makeXExport({ posts: 10_000, followers: 40 }));
  const whole = openArchive(temporaryFolder());
  await importExport(whole, path);
  const partial: number[] = [];

  for (let round = 0; round < rounds; round += 1) {
    const root = temporaryFolder();
    const [data, restored, backup] = ['data', 'restored', 'backup.zip'].map((name) =>
      join(root, name),
    ) as [string, string, string];
    const server = startServer(data, {
      PERCH_ADMIN_TOKEN: adminToken,
      PERCH_KEY_ALLOWANCE: '1000000',
      PIECE_MS: '20',
    });
    const load = await startLoad(await server.listening);
    const importing = spawnPerch(['archive', 'import', path], { PERCH_DATA_DIR: data });
    const archive = openArchive(data);
    const items = () => archive.listImports('x', 'wren_example')[0]?.items ?? 0;
    await vi.waitUntil(() => items() > 100 + round * 300 && load.pairs.length > 20, {
      ...{ timeout: 60_000, interval: 1 },
    });

    const before = takeAcknowledged(load);
    const made = await spawnPerch(['backup', backup], { PERCH_DATA_DIR: data }).ended;
    const pairsThen = load.pairs.length;
    await vi.waitUntil(() => load.pairs.length > pairsThen + 3, { timeout: 60_000 });
    const imported = await importing.ended;
    await server.kill();
    await load.ended;
    const done = await spawnPerch(['restore', backup], { PERCH_DATA_DIR: restored }).ended;

    expect(made).toMatchObject({ code: 0, stderr: '' });
    expect(done).toMatchObject({ code: 0, stderr: '' });
    expect(imported.code).toBe(0);
    expect(load.keyStatuses).toEqual(new Set(['valid']));
    expect(readdirSync(restored).sort()).toEqual(
      ['archive.db', 'cursor.key', 'data.lock', 'perch.db', 'session.key', 'sessions.db'].sort(),
    );
    expectStateBetween({ restored, original: data }, before);
    await expectUsable(restored, { path, whole: dumpArchive(whole), partial });
  }
  // At least one backup was made in the middle of an import.
  expect(partial.some((items) => items > 0)).toBe(true);
});

interface ArchiveExpectation {
  /** Path of the export. */
  readonly path: string;
  /** Content of the archive after the whole import. */
  readonly whole: readonly string[];
  /** Receives the number of items that the restored archive contained. */
  readonly partial: number[];
}

/** Checks that a restored folder works: a server answers, and the import continues where the backup was made. */
async function expectUsable(restored: string, { path, whole, partial }: ArchiveExpectation) {
  const [session] = query<{ id: string }>(restored, 'sessions.db', 'SELECT id FROM sessions');
  const stored = groupById(query<EventRow>(restored, 'sessions.db', selectEvents));
  const resumed = spawnPerch(['archive', 'import', path, '--json'], { PERCH_DATA_DIR: restored });
  const { stdout } = await resumed.ended;
  const outcome = JSON.parse(stdout);
  expect(['done', 'known']).toContain(outcome.ended);
  if (outcome.ended === 'done') partial.push(outcome.resumed_after);
  const archive = openArchive(restored);
  expect(dumpArchive(archive)).toEqual(whole);

  const server = startServer(restored);
  const stream = await readStream(await server.listening, session?.id ?? '');
  await server.kill();
  const lines = stored.get(session?.id ?? '') ?? [];
  expect(lines.length).toBeGreaterThan(0);
  expect(stream.split('\n').slice(0, lines.length)).toEqual(lines);
}
