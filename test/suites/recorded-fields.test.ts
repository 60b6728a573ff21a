import { describe, expect, it } from 'vitest';
import type { Account } from '../../src/model/account.ts';
import type { Post, Status } from '../../src/model/post.ts';
import { parsePost as parseBluesky } from '../../src/platforms/bluesky/payload.ts';
import { shapePost as shapeBluesky } from '../../src/platforms/bluesky/shape.ts';
import { shapeAccount } from '../../src/platforms/mastodon/identity.ts';
import {
  type PollPayload,
  parseAccount,
  parseStatus,
} from '../../src/platforms/mastodon/payload.ts';
import {
  createSurroundings,
  shapePost as shapeMastodon,
  shapePoll,
} from '../../src/platforms/mastodon/shape.ts';
import { parsePost as parseFxTwitter } from '../../src/providers/fxtwitter/payload.ts';
import { shapePost as shapeFxTwitter } from '../../src/providers/fxtwitter/shape.ts';
import { parsePost as parseSyndication } from '../../src/providers/syndication/payload.ts';
import { shapePost as shapeSyndication } from '../../src/providers/syndication/shape.ts';
import { fixturesFolder, fixturesPresent, listFixtures, readFixture } from '../support/fixtures.ts';

type Row = Readonly<Record<string, unknown>>;

/** Returns the objects in the bodies of recordings that match `is`, with their paths. */
function findRows(
  folder: string,
  is: (value: Row) => boolean,
): readonly (readonly [string, Row])[] {
  const search = (value: unknown): readonly Row[] => {
    if (typeof value !== 'object' || value === null) return [];
    const below = Object.values(value).flatMap(search);
    return !Array.isArray(value) && is(value as Row) ? [value as Row, ...below] : below;
  };
  return listFixtures(folder).flatMap((name) =>
    search(readFixture(name).response.body).map((row) => [name, row] as const),
  );
}

const namesOf = (rows: readonly (readonly [string, Row])[]) => [
  ...new Set(rows.map(([name]) => name)),
];

function toStatus(post: Post | null): Status {
  if (post?.type !== 'status') throw new Error('The recording can be shown.');
  return post;
}

/** A server that has none of the recorded posts. */
const host = 'reader.example.org';
const home = { host, domain: host };
const readMastodon = (row: Row): Status => {
  const status = parseStatus(row);
  if (status === null) throw new Error('The recording is readable.');
  return toStatus(shapeMastodon(status, createSurroundings([status], home)));
};

describe.skipIf(!fixturesPresent)(`fields in some recordings (${fixturesFolder})`, () => {
  it('have the link cards of X', () => {
    const found = findRows('fxtwitter', ({ card }) => typeof card === 'object' && card !== null);

    expect(namesOf(found)).toEqual([
      'fxtwitter/conversation/1649191520250245121-replies.json',
      'fxtwitter/statuses/xdevelopers-page-grouped.json',
      'fxtwitter/statuses/xdevelopers-page.json',
      'fxtwitter/thread/1649191520250245121-author-thread.json',
    ]);
    for (const [, row] of found) {
      const row_card = row.card as Row & { readonly image?: Row };
      const { card } = toStatus(shapeFxTwitter(parseFxTwitter(row) ?? raise()));
      expect(card).toEqual({
        url: row_card.url,
        title: row_card.title,
        description: row_card.description ?? null,
        image_url: row_card.image?.url ?? null,
        provider_name: row_card.domain,
      });
    }
  });

  it('have the link card of syndication, with the target of its link', () => {
    const { body } = readFixture('syndication/tweet-link-card.json').response;

    expect(shapeSyndication(parseSyndication(body) ?? raise()).card).toMatchObject({
      url: expect.stringMatching(/^https:\/\/reddit\.com\/r\/technology\/comments\//),
      title: expect.stringContaining('From the technology community on Reddit'),
      description: 'Explore this post and more from the technology community',
      image_url: expect.stringMatching(/^https:\/\/pbs\.twimg\.com\/card_img\//),
      provider_name: 'reddit.com',
    });
  });

  it('have edits, and the site and author of linked pages', () => {
    const edited = findRows(
      'mastodon',
      (row) => 'content' in row && typeof row.edited_at === 'string',
    );
    const named = findRows('mastodon', ({ card }) => Boolean((card as Row | null)?.provider_name));
    const written = findRows('mastodon', ({ card }) => Boolean((card as Row | null)?.author_name));

    expect(edited.length).toBeGreaterThan(5);
    expect(named.length).toBeGreaterThan(10);
    for (const [, row] of edited) {
      const at = String(row.edited_at).replace(/\.\d+/, '');
      expect(readMastodon(row).edited_at).toBe(at);
    }
    for (const [, row] of named) {
      expect(readMastodon(row).card?.provider_name).toBe((row.card as Row).provider_name);
    }
    for (const [, row] of written) {
      expect(readMastodon(row).card?.author_name).toBe((row.card as Row).author_name);
    }
  });

  it('have the number of voters', () => {
    const { body } = readFixture('mastodon/poll/closed.json').response;

    // The schema of a poll is read with its post; here it reads the poll as it was sent.
    expect(shapePoll(body as PollPayload)).toMatchObject({ total_votes: 25, total_voters: 25 });
  });

  it('have links in profiles, with their target if it differs from the label', () => {
    const found = findRows('mastodon', (row) => 'note' in row && 'acct' in row);
    const accounts = found.map(([, row]) => shapeAccount(parseAccount(row) ?? raise(), home));
    const hrefs = found.flatMap(([, row]) => {
      const html = [row.note, ...(row.fields as readonly Row[]).map(({ value }) => value)].join('');
      // One profile has links within the URLs of links.
      const links = html.matchAll(/<a [^>]*href="(https?:[^"<%]+)"/g);
      return [...links].map(([, href = '']) => href.replaceAll('&amp;', '&'));
    });
    const kept = accounts.flatMap(linksOf);

    expect(kept.filter(({ label, url }) => label !== url).length).toBeGreaterThan(20);
    const urls = new Set(kept.map(({ url }) => url));
    expect(hrefs.filter((href) => !urls.has(href))).toEqual([]);
  });

  it('have servers that sent copies', () => {
    const found = findRows('mastodon', (row) => 'content' in row && 'account' in row);
    const isOther = ([, { account }]: readonly [string, Row]) =>
      String((account as Row).acct).includes('@');
    const others = found.filter(isOther);

    expect(others.length).toBeGreaterThan(50);
    for (const each of found) {
      const post = readMastodon(each[1]);
      const source = isOther(each)
        ? { host, url: expect.stringContaining(`https://${host}/@`) }
        : undefined;
      expect([post.copied_from, post.author.copied_from]).toEqual([source, source]);
    }
  });

  it('have quotes within quotes, and tags beside the text, on Bluesky', () => {
    const nowMs = Date.UTC(2026, 10, 21);
    const found = findRows('bluesky', (row) => 'author' in row && 'record' in row);
    const posts = found.flatMap(([, row]) => {
      const post = parseBluesky(row);
      return post === null ? [] : [shapeBluesky(post, { nowMs, parentAuthor: null })];
    });
    const statuses = posts.filter((post) => post.type === 'status');
    const deep = statuses.filter(({ quote }) => quote?.type === 'status' && quote.quote !== null);

    expect(deep.length).toBeGreaterThan(0);
    expect(statuses.filter(({ tags }) => tags !== undefined).length).toBeGreaterThan(0);
  });
});

function linksOf({ description, description_facets = [] }: Account) {
  const points = [...(description ?? '')];
  return description_facets
    .filter(({ url }) => url !== undefined)
    .map(({ start, end, url }) => ({ label: points.slice(start, end).join(''), url }));
}

function raise(): never {
  throw new Error('The recording is readable.');
}
