import { describe, expect, it } from 'vitest';
import { createKnownAccounts } from '../../../../src/providers/bluesky/client.ts';
import { createManualClock } from '../../../support/manual-clock.ts';

describe('the cached accounts', () => {
  it('are found by handle in any case, for ten minutes', async () => {
    const clock = createManualClock();
    const known = createKnownAccounts(clock);
    known.note('Mira.test', { did: 'did:plc:a' });

    expect(known.actorFor('mira.TEST')).toBe('did:plc:a');
    await clock.advance(600_000);
    expect(known.actorFor('mira.TEST')).toBe('mira.test');
  });

  it('are those that were cached last', () => {
    const known = createKnownAccounts(createManualClock());
    known.note('mira.test', { did: 'did:plc:a' });
    known.note('mira.test', { did: 'did:plc:b' });
    known.note('did:plc:b', { did: 'did:plc:b' });

    expect(known.actorFor('mira.test')).toBe('did:plc:b');
    expect(known.actorFor('did:plc:b')).toBe('did:plc:b');
  });

  it('are at most 5,000, of which the oldest is evicted first', () => {
    const known = createKnownAccounts(createManualClock());
    for (let index = 0; index <= 5000; index += 1) {
      known.note(`a${index}.test`, { did: `did:plc:${index}` });
    }

    expect(known.actorFor('a0.test')).toBe('a0.test');
    expect(known.actorFor('a1.test')).toBe('did:plc:1');
    expect(known.actorFor('a5000.test')).toBe('did:plc:5000');
  });
});
