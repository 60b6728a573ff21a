import { expect, it } from 'vitest';
import { toRowText } from '../../../../src/answers/readers/section.ts';

it.each([
  [
    ['`PORT`', '`8080`', 'The port.'],
    ['name', 'default', 'use'],
    '`PORT` (default: `8080`): The port.',
  ],
  [['`HOST`', '', 'The address.'], ['name', 'default', 'use'], '`HOST`: The address.'],
  [['404', 'not found'], [], '404: not found'],
  [['a', 'b', 'c'], [], 'a (b): c'],
  [['alone'], ['name'], 'alone'],
  [['name', ''], [], 'name'],
  [[], [], ''],
])('toRowText formats %j as a sentence', (cells, headers, text) => {
  expect(toRowText(cells, headers)).toBe(text);
});
