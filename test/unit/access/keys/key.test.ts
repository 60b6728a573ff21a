import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createKey, hashKey, isKeyShaped } from '../../../../src/access/keys/key-record.ts';
import { systemRandom } from '../../../../src/lib/random.ts';
import { clause } from '../../../support/clause.ts';

describe('a key', () => {
  clause('read.key.opaque_prefix_and_secret')('is a fixed prefix and 32 random bytes', () => {
    const bytes = Buffer.alloc(32, 0xfb);

    const key = createKey({ ...systemRandom, bytes: () => bytes });

    expect(key).toBe(`perch_${bytes.toString('base64url')}`);
    expect(key).toMatch(/^perch_[\w-]{43}$/);
    expect(createKey(systemRandom)).not.toBe(createKey(systemRandom));
  });

  it('is stored as the SHA-256 of the whole key', () => {
    const key = createKey(systemRandom);

    expect(hashKey(key)).toBe(createHash('sha256').update(key).digest('hex'));
  });

  it.each([
    ['', false],
    ['perch_', false],
    [`perch_${'a'.repeat(43)}`, true],
    [`perch_${'a'.repeat(42)}`, false],
    [`perch_${'a'.repeat(44)}`, false],
    [`Perch_${'a'.repeat(43)}`, false],
    [`perch_${'a'.repeat(42)}=`, false],
    [`perch_${'a'.repeat(43)}\n`, false],
    [` perch_${'a'.repeat(43)}`, false],
    [`perch_${'ä'.repeat(43)}`, false],
  ])('%j has the form of a key: %s', (text, isShaped) => {
    expect(isKeyShaped(text)).toBe(isShaped);
  });
});
