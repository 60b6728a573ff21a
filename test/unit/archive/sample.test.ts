import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { readSample, sampleVersion } from '../../../src/archive/sample.ts';
import { account } from '../../../src/model/account.ts';
import type { ArticleBlock } from '../../../src/model/article.ts';
import { media } from '../../../src/model/media.ts';
import type { Facet, Post, Status, Tombstone } from '../../../src/model/post.ts';
import { post, status, tombstone } from '../../../src/model/post.ts';
import { isPostId, parseHandle } from '../../../src/model/reference.ts';

const sample = readSample();
const posts = sample.posts.map((one) => one.post);
const follows = Object.entries(sample.follows).flatMap(([follower, others]) =>
  others.map((following) => ({ follower, following })),
);
const statuses = posts.filter((one): one is Status => one.type === 'status');
const tombstones = posts.filter((one): one is Tombstone => one.type === 'tombstone');
const byId = new Map(posts.map((one) => [one.id, one]));
const handles = new Set(sample.accounts.map((one) => one.screen_name));
const byHandle = (handle: string) => statuses.filter((one) => one.author.screen_name === handle);

const names = { author: z.string(), replying_to: z.string().optional() };
const records = z.discriminatedUnion('type', [
  status
    .omit({ reposted_by: true, content_warning: true, context: true, platform: true })
    .partial({
      possibly_sensitive: true,
      poll: true,
      article: true,
      card: true,
      community_note: true,
    })
    .extend({ ...names, quote: z.string().optional(), media: z.array(media).optional() }),
  tombstone
    .unwrap()
    .omit({ context: true, platform: true })
    .extend({ ...names, id: z.string(), author: z.string().nullable() }),
]);
const files = {
  accounts: z.array(account),
  posts: z.array(records),
  reposts: z.array(
    z.object({ handle: z.string(), postHandle: z.string(), postId: z.string(), created: z.int() }),
  ),
  follows: z.record(z.string(), z.array(z.string())),
};

const slice = (text: string, run: { start: number; end: number }) =>
  [...text].slice(run.start, run.end).join('');
const repliesTo = (parent: Post) =>
  statuses.filter((one) => one.replying_to?.status === parent.id && parent.id !== null);

describe('the sample', () => {
  it('is the same on every call', () => {
    const again = readSample();

    expect(again).toEqual(sample);
  });

  it('has a version and enough posts', () => {
    expect(sampleVersion).toBeGreaterThanOrEqual(1);
    expect(sample.accounts.length).toBeGreaterThanOrEqual(6);
    expect(posts.length).toBeGreaterThanOrEqual(130);
  });

  it('has no field that the models lack', () => {
    const archive = z.object({ accounts: z.array(account), posts: z.array(post) });

    const parsed = archive.parse({ accounts: sample.accounts, posts });

    expect(parsed).toEqual({ accounts: sample.accounts, posts });
  });

  it.each(Object.entries(files))('has no unused fields in %s.json', (name, schema) => {
    const content = JSON.parse(readFileSync(`resources/sample/${name}.json`, 'utf8'));

    // Nested objects lose the fields that their schema lacks.
    expect(schema.parse(content)).toEqual(content);
  });

  it('has no duplicate texts', () => {
    const texts = statuses.map((one) => one.text);

    expect(new Set(texts).size).toBe(texts.length);
  });

  it('has no real addresses', () => {
    const addresses = JSON.stringify(sample).match(/(?:https?:\/\/|perch:)[^\s"\\)]*/g) ?? [];

    const astray = addresses.filter(
      (one) => !/^(?:https:\/\/(?:[a-z0-9-]+\.)*[a-z0-9-]+\.example(?:[/?#]|$)|perch:\/)/.test(one),
    );

    expect(astray).toEqual([]);
  });
});

describe('its accounts', () => {
  it.each(sample.accounts)('$screen_name has a handle of the sample and an address', (one) => {
    expect(parseHandle(one.screen_name)?.platform).toBe('sample');
    expect(one.url).toBe(`perch:/${one.screen_name}`);
    expect(one.platform).toBe('sample');
  });

  it.each(sample.accounts)("$screen_name has counts that include the sample's posts", (one) => {
    const posts = byHandle(one.screen_name);
    const followers = follows.filter((row) => row.following === one.screen_name);
    const following = follows.filter((row) => row.follower === one.screen_name);
    const media = posts.flatMap((shown) => shown.media.all);

    expect(one.statuses).toBeGreaterThanOrEqual(posts.length);
    expect(one.followers).toBeGreaterThanOrEqual(followers.length);
    expect(one.following).toBeGreaterThanOrEqual(following.length);
    expect(one.media_count).toBeGreaterThanOrEqual(media.length);
    expect(following.length).toBeGreaterThanOrEqual(2);
    expect(posts.length).toBeGreaterThanOrEqual(3);
  });

  it('follow existing accounts, once, and not themselves', () => {
    const rows = follows.map((row) => `${row.follower} ${row.following}`);

    expect(new Set(rows).size).toBe(rows.length);
    for (const row of follows) {
      expect(handles).toContain(row.follower);
      expect(handles).toContain(row.following);
      expect(row.follower).not.toBe(row.following);
    }
  });

  it('joined before their first post', () => {
    const early = statuses.filter((one) => one.created_at <= (one.author.joined ?? ''));

    expect(early).toEqual([]);
  });
});

describe('its posts', () => {
  it('have unique ids that rise with time', () => {
    const ids = posts.map((one) => BigInt(one.id ?? 0));
    const accountIds = sample.accounts.map((one) => one.id);
    const times = statuses.map((one) => one.created_timestamp);

    expect(new Set([...ids.map(String), ...accountIds]).size).toBe(ids.length + accountIds.length);
    expect(ids).toEqual(ids.toSorted((a, b) => (a < b ? -1 : 1)));
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    for (const id of ids) expect(isPostId('sample', String(id))).toBe(true);
    for (const id of ids) expect(String(id)).toMatch(/^\d{18,19}$/);
  });

  it('are from 2024 to the middle of 2026, in whole seconds', () => {
    for (const one of statuses) {
      expect(one.created_at >= '2024-01-01' && one.created_at < '2026-07-01').toBe(true);
      expect(one.created_timestamp).toBe(Date.parse(one.created_at) / 1000);
      expect(one.url).toBe(`perch:/${one.author.screen_name}/status/${one.id}`);
    }
  });

  it('have no context and no repost', () => {
    expect(posts.filter((one) => one.context !== null)).toEqual([]);
    expect(statuses.filter((one) => one.reposted_by !== null)).toEqual([]);
  });

  it('reply to older existing posts', () => {
    for (const one of statuses.filter((reply) => reply.replying_to !== null)) {
      const parent = byId.get(one.replying_to?.status ?? null);

      expect(one.replying_to).toEqual({
        screen_name: parent?.author?.screen_name ?? null,
        status: parent?.id,
        url: parent?.url,
      });
      expect(BigInt(parent?.id ?? 0)).toBeLessThan(BigInt(one.id));
    }
    for (const { id, parentId } of sample.posts.filter((row) => row.parentId !== null)) {
      expect(BigInt(byId.get(parentId)?.id ?? id)).toBeLessThan(BigInt(id));
    }
  });

  it('quote existing posts completely', () => {
    for (const one of statuses.filter((quoting) => quoting.quote !== null)) {
      expect(one.quote).toEqual(byId.get(one.quote?.id ?? null));
    }
  });

  it('count at least the replies and quotes in the sample', () => {
    for (const one of statuses) {
      const quotes = statuses.filter((other) => other.quote?.id === one.id);

      expect(one.replies).toBeGreaterThanOrEqual(repliesTo(one).length);
      expect(one.quotes).toBeGreaterThanOrEqual(quotes.length);
      expect(one.views ?? Infinity).toBeGreaterThan(one.likes ?? 0);
    }
    expect(statuses.some((one) => one.views === null)).toBe(true);
  });

  it('are reposted later by others, and count it', () => {
    const keys = sample.reposts.map((one) => `${one.handle} ${one.postId}`);

    expect(sample.reposts.length).toBeGreaterThanOrEqual(8);
    expect(new Set(sample.reposts.map((one) => one.handle)).size).toBeGreaterThanOrEqual(6);
    expect(new Set(keys).size).toBe(keys.length);
    for (const one of sample.reposts) {
      const original = statuses.find((status) => status.id === one.postId);
      const times = sample.reposts.filter(({ postId }) => postId === one.postId).length;

      expect(handles).toContain(one.handle);
      expect(original?.author.screen_name).toBe(one.postHandle);
      expect(one.postHandle).not.toBe(one.handle);
      expect(one.created).toBeGreaterThan(original?.created_timestamp ?? Infinity);
      expect(original?.reposts).toBeGreaterThanOrEqual(times);
    }
  });

  it('mention only accounts of the sample', () => {
    const mentions = statuses.flatMap((one) =>
      one.facets
        .filter((mark) => mark.type === 'mention')
        .map((mark) => slice(one.text, mark).slice(1)),
    );

    expect(mentions.length).toBeGreaterThan(0);
    expect(mentions.filter((name) => !handles.has(name))).toEqual([]);
  });

  it('have facets for all mentions and tags', () => {
    for (const { text, facets } of statuses) {
      const said =
        text.replaceAll(/https?:\S+/g, '').match(/(?<![\p{L}\p{N}_.@&#-])[@#]\p{L}+/gu) ?? [];
      const marked = facets.filter(({ type }) => type === 'mention' || type === 'hashtag');

      expect(said).toHaveLength(marked.length);
    }
  });

  it('have sorted facets that match their text and never overlap', () => {
    const begins: Partial<Record<Facet['type'], RegExp>> = {
      link: /^https:\/\/\S+[^.,)]$/,
      mention: /^@[a-z0-9-]+\.example$/,
      hashtag: /^#[\p{L}\p{M}\p{N}_]+$/u,
    };
    for (const { text, facets } of statuses) {
      for (const [index, mark] of facets.entries()) {
        expect(slice(text, mark)).toMatch(begins[mark.type] ?? /^\S[\s\S]*\S$|^\S$/);
        const crossing = facets
          .slice(index + 1)
          .filter((later) => later.start < mark.end && later.end > mark.end);
        expect(crossing).toEqual([]);
      }
      expect(facets.map((mark) => mark.start)).toEqual(
        facets.map((mark) => mark.start).toSorted((a, b) => a - b),
      );
    }
  });
});

describe('the heron thread', () => {
  const thread = byHandle('ada.example').filter((one) =>
    one.created_at.startsWith('2026-04-18T06:'),
  );

  it('starts at the id in the README and has five posts', () => {
    expect(thread[0]?.id).toBe('1900000000000000001');
    expect(thread).toHaveLength(5);
    expect(thread.map((one) => one.replying_to?.status)).toEqual([
      undefined,
      ...thread.slice(0, 4).map((one) => one.id),
    ]);
  });

  it('shows a photo with a description, a quote, a mention, a tag and a link', () => {
    const marks = new Set(thread.flatMap((one) => one.facets.map((mark) => mark.type)));

    expect(thread[0]?.media.photos[0]?.alt).toMatch(/heron/);
    expect(thread.some((one) => one.quote?.type === 'status')).toBe(true);
    expect([...marks]).toEqual(
      expect.arrayContaining(['mention', 'hashtag', 'link', 'bold', 'italic']),
    );
  });

  it('has replies by many accounts and by its author, and nested replies', () => {
    const replies = thread.flatMap(repliesTo).filter((one) => !thread.includes(one));
    const deeper = replies.flatMap(repliesTo);
    const deepest = deeper.flatMap(repliesTo);

    expect(new Set(replies.map((one) => one.author.screen_name)).size).toBeGreaterThanOrEqual(6);
    expect(deeper.some((one) => one.author.screen_name === 'ada.example')).toBe(true);
    expect(deepest.length).toBeGreaterThanOrEqual(3);
  });
});

describe('the variety of the sample', () => {
  const media = statuses.flatMap((one) => one.media.all);
  const polls = statuses.flatMap((one) => (one.poll === null ? [] : [one.poll]));
  const articles = statuses.flatMap((one) => (one.article === null ? [] : [one.article]));

  it.each(['photo', 'video', 'gif', 'audio'])('includes media: %s', (type) => {
    expect(media.some((one) => one.type === type)).toBe(true);
  });

  it.each([1, 2, 3, 4])('includes a set of %i photos', (size) => {
    expect(statuses.some((one) => one.media.photos.length === size)).toBe(true);
  });

  it('includes photos with and without a description', () => {
    const photos = media.filter((one) => one.type === 'photo');

    expect(photos.some((one) => one.alt === null)).toBe(true);
    expect(photos.some((one) => one.alt !== null)).toBe(true);
  });

  it.each(['deleted', 'suspended', 'private'])('includes tombstones: %s', (reason) => {
    expect(tombstones.some((one) => one.reason === reason)).toBe(true);
  });

  it('includes quotes of a quote and of a deleted post', () => {
    const quotes = statuses.flatMap((one) => (one.quote === null ? [] : [one.quote]));

    expect(quotes.some((one) => one.type === 'status' && one.quote !== null)).toBe(true);
    expect(quotes.some((one) => one.type === 'tombstone' && one.reason === 'deleted')).toBe(true);
  });

  it('includes a thread with a deleted post in the middle', () => {
    const gone = tombstones.filter((one) => one.reason === 'deleted');
    const continued = gone.flatMap((one) =>
      repliesTo(one).filter((next) => next.author.screen_name === one.author?.screen_name),
    );

    expect(continued.length).toBeGreaterThanOrEqual(1);
  });

  it('includes polls with results and with hidden results', () => {
    const hidden = polls.filter((one) => one.total_votes === null);
    const finished = polls.filter((one) => one.total_votes !== null);

    expect(hidden.flatMap((one) => one.choices.map((choice) => choice.count))).toContain(null);
    expect(finished.length).toBeGreaterThanOrEqual(1);
    for (const one of finished) {
      const shares = one.choices.reduce((sum, choice) => sum + (choice.percentage ?? 0), 0);
      const votes = one.choices.reduce((sum, choice) => sum + (choice.count ?? 0), 0);
      expect(shares).toBeCloseTo(100, 0);
      expect(votes).toBe(one.total_votes);
    }
  });

  it('includes all article blocks', () => {
    const blocks: readonly ArticleBlock[] = articles.flatMap((one) => one.blocks);
    const texts = blocks.flatMap((one) => ('text' in one ? [one.text] : []));
    const lists = blocks.flatMap((one) => (one.type === 'list_item' ? [one.ordered] : []));

    expect(new Set(blocks.map((one) => one.type)).size).toBe(9);
    expect(new Set(lists)).toEqual(new Set([true, false]));
    expect(texts.join(' ').split(/\s+/).length).toBeGreaterThanOrEqual(600);
  });

  it('includes all article styles', () => {
    const blocks = articles
      .flatMap((one) => one.blocks)
      .flatMap((one) => ('styles' in one ? [one] : []));
    const styles = blocks.flatMap((one) => one.styles);

    expect(new Set(styles.map((one) => one.style)).size).toBe(5);
    for (const one of blocks) {
      for (const run of one.styles) expect(slice(one.text, run)).toMatch(/^\S.*\S$/);
    }
  });

  it('includes article references to posts of the sample', () => {
    const urls = articles
      .flatMap((one) => one.blocks)
      .flatMap((one) => (one.type === 'post' ? [one.url] : []));
    const known = new Set(posts.map((one) => one.url));

    expect(urls.length).toBeGreaterThanOrEqual(1);
    expect(urls.filter((url) => !known.has(url))).toEqual([]);
  });

  it('includes sensitive, noted and long posts', () => {
    expect(statuses.some((one) => one.possibly_sensitive)).toBe(true);
    expect(statuses.some((one) => one.community_note !== null)).toBe(true);
    expect(statuses.filter((one) => one.text.length > 900).length).toBeGreaterThanOrEqual(2);
  });

  it.each([/^# /m, /^1\. /m, /^- /m, /^\| a \| b \|/m, /^> /m, /^---$/m, /^```$/m])(
    'includes text with Markdown syntax: %s',
    (pattern) => {
      expect(statuses.some((one) => pattern.test(one.text))).toBe(true);
    },
  );

  it.each([/\*[^*]+\*/, /\w_\w/, /\[[^\]]+\]\([^)]+\)/, /<script>/, /`[^`]+`/, /&amp;/, /\\/])(
    'includes Markdown characters: %s',
    (pattern) => {
      expect(statuses.some((one) => pattern.test(one.text))).toBe(true);
    },
  );

  it.each([
    'Latin',
    'Cyrillic',
    'Greek',
    'Arabic',
    'Hebrew',
    'Devanagari',
    'Hiragana',
    'Han',
    'Hangul',
    'Thai',
  ])('includes scripts: %s', (script) => {
    const pattern = new RegExp(`\\p{Script=${script}}{2}`, 'u');

    expect(statuses.some((one) => pattern.test(one.text))).toBe(true);
  });

  it.each('en ar ja es ko de he yi fa hi el bg th zh pt cs'.split(' '))(
    'includes languages: %s',
    (lang) => {
      expect(statuses.some((one) => one.lang === lang)).toBe(true);
    },
  );

  it.each([
    ['skin tone', /\p{Emoji_Modifier}/u],
    ['joined emoji', /\p{Emoji}\u200D\p{Emoji}/u],
    ['combining mark', /\p{Script=Latin}\u0301/u],
    ['mixed direction', /\p{Script=Arabic}.*\p{Script=Latin}.*\p{Script=Arabic}/u],
    ['Latin with diacritics', /[äöüßáčéñõ]/],
  ])('includes characters: %s', (_name, pattern) => {
    expect(statuses.some((one) => pattern.test(one.text))).toBe(true);
  });
});
