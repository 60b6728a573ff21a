import { expect, it } from 'vitest';
import { cacheForTheDay } from '../../../../src/http/discovery/documents.ts';
import { aliasRoutes } from '../../../../src/http/reads/routes.ts';

const dayMs = 86_400_000;

it('changes the state of a route only at midnight, so that documents can be kept for the day', () => {
  const instants = aliasRoutes.flatMap(({ lifecycle }) => Object.values(lifecycle));

  expect(instants.length).toBeGreaterThan(0);
  expect(instants.filter((ms) => ms % dayMs !== 0)).toEqual([]);
});

it('makes a document once a day, also when the clock goes back', () => {
  let nowMs = 10 * dayMs;
  const clock = { now: () => nowMs, sleep: async () => undefined };
  const read = cacheForTheDay((ms) => ms, clock);

  const made = [0, dayMs - 1, dayMs, -1].map((passedMs) => {
    nowMs = 10 * dayMs + passedMs;
    return read();
  });

  expect(made).toEqual([10 * dayMs, 10 * dayMs, 11 * dayMs, 10 * dayMs - 1]);
});
