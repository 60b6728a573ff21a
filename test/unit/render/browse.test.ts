import { describe, expect, it } from 'vitest';
import { toMediaSet } from '../../../src/model/media.ts';
import { type ListResult, listReply } from '../../../src/model/results.ts';
import { renderBrowseJson } from '../../../src/render/json.ts';
import { renderBrowsePage } from '../../../src/render/markdown/browse-page.ts';
import {
  connectionsResult,
  nextPage,
  profileResult,
  repliesResult,
  searchFor,
  searchResult,
  userSearchResult,
} from '../../support/render-browse.ts';
import { tokenTypes } from '../../support/render-markdown.ts';
import {
  account,
  ada,
  answerTo,
  article,
  bo,
  cy,
  facet,
  photo,
  status,
  tombstone,
} from '../../support/render-posts.ts';

const wellKnown = {
  ...ada,
  avatar_url: 'https://media.example/ada.jpg',
  banner_url: 'https://media.example/point.jpg',
  likes: 812,
  media_count: 1,
};
const cap = account('Cap 🌊 | North | Bay', 'cap.example', {
  description: `${'Sails between the islands | sells rope, charts, and *other* necessities. '.repeat(3)}\n# Not a heading`,
  followers: 20_431,
  following: 3,
  statuses: 77,
  location: 'North | Bay',
  joined: '2021-11-30T23:59:00.000Z',
});
const layla = account('ليلى البحرية', 'layla.example', {
  description: 'أكتب عن البحر والمنارات.\nكل يوم صورة.',
  followers: 0,
  verification: { verified: true, type: null },
});
const toudai = account('灯台守', 'toudai.example', {
  description: '岬の灯台を三十年守っています。'.repeat(14),
  followers: 9120,
});
const nameless = account('', 'nn.example', { description: '- [ ] a list of my own' });
const people = [bo, cap, layla, toudai, nameless];

const tide = status(1, ada, 'High water at noon.', {
  likes: 4,
  reposts: 1,
  replies: 0,
  lang: 'en',
  source: 'Perch Web',
});
const lampText = 'Which lamp for #NorthPoint?';
const lamp = status(2, ada, lampText, {
  facets: [
    facet(lampText, '#NorthPoint', 'hashtag', 'https://perch.example/search?q=%23NorthPoint'),
  ],
  poll: {
    choices: [
      { label: 'Oil | wick', count: 12, percentage: 54.5 },
      { label: 'Electric', count: 10, percentage: 45.5 },
    ],
    total_votes: 22,
    ends_at: '2026-03-05T09:14:00.000Z',
  },
});
const essay = article('How a lens works', {
  preview_text: 'The lens is made of prisms.',
  cover_url: 'https://media.example/cover.jpg',
  blocks: [{ type: 'markdown', text: '# The lens\n\nis made of prisms. It weighs two tons.' }],
});
const harbour = status(3, bo, 'The harbour is *closed*.', { reposted_by: ada });
const arabicText = 'الضباب كثيف الليلة عند المنارة. #ضباب';
const fogs = [
  status(9, ada, 'Fog all night.'),
  status(8, layla, arabicText, {
    lang: 'ar',
    facets: [facet(arabicText, '#ضباب', 'hashtag', 'https://perch.example/search?q=fog')],
  }),
  status(7, toudai, '今夜は霧が深い。「見えない」\nhttps://light.example/霧', { lang: 'ja' }),
  status(6, cap, 'No fog here', { ...answerTo(tide), media: toMediaSet([photo('bay')]) }),
];

const asReply = { context: 'reply' } as const;
const repliesToTide = [
  status(20, bo, 'How high?', { ...answerTo(tide), ...asReply }),
  status(21, ada, 'To the third step.', { ...asReply, ...answerTo(status(20, bo, 'How high?')) }),
];

const pages: Readonly<Record<string, ListResult>> = {
  profile: profileResult([tide, status(0, ada, 'Low water at six.')]),
  'profile-full': profileResult([tide], { full: true }, wellKnown),
  'profile-without-posts': profileResult(null),
  'profile-empty': profileResult([], {}, bo),
  'profile-mixed': profileResult([
    harbour,
    status(4, ada, 'At noon, as I said.', answerTo(tide)),
    status(5, ada, 'Bo has news', {
      quote: status(3, bo, 'The harbour is closed.', { media: toMediaSet([photo('gate')]) }),
    }),
    lamp,
    status(6, ada, 'From the tower', {
      media: toMediaSet([photo('dawn', { alt: 'The lens at dawn' }), photo('dusk')]),
      possibly_sensitive: true,
    }),
    status(7, ada, 'https://perch.example/article/900', { article: essay }),
    tombstone({ author: ada, reason: 'unavailable', text: 'This post cannot be shown.' }),
  ]),
  followers: connectionsResult('followers', people),
  'following-full': connectionsResult('following', [wellKnown, cap, layla], { full: true }),
  replies: repliesResult(tide, repliesToTide),
  'replies-of-unknown': repliesResult(null, []),
  search: searchResult('fog | "霧" # #', fogs),
  'search-top': searchResult('fog', fogs.slice(0, 1), {
    subject: searchFor('fog', 'top'),
    full: true,
  }),
  'search-users': userSearchResult('keeper', [ada, cap]),
  'search-empty': searchResult('zzzz', []),
  'search-degraded': searchResult('fog', fogs.slice(0, 2), {
    degraded: true,
    warnings: ['Partial: *x* could not be searched.', '# Only the archive was searched.'],
  }),
  'page-3': connectionsResult('followers', [bo], {
    page: 3,
    next: nextPage('/api/v1/profiles/ada.example/followers', { limit: '1' }),
    warnings: ['The list changed while it was read.'],
  }),
};

describe.each(Object.entries(pages))('the page of %s', (name, page) => {
  it('matches the snapshot', async () => {
    await expect(renderBrowsePage(page)).toMatchFileSnapshot(`snapshots/browse-${name}.md`);
  });

  it('has no HTML and follows the layout', () => {
    const markdown = renderBrowsePage(page);

    expect(tokenTypes(markdown).filter((type) => type.startsWith('html'))).toEqual([]);
    expect(markdown).toMatch(/[^\n]\n$/);
    expect(markdown).not.toMatch(/\n\n\n/);
    expect(markdown).not.toMatch(/(?<! {2})(?<=[ \t])\n| {2}\n\n| {3}\n/);
  });

  it('is part of a JSON body that matches the schema, with keys in order', () => {
    const body = renderBrowseJson(page);

    const reply = listReply.parse(JSON.parse(body));

    expect(JSON.parse(body)).toEqual(reply);
    expect(Object.keys(JSON.parse(body))).toEqual(Object.keys(reply));
    expect(reply.markdown).toBe(renderBrowsePage(page));
  });
});

it.each([
  ['No posts.', profileResult([])],
  ['No accounts to show.', connectionsResult('followers', [])],
  ['No accounts to show.', connectionsResult('following', [])],
  ['Nothing found.', searchResult('fog', [])],
  ['Nothing found.', userSearchResult('fog', [])],
  ['Nothing on this page.', searchResult('fog', [], { page: 2 })],
  ['Nothing on this page.', profileResult([], { next: nextPage('/api/v1/search', {}) })],
])('an empty page says %j', (sentence, page) => {
  expect(renderBrowsePage(page)).toContain(`\n\n${sentence}\n`);
});

it.each([
  ['whole where it is short enough', 'ab '.repeat(53), `${'ab '.repeat(53).trim()}`],
  ['up to a word’s end', 'abc '.repeat(50), `${'abc '.repeat(39)}abc…`],
  ['up to a character’s end without spaces', '霧'.repeat(200), `${'霧'.repeat(159)}…`],
  ['without a part of an emoji', '👩‍👩‍👧'.repeat(40), `${'👩‍👩‍👧'.repeat(31)}…`],
  ['without the rest of endless marks', `a${'\u0301'.repeat(300)}`, `a${'\u0301'.repeat(158)}…`],
  ['without what is not shown', `${' \n'.repeat(300)}Fog\u202e`, 'Fog'],
])('a biography in a list is shown %s', (_, description, expected) => {
  const page = connectionsResult('followers', [{ ...bo, description }]);

  expect(renderBrowsePage(page)).toContain(`Protected  \n  ${expected}\n`);
});

describe('a profile page', () => {
  it('names its account only in the title, and the authors of reposts', () => {
    const markdown = renderBrowsePage(profileResult([tide, harbour, lamp]));

    const headings = markdown.match(/^#+ .*/gm) ?? [];

    expect(headings.filter((heading) => heading.includes('Ada'))).toEqual([
      '# Ada Keeper (@ada.example)',
    ]);
    expect(headings.filter((heading) => heading.includes('Bo ('))).toHaveLength(1);
  });

  it('has the handle as title if the profile is unknown', () => {
    const markdown = renderBrowsePage(profileResult([tide], { profile: null }));

    expect(markdown).toMatch(/^# @ada\.example\n\nProfile: <https:\/\/perch\.example\/ada/);
  });
});

describe('the JSON of a list', () => {
  it('contains the query and the URL of the next page', () => {
    const next = nextPage('/api/v1/search', { q: 'fog' });
    const page = searchResult('fog', fogs, { next, page: 2, degraded: true, warnings: ['One.'] });

    const { markdown, ...body } = JSON.parse(renderBrowseJson(page));

    expect(markdown).toContain(`[Next page](${next.url})`);
    expect(body).toEqual({
      resource: 'search',
      query: 'fog',
      feed: 'latest',
      posts: fogs,
      page: 2,
      limit: 20,
      nextCursor: next.cursor,
      warnings: ['One.'],
      degraded: true,
      source: 'archive',
      fetched_at: page.fetchedAt,
    });
  });

  it('contains the profile, and no posts if none were requested', () => {
    const body = JSON.parse(renderBrowseJson(profileResult(null)));

    expect(body).toMatchObject({ resource: 'profile', handle: 'ada.example', profile: ada });
    expect(Object.keys(body)).not.toEqual(expect.arrayContaining(['posts']));
    expect(body).not.toHaveProperty('nextCursor');
  });

  it('contains the accounts of a list', () => {
    const body = JSON.parse(renderBrowseJson(connectionsResult('following', [bo, cy])));

    expect(body).toMatchObject({ resource: 'following', handle: 'ada.example', users: [bo, cy] });
    expect(body).not.toHaveProperty('profile');
  });
});
