import { describe, expect, it } from 'vitest';
import type { EventDraft } from '../../../../src/sessions/events.ts';
import {
  acceptMessage,
  appendText,
  beginTurn,
  endSession,
  endTurn,
  isLive,
  type MessageChange,
  type SessionRecord,
  startSession,
  type Transition,
  type TurnEnd,
} from '../../../../src/sessions/store/state.ts';
import { failures } from '../../../../src/sessions/turns/turn-run.ts';
import { fc, runs } from '../../../support/fast-check.ts';
import { answerTo } from '../../../support/scripted-engine.ts';

const limits = { queue: 2, turns: 6, sessionBytes: 1_000_000 };

/** Random steps in the life of a session. */
const command = fc.oneof(
  fc.constant('accept' as const),
  fc.constant('begin' as const),
  fc.constant('append' as const),
  fc.constant('complete' as const),
  fc.constant('fail' as const),
  fc.constant('damage' as const),
  fc.constant('cancel' as const),
  fc.constantFrom('reset' as const, 'expire' as const),
);
type Command = typeof command extends fc.Arbitrary<infer Value> ? Value : never;

/** A session with all its recorded events and messages. */
interface History {
  readonly record: SessionRecord;
  readonly events: readonly EventDraft[];
  readonly messages: readonly MessageChange[];
}

function carryOut(history: History, command: Command, number: number): History {
  const transition = decide(history.record, command, number);
  if (transition === null) return history;
  return {
    record: { ...transition.record, events: history.events.length + transition.events.length },
    events: [...history.events, ...transition.events],
    messages: [...history.messages, ...transition.messages],
  };
}

function decide(record: SessionRecord, command: Command, number: number): Transition | null {
  const [front] = record.pending;
  const sequence = front?.sequence ?? record.accepted;
  const end = (how: TurnEnd) => endTurn(record, { sequence, end: how }, limits);
  switch (command) {
    case 'accept':
      return tryAccept(record, number);
    case 'begin':
      return beginTurn(record, sequence, { text: 'question', modelId: 'model' });
    case 'append':
      return appendText(record, sequence, { delta: 'a', soFar: 'a' });
    case 'complete':
      return end({ kind: 'completed', answer: answerTo('x'), unsent: null, nowMs: number });
    case 'fail':
      return end({ kind: 'failed', failure: failures.failed, unsent: null, nowMs: number });
    case 'damage':
      return end({ kind: 'failed', failure: failures.damaged, unsent: null, nowMs: number });
    case 'cancel':
      return end({ kind: 'cancelled', unsent: null, nowMs: number });
    case 'reset':
      return isLive(record.state) ? endSession(record, 'reset', number) : null;
    case 'expire':
      return record.state === 'waiting' ? endSession(record, 'expired', number) : null;
  }
}

function tryAccept(record: SessionRecord, number: number): Transition | null {
  try {
    return acceptMessage(record, { deliveryId: `dlv_${number}`, text: 'q', nowMs: number }, limits);
  } catch {
    return null;
  }
}

function runAll(commands: readonly Command[]): History {
  const started = startSession(
    { id: 'ses_x', owner: null, client: null },
    { deliveryId: 'dlv_first', text: 'q', nowMs: 0 },
  );
  let history: History = { ...started, record: { ...started.record, events: 1 } };
  for (const [index, one] of commands.entries()) history = carryOut(history, one, index + 1);
  return history;
}

/** The order of events in `docs/contract/sessions.md#events`, with a letter for each event. */
const letters: Readonly<Record<EventDraft['type'], string>> = {
  'session.started': 'S',
  'turn.started': 't',
  'message.received': 'r',
  'step.started': 's',
  'message.appended': 'a',
  'message.completed': 'm',
  'step.completed': 'c',
  'turn.completed': 'd',
  'step.failed': 'f',
  'turn.failed': 'g',
  'turn.cancelled': 'x',
  'session.waiting': 'w',
  'session.completed': 'E',
  'session.failed': 'F',
};
const order = /^S(?:trsa*(?:mcd|mfg|x)w)*(?:trsa*|E|trsa*mfgF)?$/;

function expectDeliveries(events: readonly EventDraft[]): readonly (string | null)[] {
  let turn: string | null = null;
  return events.map(({ type, deliveryId }) => {
    if (type === 'turn.started') turn = deliveryId;
    const expected = type === 'session.failed' ? null : turn;
    if (type === 'session.waiting') turn = null;
    return expected;
  });
}

describe('session states', () => {
  it('keep the order of events for any steps', () => {
    fc.assert(
      fc.property(fc.array(command, { maxLength: 60 }), (commands) => {
        const { events } = runAll(commands);

        expect(events.map(({ type }) => letters[type]).join('')).toMatch(order);
      }),
      { numRuns: runs(1000) },
    );
  });

  it('end every accepted message once, in the order of acceptance', () => {
    fc.assert(
      fc.property(fc.array(command, { maxLength: 60 }), (commands) => {
        const { record, messages } = runAll(commands);

        const added = messages.filter(({ kind }) => kind === 'add').map((one) => one.sequence);
        const ended = messages
          .filter((one) => one.kind === 'mark' && one.state !== 'running')
          .map((one) => one.sequence);
        expect(added).toEqual(added.map((_, index) => index));
        expect([...ended, ...record.pending.map(({ sequence }) => sequence)]).toEqual(added);
      }),
    );
  });

  it('are `running` exactly while a turn has not ended, and never exceed their limits', () => {
    fc.assert(
      fc.property(fc.array(command, { maxLength: 60 }), (commands) => {
        const { record, events } = runAll(commands);

        expect(record.state === 'running').toBe(record.pending.length > 0);
        expect(record.pending.length).toBeLessThanOrEqual(limits.queue + 1);
        expect(record.pending.slice(1).every(({ isBegun }) => !isBegun)).toBe(true);
        expect(record.accepted).toBeLessThanOrEqual(limits.turns);
        const last = events.at(-1)?.type ?? '';
        expect(['session.completed', 'session.failed'].includes(last)).toBe(!isLive(record.state));
        expect(record.endedMs === null).toBe(isLive(record.state));
      }),
    );
  });

  it('have the delivery id from `turn.started` to `session.waiting`, and nowhere else', () => {
    fc.assert(
      fc.property(fc.array(command, { maxLength: 60 }), (commands) => {
        const { events } = runAll(commands);

        expect(events.map(({ deliveryId }) => deliveryId)).toEqual(expectDeliveries(events));
      }),
    );
  });

  it('end with the last turn that a session may have', () => {
    const turn = ['begin', 'complete', 'accept'] as const;

    const { record, events } = runAll([...turn, ...turn, ...turn, ...turn, ...turn, ...turn]);

    expect(record).toMatchObject({ state: 'ended', accepted: 6, pending: [] });
    expect(events.at(-1)).toMatchObject({ data: { reason: 'turn_limit' } });
  });
});
