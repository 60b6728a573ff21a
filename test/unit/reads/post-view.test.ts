import { describe, expect, it } from 'vitest';
import { arrangePosts, type PostView } from '../../../src/reads/get-post.ts';
import { stubFound, stubPost } from '../../support/stub-provider.ts';

const view: PostView = {
  thread: 'full',
  context: 'full',
  replies: 'top',
  full: false,
  userDetail: 'off',
};
const to = (status: string) => ({ replying_to: { screen_name: 'wren', status, url: null } });
const replies = Array.from({ length: 30 }, (_, index) => stubPost(String(100 + index), to('20')));
const found = stubFound(stubPost('20'), { replies });

describe('the replies of a page', () => {
  it('include the first 20 direct ones with thread=full', () => {
    const { posts } = arrangePosts(found, view);

    expect(posts.map(({ id }) => id)).toEqual(['20', ...replies.slice(0, 20).map(({ id }) => id)]);
  });

  it('include all of them with thread=conversation', () => {
    expect(arrangePosts(found, { ...view, thread: 'conversation' }).posts).toHaveLength(31);
  });
});
