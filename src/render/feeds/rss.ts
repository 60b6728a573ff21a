import { writeMedia } from './atom.ts';
import type { Entry, EntryMedia } from './entry.ts';
import type { Feed } from './feed.ts';
import type { FeedWriter } from './feeds.ts';
import { toFormatUrl } from './urls.ts';
import { type Attributes, emptyElement, parentElement, startTag, textElement } from './xml.ts';

const namespaces = {
  version: '2.0',
  'xmlns:atom': 'http://www.w3.org/2005/Atom',
  'xmlns:dc': 'http://purl.org/dc/elements/1.1/',
  'xmlns:thr': 'http://purl.org/syndication/thread/1.0',
  'xmlns:media': 'http://search.yahoo.com/mrss/',
};

/** Writer of RSS 2.0 (https://www.rssboard.org/rss-specification), RFC 5005 and Media RSS. */
export const rss: FeedWriter = {
  writeStart: (feed, updated) =>
    [
      '<?xml version="1.0" encoding="utf-8"?>',
      `${startTag('rss', namespaces)}>`,
      '<channel>',
      textElement('title', feed.title),
      textElement('link', feed.url ?? feed.urls.self),
      textElement('description', feed.subtitle || feed.title),
      textElement('lastBuildDate', toRfc822(updated)),
      textElement('ttl', String(feed.ttlMinutes)),
      textElement('generator', 'Perch'),
      writeImage(feed),
      ...listLinks(feed).map((attributes) => emptyElement('atom:link', attributes)),
    ]
      .filter((line) => line !== '')
      .join('\n')
      .concat('\n'),
  writeEntry,
  separator: '\n',
  end: '\n</channel>\n</rss>\n',
};

function listLinks({ urls, nextUrl }: Feed): readonly Attributes[] {
  const pages = { self: urls.self, first: urls.first, previous: urls.previous, next: nextUrl };
  return Object.entries(pages).flatMap(([rel, page]) =>
    page === null ? [] : [{ rel, type: 'application/rss+xml', href: toFormatUrl(page, 'rss') }],
  );
}

function writeImage({ iconUrl, title, url, urls }: Feed): string {
  if (iconUrl === null) return '';
  return parentElement('image', [
    textElement('url', iconUrl),
    textElement('title', title),
    textElement('link', url ?? urls.self),
  ]);
}

function writeEntry(entry: Entry): string {
  const { url, inReplyTo, repliesUrl } = entry;
  return parentElement('item', [
    textElement('guid', entry.id, { isPermaLink: 'false' }),
    textElement('title', entry.title),
    url === null ? '' : textElement('link', url),
    textElement('pubDate', toRfc822(entry.published)),
    // The element `author` of RSS is an e-mail address.
    textElement('dc:creator', entry.author.name),
    ...entry.categories.map((category) => textElement('category', category)),
    inReplyTo === null || inReplyTo.id === null
      ? ''
      : emptyElement('thr:in-reply-to', { ref: inReplyTo.id, href: inReplyTo.url }),
    repliesUrl === null
      ? ''
      : emptyElement('atom:link', {
          rel: 'replies',
          type: 'application/rss+xml',
          href: toFormatUrl(repliesUrl, 'rss'),
          'thr:count': entry.replyCount,
        }),
    // Feed readers expect at most one enclosure; `media:content` lists all files.
    ...entry.media.slice(0, 1).map(writeEnclosure),
    ...entry.media.map(writeMedia),
    entry.updated === entry.published ? '' : textElement('atom:updated', entry.updated),
    textElement('description', entry.html),
  ]);
}

const writeEnclosure = ({ url, mediaType: type }: EntryMedia): string =>
  emptyElement('enclosure', { url, length: 0, type });

/** Formats an ISO 8601 time as RFC 822 with a year of four digits. */
const toRfc822 = (time: string): string => new Date(time).toUTCString();
