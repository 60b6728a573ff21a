import { expect, it } from 'vitest';
import { composeAnswer, maxAnswerLength } from '../../../../src/answers/engine/compose.ts';

const source = (heading: string, text: string) => ({
  citation: { path: 'a.md', heading, line: 3, endLine: 4, score: 1 },
  text,
});

it('sets the code of a further source in as far as its item', () => {
  const { text } = composeAnswer(
    [source('One', 'It is so.')],
    [source('Two', '- First.\n- Second.\n\n```js\nrun();\n```\n\nMore of\nit.')],
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
      '- `a.md#one:3`',
      '- `a.md#two:3`',
      '',
    ].join('\n'),
  );
});

it('keeps within the characters of an answer, and says when it was cut', () => {
  const long = 'word '.repeat(maxAnswerLength);

  const { text, finishReason } = composeAnswer([source('One', long)], [source('Two', long)]);

  expect(text.length).toBeLessThanOrEqual(maxAnswerLength);
  expect(finishReason).toBe('length');
});

it('closes code that is cut, as far set in as it was opened', () => {
  const code = `\`\`\`js\n${'run();\n'.repeat(600)}\`\`\``;

  const { text } = composeAnswer([source('One', 'word')], [source('Two', `See\n\n${code}`)]);

  expect(text.match(/^ {2}```/gm)).toHaveLength(2);
});

it('writes headings and names so that none of them becomes a mark', () => {
  const heading = '**kwargs, snake_case, _x_ & [a](b) <i>`';

  const { text } = composeAnswer([source('One', 'It is so.')], [source(heading, 'And so.')]);

  expect(text).toContain('- **\\*\\*kwargs, snake_case, \\_x\\_ & \\[a\\](b) \\<i>\\`**: And so.');
});
