import { describe, expect, it } from 'vitest';
import { readNotice } from '../../../src/normalize/x.ts';

describe('a notice of X in place of a post', () => {
  it.each([
    ['Age-restricted adult content. You’ll need to log in to X.', 'age_restricted'],
    ['This Post was deleted by the Post author. Learn more', 'deleted'],
    ['This Post is from an account that no longer exists.', 'deleted'],
    ['This Post is from a suspended account. Learn more', 'suspended'],
    [
      'You’re unable to view this Post because this account owner limits who can view it.',
      'protected',
    ],
    ['This Post has been withheld in response to a report from the copyright holder.', 'withheld'],
  ])('%j states the reason %s', (text, reason) => {
    expect(readNotice(text)?.reason).toBe(reason);
  });

  it.each([
    ['@owl’s post has been withheld in Ruritania based on local law(s).', 'in Ruritania,'],
    [
      'Withheld in the Côte d’Ivoire, Peru in response to a legal demand.',
      'in the Côte d’Ivoire, Peru,',
    ],
  ])('%j names the country', (text, words) => {
    expect(readNotice(text)).toMatchObject({
      reason: 'withheld',
      detail: expect.stringContaining(`X withholds this post ${words}`),
    });
  });

  it.each(['', 'This Post is unavailable.', 'Hmm...this page doesn’t exist.'])(
    '%j states no reason',
    (text) => {
      expect(readNotice(text)).toBeNull();
    },
  );
});
