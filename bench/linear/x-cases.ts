import {
  type Fields,
  fxBody,
  fxPage,
  fxReply,
  fxStatus,
  fxUser,
  syndicationPost,
} from '../../test/support/x-payloads.ts';
import {
  writeAnyText as anyText,
  type RandomSource,
  writeRowText as rowText,
  themes,
  writeText,
} from './random-text.ts';
import { type Case, createCase, fill } from './upstreams.ts';

const id = '2001';

/** Function that returns fields of a post. The JSON of the fields has about `bytes` bytes. */
type Members = (random: RandomSource, bytes: number) => Fields;

const url = 'https://pbs.example/a.jpg';
const kinds = ['photo', 'video', 'gif'] as const;
const styles = ['Bold', 'Italic', 'Strikethrough', 'Code'] as const;

function block(text: string, fields: Fields): Fields {
  return {
    type: 'unstyled',
    text,
    entityRanges: [],
    inlineStyleRanges: [],
    ...fields,
  };
}

function article(blocks: readonly Fields[], entities: readonly Fields[] = []): Fields {
  const content = { blocks, entityMap: entities };
  return {
    article: { id: '1', title: 'On herons', preview_text: 'They', content, media_entities: [] },
  };
}

function markdownEntity(markdown: string): Fields {
  return { key: '0', value: { type: 'MARKDOWN', data: { markdown } } };
}

const atomic = { type: 'atomic', text: ' ', entityRanges: [{ key: '0', offset: 0, length: 1 }] };

const members: Readonly<Record<string, Members>> = {
  media: (random, bytes) => ({
    media: {
      all: fill(bytes, (at) => ({
        type: random.pick(kinds),
        url: `${url}?${at}`,
        width: 4,
        height: 3,
        altText: random.below(2) === 0 ? null : 'A heron',
      })),
    },
  }),
  alt: (random, bytes) => ({
    media: { all: [{ type: 'photo', url, altText: anyText(random, bytes) }] },
  }),
  facets: (random, bytes) => {
    const facets: Fields[] = [];
    const text = fill(bytes / 4, (at) => {
      const word = `${random.pick(['@', '#', '$'])}heron${at % 7}`;
      return random.below(3) === 0 ? `*${word}*` : word;
    }).join(' ');
    for (let at = 0, count = 0; at < text.length && count < bytes / 90; at += 8, count += 1) {
      const type = random.pick(['mention', 'hashtag', 'bold', 'italic', 'strikethrough']);
      const original = text.slice(at, at + 8);
      facets.push({ type, indices: [at, at + random.pick([8, 3, 90, 4000])], original });
    }
    return { text, raw_text: { text, display_text_range: [0, text.length], facets } };
  },
  quotes: (random, bytes) => {
    let quote: Fields | null = null;
    for (let written = 0; written < bytes / 2; ) {
      const row = fxStatus(String(3000 + random.below(9)), { text: anyText(random, 900) });
      written += JSON.stringify(row).length;
      quote = { ...row, quote };
      if (written > 400_000) break; // deeper than JSON can be written
    }
    return { quote };
  },
  poll: (random, bytes) => ({
    poll: {
      choices: fill(bytes, (at) => ({ label: rowText(random, at, 12), count: 3, percentage: 2.5 })),
      total_votes: 9,
      ends_at: '2026-03-05T09:12:00Z',
    },
  }),
  'article blocks': (random, bytes) =>
    article(
      fill(bytes, (at) =>
        block(rowText(random, at, 40), {
          type: random.pick(['unstyled', 'header-two', 'blockquote', 'code-block', 'atomic']),
          inlineStyleRanges: [{ style: random.pick(styles), offset: random.below(9), length: 20 }],
        }),
      ),
    ),
  'article lists': (random, bytes) =>
    article(
      fill(bytes, (at) =>
        block(rowText(random, at, 40), {
          type: `${random.pick(['un', 'un', 'un', ''])}ordered-list-item`,
        }),
      ),
    ),
  'article styles': (random, bytes) => {
    const text = anyText(random, bytes / 4);
    const inlineStyleRanges = fill(bytes / 2, () => ({
      style: random.pick(styles),
      offset: random.below(text.length),
      length: random.pick([1, 5, 300, text.length]),
    }));
    const tags = fill(bytes / 4, () => ({ fromIndex: 0, toIndex: text.length, text: 'heron' }));
    const data = { urls: tags, mentions: [], hashtags: [], cashtags: [] };
    return article([block(text, { inlineStyleRanges, data })]);
  },
  names: (random, bytes) => ({
    author: fxUser('mira_holm', {
      name: anyText(random.for('name'), bytes / 4),
      description: anyText(random.for('description'), bytes / 4),
      location: anyText(random.for('location'), bytes / 4),
    }),
    community_note: { text: anyText(random.for('note'), bytes / 4) },
  }),
};

const texts: Readonly<Record<string, Members>> = Object.fromEntries(
  themes.flatMap((theme): [string, Members][] => [
    [`text of ${theme}`, (random, bytes) => ({ text: writeText(random, theme, bytes / 2) })],
    [
      `article of Markdown with ${theme}`,
      (random, bytes) => article([atomic], [markdownEntity(writeText(random, theme, bytes))]),
    ],
  ]),
);

const posts = Object.entries({ ...members, ...texts }).map(([name, make]) =>
  createCase({
    provider: 'fxtwitter',
    read: 'post',
    name,
    write: (random, bytes) => {
      const body = fxBody(fxStatus(id, make(random, bytes)));
      return { 'status/': body, 'thread/': body, 'conversation/': body };
    },
  }),
);

const lists: readonly Case[] = [
  createCase({
    provider: 'fxtwitter',
    read: 'post',
    name: 'thread and replies',
    write: (random, bytes) => {
      const row = (at: number, handle: string) =>
        fxReply(String(2002 + at), String(2001 + random.below(at + 1)), handle, {
          text: rowText(random, at, 60),
        });
      const focal = fxStatus(id);
      const thread = [focal, ...fill(bytes, (at) => row(at, 'mira_holm'))];
      const replies = fill(bytes, (at) => row(at, random.pick(['mira_holm', 'tove_ek', 'otto'])));
      const body = fxBody(focal, { thread });
      return {
        'status/': fxBody(focal),
        'thread/': body,
        'conversation/': fxBody(focal, { thread, replies }),
      };
    },
  }),
  createCase({
    provider: 'fxtwitter',
    read: 'timeline',
    name: 'posts',
    write: (random, bytes) => ({
      statuses: fxPage(
        fill(bytes, (at) => fxStatus(String(2002 + at), { text: rowText(random, at, 60) })),
      ),
      'profile/': { code: 200, user: fxUser('mira_holm') },
    }),
  }),
  createCase({
    provider: 'fxtwitter',
    read: 'followers',
    name: 'accounts',
    write: (random, bytes) => ({
      followers: fxPage(
        fill(bytes, (at) =>
          fxUser(`a${at}`, { id: String(at), description: rowText(random, at, 60) }),
        ),
      ),
      'profile/': { code: 200, user: fxUser('mira_holm') },
    }),
  }),
];

const syndication = Object.entries({
  text: (random, bytes) => ({ text: anyText(random, bytes) }),
  entities: (random, bytes) => {
    const text = 'heron '.repeat(bytes / 12);
    const hashtags = fill(bytes / 2, (at) => ({
      indices: [at * 6, at * 6 + random.pick([5, 400])],
      text: 'heron',
    }));
    return { text, entities: { hashtags, urls: [], user_mentions: [], symbols: [] } };
  },
  media: (random, bytes) => ({
    mediaDetails: fill(bytes, () => ({
      type: random.pick(['photo', 'video', 'animated_gif']),
      media_url_https: url,
      ext_alt_text: null,
      indices: [0, 4],
      url: 'https://t.co/a',
    })),
  }),
} satisfies Readonly<Record<string, Members>>).map(([name, make]: readonly [string, Members]) =>
  createCase({
    provider: 'syndication',
    read: 'post',
    name,
    write: (random, bytes) => ({ 'tweet-result': syndicationPost(id, make(random, bytes)) }),
  }),
);

/** Test cases with expensive responses of the two services for reading X: FxTwitter and syndication. */
export const xCases: readonly Case[] = [...posts, ...lists, ...syndication];
