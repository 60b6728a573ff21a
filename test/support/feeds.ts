import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import type { LightMyRequestResponse } from 'fastify';
import FeedParser from 'feedparser';
import { parseAtomFeed, parseJsonFeed, parseRssFeed } from 'feedsmith';
import { RelaxNGValidator, XmlDocument, type XmlElement } from 'libxml2-wasm';
import RssParser from 'rss-parser';
import { expect } from 'vitest';
import { type FeedFormat, feedFormats } from '../../src/model/results.ts';
import { feedMediaTypes } from '../../src/render/feeds/feeds.ts';
import { ownPicture, parseHtml } from './render-html.ts';

const readSchema = (name: string) =>
  readFileSync(fileURLToPath(new URL(`feed-schemas/${name}`, import.meta.url)), 'utf8');

const namespaces = {
  atom: 'http://www.w3.org/2005/Atom',
  dc: 'http://purl.org/dc/elements/1.1/',
  media: 'http://search.yahoo.com/mrss/',
};

/** Item of a feed as a feed reader shows it. */
export interface ReadItem {
  readonly id: string | undefined;
  readonly url: string | undefined;
  readonly title: string | undefined;
  readonly html: string | undefined;
  /** Time of the post in Unix milliseconds. */
  readonly published: number;
}

const schema = RelaxNGValidator.fromDoc(XmlDocument.fromString(readSchema('atom.rng')));
const ajv = addFormats.default(new Ajv({ strict: false }));
const isJsonFeed = ajv.compile(JSON.parse(readSchema('json-feed.json')));

/** Checks a feed against the rules of its format. Returns its items as the format defines them. */
export function checkFeed(format: FeedFormat, body: string): readonly ReadItem[] {
  const items = readers[format](body);
  const ids = items.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  for (const { id, title, html } of items) {
    expect(id).toMatch(/^tag:[a-z\d.-]+,2026:perch\/[\w.!~*'()%/:-]*$/);
    expect(title).not.toMatch(/^$|<[a-z/!?]|[\p{Cc}\p{Cs}]/iu);
    expectHarmless(html ?? '');
  }
  return items;
}

/** Checks the body of a response if it is a feed. */
export function checkIfFeed({
  headers,
  body,
}: Pick<LightMyRequestResponse, 'headers' | 'body'>): void {
  const type = headers['content-type'];
  const format = feedFormats.find((one) => feedMediaTypes[one] === type);
  if (format !== undefined) checkFeed(format, body);
}

/** Checks HTML content: well-formed XML with the expected elements, attributes and links only. */
function expectHarmless(html: string): void {
  XmlDocument.fromString(`<div>${html}</div>`).dispose();
  const { elements, errors, others } = parseHtml(html);
  expect([errors, others]).toEqual([[], []]);
  for (const { tag, attributes } of elements) {
    expect(tag).toMatch(/^(?:p|br|a|strong|em|del|code|ul|li|blockquote|img)$/);
    for (const [name, value] of Object.entries(attributes)) {
      expect(value).toMatch(allowedValues[name] ?? /^(?!)/);
    }
  }
}

/** Attributes of the HTML in feeds, with the form of their values. */
const allowedValues: Readonly<Record<string, RegExp>> = {
  href: /^(?:https?:\/\/|mailto:)/,
  src: ownPicture,
  style: /^max-width:100%;height:auto$/,
  referrerpolicy: /^no-referrer$/,
  ...Object.fromEntries(
    ['rel', 'lang', 'dir', 'alt', 'width', 'height'].map((name) => [name, /^/]),
  ),
};

const readers: Readonly<Record<FeedFormat, (body: string) => readonly ReadItem[]>> = {
  atom: (body) => {
    const document = XmlDocument.fromString(body);
    schema.validate(document);
    const items = findAll(document.root, 'atom:entry').map((entry) => ({
      id: textOf(entry, 'atom:id'),
      url: textOf(entry, 'atom:link[@rel="alternate"]/@href'),
      title: textOf(entry, 'atom:title'),
      html: textOf(entry, 'atom:content[@type="html"]'),
      published: Date.parse(textOf(entry, 'atom:published') ?? ''),
    }));
    const updates = findAll(document.root, 'atom:entry/atom:updated').map(({ content }) => content);
    const updated = textOf(document.root, 'atom:updated');
    if (updates.length > 0) expect(updated).toBe(updates.toSorted().at(-1));
    document.dispose();
    return items;
  },
  rss: (body) => {
    const document = XmlDocument.fromString(body);
    const items = findAll(document.root, 'channel/item').map((item) => ({
      id: textOf(item, 'guid[@isPermaLink="false"]'),
      url: textOf(item, 'link'),
      title: textOf(item, 'title'),
      html: textOf(item, 'description'),
      published: Date.parse(textOf(item, 'pubDate') ?? ''),
    }));
    expectRss(document.root);
    document.dispose();
    return items;
  },
  jsonfeed: (body) => {
    const feed: JsonFeed = JSON.parse(body);
    expect([isJsonFeed(feed), isJsonFeed.errors]).toEqual([true, null]);
    expect(body).not.toMatch(/[\ud800-\udfff]/u);
    return feed.items.map(({ id, url, title, content_html: html, date_published: published }) => {
      return { id, url, title, html, published: Date.parse(published) };
    });
  },
};

interface JsonFeed {
  readonly items: readonly {
    readonly id: string;
    readonly url?: string;
    readonly title: string;
    readonly content_html: string;
    readonly date_published: string;
  }[];
}

const rfc822 = /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/;

/** Checks the rules of RSS 2.0, https://www.rssboard.org/rss-specification. */
function expectRss(root: XmlElement): void {
  expect([root.name, root.attr('version')?.value]).toEqual(['rss', '2.0']);
  const channels = findAll(root, '*');
  expect(channels.map(({ name }) => name)).toEqual(['channel']);
  const [channel = root] = channels;
  for (const name of ['title', 'link', 'description', 'lastBuildDate', 'ttl', 'generator']) {
    expect([name, findAll(channel, name).length]).toEqual([name, 1]);
  }
  expect(textOf(channel, 'ttl')).toMatch(/^[1-9]\d*$/);
  expect(textOf(channel, 'lastBuildDate')).toMatch(rfc822);
  for (const image of findAll(channel, 'image')) {
    expect(findAll(image, '*').map(({ name }) => name)).toEqual(['url', 'title', 'link']);
  }
  for (const item of findAll(channel, 'item')) {
    for (const name of ['guid', 'title', 'pubDate', 'description', 'dc:creator']) {
      expect([name, findAll(item, name).length]).toEqual([name, 1]);
    }
    expect(textOf(item, 'pubDate')).toMatch(rfc822);
    for (const name of ['link', 'enclosure', 'comments']) {
      expect(findAll(item, name).length).toBeLessThan(2);
    }
    for (const enclosure of findAll(item, 'enclosure')) {
      expect(enclosure.attr('length')?.value).toMatch(/^\d+$/);
      expect(enclosure.attr('type')?.value).toMatch(/^[^/]+\/[^/]+$/);
      expect(enclosure.attr('url')?.value).toMatch(/^https?:\/\//);
    }
  }
}

function findAll(parent: XmlElement, path: string): readonly XmlElement[] {
  return parent.find(path, namespaces) as XmlElement[];
}

function textOf(parent: XmlElement, path: string): string | undefined {
  return parent.get(path, namespaces)?.content;
}

/** Returns the texts at an XPath of an XML feed. The prefixes are `atom`, `dc` and `media`. */
export function textsAt(body: string, path: string): readonly string[] {
  const document = XmlDocument.fromString(body);
  const texts = document.find(path, { ...namespaces, thr: threads }).map(({ content }) => content);
  document.dispose();
  return texts;
}

const threads = 'http://purl.org/syndication/thread/1.0';

/** Reads a feed with the published parsers of feed readers that support its format, keyed by package. */
export async function readWithParsers(
  format: FeedFormat,
  body: string,
): Promise<Readonly<Record<string, readonly ReadItem[]>>> {
  if (format === 'jsonfeed') return { feedsmith: readJsonWithFeedsmith(body) };
  return {
    feedsmith: format === 'atom' ? readAtomWithFeedsmith(body) : readRssWithFeedsmith(body),
    'rss-parser': await readWithRssParser(body),
    feedparser: await readWithFeedParser(body),
  };
}

async function readWithFeedParser(body: string): Promise<readonly ReadItem[]> {
  const parser = new FeedParser({ normalize: true, addmeta: false });
  const items: ReadItem[] = [];
  parser.end(body);
  for await (const item of parser as AsyncIterable<FeedParser.Item>) {
    items.push({
      id: item.guid,
      url: item.link ?? undefined,
      title: item.title,
      html: item.description ?? undefined,
      published: item.pubdate?.getTime() ?? Number.NaN,
    });
  }
  return items;
}

function readAtomWithFeedsmith(body: string): readonly ReadItem[] {
  return (parseAtomFeed(body).entries ?? []).map(({ id, title, content, published, links }) => ({
    id,
    url: links?.find(({ rel }) => rel === 'alternate')?.href,
    title: unwrapText(title),
    html: unwrapText(content),
    published: Date.parse(String(published)),
  }));
}

function readRssWithFeedsmith(body: string): readonly ReadItem[] {
  return (parseRssFeed(body).items ?? []).map(({ guid, link, title, description, pubDate }) => ({
    id: guid?.value,
    url: link,
    title: unwrapText(title),
    html: unwrapText(description),
    published: Date.parse(String(pubDate)),
  }));
}

function readJsonWithFeedsmith(body: string): readonly ReadItem[] {
  return (parseJsonFeed(body).items ?? []).map(
    ({ id, url, title, content_html, date_published }) => ({
      id,
      url,
      title,
      html: content_html,
      published: Date.parse(String(date_published)),
    }),
  );
}

async function readWithRssParser(body: string): Promise<readonly ReadItem[]> {
  const { items } = await new RssParser().parseString(body);
  return items.map((item) => ({
    id: item.guid ?? (item as { id?: string }).id,
    url: item.link,
    title: item.title,
    html: item.content,
    published: Date.parse(item.isoDate ?? item.pubDate ?? ''),
  }));
}

function unwrapText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return (value as { value?: string } | undefined)?.value;
}
