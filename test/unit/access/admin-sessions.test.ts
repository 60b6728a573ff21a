import { describe, expect, it } from 'vitest';
import { createAdminSessions, idleMs, maxAgeMs } from '../../../src/access/admin-sessions.ts';
import { createManualClock } from '../../support/manual-clock.ts';

describe('the sessions of the dashboard in memory', () => {
  it('end after the idle time, which only a visit restarts', async () => {
    const clock = createManualClock();
    const sessions = createAdminSessions(clock);
    await sessions.add('visited');
    await sessions.add('watched');

    await clock.advance(idleMs - 1);
    expect(await sessions.find('visited', 'visit')).toBe(true);
    expect(await sessions.find('watched', 'look')).toBe(true);
    await clock.advance(1);

    expect(await sessions.find('visited', 'visit')).toBe(true);
    expect(await sessions.find('watched', 'look')).toBe(false);
  });

  it('end at the maximum age', async () => {
    const clock = createManualClock();
    const sessions = createAdminSessions(clock);
    await sessions.add('a');

    for (let ms = 0; ms < maxAgeMs; ms += idleMs / 2) {
      expect(await sessions.find('a', 'visit')).toBe(true);
      await clock.advance(idleMs / 2);
    }

    expect(await sessions.find('a', 'visit')).toBe(false);
  });

  it('are at most 1,000, of which the longest idle one ends first', async () => {
    const sessions = createAdminSessions(createManualClock());
    for (let n = 0; n < 1000; n += 1) await sessions.add(`session ${n}`);
    await sessions.find('session 0', 'visit');

    await sessions.add('one more');

    expect(await sessions.find('session 0', 'visit')).toBe(true);
    expect(await sessions.find('session 1', 'visit')).toBe(false);
    expect(await sessions.find('one more', 'visit')).toBe(true);
  });
});
