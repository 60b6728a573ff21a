import { expect, it } from 'vitest';
import { UnreachableError } from '../../../../src/cli/sessions/session-client.ts';
import { followTurn } from '../../../../src/cli/sessions/turn.ts';
import type { Clock } from '../../../../src/core/clock.ts';
import { buildSessionRig } from '../../../support/session-rig.ts';

/** Returns the stream of a session with two turns, and the delivery ids of both. */
async function recordedStream() {
  const rig = await buildSessionRig();
  const session = await rig.start('one');
  const { deliveryId } = (await rig.say(session, 'two')).json();
  await rig.read(session);
  const { body } = await rig.request(`session/${session.id}/stream`);
  return { id: session.id, first: session.deliveryId, second: String(deliveryId), body };
}

const instantClock: Clock = { now: () => 0, sleep: async () => undefined };

it('returns the answer of its own turn, and reports its text', async () => {
  const { id, second, body } = await recordedStream();
  const texts: string[] = [];

  const outcome = await followTurn(
    { sessionId: id, deliveryId: second, fromIndex: 0 },
    {
      client: { read: async (_, onText) => onText(body) },
      clock: instantClock,
      onText: (text) => texts.push(text),
    },
  );

  expect(outcome).toMatchObject({
    kind: 'answered',
    answer: { message: 'The answer to “two”.', sequence: 1 },
  });
  expect(texts).toEqual(['The answer to “two”.']);
});

it('resumes a stream lost at any position, and processes no event twice', async () => {
  const { id, second, body } = await recordedStream();
  const lines = body.split('\n').filter((line) => line.trim() !== '');
  for (let cut = 0; cut < body.length; cut += 97) {
    const texts: string[] = [];
    let reads = 0;

    const outcome = await followTurn(
      { sessionId: id, deliveryId: second, fromIndex: 0 },
      {
        client: {
          read: async ({ fromIndex }, onText) => {
            reads += 1;
            const rest = lines.slice(fromIndex).map((line) => ` ${line}\n`);
            if (reads > 1) return onText(rest.join(''));
            onText(rest.join('').slice(0, cut));
            throw new UnreachableError('broken');
          },
        },
        clock: instantClock,
        onText: (text) => texts.push(text),
      },
    );

    expect(outcome).toMatchObject({ answer: { message: 'The answer to “two”.' } });
    expect(texts).toEqual(['The answer to “two”.']);
  }
});

it('gives up after five lost connections without a new event', async () => {
  const { id, second } = await recordedStream();
  const waits: number[] = [];
  const clock: Clock = { now: () => 0, sleep: async (ms) => void waits.push(ms) };
  const read = async () => {
    throw new UnreachableError('connection lost');
  };

  const followed = followTurn(
    { sessionId: id, deliveryId: second, fromIndex: 0 },
    { client: { read }, clock, onText: () => undefined },
  );

  await expect(followed).rejects.toThrow('connection lost');
  expect(waits).toEqual([500, 1000, 2000, 4000]);
});

it('ignores unknown events', async () => {
  const { id, first, body } = await recordedStream();
  const unknown = '{"type":"weather.changed","data":{},"meta":{"index":0}}\nno json\n\n';

  const outcome = await followTurn(
    { sessionId: id, deliveryId: first, fromIndex: 0 },
    {
      client: { read: async (_, onText) => onText(unknown + body) },
      clock: instantClock,
      onText: () => undefined,
    },
  );

  expect(outcome).toMatchObject({ answer: { message: 'The answer to “one”.' } });
});
