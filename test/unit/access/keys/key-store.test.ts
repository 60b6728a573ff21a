import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { hashKey } from '../../../../src/access/keys/key-record.ts';
import { clause } from '../../../support/clause.ts';
import { openKeyRig } from '../../../support/key-rig.ts';
import { createManualClock } from '../../../support/manual-clock.ts';
import { temporaryFolder } from '../../../support/spawn-perch.ts';

const unknownKey = `perch_${'u'.repeat(43)}`;
const minuteMs = 60_000;

describe('a key store', () => {
  clause('read.key.created_by_hand', 'read.key_moves.issue_makes_active')(
    'creates the requested keys, and no others',
    async () => {
      const { store, clock } = openKeyRig();
      expect(await store.list()).toEqual([]);

      const { record, key } = await store.create({ label: 'Weather bot' });

      expect(record).toEqual({
        id: expect.stringMatching(/^[0-9a-f]{12}$/),
        label: 'Weather bot',
        enabled: true,
        allowance: null,
        createdMs: clock.now(),
        lastUsedMs: null,
        notes: null,
      });
      expect(store.check(key)).toEqual({ status: 'valid', id: record.id, allowance: null });
      expect(await store.list()).toEqual([record]);
    },
  );

  clause(
    'read.key.only_hash_stored',
    'read.key.shown_once',
    'read.key_moves.issue_shows_key_once',
  )('returns a key once, and stores only its hash', async () => {
    const { store, path } = openKeyRig();

    const { key } = await store.create({ label: 'a' });
    const file = readFileSync(path);

    expect(file.includes(hashKey(key))).toBe(true);
    expect(file.includes(key.slice('perch_'.length))).toBe(false);
    expect(JSON.stringify(await store.list())).not.toContain(key);
  });

  it('keeps a key across a restart, in one file', async () => {
    const { store, path, clock } = openKeyRig();
    const { key, record } = await store.create({ label: 'a', allowance: 9, notes: 'n' });
    store.close();

    const again = openKeyRig({ path, clock });

    expect(again.store.check(key)).toEqual({ status: 'valid', id: record.id, allowance: 9 });
    expect(await again.store.list()).toEqual([record]);
    expect(readdirSync(path.replace(/\/perch\.db$/, ''))).toEqual(['perch.db']);
  });

  it('creates its folder, and can be in memory', async () => {
    for (const path of [`${temporaryFolder()}/a/b/perch.db`, ':memory:']) {
      const { store, checkNext, told } = openKeyRig({ path });

      const { key, record } = await store.create({ label: 'a' });

      expect(await checkNext(key)).toBe('valid');
      expect(await store.remove(record.id)).toBe(true);
      expect(await checkNext(key)).toBe('invalid');
      expect(told).toEqual([]);
    }
  });

  it('lists keys oldest first', async () => {
    const { store, clock } = openKeyRig();

    for (const label of ['first', 'second', 'third']) {
      await store.create({ label });
      await clock.advance(1);
    }

    expect((await store.list()).map(({ label }) => label)).toEqual(['first', 'second', 'third']);
  });

  it.each(['', 'nonsense', 'perch_', `${unknownKey}=`, 'x'.repeat(10_000), '\0'])(
    'rejects %j without a read, even while the store is missing',
    (text) => {
      const { store, told } = openKeyRig({ path: temporaryFolder() });

      expect(store.check(text)).toEqual({ status: 'invalid' });
      expect(told).toEqual(['not_a_file']);
    },
  );
});

describe('a change of a key', () => {
  clause('read.key_moves.disable_rejects_immediately')('disables and enables it', async () => {
    const { store } = openKeyRig();
    const { key, record } = await store.create({ label: 'a', allowance: 7 });
    expect(store.check(key).status).toBe('valid');

    expect(await store.change(record.id, { enabled: false })).toEqual({
      ...record,
      enabled: false,
    });
    expect(store.check(key)).toEqual({ status: 'invalid' });

    await store.change(record.id, { enabled: true });
    expect(store.check(key)).toEqual({ status: 'valid', id: record.id, allowance: 7 });
  });

  clause('read.key_moves.delete_rejects_immediately')('deletes it for good', async () => {
    const { store } = openKeyRig();
    const { key, record } = await store.create({ label: 'a' });
    expect(store.check(key).status).toBe('valid');

    expect(await store.remove(record.id)).toBe(true);

    expect(store.check(key)).toEqual({ status: 'invalid' });
    expect(await store.list()).toEqual([]);
  });

  clause('read.key_moves.rotation_rejects_old_key', 'read.auth.rotation_deletes_old_key')(
    'rotates the key: a new key with the same settings, without the old one',
    async () => {
      const { store, clock } = openKeyRig();
      const { key, record } = await store.create({ label: 'a', allowance: 7, notes: 'n' });
      await clock.advance(5000);

      const rotated = await store.rotate(record.id);

      expect(rotated?.key).not.toBe(key);
      expect(rotated?.record).toEqual({
        ...record,
        id: expect.not.stringMatching(record.id),
        createdMs: clock.now(),
      });
      expect(store.check(key)).toEqual({ status: 'invalid' });
      expect(store.check(rotated?.key ?? '').status).toBe('valid');
      expect(await store.list()).toEqual([rotated?.record]);
    },
  );

  it('keeps a disabled key disabled when it is rotated', async () => {
    const { store } = openKeyRig();
    const { record } = await store.create({ label: 'a' });
    await store.change(record.id, { enabled: false });

    const rotated = await store.rotate(record.id);

    expect(rotated?.record.enabled).toBe(false);
    expect(store.check(rotated?.key ?? '').status).toBe('invalid');
  });

  it('sets each field, keeps omitted ones, and distinguishes null from absent', async () => {
    const { store } = openKeyRig();
    const { key, record } = await store.create({ label: 'a', allowance: 7, notes: 'n' });

    const labelled = await store.change(record.id, { label: 'b' });
    const bare = await store.change(record.id, { allowance: null, notes: null });

    expect(labelled).toEqual({ ...record, label: 'b' });
    expect(bare).toEqual({ ...record, label: 'b', allowance: null, notes: null });
    expect(await store.change(record.id, {})).toEqual(bare);
    expect(store.check(key)).toMatchObject({ allowance: null });
  });

  it('returns undefined for an unknown id', async () => {
    const { store } = openKeyRig();
    await store.create({ label: 'a' });

    expect(await store.change('000000000000', { enabled: false })).toBeUndefined();
    expect(await store.remove('000000000000')).toBe(false);
    expect(await store.rotate('000000000000')).toBeUndefined();
    expect(await store.list()).toHaveLength(1);
  });
});

describe('two processes on one file', () => {
  clause(
    'read.key_moves.disable_rejects_immediately',
    'read.key_moves.delete_rejects_immediately',
    'read.key_moves.rotation_rejects_old_key',
  )('see the changes of each other at the next request', async () => {
    const a = openKeyRig();
    const b = openKeyRig({ path: a.path });
    const { key, record } = await a.store.create({ label: 'a' });
    expect(await b.checkNext(key)).toBe('valid');

    await a.store.change(record.id, { enabled: false });
    expect(await b.checkNext(key)).toBe('invalid');
    await a.store.change(record.id, { enabled: true, allowance: 5 });
    expect(await b.checkNext(key)).toBe('valid');
    expect(b.store.check(key)).toMatchObject({ allowance: 5 });

    const rotated = await b.store.rotate(record.id);
    expect(await a.checkNext(key)).toBe('invalid');
    expect(await a.checkNext(rotated?.key ?? '')).toBe('valid');
    await b.store.remove(rotated?.record.id ?? '');
    expect(await a.checkNext(rotated?.key ?? '')).toBe('invalid');
    expect([a.told, b.told]).toEqual([[], []]);
  });
});

describe('the last use of a key', () => {
  clause('read.auth.key_no_expiry', 'read.auth.key_no_refresh_or_rotation')(
    'is stored to the minute, one minute later, and changes no other field',
    async () => {
      const startMs = Date.UTC(2026, 10, 21, 9, 30, 20);
      const { store, clock, checkNext } = openKeyRig({ clock: createManualClock(startMs) });
      const { key, record } = await store.create({ label: 'a' });

      expect(await checkNext(key)).toBe('valid');
      expect(await store.list()).toEqual([record]);
      await clock.advance(minuteMs);
      expect(await store.list()).toEqual([{ ...record, lastUsedMs: startMs }]); // not before its creation
      await checkNext(key);
      await clock.advance(minuteMs);
      expect(await store.list()).toEqual([{ ...record, lastUsedMs: startMs + 40_000 }]);

      await clock.advance(20 * 365 * 86_400_000);
      expect(await checkNext(key)).toBe('valid');
      expect(await store.list()).toEqual([{ ...record, lastUsedMs: startMs + 40_000 }]);
    },
  );

  it('is written when the store is closed, for all keys', async () => {
    const { store, clock, path } = openKeyRig();
    const used = [await store.create({ label: 'a' }), await store.create({ label: 'b' })];
    await store.create({ label: 'c' });
    for (const { key } of used) store.check(key);
    store.close();

    const { store: again } = openKeyRig({ path, clock });

    const now = clock.now();
    expect((await again.list()).map(({ label, lastUsedMs }) => [label, lastUsedMs]).sort()).toEqual(
      [
        ['a', now],
        ['b', now],
        ['c', null],
      ],
    );
  });

  it('does not restore deleted keys, and never decreases', async () => {
    const a = openKeyRig();
    const b = openKeyRig({ path: a.path });
    const gone = await a.store.create({ label: 'gone' });
    const kept = await a.store.create({ label: 'kept' });
    for (const { key } of [gone, kept]) {
      await a.checkNext(key);
      await b.checkNext(key);
    }

    await b.clock.advance(5 * minuteMs);
    await b.checkNext(kept.key);
    await b.clock.advance(minuteMs);
    await b.store.remove(gone.record.id);
    await a.clock.advance(minuteMs);

    expect(await a.store.list()).toEqual([
      { ...kept.record, lastUsedMs: kept.record.createdMs + 5 * minuteMs },
    ]);
  });

  it('is not recorded for a refused key', async () => {
    const { store, clock } = openKeyRig();
    const { key, record } = await store.create({ label: 'a' });
    await store.change(record.id, { enabled: false });

    store.check(key);
    await clock.advance(minuteMs);

    expect(await store.list()).toEqual([{ ...record, enabled: false }]);
  });
});

describe('a closed store', () => {
  it('verifies nothing, changes nothing, and can be closed again', async () => {
    const { store } = openKeyRig();
    const { key } = await store.create({ label: 'a' });

    store.close();
    store.close();

    expect(store.check(key)).toEqual({ status: 'unverified' });
    await expect(store.list()).rejects.toMatchObject({ code: 'key_store_unavailable' });
    await expect(store.create({ label: 'b' })).rejects.toThrow('closed');
  });
});
