import { describe, expect, it } from 'vitest';
import type { Answer, AnswerEngine, Fallback } from '../../../src/answers/answer.ts';
import { createQuestionRecord } from '../../../src/answers/question-record.ts';
import { createManualClock } from '../../support/manual-clock.ts';

function setUp(keep: number) {
  const clock = createManualClock();
  const record = createQuestionRecord({ clock, keep });
  const reply: { abstained: boolean; fallback?: Fallback; error?: Error } = { abstained: true };
  const engine: AnswerEngine = {
    modelId: 'test',
    isReady: true,
    answer: async (): Promise<Answer> => {
      if (reply.error !== undefined) throw reply.error;
      const { abstained, fallback } = reply;
      const rest = fallback === undefined ? {} : { fallback };
      return { text: 'No.', citations: [], abstained, finishReason: 'stop', ...rest };
    },
  };
  const watched = record.watch(engine);
  const call = { signal: new AbortController().signal, onText: () => undefined };
  const ask = (text: string) => watched.answer({ text, earlier: [] }, call);
  const texts = () => record.listDeclined().map(({ text }) => text);
  return { clock, record, reply, watched, ask, texts };
}

describe('the record of questions', () => {
  it('counts answers, and keeps no text by default', async () => {
    const { record, reply, ask } = setUp(0);

    await ask('Where is the heron?');
    reply.abstained = false;
    await ask('How do I start?');
    await ask('How do I stop?');

    expect(record.counts).toEqual({ answered: 2, declined: 1, fallbacks: 0 });
    expect(record.listDeclined()).toEqual([]);
  });

  it('keeps the last declined questions, most recent first, and no answered ones', async () => {
    const { clock, record, reply, ask, texts } = setUp(2);

    for (const text of ['one?', 'two?', 'three?']) await ask(text);
    expect(texts()).toEqual(['three?', 'two?']);
    await clock.advance(1000);
    await ask('two?');
    reply.abstained = false;
    await ask('four?');

    expect(texts()).toEqual(['two?', 'three?']);
    expect(record.listDeclined()[0]).toEqual({ text: 'two?', times: 2, atMs: clock.now() });
  });

  it('shortens questions, and keeps them on one line without API keys', async () => {
    const { ask, texts } = setUp(3);

    await ask(`Why\n is\tperch_${'k'.repeat(30)} refused?\u0007`);
    await ask('🪶'.repeat(70_000));

    const [long = '', short] = texts();
    expect(short).toBe('Why is perch_… refused?');
    expect([...long].length).toBe(300);
    expect(long.endsWith('🪶…')).toBe(true);
  });

  it('keeps the last reason why the language model did not answer', async () => {
    const { clock, record, reply, ask } = setUp(0);

    reply.abstained = false;
    reply.fallback = { modelId: 'harbour', code: 'model_stalled', message: 'The model is slow.' };
    await ask('How do I start?');

    expect(record.counts.fallbacks).toBe(1);
    expect(record.lastFallback).toEqual({ message: 'The model is slow.', atMs: clock.now() });
  });

  it('does not count failed questions, and passes the state of the engine through', async () => {
    const { record, reply, watched, ask } = setUp(5);

    reply.error = new Error('stopped');
    await expect(ask('How do I start?')).rejects.toThrow('stopped');

    expect(record.counts).toEqual({ answered: 0, declined: 0, fallbacks: 0 });
    expect([watched.modelId, watched.isReady]).toEqual(['test', true]);
  });
});
