import { expect, it } from 'vitest';
import { createAnswerText } from '../../../../src/sessions/turns/turn-run.ts';
import { createManualClock } from '../../../support/manual-clock.ts';

it('repeats the text of a slow, long answer up to four megabytes in total', async () => {
  const clock = createManualClock();
  const sent: { readonly delta: string; readonly soFar: string }[] = [];
  const text = createAnswerText({
    clock,
    signal: new AbortController().signal,
    onDue: () => {
      const unsent = text.take();
      if (unsent !== null) sent.push(unsent);
    },
  });

  for (let piece = 0; piece < 2000; piece += 1) {
    text.add(`${piece % 10}`.repeat(100));
    await clock.advance(250);
  }
  const rest = text.takeRest(text.soFar);

  expect(sent.reduce((sum, { soFar }) => sum + soFar.length, 0)).toBeLessThan(4_300_000);
  expect(sent.length).toBeGreaterThan(200);
  const deltas = [...sent, ...(rest === null ? [] : [rest])].map(({ delta }) => delta);
  expect(deltas.join('')).toBe(text.soFar);
});
