import { describe, expect, it } from 'vitest';
import type { Post, Status } from '../../../../src/model/post.ts';
import { ProviderError } from '../../../../src/normalize/provider-error.ts';
import { shapePost } from '../../../../src/providers/fxtwitter/normalize.ts';
import {
  pickContinuation,
  rankReplies,
  splitThread,
} from '../../../../src/providers/fxtwitter/post.ts';
import { createControl } from '../../../../src/providers/fxtwitter/profile.ts';
import { parsePost } from '../../../../src/providers/fxtwitter/wire.ts';
import { uniqueById } from '../../../../src/providers/rows.ts';
import { fc } from '../../../support/fast-check.ts';
import { createManualClock } from '../../../support/manual-clock.ts';
import { type Fields, fxReply, fxStatus, fxTombstone } from '../../../support/x-payloads.ts';

function shape(row: Fields): Post {
  const parsed = parsePost(row);
  if (parsed === null) throw new Error('The payload is readable.');
  return shapePost(parsed);
}

function reply(id: string, parent: string, handle = 'otto_lind', fields: Fields = {}): Status {
  return shape(fxReply(id, parent, handle, fields)) as Status; // fxReply is no tombstone
}

const focal = shape(fxStatus('100')) as Status; // fxStatus is no tombstone
const nothingShown = { ancestors: [], continuation: [] };

function ids(posts: readonly Post[]) {
  return posts.map(({ id }) => id);
}

describe('splitThread', () => {
  const thread = [
    shape(fxStatus('99')),
    shape(fxTombstone('98', 'deleted')),
    focal,
    reply('101', '100'),
  ];

  it('splits at the post', () => {
    const line = splitThread(thread, '100');

    expect(ids(line.ancestors)).toEqual(['99', '98']);
    expect(ids(line.continuation)).toEqual(['101']);
  });

  it('splits by the order of ids if the thread lacks the post', () => {
    const line = splitThread(
      thread.filter((post) => post !== focal),
      '100',
    );

    expect(ids(line.ancestors)).toEqual(['99', '98']);
    expect(ids(line.continuation)).toEqual(['101']);
  });
});

describe('pickContinuation', () => {
  it('follows the first reply of the author to their previous post', () => {
    const rows = [
      reply('104', '102', 'mira_holm'),
      reply('103', '100', 'mira_holm'),
      reply('101', '100', 'otto_lind'),
      reply('102', '100', 'mira_holm'),
      reply('105', '101', 'mira_holm'),
    ];

    expect(ids(pickContinuation(focal, rows))).toEqual(['102', '104']);
  });

  it('ends at a cycle', () => {
    const rows = [reply('101', '100', 'mira_holm'), reply('100', '101', 'mira_holm')];

    expect(ids(pickContinuation(focal, rows))).toEqual(['101']);
  });
});

describe('rankReplies', () => {
  const ranking = { focalId: '100', order: 'top', shown: nothingShown } as const;

  it('keeps only rows that reply to the post through other rows', () => {
    const rows = [
      shape(fxStatus('201')),
      reply('202', '555'),
      reply('203', '202'),
      reply('204', '205'),
      reply('205', '100'),
      reply('206', '206'),
      reply('207', '208'),
      reply('208', '207'),
      shape(fxTombstone('209', 'deleted')),
      focal,
    ];

    expect(ids(rankReplies(rows, ranking))).toEqual(['205', '204']);
  });

  it('sorts direct replies by likes, ties by time, unknown likes last', () => {
    const rows = [
      reply('201', '100', 'a', { likes: null }),
      reply('202', '100', 'a', { likes: 0 }),
      reply('204', '100', 'a', { likes: 7 }),
      reply('203', '100', 'a', { likes: 7 }),
    ];

    expect(ids(rankReplies(rows, ranking))).toEqual(['203', '204', '202', '201']);
  });

  it('sorts direct replies by newest if requested, but nested ones by time', () => {
    const rows = [
      reply('201', '100'),
      reply('205', '201', 'a', { likes: 99 }),
      reply('204', '201'),
      reply('203', '100'),
    ];

    expect(ids(rankReplies(rows, { ...ranking, order: 'recent' }))).toEqual([
      '203',
      '201',
      '204',
      '205',
    ]);
  });

  it('treats replies to the continuation as direct, and omits shown posts', () => {
    const next = reply('101', '100', 'mira_holm');
    const shown = { ancestors: [], continuation: [next] };
    const rows = [next, reply('202', '101', 'a', { likes: 9 }), reply('203', '100', 'a')];

    expect(ids(rankReplies(rows, { ...ranking, shown }))).toEqual(['202', '203']);
  });

  it('returns each reachable row once, for arbitrary rows', () => {
    const edge = fc.record({
      id: fc.integer({ min: 90, max: 130 }),
      to: fc.integer({ min: 90, max: 130 }),
    });
    fc.assert(
      fc.property(fc.array(edge, { maxLength: 60 }), (edges) => {
        const rows = edges.map(({ id, to }) => reply(`${id}`, `${to}`));

        const found = rankReplies(rows, ranking);

        const known = new Set(['100']);
        for (const { id, replying_to } of found) {
          expect(known).toContain(replying_to?.status);
          expect(known).not.toContain(id);
          known.add(id);
        }
        const left = uniqueById(rows).filter(({ id }) => !known.has(id));
        for (const { replying_to } of left) expect(known).not.toContain(replying_to?.status);
      }),
    );
  });
});

/** A control whose reads end on demand. */
function openControl() {
  const requests: string[] = [];
  const ends: ((answered: boolean | ProviderError) => void)[] = [];
  const control = createControl({
    clock: createManualClock(),
    answers: (handle) => {
      requests.push(handle);
      return new Promise((resolve, reject) => {
        ends.push((answered) =>
          answered instanceof ProviderError ? reject(answered) : resolve(answered),
        );
      });
    },
  });
  const explainMiss = async (handle: string, controller = new AbortController()) =>
    (await control.explainMiss(handle, { signal: controller.signal })).kind;
  const end = (answered: boolean | ProviderError) => ends.shift()?.(answered);
  return { requests, explainMiss, end };
}

describe('a control read', () => {
  it('is shared by concurrent callers', async () => {
    const { requests, explainMiss, end } = openControl();

    const kinds = Promise.all([explainMiss('ann'), explainMiss('bob'), explainMiss('cid')]);
    end(true);

    expect(await kinds).toEqual(['missing', 'missing', 'missing']);
    expect(requests).toEqual(['x']);
  });

  it('is repeated after a failure', async () => {
    const { requests, explainMiss, end } = openControl();

    const first = explainMiss('ann');
    end(false);
    expect(await first).toBe('ambiguous');
    const second = explainMiss('ann');
    end(true);

    expect(await second).toBe('missing');
    expect(requests).toEqual(['x', 'x']);
  });

  it('is throttled for all its callers', async () => {
    const { explainMiss, end } = openControl();

    const kinds = Promise.all([explainMiss('ann'), explainMiss('bob')]);
    end(new ProviderError('throttled', 'The source asks for fewer requests.'));

    expect(await kinds).toEqual(['throttled', 'throttled']);
  });

  it('is not awaited by a caller that has already disconnected', async () => {
    const { explainMiss } = openControl();
    const leaving = new AbortController();
    leaving.abort();

    await expect(explainMiss('ann', leaving)).rejects.toMatchObject({ kind: 'unavailable' });
  });
});
