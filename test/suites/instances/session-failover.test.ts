import { expect, it } from 'vitest';
import type { SessionRecording } from '../../support/crash-load.ts';
import { expectAllKept, type ServerProcess, startServer, wait } from '../../support/crash-rig.ts';
import {
  describeWithEngine,
  type EngineServer,
  runEngineCli,
  startEngine,
} from '../../support/engine-server.ts';
import { startCluster, startSentinels } from '../../support/engine-topologies.ts';
import { postTo } from '../../support/session-client.ts';
import { temporaryFolder } from '../../support/spawn-perch.ts';

const clients = 6;

/** Shared engine, a function that makes it fail, and one that repairs it if it does not recover by itself. */
interface Failing {
  readonly url: string;
  readonly fail: () => Promise<void> | undefined;
  readonly mend: () => Promise<void> | undefined;
  readonly env?: Readonly<Record<string, string>>;
}

const failing: Readonly<Record<string, () => Promise<Failing>>> = {
  'fails over to a replica, with PERCH_REDIS_WAIT_REPLICAS=1': async () => {
    const { url, primary } = await startSentinels(2);
    const env = { PERCH_REDIS_WAIT_REPLICAS: '1' };
    return { url, env, fail: () => primary.stop(), mend: () => undefined };
  },
  'is a cluster, whose primary with the sessions restarts': async () => {
    const { url, primaries } = await startCluster();
    const hasSessions = ({ port }: EngineServer) =>
      runEngineCli('-p', `${port}`, '--scan', '--pattern', '*{sessions}*') !== '';
    let lost: EngineServer | undefined;
    const fail = () => {
      lost = primaries.find(hasSessions);
      return lost?.stop();
    };
    return { url, fail, mend: () => lost?.start() };
  },
};

/** Sends a message with an idempotency key until it is confirmed. Returns the response. @throws if it is refused for good */
async function insist(bases: readonly string[], path: string, text: string, token?: string) {
  const headers = { authorization: 'Bearer failover', 'idempotency-key': `the key of ${text}` };
  for (;;) {
    const base = bases[Math.floor(Math.random() * bases.length)] ?? '';
    const answered = await postTo(base, path, {
      headers,
      body: { message: text },
      ...(token !== undefined && { token }),
    });
    if (answered.status === 202) return answered.body;
    const code = `${answered.status} ${answered.body.code}`;
    if (!/^(?:503 not_ready|429 turn_queue_full)$/.test(code)) throw new Error(`${path}: ${code}`);
    await wait(50);
  }
}

/** Talks in a session until `isOver`. Returns what was confirmed. */
async function converse(
  bases: readonly string[],
  name: string,
  isOver: () => boolean,
): Promise<SessionRecording> {
  const opening = `question ${name}`;
  const body = await insist(bases, 'session', opening);
  const session = { id: String(body.sessionId), token: String(body.continuationToken) };
  const acknowledged = [{ deliveryId: String(body.deliveryId), text: opening }];
  for (let number = 0; !isOver(); number += 1) {
    const text = `question ${name}.${number}`;
    const said = await insist(bases, `session/${session.id}`, text, session.token);
    acknowledged.push({ deliveryId: String(said.deliveryId), text });
  }
  return { session, acknowledged, seen: [], unanswered: null };
}

describeWithEngine('sessions whose engine', () => {
  it.each(Object.entries(failing))(
    '%s lose and double no confirmed message',
    { timeout: 120_000 },
    async (_, start) => {
      const { url, env = {}, fail, mend } = await start();
      const servers = [1, 2].map(() =>
        startServer(`${temporaryFolder()}/data`, { PERCH_REDIS_URL: url, ...env }),
      );
      const bases = await Promise.all(servers.map(({ listening }) => listening));
      let isOver = false;
      const talking = Promise.all(
        Array.from({ length: clients }, (_, at) => converse(bases, `${at}`, () => isOver)),
      );
      await wait(1000);
      await fail();
      await wait(1000);
      await mend();
      await wait(6000); // a failover takes about three seconds
      isOver = true;
      const recordings = await talking;

      const [server] = servers as [ServerProcess, ServerProcess];
      const failures = await expectAllKept(server, recordings);

      expect(recordings.every(({ acknowledged }) => acknowledged.length > 1)).toBe(true);
      expect(failures.filter((code) => !/^(?:turn_interrupted|answer_failed)$/.test(code))).toEqual(
        [],
      );
    },
  );
});

describeWithEngine('a message that no replica has stored', () => {
  it('is not confirmed when its request is repeated', async () => {
    const { url } = await startEngine();
    const env = { PERCH_REDIS_URL: url, PERCH_REDIS_WAIT_REPLICAS: '1' };
    const base = await startServer(`${temporaryFolder()}/data`, env).listening;
    const headers = {
      authorization: 'Bearer failover',
      'idempotency-key': 'the key of a repeated question',
    };
    const ask = () => postTo(base, 'session', { headers, body: { message: 'question' } });

    const answered = [await ask(), await ask()];

    expect(answered.map(({ status, body }) => `${status} ${body.code}`)).toEqual([
      '503 not_ready',
      '503 not_ready',
    ]);
  });
});
