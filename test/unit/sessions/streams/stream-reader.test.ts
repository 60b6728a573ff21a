import { once } from 'node:events';
import { Writable } from 'node:stream';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openSqliteSessions } from '../../../../src/sessions/store/sqlite-store.ts';
import { beginTurn, startSession } from '../../../../src/sessions/store/state.ts';
import {
  createChunkReader,
  createReader,
  type Feed,
  sendStream,
} from '../../../../src/sessions/streams/stream-reader.ts';
import { createManualClock } from '../../../support/manual-clock.ts';

const times = { heartbeatMs: 10_000, leaseMs: 60_000, followMs: 900_000, stallMs: 30_000 };

/** A session whose question is longer than a chunk, and a reader of it. */
async function openRig(onWrite: (bytes: Buffer) => Promise<void>) {
  const clock = createManualClock();
  const stamp = (index: number) => ({ id: `evt_${index}`, atMs: clock.now(), index });
  const store = openSqliteSessions({
    path: ':memory:',
    stamp,
  });
  onTestFinished(() => store.close());
  const text = '\u0001'.repeat(65_536);
  const delivery = { deliveryId: 'dlv_a', text, nowMs: 0 };
  const transition = startSession({ id: 'ses_a', owner: null, client: null }, delivery);
  const receipt = { sessionId: 'ses_a', deliveryId: 'dlv_a', queued: 0 };
  await store.start({ transition, receipt }, null);
  const record = await store.change('ses_a', (now) => beginTurn(now, 0, { text, modelId: 'm' }));
  if (record === undefined) throw new Error('it has not begun');
  const request = { record, startIndex: 0, mode: 'once', token: null, client: null } as const;
  const reader = createReader(request, { nowMs: 0, times });
  const feed: Feed = { sessionId: 'ses_a', record, lastEvents: null };
  const ends: string[] = [];
  const sink = new Writable({
    write: (bytes, _encoding, done) => void onWrite(bytes).then(() => done()),
  });
  sink.on('close', () => ends.push(sink.writableFinished ? 'ended' : 'cut'));
  return {
    store,
    feed,
    ends,
    text,
    send: async () => {
      const closed = once(sink, 'close');
      const chunks = createChunkReader(store);
      await sendStream({ reader, feed, sink }, { chunks, clock, times, stamp });
      await closed;
    },
  };
}

describe('a reader of an event that is longer than a chunk', () => {
  it('receives it in parts, with one part in memory at a time', async () => {
    const written: Buffer[] = [];
    const { send, ends, text } = await openRig(async (bytes) => void written.push(bytes));

    await send();

    const lines = Buffer.concat(written).toString().split('\n');
    expect(lines.map((line) => line && JSON.parse(line).type)).toEqual([
      'session.started',
      'turn.started',
      'message.received',
      'step.started',
      '',
    ]);
    expect(JSON.parse(lines[2] ?? '').data.message).toBe(text);
    expect(ends).toEqual(['ended']);
    // A pending write keeps the memory of its whole chunk.
    const held = written.map(({ buffer }) => buffer.byteLength);
    expect(Math.max(...held)).toBeLessThan(200_000);
    expect(written.length).toBeGreaterThan(10);
  });

  it('is disconnected if the session is deleted meanwhile, so that it does not take a part for the whole', async () => {
    let count = 0;
    const rig = await openRig(async () => {
      count += 1;
      if (count < 4) return;
      await rig.store.purge('ses_a', 0);
      rig.feed.record = undefined;
    });

    await rig.send();

    expect([count, rig.ends]).toEqual([4, ['cut']]);
  });
});
