import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { corpusOf } from '../../support/corpus-folder.ts';
import { fakeModel, markerOf } from '../../support/fake-model.ts';
import { runHere } from '../../support/run-here.ts';
import { temporaryFolder } from '../../support/spawn-perch.ts';

const perch = (args: readonly string[], env: Record<string, string> = {}, isTTY = false) =>
  runHere(args, { PERCH_DATA_DIR: ':memory:', ...env }, { terminals: isTTY ? ['stderr'] : [] });

const birds = {
  'seals.md':
    '# Seals\n\nSeals rest on rocks.\n\n## Feeding\n\nA seal eats five kilos of herring a day.\n',
  'gulls.md': '# Gulls\n\nGulls follow ships.\n',
};

it('prints an answer with its citations', async () => {
  const { root } = corpusOf(birds);

  const ended = await perch(['ask', 'what does a seal eat', '--corpus', root]);

  expect(ended).toMatchObject({ code: 0, stderr: '' });
  expect(ended.stdout).toMatch(/^A seal eats five kilos of herring a day\./);
  expect(ended.stdout).toContain('- Feeding – Seals (`seals.md#feeding:7`)');
});

it('prints the properties of a completed session turn with --json', async () => {
  const { root } = corpusOf(birds);

  const { stdout } = await perch(['ask', 'what does a seal eat', '--corpus', root, '--json']);

  expect(stdout.trim().split('\n')).toHaveLength(1);
  const { citations, ...rest } = JSON.parse(stdout);
  expect(rest).toEqual({
    message: expect.stringMatching(/herring/),
    finishReason: 'stop',
    abstained: false,
  });
  expect(citations[0]).toEqual({
    path: 'seals.md',
    heading: 'Feeding',
    line: 7,
    endLine: 7,
    score: expect.any(Number),
    title: 'Seals',
  });
});

it('cites Markdown headings as rendered, and names in code verbatim', async () => {
  const { root } = corpusOf({
    'seals.md':
      '# Seals\n\n## [Herring](./fish.md) and `food_of` *seals*\n\nA seal eats five kilos of herring a day.\n',
    'seal.py':
      'def __herring_of__(seal):\n    """Counts the herring that a seal eats."""\n    return 5\n',
  });
  const args = ['ask', 'how much herring does a seal eat', '--corpus', root];

  const shown = await perch(args);
  const { citations } = JSON.parse((await perch([...args, '--json'])).stdout);

  const headings = citations.map(({ path, heading }: Record<string, unknown>) => [path, heading]);
  expect(headings).toContainEqual(['seals.md', 'Herring and food_of seals']);
  expect(headings).toContainEqual(['seal.py', '__herring_of__']);
  expect(shown.stdout).toContain('(`seals.md#herring-and-food_of-seals:5`');
});

it('exits with 1 if the docs do not answer the question', async () => {
  const { root } = corpusOf(birds);

  const ended = await perch(['ask', 'price of crude oil in 1973', '--corpus', root]);

  expect(ended.code).toBe(1);
  expect(ended.stdout).toMatch(/^The documentation does not seem to answer this/);
});

it('exits with 0 if it is not sure, but quotes a section', async () => {
  const others = Array.from({ length: 60 }, (_, at) => [`${at}.md`, `# Ship ${at}\n\nIt sails.\n`]);
  const { root } = corpusOf({ ...birds, ...Object.fromEntries(others) });
  const question = 'Does the Nordic seal eat herring at night in caves near Lisbon?';

  const ended = await perch(['ask', question, '--corpus', root]);

  expect(ended.stdout).toMatch(/^I am not sure that this answers your question\./);
  expect(ended.stdout).toContain('A seal eats five kilos of herring a day.');
  expect(ended.code).toBe(0);
});

it('accepts files and several corpora', async () => {
  const { root } = corpusOf(birds);
  const { root: other } = corpusOf({ 'fog.md': '# Fog horns\n\nThe horn sounds twice.\n' });

  const args = ['--corpus', join(root, 'gulls.md'), '--corpus', other];
  const { stdout } = await perch(['ask', 'how often does the fog horn sound', ...args, '--json']);

  const [first] = JSON.parse(stdout).citations;
  expect(first.path).toMatch(/^perch-test-\w+\/fog\.md$/);
  expect((await perch(['ask', 'feeding seals', ...args])).code).toBe(1);
});

it('stores the index of the configured corpus in the data directory', async () => {
  const { root } = corpusOf(birds);
  const folder = join(temporaryFolder(), 'data');
  const env = { PERCH_DATA_DIR: folder, PERCH_CORPUS: root };

  expect((await perch(['ask', 'what does a seal eat'], env)).code).toBe(0);
  expect(readdirSync(folder)).toContain('answers.db');
  expect((await perch(['ask', 'what does a seal eat'], env, true)).stderr).toBe('');
});

it('stores no index for a corpus given by --corpus', async () => {
  const { root } = corpusOf(birds);
  const folder = join(temporaryFolder(), 'data');

  await perch(['ask', 'what does a seal eat', '--corpus', root], { PERCH_DATA_DIR: folder });

  expect(existsSync(folder)).toBe(false);
});

it('answers from its own docs by default', async () => {
  const { code, stdout } = await perch(['ask', 'how are cursors of lists signed', '--json']);

  expect(code).toBe(0);
  for (const { path } of JSON.parse(stdout).citations) {
    expect(path).toMatch(/^(?:docs|openapi)\/|^README\.md$/);
  }
});

it.each([
  [['ask'], 'Give a question'],
  [['ask', '  '], 'Give a question'],
  [['ask', 'two', 'words'], 'quotation marks'],
  [['ask', 'x', '--corpus', '/nowhere/at/all'], 'There is no folder or file /nowhere/at/all.'],
  [['ask', 'x', '--sessions', 'a'], '--sessions is not an option'],
] as const)('refuses %j with exit code 2', async (args, words) => {
  const { code, stderr } = await perch(args);

  expect(code).toBe(2);
  expect(stderr).toContain(words);
});

it('names a configured corpus that does not exist', async () => {
  const { code, stderr } = await perch(['ask', 'x'], { PERCH_CORPUS: '/nowhere' });

  expect(code).toBe(2);
  expect(stderr).toContain('/nowhere');
});

it('answers with the configured language model', async () => {
  const { root } = corpusOf(birds);
  const { url } = await fakeModel(({ request, say, finish }) => {
    say(`Five kilos of herring ${markerOf(request, 'five kilos')}.`);
    finish();
  });

  const env = { PERCH_MODEL_URL: url, PERCH_MODEL: 'harbour-7b' };
  const ended = await perch(['ask', 'what does a seal eat', '--corpus', root], env);

  const citation = '`seals.md#feeding:5`';
  expect(ended).toEqual({
    code: 0,
    stdout: `Five kilos of herring (${citation}).\n\nSources:\n\n- Feeding – Seals (${citation})\n`,
    stderr: '',
  });
});

it('reports that the language model could not be reached', async () => {
  const env = {
    PERCH_CORPUS: corpusOf(birds).root,
    PERCH_MODEL_URL: 'http://127.0.0.1:1/v1',
    PERCH_MODEL: 'harbour-7b',
  };
  const { code, stdout, stderr } = await perch(['ask', 'what does a seal eat', '--json'], env);

  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ message: expect.stringMatching(/herring/) });
  expect(stderr).toBe('perch: The language model could not be reached, or the connection broke.\n');
});
