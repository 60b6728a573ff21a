import { describe, expect, it } from 'vitest';
import { toMediaSet } from '../../../src/model/media.ts';
import type { PostResult } from '../../../src/model/results.ts';
import { renderPostPage } from '../../../src/render/markdown/post-page.ts';
import { renderPostNote } from '../../../src/render/obsidian.ts';
import { tokenTypes } from '../../support/render-markdown.ts';
import {
  account,
  ada,
  answerTo,
  article,
  bo,
  cy,
  facet,
  furtherMembers,
  photo,
  result,
  status,
  tombstone,
} from '../../support/render-posts.ts';

const evil =
  '<script>alert(1)</script> **x** [y](javascript:alert(2)) `z`\n# h\n![p](https://e.example)';

const fogText =
  'Fog all night. @bo.example asked what the #FogSignal costs: $BRASS, see light.example/log-2026 or mail the keeper.\n\nThe horn is *loud*.';
const fog = status(1, ada, fogText, {
  facets: [
    facet(fogText, 'Fog all night', 'bold'),
    facet(fogText, '@bo.example', 'mention', bo.url),
    facet(fogText, '#FogSignal', 'hashtag', 'https://perch.example/search?q=%23FogSignal'),
    facet(fogText, '$BRASS', 'symbol', 'https://perch.example/search?q=%24BRASS'),
    facet(fogText, 'light.example/log-2026', 'link', 'https://light.example/log-2026'),
    facet(fogText, 'mail the keeper', 'link', 'mailto:ada@light.example'),
  ],
  lang: 'en',
  replies: 12,
  reposts: 3,
  likes: 40,
  quotes: 2,
  bookmarks: 1,
  views: 4186,
  source: 'Perch Web',
});

const lamp = status(2, ada, 'Which lamp?', {
  poll: {
    choices: [
      { label: 'Oil | wick', count: 12, percentage: 54.5 },
      { label: 'Electric', count: 10, percentage: 45.5 },
      { label: 'Neither', count: null, percentage: null },
    ],
    total_votes: 22,
    ends_at: '2026-03-05T09:14:00.000Z',
  },
});

const media = [
  photo('dawn', { alt: 'The lens at dawn,\nseen from [below]' }),
  photo('dusk'),
  {
    type: 'video' as const,
    url: 'https://media.example/turn.mp4',
    width: 1280,
    height: 720,
    alt: null,
    thumbnail_url: 'https://media.example/turn.jpg',
    duration: 30.4,
    variants: [
      {
        url: 'https://media.example/turn.m3u8',
        content_type: 'application/x-mpegURL',
        bitrate: null,
      },
      { url: 'https://media.example/turn-low.mp4', content_type: 'video/mp4', bitrate: 832_000 },
      { url: 'https://media.example/turn.mp4', content_type: 'video/mp4', bitrate: 2_176_000 },
    ],
  },
  {
    type: 'gif' as const,
    url: 'https://media.example/gull.mp4',
    width: 320,
    height: 240,
    alt: 'A gull steals a sandwich',
    thumbnail_url: 'https://media.example/gull.jpg',
  },
  {
    type: 'audio' as const,
    url: 'https://media.example/horn.mp3',
    width: null,
    height: null,
    alt: null,
    duration: 185,
  },
];

const essayText = 'The lens is made of prisms. It weighs two tons.';
const essay = article('How a *first-order* lens works', {
  preview_text: 'The lens is made of prisms.',
  cover_url: 'https://media.example/cover.jpg',
  created_at: '2026-02-01T07:00:00.000Z',
  modified_at: '2026-02-02T08:30:00.000Z',
  blocks: [
    {
      type: 'paragraph',
      text: essayText,
      styles: [
        { style: 'bold', start: 20, end: 26 },
        { style: 'link', start: 4, end: 8, url: 'https://light.example/lens' },
      ],
    },
    { type: 'heading', level: 1, text: 'Prisms #', styles: [] },
    { type: 'list_item', ordered: true, text: 'Cut the glass', styles: [] },
    {
      type: 'list_item',
      ordered: true,
      text: 'Grind it\ntwice',
      styles: [{ style: 'italic', start: 0, end: 5 }],
    },
    { type: 'list_item', ordered: false, text: 'Brass', styles: [] },
    { type: 'list_item', ordered: false, text: '- Putty', styles: [] },
    { type: 'heading', level: 2, text: 'In code', styles: [] },
    { type: 'code', text: 'const fence = "```";\n\n\nconst html = "<b>";\n' },
    { type: 'quote', text: 'Light is slow\nin glass.', styles: [] },
    { type: 'image', url: 'https://media.example/prism.jpg', alt: null, width: 800, height: 600 },
    {
      type: 'markdown',
      text: '| Order | Height |\n| --- | --- |\n| 1st | 2.59 m |\n\n<b>Raw</b> and `<code>`',
    },
    { type: 'post', url: 'https://perch.example/bo.example/status/7' },
    { type: 'divider' },
    { type: 'paragraph', text: 'The end.', styles: [] },
  ],
});

const question = status(1, bo, 'How far does the light reach?', { context: 'parent' });
const guess = status(2, cy, 'Ten miles?', { context: 'parent', ...answerTo(question) });
const answer = status(3, ada, 'Eighteen, on a clear night.', {
  context: 'post',
  ...answerTo(guess),
});
const thanks = status(4, bo, 'Thanks!', { context: 'reply', ...answerTo(answer) });
const aside = status(5, cy, 'I was close.', { context: 'reply', ...answerTo(thanks) });

const first = status(1, ada, 'A thread on storms.', { context: 'parent' });
const third = status(3, ada, 'Then the wind turned.', { context: 'post', ...answerTo(first) });
const fourth = status(4, ada, 'And all was still.', { context: 'thread', ...answerTo(third) });

const oldest = status(1, cy, 'The first word', { quote: status(0, bo, 'Before the first') });
const deep = status(4, ada, 'Look at this', {
  quote: status(3, bo, 'Quoting\n\nin two paragraphs', {
    media: toMediaSet([photo('quoted', { alt: 'A quoted photo' })]),
    quote: status(2, cy, 'Second', { quote: oldest }),
  }),
});

const mallory = account(`<b>Mallory</b> ${evil}\u202e`, 'mallory.example', {
  description: evil,
  location: evil,
  website: { url: 'javascript:alert(3)', display_url: 'innocent.example' },
  verification: { verified: true, type: evil },
});
const hostile = status(1, mallory, `${evil} #<tag>`, {
  facets: [
    { type: 'hashtag', start: 0, end: 8, url: 'javascript:alert(4)' },
    { type: 'link', start: 10, end: 20, url: 'https://e.example/)<script>"' },
  ],
  possibly_sensitive: true,
  source: evil,
  lang: evil,
  media: toMediaSet([
    photo(')"><script>', { alt: evil }),
    photo('x', { url: 'javascript:alert(5)' }),
  ]),
  poll: {
    choices: [{ label: `${evil} | |`, count: 1, percentage: 100 }],
    total_votes: 1,
    ends_at: evil,
  },
  article: article(evil, {
    cover_url: 'javascript:alert(6)',
    blocks: [
      {
        type: 'paragraph',
        text: evil,
        styles: [{ style: 'link', start: 0, end: 5, url: 'data:text/html,x' }],
      },
      { type: 'code', text: `${evil}\n\`\`\`\`` },
      {
        type: 'markdown',
        text: `${evil}\n\n[ref]: javascript:alert(7)\n\n- \`\`\`\n<script>\n\`\`\`\n<i>`,
      },
      { type: 'post', url: 'javascript:alert(8)' },
    ],
  }),
  quote: tombstone({ text: evil, url: 'javascript:alert(9)' }),
  content_warning: evil,
  ...furtherMembers(evil, 'javascript:alert(11)'),
  community_note: evil,
  reposted_by: mallory,
  replying_to: { screen_name: '<b>_x_</b>', status: '0', url: 'javascript:alert(10)' },
});

const arabic = account('ليلى', 'layla.example');
const manyScripts = status(
  1,
  arabic,
  'مرحبا بالعالم! *شكرا*\nשלום עולם (בדיקה)\n灯台の光は「明るい」です。https://light.example/東京 へ\n👩‍👩‍👧 🇯🇵 5️⃣ ✅',
  {
    facets: [
      { type: 'bold', start: 0, end: 5 },
      facet(
        'مرحبا بالعالم! *شكرا*\nשלום עולם (בדיקה)\n灯台の光は「明るい」です。',
        '「明るい」',
        'bold',
      ),
    ],
    replying_to: {
      screen_name: 'דנה.example',
      status: '0',
      url: 'https://perch.example/d/status/0',
    },
  },
);

const pages: Readonly<Record<string, PostResult>> = {
  'lone-post': result([fog]),
  'lone-reply': result([status(3, ada, 'Eighteen.', answerTo(guess))]),
  'lone-tombstone': result([tombstone({ url: 'https://perch.example/x/status/1' })]),
  'full-post': result(
    [
      {
        ...fog,
        media: toMediaSet(media),
        poll: lamp.poll,
        article: essay,
        quote: status(0, bo, 'What does it cost?', { likes: 1, source: 'Perch Web' }),
        content_warning: 'fog *horns*',
        card: {
          url: 'https://light.example/plan',
          title: 'A [plan] of the light',
          description: 'Where it *stands*.',
          image_url: null,
        },
        community_note: 'The signal is a *replica*; see https://notes.example/1.',
        possibly_sensitive: true,
        reposted_by: bo,
        ...answerTo(guess),
      },
    ],
    { full: true, userDetail: 'author' },
  ),
  'self-thread': result([
    first,
    tombstone({ id: '2', url: 'https://perch.example/ada.example/status/2', context: 'parent' }),
    third,
    fourth,
  ]),
  conversation: result([question, guess, answer, thanks, aside]),
  'post-with-replies': result([
    { ...fog, context: 'post' },
    status(2, bo, 'Bring a horn.', { context: 'reply', ...answerTo(fog) }),
    tombstone({
      context: 'reply',
      author: cy,
      reason: 'private',
      text: 'This account keeps its posts private.',
    }),
  ]),
  'quote-of-quote': result([deep]),
  'quote-tombstone': result([
    status(1, ada, 'I disagree.', {
      quote: tombstone({
        reason: 'suspended',
        text: 'This post is from a suspended account.',
        url: 'https://perch.example/gone.example/status/9',
      }),
    }),
  ]),
  poll: result([lamp], { fetchedAt: '2026-03-04T10:00:00.000Z' }),
  media: result([
    status(1, ada, 'From the tower', { media: toMediaSet(media), possibly_sensitive: true }),
  ]),
  article: result([status(1, ada, 'https://perch.example/article/900', { article: essay })]),
  'article-preview': result([{ ...first, article: { ...essay, blocks: [] } }, fourth]),
  scripts: result([manyScripts]),
  warnings: result([fog], {
    warnings: [
      'Partial: archive could not give *the replies*.',
      'The thread has 12 posts; `thread=2` shows 2 of them.',
    ],
  }),
  'accounts-all': result([question, { ...answer, quote: status(0, cy, 'Ask me') }], {
    userDetail: 'all',
  }),
  hostile: result([hostile], { full: true, userDetail: 'all', warnings: [evil] }),
  'hostile-thread': result([
    { ...hostile, context: 'post' },
    status(2, ada, 'Well.', { context: 'reply', ...answerTo(hostile) }),
  ]),
};

describe.each(Object.entries(pages))('the page of %s', (name, page) => {
  it('matches the snapshot', async () => {
    await expect(renderPostPage(page)).toMatchFileSnapshot(`snapshots/${name}.md`);
  });

  it('has no HTML and follows the layout', () => {
    const markdown = renderPostPage(page);
    const outsideCode = markdown.replace(/^(`{3,}).*?^\1/gms, 'code');

    expect(tokenTypes(markdown).filter((type) => type.startsWith('html'))).toEqual([]);
    expect(markdown).toMatch(/[^\n]\n$/);
    expect(outsideCode).not.toMatch(/\n\n\n/);
    expect(outsideCode).not.toMatch(/(?<! {2})(?<=[ \t])\n| {2}\n\n| {3}\n/);
  });
});

it.each([
  ['obsidian', { ...fog, facets: [...fog.facets, ...fog.facets] }, false],
  ['obsidian-full', fog, true],
  ['obsidian-hostile', { ...hostile, media: toMediaSet([]), article: null }, true],
])('the note for Obsidian %s matches the snapshot', async (name, post, full) => {
  const note = renderPostNote(result([post], { full }));

  await expect(note).toMatchFileSnapshot(`snapshots/${name}.md`);
});
