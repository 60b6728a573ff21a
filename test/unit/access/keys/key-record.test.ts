import { describe, expect, it } from 'vitest';
import { keyChanges, newKey } from '../../../../src/access/keys/key-record.ts';

describe('the fields of a new key', () => {
  it('are a trimmed label, and an optional allowance and notes', () => {
    expect(newKey.parse({ label: ' Weather bot ' })).toEqual({ label: 'Weather bot' });
    const whole = { label: 'Ü🦜', allowance: 1_000_000, notes: 'asked in issue 7\n\tdaily' };
    expect(newKey.parse(whole)).toEqual(whole);
    const none = { label: 'a'.repeat(100), allowance: null, notes: null };
    expect(newKey.parse(none)).toEqual(none);
  });

  it.each([
    {},
    { label: ' ' },
    { label: 'a'.repeat(101) },
    { label: 'two\nlines' },
    { label: 'red \u001b[31m' },
    { label: 'lone \ud800' },
    { label: 7 },
    { label: 'a', allowance: 0 },
    { label: 'a', allowance: 1.5 },
    { label: 'a', allowance: 1_000_001 },
    { label: 'a', allowance: '5' },
    { label: 'a', allowance: Number.NaN },
    { label: 'a', notes: 'n'.repeat(2001) },
    { label: 'a', notes: 'bell \u0007' },
    { label: 'a', enabled: false },
    { label: 'a', alowance: 5 },
  ])('cannot be %j', (fields) => {
    expect(newKey.safeParse(fields).success).toBe(false);
  });
});

describe('the changes of a key', () => {
  it('are any of its fields, all optional', () => {
    expect(keyChanges.parse({})).toEqual({});
    const all = { enabled: false, label: 'a', allowance: null, notes: null };
    expect(keyChanges.parse(all)).toEqual(all);
  });

  it.each([{ enabled: 'false' }, { id: 'a' }, { label: '' }, { enable: false }])(
    'are not %j',
    (changes) => {
      expect(keyChanges.safeParse(changes).success).toBe(false);
    },
  );
});
