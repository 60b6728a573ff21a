import { describe, expect, it, onTestFinished } from 'vitest';
import { migrations } from '../../../../src/archive/store/schema.ts';
import { openSqlite } from '../../../../src/lib/files/sqlite.ts';
import { openArchive } from '../../../../src/providers/archive/index.ts';
import { createManualClock } from '../../../support/manual-clock.ts';
import { openReaderHere } from '../../../support/reader-here.ts';
import { temporaryFolder } from '../../../support/spawn-perch.ts';
import { stubPost } from '../../../support/stub-provider.ts';
import { ask, baseUrl } from './archive-rig.ts';

describe('an archive with the first schema', () => {
  it('is migrated, and the sample is written again', async () => {
    const path = `${temporaryFolder()}/archive.db`;
    const old = openSqlite({ path, migrations: migrations.slice(0, 1) });
    old.exec(`
      INSERT INTO facts VALUES ('sample_version', '2'), ('other', 'kept');
      INSERT INTO accounts VALUES ('sample', 'old.example', '{}');
      INSERT INTO posts VALUES (1, 'sample', 'old.example', '1', NULL, 5, 5, '{}');
      INSERT INTO post_words (rowid, text) VALUES (1, 'relic');
    `);
    old.close();

    const archive = openArchive({
      path,
      sample: true,
      baseUrl,
      clock: createManualClock(),
      openReader: openReaderHere,
    });
    onTestFinished(() => archive.close?.());

    expect((await ask(archive).search('heron')).items.length).toBeGreaterThan(2);
    expect((await ask(archive).search('relic')).items).toEqual([]);
    const now = openSqlite({ path, migrations });
    expect(now.prepare('SELECT value FROM facts WHERE name = ?').pluck().get('other')).toBe('kept');
    now.close();
  });
});

describe('an archive of the schema before `has_media`', () => {
  it('finds the posts with media that it contained', async () => {
    const path = `${temporaryFolder()}/archive.db`;
    const old = openSqlite({ path, migrations: migrations.slice(0, 6) });
    const post = JSON.stringify(stubPost('5'));
    old.exec(`
      INSERT INTO accounts VALUES (1, 'x', 'wren', '7', 0, 0, 5, '{"screen_name":"wren"}');
      INSERT INTO posts VALUES (5, 'x', 'wren', '5', NULL, 0, 0, 0, 5, '${post}');
      INSERT INTO posts VALUES (6, 'x', 'wren', '6', NULL, 0, 0, 0, 5, '${post}');
      INSERT INTO post_words (rowid, text, marks) VALUES (5, 'heron', 'any onx media photo');
      INSERT INTO post_words (rowid, text, marks) VALUES (6, 'heron', 'any onx');
    `);
    old.close();

    const archive = openArchive({
      path,
      sample: false,
      baseUrl,
      clock: createManualClock(),
      openReader: openReaderHere,
    });
    onTestFinished(() => archive.close?.());

    const found = await ask(archive).timeline('wren', { onlyMedia: true });
    expect(found.items.map(({ id }) => id)).toEqual(['5']);
  });
});
