import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openArchiveStore } from '../../../../src/archive/store/store.ts';
import { toNoteName } from '../../../../src/cli/archive/export-notes.ts';
import { runArchive } from '../../../support/run-here.ts';
import { temporaryFolder } from '../../../support/spawn-perch.ts';
import { stubAccount, stubPost } from '../../../support/stub-provider.ts';

const stored = Date.UTC(2026, 0, 1) / 1000;

/** Post on X with its time and the post that it replies to. */
interface PostFixture {
  readonly id: string;
  readonly at: string;
  readonly answers?: readonly [handle: string, id: string];
  readonly by?: string;
}

/** Creates a data directory whose archive contains `ada` with some posts. Returns its path. */
function makeArchive(
  posts: readonly PostFixture[],
  reposts: readonly (readonly [string, string])[] = [],
) {
  const dataDir = join(temporaryFolder(), 'data');
  const store = openArchiveStore(join(dataDir, 'archive.db'), 'https://perch.test');
  store.putAccount({ account: stubAccount('ada'), stored });
  for (const told of posts) putPost(store, told);
  for (const [postId, at] of reposts) {
    const created = Date.parse(at) / 1000;
    const of = { platform: 'x', handle: 'ada', postHandle: 'ben', postId } as const;
    store.putRepost({ ...of, created, stored });
  }
  store.close();
  return dataDir;
}

function putPost(store: ReturnType<typeof openArchiveStore>, told: PostFixture): void {
  const { id, at, answers, by = 'ada' } = told;
  const created = Date.parse(at) / 1000;
  const [screen_name = null, status = null] = answers ?? [];
  const post = stubPost(id, {
    text: `Text of ${id}`,
    author: stubAccount(by),
    created_at: at,
    created_timestamp: created,
    replying_to: answers === undefined ? null : { screen_name, status, url: null },
  });
  store.putPost({ platform: 'x', handle: by, id, parentId: status, created, stored, post });
}

function exportTo(dataDir: string, output: string) {
  return runArchive(dataDir, 'export', 'ada', '--format', 'markdown', '--output', output);
}

/** Reads all files of a folder. Returns their content by path. */
function readTree(folder: string): Readonly<Record<string, string>> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((of) => join(of.parentPath, of.name));
  return Object.fromEntries(
    paths.sort().map((path) => [path.slice(folder.length + 1), readFileSync(path, 'utf8')]),
  );
}

const thread: readonly PostFixture[] = [
  { id: '1', at: '2024-03-31T23:59:00Z' },
  { id: '2', at: '2024-04-01T00:01:00Z', answers: ['ada', '1'] },
  { id: '3', at: '2024-04-02T00:00:00Z', answers: ['ada', '2'] },
  { id: '4', at: '2024-04-03T00:00:00Z', answers: ['ben', '77'] },
  { id: '5', at: '2025-01-01T00:00:00Z' },
  { id: '77', at: '2024-02-01T00:00:00Z', by: 'ben' },
];

describe('an export to Markdown', () => {
  it('has a file for each thread, one for the reposts of a month, and an index', async () => {
    const output = join(temporaryFolder(), 'notes');
    const reposts = [
      ['77', '2024-05-01T00:00:00Z'],
      ['78', '2024-05-02T00:00:00Z'],
    ] as const;

    const run = await exportTo(makeArchive(thread, reposts), output);

    expect(run).toEqual({
      code: 0,
      stdout: `Exported ada on x to ${output}: 3 threads, 5 posts, 2 reposts\n5 files written, 0 unchanged, 0 removed\n`,
      stderr: '',
    });
    const files = readTree(output);
    expect(Object.keys(files)).toEqual([
      '.perch-export.json',
      '2024/03/2024-03-31-1.md',
      '2024/04/2024-04-03-4.md',
      '2024/05/reposts.md',
      '2025/01/2025-01-01-5.md',
      'index.md',
    ]);
    const note = files['2024/03/2024-03-31-1.md'] ?? '';
    expect(note).toMatch(/^---\ntitle: "?Thread by /);
    expect(note).toContain('created: "2024-03-31T23:59:00Z"');
    expect(note).toContain('post_count: 3');
    expect(['Text of 1', 'Text of 2', 'Text of 3'].map((text) => note.indexOf(text))).toEqual(
      ['Text of 1', 'Text of 2', 'Text of 3'].map((text) => note.indexOf(text)).toSorted(),
    );
    expect(files['2024/04/2024-04-03-4.md']).toContain('In reply to');
    expect(files['2024/05/reposts.md']).toContain('Text of 77');
    expect(files['2024/05/reposts.md']).toContain('https://x.com/ben/status/78');
    expect(files['index.md']).toContain('| [2024](2024/) | 2 | 4 | 2 |');
    expect(files['index.md']).toContain('| [2025](2025/) | 1 | 1 | 0 |');
  });

  it('is the same for a new, a repeated and a resumed export', async () => {
    const dataDir = makeArchive(thread);
    const [whole, again] = [join(temporaryFolder(), 'a'), join(temporaryFolder(), 'b')];
    await exportTo(dataDir, whole);
    await exportTo(dataDir, again);
    writeFileSync(join(again, '2024/03/2024-03-31-1.md'), 'half a no');
    writeFileSync(join(again, '2024/03/2024-03-05-99.md'), 'of an archive that held more');
    writeFileSync(join(again, '2024/04/reposts.md'), 'the same');

    const run = await exportTo(dataDir, again);

    expect(run.stdout).toContain('1 file written, 3 unchanged, 2 removed');
    expect(readTree(again)).toEqual(readTree(whole));
  });

  it('does not change files that are not part of it', async () => {
    const dataDir = makeArchive(thread);
    const output = join(temporaryFolder(), 'notes');
    await exportTo(dataDir, output);
    writeFileSync(join(output, '2024/03/My thoughts.md'), 'mine');
    writeFileSync(join(output, 'todo.txt'), 'mine');

    await exportTo(dataDir, output);

    expect(readTree(output)).toMatchObject({
      '2024/03/My thoughts.md': 'mine',
      'todo.txt': 'mine',
    });
  });

  it('includes posts that reply to each other in a circle', async () => {
    const output = join(temporaryFolder(), 'notes');
    const circle: readonly PostFixture[] = [
      { id: '1', at: '2024-03-01T00:00:00Z', answers: ['ada', '2'] },
      { id: '2', at: '2024-03-02T00:00:00Z', answers: ['ada', '1'] },
      { id: '3', at: '2024-03-03T00:00:00Z', answers: ['ada', '3'] },
    ];

    const run = await exportTo(makeArchive(circle), output);

    expect(run.stdout).toContain('2 threads, 3 posts');
    expect(Object.keys(readTree(output))).toContain('2024/03/2024-03-03-3.md');
  });

  it('includes histories of several pages', async () => {
    const output = join(temporaryFolder(), 'notes');
    const many = Array.from({ length: 450 }, (_, index) => ({
      id: String(index + 1),
      at: new Date(Date.UTC(2024, 0, 1) + index * 3_600_000).toISOString(),
    }));

    const run = await exportTo(makeArchive(many), output);

    expect(run.stdout).toContain('450 threads, 450 posts');
    expect(Object.keys(readTree(output))).toHaveLength(452);
  });

  it.each([
    ['other files', { 'letter.txt': 'Dear Ben' }, 'contains other files'],
    [
      'the export of another account',
      { '.perch-export.json': '{"format":"markdown","platform":"x","handle":"ben"}\n' },
      'contains the export of another account',
    ],
  ])('refuses a folder with %s', async (_, files, message) => {
    const output = temporaryFolder();
    for (const [name, content] of Object.entries(files)) writeFileSync(join(output, name), content);

    const run = await exportTo(makeArchive(thread), output);

    expect(run).toMatchObject({ code: 2, stderr: expect.stringContaining(message) });
    expect(readTree(output)).toEqual(files);
  });

  it('reports that the archive does not contain an account', async () => {
    const dataDir = makeArchive([]);
    const output = join(temporaryFolder(), 'notes');

    const args = ['export', 'ben', '--format', 'markdown', '--output', output];
    expect(await runArchive(dataDir, ...args)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('The archive does not contain ben on x.'),
    });
  });

  it.each([
    [['export', '--format', 'markdown', '--output', 'notes'], 'HANDLE'],
    [['export', 'ada', '--format', 'pdf'], '--format'],
    [['export', 'ada', '--format', 'markdown'], '--output'],
  ])('refuses %j', async (args, message) => {
    const refused = await runArchive(makeArchive([]), ...args);

    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining(message) });
  });
});

describe('the name of a note', () => {
  it.each([
    ['1234', '2024-03-09-1234.md'],
    ['3kABC', '2024-03-09-3k=41=42=43.md'],
    ['a.b:c~d', '2024-03-09-a=2eb=3ac=7ed.md'],
  ])('of %s is %s', (id, name) => {
    expect(toNoteName('2024-03-09', id)).toBe(name);
  });

  it('of a long id is short and unique', () => {
    const [one, other] = ['a', 'b'].map((end) =>
      toNoteName('2024-03-09', `${'x'.repeat(500)}${end}`),
    );

    expect(one?.length).toBeLessThan(120);
    expect(one).not.toBe(other);
  });
});
