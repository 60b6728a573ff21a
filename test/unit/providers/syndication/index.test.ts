import { describe, expect, it } from 'vitest';
import { tokenOf } from '../../../../src/providers/syndication/index.ts';

describe('the token', () => {
  it.each([
    ['20', '6dq1a2xwd93'],
    ['1841206275088290279', '4gobiuxs3yx'],
    ['1649191520250245121', '3zx362dq7v'],
  ])('of %s is %s', (id, token) => {
    expect(tokenOf(id)).toBe(token);
  });
});
