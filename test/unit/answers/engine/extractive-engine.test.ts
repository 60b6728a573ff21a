import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Answer, EarlierTurn } from '../../../../src/answers/answer.ts';
import type { Corpus } from '../../../../src/answers/corpus/corpus.ts';
import { printSources } from '../../../../src/answers/engine/compose.ts';
import { openAnswers } from '../../../../src/answers/open-answers.ts';
import { toSlug } from '../../../../src/lib/text.ts';
import { corpusOf } from '../../../support/corpus-folder.ts';
import { fc, runs } from '../../../support/fast-check.ts';
import { createManualClock } from '../../../support/manual-clock.ts';

/** Docs of a made-up server in several files. */
const docs = {
  'README.md':
    '# Gull\n\nGull is a small HTTP server for harbours. See the guides for more.\n\n## Install\n\nRun the installer:\n\n```sh\nnpm install gull\n```\n',
  'guides/server.md': [
    '# Server',
    '',
    'How the server is started and stopped.',
    '',
    '## Options',
    '',
    '### `bodyLimit`',
    '',
    'The most bytes that the body of a request may have. Default: `1048576`.',
    '',
    '### `keepAliveTimeout`',
    '',
    'Milliseconds that an idle connection stays open. Default: `72000`.',
    '',
    '## Graceful shutdown',
    '',
    'Call `close()` to stop the server. Requests under way are finished first:',
    '',
    '```js',
    'await server.close();',
    '```',
    '',
    'A second signal ends the process at once.',
  ].join('\n'),
  'guides/logging.md': [
    '# Logging',
    '',
    'Every request gets a log line as JSON.',
    '',
    '## Redact secrets',
    '',
    'Set `redact` to the paths that must not be written, such as passwords:',
    '',
    '```js',
    "createLogger({ redact: ['password'] });",
    '```',
    '',
    '## Levels',
    '',
    '| level | meaning |',
    '| --- | --- |',
    '| `warn` | something is odd |',
    '| `fatal` | the process will exit |',
  ].join('\n'),
  'guides/errors.md':
    '# Errors\n\n## Address in use\n\n`EADDRINUSE` means that another process listens on the port. Stop it, or choose another port.\n',
  'src/router.ts':
    '/** Matches paths to handlers. */\nexport function createRouter(routes: Routes): Router {\n  return new Router(routes);\n}\n',
};

const never = new AbortController().signal;

async function engineOver(...corpora: Corpus[]) {
  const answers = openAnswers({ corpora, path: ':memory:', clock: createManualClock() });
  onTestFinished(() => answers.close());
  await answers.refresh();
  return answers.engine;
}

type Engine = Awaited<ReturnType<typeof engineOver>>;

const askEngine = (engine: Engine, text: string, onText: (piece: string) => void = () => {}) =>
  engine.answer({ text, earlier: [] }, { signal: never, onText });

async function ask(question: string, earlier: readonly EarlierTurn[] = []): Promise<Answer> {
  const engine = await engineOver(corpusOf(docs));
  return engine.answer({ text: question, earlier }, { signal: never, onText: () => {} });
}

const places = ({ citations }: Answer) =>
  citations.map(({ path, heading }) => `${path}#${heading}`);

describe('extractive engine', () => {
  it.each([
    ['How large may the body of a request be?', 'guides/server.md#bodyLimit', '1048576'],
    ['default of keepAliveTimeout', 'guides/server.md#keepAliveTimeout', '72000'],
    ['keep alive timeout', 'guides/server.md#keepAliveTimeout', '72000'],
    [
      'how do I stop the server gracefully',
      'guides/server.md#Graceful shutdown',
      'await server.close()',
    ],
    ['shut down the server', 'guides/server.md#Graceful shutdown', 'close()'],
    ['hide passwords in the logs', 'guides/logging.md#Redact secrets', "redact: ['password']"],
    ['redcat pasword', 'guides/logging.md#Redact secrets', 'redact'],
    ['what does the fatal level mean', 'guides/logging.md#Levels', 'the process will exit'],
    ['EADDRINUSE', 'guides/errors.md#Address in use', 'another process listens'],
    [
      'which file defines createRouter',
      'src/router.ts#createRouter',
      'export function createRouter',
    ],
    ['how to install gull', 'README.md#Install', 'npm install gull'],
    ['when will graceful shutdown be', 'guides/server.md#Graceful shutdown', 'close()'],
  ])('answers %j from %s', async (question, place, words) => {
    const answer = await ask(question);

    expect(answer).toMatchObject({ abstained: false, finishReason: 'stop' });
    expect(places(answer)[0]).toBe(place);
    expect(answer.text).toContain(words);
  });

  async function askAboutSails(...paragraphs: string[]): Promise<string> {
    const text = ['# Sails', '## Dry wet sails', ...paragraphs, '## Other'].join('\n\n');
    const engine = await engineOver(corpusOf({ 'sails.md': `${text}\n\nAnchors and ropes.\n` }));
    return (await askEngine(engine, 'How do I dry wet sails?')).text;
  }

  it('quotes each command that a quoted sentence introduces', async () => {
    const text = await askAboutSails(
      'Dry wet sails on the quay:',
      '```sh\ndry --wet-sails quay\n```',
      'Dry wet sails in the loft:',
      '```sh\nhoist loft\n```',
    );

    expect(text).toContain('on the quay:\n\n```sh\ndry --wet-sails quay\n```');
    expect(text).toContain('in the loft:\n\n```sh\nhoist loft\n```');
  });

  it('ends a sentence with a period if its long command or its table is not quoted', async () => {
    const long = `\`\`\`sh\n${'hoist loft\n'.repeat(120)}\`\`\``;
    const table = '| rope | colour |\n| --- | --- |\n| halyard | red |';
    const text = await askAboutSails(
      'Dry wet sails on the quay:',
      '```sh\ndry --wet-sails quay\n```',
      'Dry wet sails in the loft:',
      long,
      'Dry wet sails with these:',
      table,
    );

    expect(text).toContain('Dry wet sails in the loft.');
    expect(text).toContain('Dry wet sails with these.');
    expect(text).not.toContain('hoist');
  });

  it('cites a source for each part of a question', async () => {
    const answer = await ask('How do I redact passwords, and how do I shut the server down?');

    expect(places(answer).slice(0, 2)).toEqual([
      'guides/logging.md#Redact secrets',
      'guides/server.md#Graceful shutdown',
    ]);
    expect(answer.text).toContain("redact: ['password']");
    expect(answer.text).toContain('await server.close()');
  });

  it('completes a follow-up with the previous question', async () => {
    const first = await ask('what is keepAliveTimeout');
    const earlier = [
      { question: 'what is keepAliveTimeout', answer: first.text, citations: first.citations },
    ];

    const answer = await ask('and what is its default?', earlier);

    expect(places(answer)[0]).toBe('guides/server.md#keepAliveTimeout');
    expect(answer.text).toContain('72000');
  });

  it('ignores the previous question if the question is complete', async () => {
    const earlier = [{ question: 'what is keepAliveTimeout', answer: '', citations: [] }];

    const answer = await ask('which secrets and passwords are redacted in log lines', earlier);

    expect(places(answer)[0]).toBe('guides/logging.md#Redact secrets');
  });

  it('ends the answer with citations, best first, each within its section', async () => {
    const answer = await ask('redact passwords');

    expect(answer.citations[0]).toMatchObject({
      path: 'guides/logging.md',
      heading: 'Redact secrets',
    });
    expect(answer.citations[0]?.line).toBeGreaterThanOrEqual(5);
    expect(answer.citations[0]?.endLine).toBeLessThanOrEqual(12);
    expect(answer.citations[0]?.title).toBe('Logging');
    expect(answer.text.endsWith(printSources(answer.citations))).toBe(true);
    for (const { path, heading, line } of answer.citations) {
      expect(answer.text).toContain(`(\`${path}#${toSlug(heading)}:${line}\`)`);
    }
    const scores = answer.citations.map(({ score }) => score);
    expect(scores).toEqual(scores.toSorted((a, b) => b - a));
  });

  it.each([
    'How do I connect a Bluetooth barcode scanner?',
    'Which Kubernetes ingress annotations are needed?',
    'price of tulips in Amsterdam',
    '???',
    'the of and',
  ])('declines %j', async (question) => {
    const answer = await ask(question);

    expect(answer).toMatchObject({ abstained: true, citations: [], finishReason: 'stop' });
    expect(answer.text).toMatch(/^The documentation does not seem to answer this\./);
  });

  it('quotes and cites the nearest sections if it is not sure', async () => {
    const engine = await engineOver({ ...corpusOf(docs), minConfidence: 1 });

    const answer = await askEngine(engine, 'how do I stop the server gracefully');

    expect(answer.abstained).toBe(true);
    expect(places(answer)[0]).toBe('guides/server.md#Graceful shutdown');
    expect(answer.text).toMatch(
      /^I am not sure that this answers your question\.\n\nCall `close\(\)`/,
    );
    expect(answer.text).toContain('Sources:');
  });

  it('sends the text in parts that add up to the answer', async () => {
    const engine = await engineOver(corpusOf(docs));
    const pieces: string[] = [];

    const answer = await askEngine(engine, 'how do I stop the server', (piece) =>
      pieces.push(piece),
    );

    expect(pieces.join('')).toBe(answer.text);
  });

  it('stops before and during an answer when the turn is cancelled', async () => {
    const engine = await engineOver(corpusOf(docs));
    const question = { text: 'how do I stop the server', earlier: [] };
    const reason = new Error('cancelled');
    const before = engine.answer(question, { signal: AbortSignal.abort(reason), onText: () => {} });
    await expect(before).rejects.toBe(reason);

    const stop = new AbortController();
    const pieces: string[] = [];
    const during = engine.answer(question, {
      signal: stop.signal,
      onText: (piece) => {
        pieces.push(piece);
        stop.abort(reason);
      },
    });

    await expect(during).rejects.toBe(reason);
    expect(pieces).toHaveLength(1);
  });

  it('quotes links and cites URLs with the base URL of the documentation', async () => {
    const folder = corpusOf({
      'docs/boats.md': '# Boats\n\n## Rent a boat\n\nRent it at [the office](office.md#hours).\n',
      'docs/office.md': '# Office\n\n## Hours\n\nOpen at six.\n',
    });
    const engine = await engineOver({ ...folder, baseUrl: 'https://x.example' });

    const answer = await askEngine(engine, 'how do I rent a boat');

    const url = 'https://x.example/docs/boats#rent-a-boat';
    expect(answer.text).toContain('at [the office](https://x.example/docs/office#hours).');
    expect(answer.citations[0]).toMatchObject({ path: 'docs/boats.md', line: 5, url });
    expect(answer.text).toContain(
      `- [Rent a boat – Boats](${url}) (\`docs/boats.md#rent-a-boat:5\`)`,
    );
  });

  it('prefixes paths with the name of the corpus if there are several', async () => {
    const other = { ...corpusOf({ 'a.md': '# Tulips\n\nA tulip has petals.\n' }), name: 'garden' };
    const engine = await engineOver(corpusOf(docs), other);

    const answer = await askEngine(engine, 'how many petals has a tulip');

    expect(answer.citations[0]?.path).toBe('garden/a.md');
  });

  it.each([
    ['who wrote the line of a request as JSON', true],
    ['how is the line of a request written as JSON', false],
    ['when will graceful shutdown be', false],
  ])(
    'declines a question for people or dates unless a heading has it: %s',
    async (text, abstained) => {
      const engine = await engineOver({ ...corpusOf(docs), minConfidence: 0.45 });

      const answer = await askEngine(engine, text);

      expect(answer.abstained).toBe(abstained);
    },
  );

  it('does not answer from removed files', async () => {
    const corpus = corpusOf(docs);
    const answers = openAnswers({
      corpora: [corpus],
      path: ':memory:',
      clock: createManualClock(),
    });
    onTestFinished(() => answers.close());
    await answers.refresh();
    rmSync(join(corpus.root, 'guides/errors.md'));

    await answers.refresh();

    const answer = await askEngine(answers.engine, 'EADDRINUSE');
    expect(answer.abstained).toBe(true);
  });
});

describe('every answer', () => {
  const word = fc.constantFrom(
    ...'gull seal heron timeout bodyLimit fog `code` the " *'.split(' '),
  );
  const words = fc.array(word, { minLength: 1, maxLength: 8 }).map((list) => list.join(' '));
  const piece = fc.oneof(
    words,
    words.map((text) => `## ${text}`),
    words.map((text) => `- ${text}\n- ${text}`),
    words.map((text) => `\`\`\`\n# ${text}\n\`\`\``),
    words.map((text) => `| a | b |\n| --- | --- |\n| ${text} | x |`),
  );
  const file = fc
    .array(piece, { minLength: 1, maxLength: 12 })
    .map((pieces) => pieces.join('\n\n'));

  it('has at most five valid citations and 4,000 characters', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(file, { minLength: 1, maxLength: 5 }),
        words,
        async (files, question) => {
          const texts = Object.fromEntries(files.map((text, at) => [`${at}.md`, text]));
          const corpus = corpusOf(texts);
          const answers = openAnswers({
            corpora: [corpus],
            path: ':memory:',
            clock: createManualClock(),
          });
          await answers.refresh();
          const answer = await askEngine(answers.engine, question);
          await answers.close();

          expect(answer.text.length).toBeLessThanOrEqual(4000);
          expect(answer.citations.length).toBeLessThanOrEqual(5);
          const scores = answer.citations.map(({ score }) => score);
          expect(scores).toEqual(scores.toSorted((a, b) => b - a));
          for (const { path, heading, line, endLine, score } of answer.citations) {
            const lines = (texts[path] ?? '').split('\n');
            expect(line).toBeGreaterThanOrEqual(1);
            expect(endLine).toBeGreaterThanOrEqual(line);
            expect(endLine).toBeLessThanOrEqual(lines.length);
            expect(score).toBeGreaterThanOrEqual(0);
            expect(score).toBeLessThanOrEqual(1);
            const above = lines
              .slice(0, line)
              .filter((one, at) => one.startsWith('## ') && lines[at - 1] === '');
            const written =
              above.at(-1)?.slice(3).trim() ??
              (lines[0]?.startsWith('## ') ? lines[0].slice(3).trim() : '');
            expect(heading).toBe(written.replaceAll('`', ''));
          }
        },
      ),
      { numRuns: runs(40) },
    );
  });
});

it('completes an answer before it begins the next one', async () => {
  const engine = await engineOver(corpusOf(docs));
  const pieces: number[] = [];
  const ask = (at: number) =>
    askEngine(engine, 'How do I shut down the server gracefully?', () => pieces.push(at));

  await Promise.all([ask(1), ask(2), ask(3)]);

  expect(pieces).toEqual([1, 2, 3]);
});
