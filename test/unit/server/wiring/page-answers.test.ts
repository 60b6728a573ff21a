import { getEventListeners } from 'node:events';
import type { FastifyRequest } from 'fastify';
import { expect, it } from 'vitest';
import type { Answer } from '../../../../src/answers/answer.ts';
import { createPageAnswers } from '../../../../src/server/wiring/answers.ts';
import { testConfig } from '../../../support/build-app.ts';
import { createManualClock } from '../../../support/manual-clock.ts';

const service = {
  refuseUnlessReady: () => undefined,
  toClient: (address: string) => ({ address, network: null }),
  rates: { spendStart: async () => undefined, spendMessage: async () => undefined },
  runInTurnSlot: <Value>({ run }: { run(): Promise<Value> }) => run(),
};

it('leaves no listener at the signal of a question that was answered', async () => {
  const signals: AbortSignal[] = [];
  const answer: Answer = { text: 'Yes.', citations: [], abstained: false, finishReason: 'stop' };
  const answers = createPageAnswers({
    config: testConfig({}),
    clock: createManualClock(),
    service,
    clientOf: () => '192.0.2.1',
    engine: {
      modelId: 'none',
      isReady: true,
      answer: async (_, { signal }) => {
        signals.push(signal);
        return answer;
      },
    },
  });
  const request = { signal: new AbortController().signal } as FastifyRequest;

  expect(await answers.answer('Is it answered?', request)).toEqual(answer);
  await Promise.resolve();

  expect(signals.map((signal) => getEventListeners(signal, 'abort'))).toEqual([[]]);
});
