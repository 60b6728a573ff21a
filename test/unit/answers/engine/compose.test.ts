import { expect, it } from 'vitest';
import {
  composeAnswer,
  maxAnswerLength,
  printSources,
} from '../../../../src/answers/engine/compose.ts';

const source = (heading: string, text: string) => ({
  citation: { path: 'a.md', heading, line: 3, endLine: 4, score: 1 },
  text,
});

it('indents the code of a further source within its list item', () => {
  const { text } = composeAnswer(
    [source('One', 'It is so.')],
    [source('Two', '- First.\n- Second.\n\n```js\nrun();\n```\n\nMore of\nit.')],
    4,
  );

  expect(text).toBe(
    [
      'It is so.',
      '',
      'More on this:',
      '',
      '- **Two**: First. · Second.',
      '',
      '  ```js',
      '  run();',
      '  ```',
      '',
      '  More of it.',
      '',
      'Sources:',
      '',
      '- One (`a.md#one:3`)',
      '- Two (`a.md#two:3`)',
      '',
    ].join('\n'),
  );
});

it('truncates an answer at the maximum length and reports it', () => {
  const long = 'word '.repeat(maxAnswerLength);

  const { text, finishReason } = composeAnswer([source('One', long)], [source('Two', long)], 4);

  expect(text.length).toBeLessThanOrEqual(maxAnswerLength);
  expect(finishReason).toBe('length');
});

it('closes truncated code with the indentation of its opening fence', () => {
  const code = `\`\`\`js\n${'run();\n'.repeat(600)}\`\`\``;

  const { text } = composeAnswer([source('One', 'word')], [source('Two', `See\n\n${code}`)], 4);

  expect(text.match(/^ {2}```/gm)).toHaveLength(2);
});

it('escapes Markdown in headings and names', () => {
  const heading = '**kwargs, snake_case, _x_ & [a](b) <i>`';

  const { text } = composeAnswer([source('One', 'It is so.')], [source(heading, 'And so.')], 4);

  expect(text).toContain('- **\\*\\*kwargs, snake_case, \\_x\\_ & \\[a\\](b) \\<i>\\`**: And so.');
});

it.each([
  [
    { title: 'Keys', url: 'https://x.example/docs/keys#limits' },
    'Limits',
    '[Limits – Keys](https://x.example/docs/keys#limits) (`a.md#limits:3`)',
  ],
  [{ title: 'Keys' }, 'Limits', 'Limits – Keys (`a.md#limits:3`)'],
  [{ title: 'Keys' }, 'Keys', 'Keys (`a.md#keys:3`)'],
  [{ title: 'Keys' }, '', 'Keys (`a.md:3`)'],
  [{}, '', '`a.md:3`'],
  [{ title: '[a](b)' }, '', '\\[a\\](b) (`a.md:3`)'],
])('names a source by its heading and title: %j', (more, heading, name) => {
  const { citation } = source(heading, '');

  expect(printSources([{ ...citation, ...more }])).toBe(`Sources:\n\n- ${name}\n`);
});
