import { answerJson, type FakeHandler } from './fake-upstream.ts';

// Synthetic payloads in the formats of FxTwitter and syndication. The people are made up.

/** Fields of a payload. */
export type Fields = Readonly<Record<string, unknown>>;

const firstSecond = 1_700_000_000;

/** Returns the time of a synthetic post in Unix seconds. Higher ids are later. */
export function secondsOf(id: string): number {
  return firstSecond + Number(id);
}

/** Formats a time as X does: `Tue Oct 01 19:59:18 +0000 2024`. */
export function toXTime(seconds: number): string {
  const [day, date, month, year, time] = new Date(seconds * 1000).toUTCString().split(/,? /);
  return `${day} ${month} ${date} ${time} +0000 ${year}`;
}

/** Returns an FxTwitter account. Its id is derived from its handle. */
export function fxUser(handle: string, fields: Fields = {}): Fields {
  return {
    type: 'profile',
    id: String([...handle].reduce((sum, letter) => sum * 31 + letter.charCodeAt(0), 7) % 1e9),
    screen_name: handle,
    name: `${handle} of Nowhere`,
    url: `https://x.com/${handle}`,
    description: 'Made up for tests',
    raw_description: { text: 'Made up for tests', facets: [] },
    location: '',
    avatar_url: `https://pbs.example/${handle}_200x200.jpg`,
    banner_url: null,
    followers: 12,
    following: 3,
    statuses: 45,
    media_count: 6,
    likes: 7,
    joined: 'Wed Oct 09 00:33:58 +0000 2019',
    protected: false,
    website: { url: 'https://nowhere.example/', display_url: 'nowhere.example' },
    verification: { verified: true, type: 'individual', verified_at: null },
    ...fields,
  };
}

/** Returns an FxTwitter post by `mira_holm`. */
export function fxStatus(id: string, fields: Fields = {}): Fields {
  const text = typeof fields.text === 'string' ? fields.text : `Post number ${id}`;
  return {
    type: 'status',
    id,
    url: `https://x.com/mira_holm/status/${id}`,
    text,
    raw_text: { text, display_text_range: [0, [...text].length], facets: [] },
    author: fxUser('mira_holm'),
    replies: 4,
    reposts: 3,
    likes: 2,
    quotes: 1,
    bookmarks: 0,
    views: null,
    created_at: toXTime(secondsOf(id)),
    created_timestamp: secondsOf(id),
    lang: 'en',
    source: 'Perch Tests',
    replying_to: null,
    reposted_by: null,
    community_note: null,
    is_note_tweet: false,
    media: {},
    embed_card: 'tweet',
    provider: 'twitter',
    ...fields,
  };
}

/** Returns an FxTwitter reply by `handle` to the post `parent`. */
export function fxReply(id: string, parent: string, handle: string, fields: Fields = {}): Fields {
  return fxStatus(id, {
    author: fxUser(handle),
    url: `https://x.com/${handle}/status/${id}`,
    replying_to: {
      screen_name: 'mira_holm',
      status: parent,
      url: `https://x.com/mira_holm/status/${parent}`,
      profile_url: 'https://x.com/mira_holm',
    },
    ...fields,
  });
}

/** Returns the FxTwitter placeholder for a post that X does not show. */
export function fxTombstone(id: string, reason: string): Fields {
  return {
    type: 'tombstone',
    provider: 'twitter',
    reason,
    message: `Secret page of the upstream about ${id}`,
    id,
    url: `https://x.com/i/status/${id}`,
  };
}

/** Returns the response body for a post. */
export function fxBody(status: unknown, lists: Fields = {}): Fields {
  return { code: 200, status, thread: null, author: null, ...lists };
}

/** Response body for a post that does not exist, or that FxTwitter could not read. */
export const fxNothing: Fields = { code: 404, status: null, thread: null, author: null };

/** Returns a post in the v1 format. */
export function fxV1Status(id: string, fields: Fields = {}): Fields {
  const { type, reposts, media, embed_card, author, ...rest } = fxStatus(id);
  const { statuses, type: _profile, ...user } = fxUser('mira_holm');
  return {
    ...rest,
    author: { ...user, tweets: statuses, avatar_color: null },
    retweets: reposts,
    twitter_card: embed_card,
    color: null,
    replying_to: 'otto_lind',
    replying_to_status: '1900',
    ...fields,
  };
}

/** Response body for an account that does not exist, or that FxTwitter could not read. */
export const fxNoUser: Fields = { code: 404, message: 'User not found' };

/** Response body for a list that does not exist, or that FxTwitter could not read. */
export const fxNoList: Fields = { code: 404, results: [], cursor: { top: null, bottom: null } };

/** Returns the response body for a profile. */
export function fxProfile(user: unknown): Fields {
  return { code: 200, message: 'OK', user };
}

/** Returns the response body for one page of a list. `bottom` is the cursor of the next page. */
export function fxPage(results: readonly unknown[], bottom: string | null = null): Fields {
  return { code: 200, results, cursor: { top: 'the-top', bottom } };
}

/** Returns the response body for suggestions. */
export function fxSuggestions(users: readonly unknown[]): Fields {
  return { code: 200, query: 'heron', num_results: users.length, users, topics: [], events: [] };
}

/** Returns an account in the format of suggestions. */
export function fxSuggestedUser(handle: string): Fields {
  const zeros = { followers: 0, following: 0, statuses: 0, media_count: 0, likes: 0 };
  return fxUser(handle, { ...zeros, joined: '' });
}

/** Creates a handler that selects the page by the cursor, `''` for none. Other cursors are refused. */
export function fxPages(pages: Readonly<Record<string, Fields>>): FakeHandler {
  return (request, response) => {
    const page = pages[parametersOf(request).get('cursor') ?? ''];
    if (page === undefined) answerJson(response, fxNoList, { status: 404 });
    else answerJson(response, page);
  };
}

/** Creates a handler for conversations that selects the page by the cursor. Other cursors get an empty page. */
export function fxConversationPages(pages: Readonly<Record<string, Fields>>): FakeHandler {
  return (request, response) => {
    const page = pages[parametersOf(request).get('cursor') ?? ''];
    if (page === undefined) answerJson(response, fxNothing, { status: 404 });
    else answerJson(response, page);
  };
}

/** Returns the query parameters of a request. */
export function parametersOf(request: { readonly url?: string | undefined }): URLSearchParams {
  return new URL(request.url ?? '/', 'http://x.example').searchParams;
}

/** Routes of the fake FxTwitter: a body with status 200, or a handler. */
export type FxRoutes = Readonly<Record<string, Fields | FakeHandler>>;

/** Creates a fake FxTwitter with paths such as `thread/20`. Other paths get an empty result. */
export function serveFxTwitter(routes: FxRoutes): FakeHandler {
  return (request, response) => {
    const path = new URL(request.url ?? '/', 'http://x.example').pathname.replace('/2/', '');
    const route = routes[path];
    if (typeof route === 'function') route(request, response);
    else if (route === undefined) answerJson(response, nothingAt(path), { status: 404 });
    else answerJson(response, route);
  };
}

function nothingAt(path: string): Fields {
  if (/^profile\/[^/]+$/.test(path)) return fxNoUser;
  if (path === 'typeahead') return { ...fxSuggestions([]), code: 404 };
  return /^(?:profile\/|search$)/.test(path) ? fxNoList : fxNothing;
}

/** Post in the middle of a thread, with replies and rows that are not posts. */
export const fxConversation = {
  id: '2001',
  root: fxStatus('1999', { author: fxUser('tove_ek'), text: 'Who has seen the heron?' }),
  gone: fxTombstone('2000', 'deleted'),
  focal: fxReply('2001', '2000', 'mira_holm', { text: 'I have, at dawn 🐦' }),
  next: fxReply('2002', '2001', 'mira_holm', { text: 'It stood by the mill.' }),
  last: fxReply('2003', '2002', 'mira_holm', { text: 'Then it left.' }),
  replies: [
    fxReply('2012', '2010', 'tove_ek', { text: 'Nested, older', likes: 90 }),
    fxReply('2010', '2001', 'otto_lind', { text: 'Fewer likes', likes: 5 }),
    fxReply('2020', '2001', 'tove_ek', { text: 'More likes', likes: 9 }),
    fxStatus('2013', { author: fxUser('shop'), text: 'Unrelated', likes: 5000 }),
    fxReply('2014', '5555', 'shop', { text: 'Leads elsewhere', likes: 5000 }),
    fxReply('2015', '2014', 'shop', { text: 'Leads elsewhere, too', likes: 5000 }),
    fxReply('2010', '2001', 'otto_lind', { text: 'Twice', likes: 5 }),
    fxReply('2016', '2012', 'otto_lind', { text: 'Nested twice' }),
    fxReply('2018', '2010', 'tove_ek', { text: 'Nested, younger' }),
    fxReply('2017', '2003', 'otto_lind', { text: 'Answers the continuation', likes: 9 }),
    fxReply('2002', '2001', 'mira_holm', { text: 'It stood by the mill.' }),
    fxReply('2003', '2002', 'mira_holm', { text: 'Then it left.' }),
    fxReply('2030', '2031', 'shop', { text: 'In a circle' }),
    fxReply('2031', '2030', 'shop', { text: 'In a circle' }),
  ],
} as const;

/** Routes for the three requests of `fxConversation`. */
export const fxConversationRoutes = {
  'status/2001': fxBody(fxConversation.focal),
  'thread/2001': fxBody(fxConversation.focal, {
    thread: [
      fxConversation.root,
      fxConversation.gone,
      fxConversation.focal,
      fxConversation.next,
      fxConversation.last,
    ],
  }),
  'conversation/2001': fxBody(fxConversation.focal, {
    thread: [fxConversation.root, fxConversation.gone, fxConversation.focal],
    replies: fxConversation.replies,
    cursor: { bottom: 'there-is-more' },
  }),
} as const satisfies FxRoutes;

const photo = {
  type: 'photo',
  id: '9001',
  url: 'https://pbs.example/heron.jpg?name=orig',
  width: 640,
  height: 480,
  altText: 'A heron',
};
const video = {
  type: 'video',
  id: '9002',
  url: 'https://video.example/heron.mp4',
  thumbnail_url: 'https://pbs.example/heron-thumb.jpg',
  duration: 3.5,
  width: 640,
  height: 480,
  format: 'video/mp4',
  formats: [{ url: 'https://video.example/heron.mp4', container: 'mp4', bitrate: 832_000 }],
  publisher: null,
};

/** Media of a post: one photo and one video. */
export const fxMedia = {
  photo: { media: { all: [photo], photos: [photo], videos: [] } },
  video: { media: { all: [video], photos: [], videos: [video] } },
} as const;

/** Lists of `mira_holm` and searches, with two pages each if possible. */
export const fxListRoutes = {
  'profile/mira_holm': fxProfile(fxUser('mira_holm')),
  'profile/mira_holm/statuses': fxPages({
    '': fxPage(
      [
        fxStatus('2009'),
        fxStatus('1500', { author: fxUser('tove_ek'), reposted_by: fxUser('mira_holm') }),
        fxReply('2008', '2007', 'mira_holm', {
          replying_to: { screen_name: 'otto_lind', status: '1400' },
        }),
        fxStatus('1400', { author: fxUser('otto_lind') }),
        fxTombstone('1399', 'deleted'),
        fxReply('2007', '2006', 'mira_holm'),
        fxStatus('2006'),
        fxStatus('2009'),
      ],
      'older',
    ),
    older: fxPage([fxStatus('2005', fxMedia.photo), fxStatus('2004')], 'older'),
  }),
  'profile/mira_holm/followers': fxPages({
    '': fxPage([fxUser('tove_ek'), fxUser('otto_lind'), fxUser('tove_ek')], '17|18'),
    '17|18': fxPage([fxUser('shop', { protected: true })], '0|19'),
  }),
  'profile/mira_holm/following': fxPages({ '': fxPage([fxUser('otto_lind')]) }),
  search: fxPages({
    '': fxPage([fxStatus('2009', fxMedia.photo), fxStatus('2001', fxMedia.video)], 'deeper'),
    deeper: fxPage([fxStatus('2002'), fxStatus('1999'), fxStatus('2002')]),
  }),
  typeahead: fxSuggestions([fxSuggestedUser('heron_watch'), fxSuggestedUser('heron_house')]),
} as const satisfies FxRoutes;

/** Returns a syndication post by `mira_holm`. */
export function syndicationPost(id: string, fields: Fields = {}): Fields {
  const text = typeof fields.text === 'string' ? fields.text : `Post number ${id}`;
  return {
    __typename: 'Tweet',
    id_str: id,
    text,
    lang: 'en',
    created_at: new Date(secondsOf(id) * 1000).toISOString(),
    display_text_range: [0, [...text].length],
    entities: { hashtags: [], urls: [], user_mentions: [], symbols: [] },
    user: syndicationUser('mira_holm'),
    favorite_count: 2,
    conversation_count: 17,
    news_action_type: 'conversation',
    isEdited: false,
    isStaleEdit: false,
    ...fields,
  };
}

/** Returns a syndication account. */
export function syndicationUser(handle: string, fields: Fields = {}): Fields {
  return {
    id_str: '4711',
    name: `${handle} of Nowhere`,
    screen_name: handle,
    profile_image_url_https: `https://pbs.example/${handle}_normal.jpg`,
    profile_image_shape: 'Circle',
    verified: false,
    is_blue_verified: true,
    ...fields,
  };
}

/** Returns the syndication placeholder for a post that it does not show. */
export function syndicationTombstone(text: string): Fields {
  return {
    __typename: 'TweetTombstone',
    tombstone: { text: { text, entities: [], rtl: false } },
  };
}
