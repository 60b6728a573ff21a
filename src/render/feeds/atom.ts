import type { Entry, EntryMedia, Person } from './entry.ts';
import type { Feed } from './feed.ts';
import type { FeedWriter } from './feeds.ts';
import { toFormatUrl } from './urls.ts';
import { type Attributes, emptyElement, parentElement, startTag, textElement } from './xml.ts';

const mediaType = 'application/atom+xml';

const namespaces = {
  xmlns: 'http://www.w3.org/2005/Atom',
  'xmlns:thr': 'http://purl.org/syndication/thread/1.0',
  'xmlns:media': 'http://search.yahoo.com/mrss/',
};

/** Writer of Atom 1.0 (RFC 4287) with paging (RFC 5005), threads (RFC 4685) and Media RSS. */
export const atom: FeedWriter = {
  writeStart: (feed, updated) =>
    [
      '<?xml version="1.0" encoding="utf-8"?>',
      `${startTag('feed', namespaces)}>`,
      textElement('id', feed.id),
      textElement('title', feed.title),
      feed.subtitle === '' ? '' : textElement('subtitle', feed.subtitle),
      textElement('updated', updated),
      feed.author === null ? '' : writePerson(feed.author),
      feed.iconUrl === null ? '' : textElement('icon', feed.iconUrl),
      feed.logoUrl === null ? '' : textElement('logo', feed.logoUrl),
      textElement('generator', 'Perch'),
      ...listLinks(feed).map((attributes) => emptyElement('link', attributes)),
      '',
    ]
      .filter((line, at, all) => line !== '' || at === all.length - 1)
      .join('\n'),
  writeEntry,
  separator: '\n',
  end: '\n</feed>\n',
};

function listLinks({ url, urls, nextUrl, otherType }: Feed): readonly Attributes[] {
  const toPage = (rel: string, page: string | null) =>
    page === null ? [] : [{ rel, type: mediaType, href: toFormatUrl(page, 'atom') }];
  return [
    ...toPage('self', urls.self),
    ...(url === null ? [] : [{ rel: 'alternate', type: 'text/html', href: url }]),
    { rel: 'alternate', type: otherType, href: urls.self },
    ...toPage('first', urls.first),
    ...toPage('previous', urls.previous),
    ...toPage('next', nextUrl),
  ];
}

function writeEntry(entry: Entry): string {
  const { url, inReplyTo, repliesUrl, replyCount } = entry;
  const repliesFeed = repliesUrl === null ? null : toFormatUrl(repliesUrl, 'atom');
  return parentElement('entry', [
    textElement('id', entry.id),
    textElement('title', entry.title),
    textElement('published', entry.published),
    textElement('updated', entry.updated),
    writePerson(entry.author),
    url === null ? '' : emptyElement('link', { rel: 'alternate', type: 'text/html', href: url }),
    ...entry.categories.map((term) => emptyElement('category', { term })),
    inReplyTo === null || inReplyTo.id === null
      ? ''
      : emptyElement('thr:in-reply-to', { ref: inReplyTo.id, href: inReplyTo.url }),
    repliesFeed === null
      ? ''
      : emptyElement('link', {
          rel: 'replies',
          type: mediaType,
          href: repliesFeed,
          'thr:count': replyCount,
        }),
    ...entry.media.map(({ url: href, mediaType: type, description }) =>
      emptyElement('link', { rel: 'enclosure', type, href, title: description || null }),
    ),
    ...entry.media.map(writeMedia),
    textElement('content', entry.html, { type: 'html' }),
  ]);
}

function writePerson({ name, url }: Person): string {
  return parentElement('author', [
    textElement('name', name),
    url === null ? '' : textElement('uri', url),
  ]);
}

/** Writes a media file as an element of Media RSS 1.5.1, https://www.rssboard.org/media-rss. */
export function writeMedia(item: EntryMedia): string {
  const { url, mediaType: type, medium, width, height, duration, description } = item;
  const attributes = { url, type, medium, width, height, duration };
  const children = [
    description === '' ? '' : textElement('media:description', description, { type: 'plain' }),
    item.thumbnailUrl === null ? '' : emptyElement('media:thumbnail', { url: item.thumbnailUrl }),
  ].filter((child) => child !== '');
  if (children.length === 0) return emptyElement('media:content', attributes);
  return parentElement('media:content', children, attributes);
}
