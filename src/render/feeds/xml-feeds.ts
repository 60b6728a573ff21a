import { profileUrl } from '../../model/addresses/urls.ts';
import type { AccountReference } from '../../model/reference.ts';
import type { RenderContext } from '../context.ts';
import type { Entry, EntryMedia, Person } from './entry.ts';
import type { Feed, FeedWriter } from './feeds.ts';
import { toFormatUrl } from './urls.ts';

const declaration = '<?xml version="1.0" encoding="utf-8"?>';

const atomNamespace = 'http://www.w3.org/2005/Atom';
const sharedNamespaces = {
  'xmlns:thr': 'http://purl.org/syndication/thread/1.0',
  'xmlns:media': 'http://search.yahoo.com/mrss/',
};

/** Writer of Atom 1.0 (RFC 4287) with paging (RFC 5005), threads (RFC 4685) and Media RSS. */
export const atom: FeedWriter = {
  writeStart: (feed, updated) =>
    toLines([
      declaration,
      `${startTag('feed', { xmlns: atomNamespace, ...sharedNamespaces })}>`,
      textElement('id', feed.id),
      textElement('title', feed.title),
      feed.subtitle && textElement('subtitle', feed.subtitle),
      textElement('updated', updated),
      feed.author && writePerson(feed.author),
      feed.iconUrl && textElement('icon', feed.iconUrl),
      feed.logoUrl && textElement('logo', feed.logoUrl),
      textElement('generator', 'Perch'),
      ...listAtomLinks(feed).map((attributes) => emptyElement('link', attributes)),
    ]),
  writeEntry: writeAtomEntry,
  separator: '\n',
  end: '\n</feed>\n',
};

const toLines = (lines: readonly (string | null)[]) => `${lines.filter(Boolean).join('\n')}\n`;

const mediaTypes = { atom: 'application/atom+xml', rss: 'application/rss+xml' } as const;

const linkPages = (
  format: keyof typeof mediaTypes,
  pages: Readonly<Record<string, string | null>>,
): readonly Attributes[] =>
  Object.entries(pages).flatMap(([rel, page]) =>
    page === null ? [] : [{ rel, type: mediaTypes[format], href: toFormatUrl(page, format) }],
  );

function listAtomLinks({ url, urls, nextUrl: next, otherType }: Feed): readonly Attributes[] {
  const { self, first, previous } = urls;
  return [
    ...linkPages('atom', { self }),
    ...(url === null ? [] : [{ rel: 'alternate', type: 'text/html', href: url }]),
    { rel: 'alternate', type: otherType, href: self },
    ...linkPages('atom', { first, previous, next }),
  ];
}

function writeAtomEntry(entry: Entry): string {
  const { url, categories, media } = entry;
  return parentElement('entry', [
    textElement('id', entry.id),
    textElement('title', entry.title),
    textElement('published', entry.published),
    textElement('updated', entry.updated),
    writePerson(entry.author),
    url && emptyElement('link', { rel: 'alternate', type: 'text/html', href: url }),
    ...categories.map((term) => emptyElement('category', { term })),
    ...writeReplies(entry, 'atom', 'link'),
    ...media.map(({ url: href, mediaType: type, description }) =>
      emptyElement('link', { rel: 'enclosure', type, href, title: description || null }),
    ),
    ...media.map(writeMedia),
    textElement('content', entry.html, { type: 'html' }),
  ]);
}

const writePerson = ({ name, url }: Person): string =>
  parentElement('author', [textElement('name', name), url && textElement('uri', url)]);

/** Writes the replied-to post and the link to the replies (RFC 4685). */
const writeReplies = (
  { inReplyTo, repliesUrl, replyCount }: Entry,
  format: keyof typeof mediaTypes,
  linkName: string,
) => [
  inReplyTo?.id
    ? emptyElement('thr:in-reply-to', { ref: inReplyTo.id, href: inReplyTo.url })
    : null,
  ...linkPages(format, { replies: repliesUrl }).map((attributes) =>
    emptyElement(linkName, { ...attributes, 'thr:count': replyCount }),
  ),
];

/** Writes a media file as an element of Media RSS 1.5.1, https://www.rssboard.org/media-rss. */
function writeMedia(item: EntryMedia): string {
  const { url, mediaType: type, medium, width, height, duration } = item;
  const { description, thumbnailUrl } = item;
  const attributes = { url, type, medium, width, height, duration };
  if (!description && !thumbnailUrl) return emptyElement('media:content', attributes);
  const children = [
    description && textElement('media:description', description, { type: 'plain' }),
    thumbnailUrl && emptyElement('media:thumbnail', { url: thumbnailUrl }),
  ];
  return parentElement('media:content', children, attributes);
}

/** Writer of RSS 2.0 (https://www.rssboard.org/rss-specification), RFC 5005 and Media RSS. */
export const rss: FeedWriter = {
  writeStart: (feed, updated) => {
    const { title, subtitle, iconUrl, nextUrl: next } = feed;
    const { self, first, previous } = feed.urls;
    const link = textElement('link', feed.url ?? self);
    return toLines([
      declaration,
      `${startTag('rss', rssAttributes)}>`,
      '<channel>',
      textElement('title', title),
      link,
      textElement('description', subtitle || title),
      textElement('lastBuildDate', toRfc822(updated)),
      textElement('ttl', String(feed.ttlMinutes)),
      textElement('generator', 'Perch'),
      iconUrl &&
        parentElement('image', [textElement('url', iconUrl), textElement('title', title), link]),
      ...linkPages('rss', { self, first, previous, next }).map((page) =>
        emptyElement('atom:link', page),
      ),
    ]);
  },
  writeEntry: writeItem,
  separator: '\n',
  end: '\n</channel>\n</rss>\n',
};

const rssAttributes = {
  version: '2.0',
  'xmlns:atom': atomNamespace,
  'xmlns:dc': 'http://purl.org/dc/elements/1.1/',
  ...sharedNamespaces,
};

function writeItem(entry: Entry): string {
  const { url, categories, media } = entry;
  return parentElement('item', [
    textElement('guid', entry.id, { isPermaLink: 'false' }),
    textElement('title', entry.title),
    url && textElement('link', url),
    textElement('pubDate', toRfc822(entry.published)),
    // The element `author` of RSS is an e-mail address.
    textElement('dc:creator', entry.author.name),
    ...categories.map((category) => textElement('category', category)),
    ...writeReplies(entry, 'rss', 'atom:link'),
    // Feed readers expect at most one enclosure; `media:content` lists all files.
    ...media
      .slice(0, 1)
      .map((item) => emptyElement('enclosure', { url: item.url, length: 0, type: item.mediaType })),
    ...media.map(writeMedia),
    entry.updated === entry.published ? '' : textElement('atom:updated', entry.updated),
    textElement('description', entry.html),
  ]);
}

/** Formats an ISO 8601 time as RFC 822 with a year of four digits. */
const toRfc822 = (time: string): string => new Date(time).toUTCString();

export const opmlMediaType = 'text/x-opml; charset=utf-8';

/** Renders the Atom feeds of accounts as OPML 2.0, https://opml.org/spec2.opml. */
export function renderOpml(
  accounts: readonly AccountReference[],
  { baseUrl }: RenderContext,
): string {
  const outlines = accounts.map(({ platform, handle }) =>
    emptyElement('outline', {
      // The type of all feeds in a subscription list, whatever their format.
      type: 'rss',
      text: `@${handle}`,
      title: `@${handle}`,
      xmlUrl: toFormatUrl(`${baseUrl}/api/v1/profiles/${encodeURIComponent(handle)}`, 'atom'),
      htmlUrl: profileUrl(platform, handle, baseUrl),
    }),
  );
  const head = parentElement('head', [textElement('title', 'Accounts on Perch')]);
  const opml = parentElement('opml', [head, parentElement('body', outlines)], { version: '2.0' });
  return `${declaration}\n${opml}\n`;
}

type Attributes = Readonly<Record<string, string | number | null>>;

const references: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\t': '&#9;',
  '\n': '&#10;',
  '\r': '&#13;',
};

const forbidden = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;

/** Escapes XML 1.0: U+FFFD for forbidden characters; CR, which parsers convert to LF. */
const escapeXml = (text: string, special: RegExp): string =>
  text.replace(forbidden, '\ufffd').replace(special, (character) => references[character] ?? '');

export const textElement = (name: string, text: string, attributes: Attributes = {}): string =>
  `${startTag(name, attributes)}>${escapeXml(text, /[&<>\r]/g)}</${name}>`;

export const emptyElement = (name: string, attributes: Attributes): string =>
  `${startTag(name, attributes)}/>`;

function parentElement(
  name: string,
  children: readonly (string | null)[],
  attributes: Attributes = {},
): string {
  return `${startTag(name, attributes)}>\n${children.filter(Boolean).join('\n')}\n</${name}>`;
}

/** Returns a start tag without the final `>`, so that the caller can add `/>` or `>`. */
function startTag(name: string, attributes: Attributes): string {
  const written = Object.entries(attributes).map(([key, value]) =>
    value === null ? '' : ` ${key}="${escapeXml(String(value), /[&<>"\t\n\r]/g)}"`,
  );
  return `<${name}${written.join('')}`;
}
