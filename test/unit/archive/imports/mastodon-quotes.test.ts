import { describe, expect, it } from 'vitest';
import { actorAddress, toCreate } from '../../../support/exports/mastodon-export.ts';
import { readOutboxOf, readPostsOf } from '../../../support/exports/read-mastodon.ts';

const own = (id: number) => `${actorAddress}/statuses/${id}`;
const page = (id: number) => `https://social.example.org/@Ada/${id}`;

const withFallback = (url: string) =>
  `<p class="quote-inline">RE: <a href="${url}">${url}</a></p><p>As I wrote</p>`;

const heron = toCreate(1, '<p>A heron stood there</p>');
const quoting = (more: Readonly<Record<string, unknown>>) =>
  toCreate(2, withFallback(page(1)), more);

async function readQuoting(...activities: readonly unknown[]) {
  const post = (await readPostsOf(activities)).get('2')?.post;
  if (post?.type !== 'status') throw new Error('The quoting post was not read.');
  return post;
}

describe('a post that quotes another post of the same outbox', () => {
  it.each([
    ['quote', { quote: own(1) }],
    ['quote, as an object', { quote: { type: 'Note', id: own(1) } }],
    ['quote, by numbers', { quote: 'https://social.example.org/ap/users/115/statuses/1' }],
    ['quoteUri', { quoteUri: own(1) }],
    ['quoteUrl', { quoteUrl: page(1) }],
    ['quoteURL', { quoteURL: page(1) }],
    ['quote, as a link', { quote: { type: 'Link', href: own(1) } }],
    ['_misskey_quote', { _misskey_quote: own(1) }],
    [
      'a link in its tags',
      { tag: [{ type: 'Link', rel: 'https://misskey-hub.net/ns#_misskey_quote', href: own(1) }] },
    ],
    [
      'a link of several relations',
      { tag: [{ type: 'Link', rel: ['self', 'https://w3id.org/fep/044f#quote'], href: own(1) }] },
    ],
    [
      'a link to an object',
      { tag: [{ type: 'Link', mediaType: 'application/activity+json', href: own(1) }] },
    ],
  ])('has the quoted post instead of a link to it: %s', async (_, more) => {
    const post = await readQuoting(heron, quoting(more));

    expect(post).toMatchObject({
      text: 'As I wrote',
      quote: { id: '1', text: 'A heron stood there', author: { name: 'Ada Fenwick' } },
      card: null,
    });
  });

  it.each([[{ rel: 'canonical' }], [{ rel: [] }], [{ mediaType: 'text/html' }]])(
    'quotes nothing by a link of another kind: %j',
    async (link) => {
      const tag = [{ type: 'Link', href: own(1), ...link }];

      expect(await readQuoting(heron, quoting({ tag }))).toMatchObject({ quote: null });
    },
  );

  it('has it wherever the quoted post is in the outbox', async () => {
    const activities = [heron, quoting({ quote: own(1) }), toCreate(3, 'Last')];

    const before = await readPostsOf(activities);
    const after = await readPostsOf(activities.toReversed());

    expect(after.get('2')).toEqual(before.get('2'));
    expect([...after.keys()].sort()).toEqual(['1', '2', '3']);
  });

  it('has one level of quotes, and the link to the next one', async () => {
    const third = toCreate(3, withFallback(page(2)), { quote: own(2) });

    const posts = await readPostsOf([third, quoting({ quote: own(1) }), heron]);

    expect(posts.get('3')?.post).toMatchObject({
      text: 'As I wrote',
      quote: { id: '2', text: `RE: ${page(1)}\n\nAs I wrote`, quote: null },
    });
  });

  it.each([
    ['the export does not contain the quoted post', own(9)],
    ['the post quotes itself', own(2)],
    ['the quoted post is by another account of the server', 'https://social.example.org/@ben/1'],
    ['the quoted post is on another server', 'https://other.example.org/users/Ada/statuses/1'],
  ])('keeps the link if %s', async (_, quote) => {
    const post = await readQuoting(heron, quoting({ quote }));

    expect(post).toMatchObject({ quote: null, text: `RE: ${page(1)}\n\nAs I wrote`, card: null });
  });

  it.each(['followers', 'direct'] as const)(
    'keeps the link if the quoted post is not public: %s',
    async (audience) => {
      const secret = toCreate(1, '<p>A secret heron</p>', { audience });

      const items = await readOutboxOf([secret, quoting({ quote: own(1) })]);

      expect(items).toContainEqual(expect.objectContaining({ kind: 'post' }));
      expect(JSON.stringify(items)).not.toContain('secret heron');
    },
  );

  it('has a card for a quoted post to which the text has no link', async () => {
    const quote = 'https://other.example.org/users/ben/statuses/7';

    expect(await readQuoting(toCreate(2, '<p>So true</p>', { quote }))).toMatchObject({
      text: 'So true',
      card: { url: quote, title: 'Quoted post' },
    });
    const linked = '<p>See <a href="https://other.example.org/@ben/7">this</a></p>';
    expect(await readQuoting(toCreate(2, linked, { quote }))).toMatchObject({ card: null });
  });
});
