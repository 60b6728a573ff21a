import { describe, expect, it } from 'vitest';
import type { Post, Status } from '../../../src/model/post.ts';
import type { PostFound, PostQuery } from '../../../src/model/queries.ts';
import { boundPost, withBounds } from '../../../src/providers/bounds.ts';
import {
  createStubProvider,
  stubAccount,
  stubFound,
  stubPost,
} from '../../support/stub-provider.ts';

const query: PostQuery = {
  kind: 'post',
  post: { platform: 'x', handle: null, id: '1' },
  thread: true,
  replies: 'top',
};

async function read(found: PostFound): Promise<PostFound> {
  const { post } = withBounds(createStubProvider('stub', async () => found)).fetch;
  if (post === undefined) throw new Error('The provider reads posts.');
  return post(query, { signal: new AbortController().signal });
}

function textsOf(posts: readonly Post[]): readonly number[] {
  return posts.map(({ text }) => text.length);
}

describe('a bounded answer', () => {
  it('is unchanged if nothing is too large', () => {
    const post = stubPost('1', { quote: stubPost('2'), reposted_by: stubAccount('otto') });

    expect(boundPost(post)).toEqual(post);
  });

  it('has short texts after its text budget is used up, first in the replies', async () => {
    const long = (id: string) => stubPost(id, { text: 'a'.repeat(6500) });
    const found = stubFound(long('1'), {
      ancestors: Array.from({ length: 5 }, (_, at) => long(`2${at}`)),
      continuation: Array.from({ length: 4 }, (_, at) => long(`3${at}`)),
      replies: [long('41'), long('42'), stubPost('43', { text: 'a'.repeat(200) })],
    });

    const { ancestors, post, continuation, replies, warnings } = await read(found);

    expect(textsOf([...ancestors, post, ...continuation])).toEqual(Array(10).fill(6500));
    expect(textsOf(replies)).toEqual([6500, 300, 200]);
    expect(replies[1]).toMatchObject({ left_out: ['text'] });
    expect(warnings).toEqual([expect.stringMatching(/^In 1 post, part of the text is missing/)]);
  });

  it('counts the weight of line breaks', async () => {
    const found = stubFound(stubPost('1', { text: 'a\n'.repeat(2500) }), {
      replies: [stubPost('2', { text: 'a'.repeat(10_000) })],
    });

    const { post, replies } = await read(found);

    expect(textsOf([post, ...replies])).toEqual([5000, 300]);
  });

  it('counts every text of a post', async () => {
    const account = (handle: string) => ({ ...stubAccount(handle), description: 'a'.repeat(900) });
    const blocks = Array(10).fill({ type: 'code', text: 'a'.repeat(6400) });
    const empty = { created_at: null, modified_at: null, cover_url: null, preview_text: null };
    const photo = { type: 'photo', url: 'https://a.example/', width: null, height: null } as const;
    const item = { ...photo, alt: 'a'.repeat(900) };
    const post = stubPost('1', {
      article: { id: null, title: 'Herons', ...empty, blocks },
      author: account('wren'),
      reposted_by: account('otto'),
      quote: stubPost('2', { media: { all: Array(8).fill(item), photos: [], videos: [] } }),
      poll: { choices: [], total_votes: null, ends_at: null },
    });

    const { replies } = await read(
      stubFound(post, { replies: [stubPost('3', { text: 'a'.repeat(2000) })] }),
    );

    expect(textsOf(replies)).toEqual([300]);
  });

  it('has the nearest 500 ancestors, and the first 500 posts below', async () => {
    const posts = Array.from({ length: 501 }, (_, at) => stubPost(`${at}`));
    const lists = { ancestors: posts, continuation: posts, replies: posts };

    const found = await read(stubFound(stubPost('1'), lists));

    const ends = [found.ancestors, found.continuation, found.replies].map((list) => [
      list.length,
      list[0]?.id,
      list.at(-1)?.id,
    ]);
    expect(ends).toEqual([
      [500, '1', '500'],
      [500, '0', '499'],
      [500, '0', '499'],
    ]);
    expect(found.warnings).toEqual([expect.stringMatching(/^3 posts are missing/)]);
  });
});

describe('a cut text', () => {
  const bound = (more: Partial<Status>) => boundPost(stubPost('1', more)) as Status;

  it('keeps complete links, and styles up to its end', () => {
    const url = 'https://a.example/';
    const { facets, left_out } = bound({
      text: `🐦${'a'.repeat(25_000)}`,
      facets: [
        { type: 'bold', start: 0, end: 25_001 },
        { type: 'link', start: 0, end: 2, url },
        { type: 'link', start: 24_000, end: 25_000, url },
        { type: 'link', start: 25_000, end: 25_001, url },
      ],
    });

    // The last of 25,000 code units is the ellipsis, and the first two are one code point.
    expect(facets).toEqual([
      { type: 'bold', start: 0, end: 24_998 },
      { type: 'link', start: 0, end: 2, url },
    ]);
    expect(left_out).toEqual(['text']);
  });

  it('is cut in blocks of an article', () => {
    const styles = [{ style: 'bold', start: 0, end: 25_001 } as const];
    const text = 'a'.repeat(25_001);
    const empty = { created_at: null, modified_at: null, cover_url: null, preview_text: null };
    const blocks = [{ type: 'paragraph', text, styles } as const, { type: 'divider' } as const];

    const { article, left_out } = bound({ article: { id: null, title: '', ...empty, blocks } });

    expect(article?.blocks).toEqual([
      {
        type: 'paragraph',
        text: `${text.slice(0, 24_999)}…`,
        styles: [{ style: 'bold', start: 0, end: 24_999 }],
      },
      { type: 'divider' },
    ]);
    expect(left_out).toEqual(['article']);
  });
});
