import { expect, it } from 'vitest';
import { cacheForTheDay } from '../../../../src/routes/discovery/documents.ts';
import { aliasRoutes } from '../../../../src/routes/reads/routes.ts';

const dayMs = 86_400_000;

it('changes the lifecycle state of a route only at midnight', () => {
  const instants = aliasRoutes.flatMap(({ lifecycle }) => Object.values(lifecycle));

  expect(instants.length).toBeGreaterThan(0);
  expect(instants.filter((ms) => ms % dayMs !== 0)).toEqual([]);
});

it('creates a document once a day, even if the clock is set back', () => {
  let nowMs = 10 * dayMs;
  const clock = { now: () => nowMs, sleep: async () => undefined };
  const read = cacheForTheDay((ms) => ms, clock);

  const made = [0, dayMs - 1, dayMs, -1].map((passedMs) => {
    nowMs = 10 * dayMs + passedMs;
    return read();
  });

  expect(made).toEqual([10 * dayMs, 10 * dayMs, 11 * dayMs, 10 * dayMs - 1]);
});
