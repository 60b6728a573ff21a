import { parseUrl } from '../../lib/http/url.ts';
import type { Account } from '../../model/account.ts';
import type { Media } from '../../model/media.ts';
import type { Poll, Post } from '../../model/post.ts';
import { findLeftOut, omitNull, toPercentage } from '../fields.ts';
import { toMedia } from '../files.ts';
import { toLanguage } from '../language.ts';
import { isCut } from '../lenient.ts';
import { findTagsBeside, joinTexts, readPostText } from '../mastodon/text.ts';
import { countCodePoints } from '../text.ts';
import type { RichText } from '../text-writer.ts';
import { toCreated, toIsoTime } from '../times.ts';
import type { AttachmentPayload, MentionPayload, NotePayload } from './wire.ts';

/** Returns a post's title and text. `showsQuote`: the text needs no link to the quoted post. */
export function readText(note: NotePayload, options: { readonly showsQuote: boolean }): RichText {
  const { text, isPlain } = findContent(note);
  const mentions = note.tag.filter((tag) => tag.type === 'Mention');
  const body = isPlain
    ? { text: text.replaceAll('\r', '').trim(), facets: [] }
    : readPostText(text, { ...options, nameMention: createMentionNamer(mentions) });
  return note.name === null ? body : joinTexts([toTitle(note.name), body], '\n\n');
}

function findContent({ content, contentMap, mediaType, source }: NotePayload) {
  const [, translated = null] = contentMap.find(([, text]) => text !== null) ?? [];
  const html = content?.trim() ? content : translated;
  if (html !== null) return { text: html, isPlain: isPlainType(mediaType) };
  return { text: source?.content ?? '', isPlain: isPlainType(source?.mediaType ?? 'text/plain') };
}

const isPlainType = (mediaType: string | null): boolean =>
  mediaType !== null && !/^(?:text\/html|application\/xhtml\+xml)\b/i.test(mediaType);

function toTitle(name: string): RichText {
  const text = name.trim().replaceAll(/\s+/g, ' ');
  return { text, facets: [{ type: 'bold', start: 0, end: countCodePoints(text) }] };
}

const namesOfTags = ({ tag }: NotePayload): readonly string[] =>
  tag.flatMap((each) => (each.type === 'Hashtag' ? [each.name.replace(/^#/, '')] : []));

export function languageOf({ content, contentMap }: NotePayload): string | null {
  const [language] = contentMap.find(([, text]) => text === content) ?? contentMap[0] ?? [];
  return language === 'und' ? null : toLanguage(language);
}

const kinds: ReadonlyMap<string | null, 'photo' | 'video' | 'audio'> = new Map([
  ['Image', 'photo'],
  ['Video', 'video'],
  ['Audio', 'audio'],
]);

export function shapeMedia(item: AttachmentPayload, url: string): Media {
  const { width, height, mediaType: contentType } = item;
  const alt = item.name ?? item.summary;
  const media = toMedia({ url, contentType, alt, width, height });
  const kind = contentType === null && media.type === 'file' ? kinds.get(item.type) : undefined;
  return kind === undefined ? media : { type: kind, url, width, height, alt };
}

function shapePoll({ oneOf, anyOf, endTime, closed, votersCount }: NotePayload): Poll | null {
  const choices = oneOf ?? anyOf;
  if (choices === null) return null;
  const votes = choices.reduce((sum, { replies }) => sum + (replies ?? 0), 0);
  const base = anyOf === null ? votes : (votersCount ?? votes);
  return {
    choices: choices.map(({ name: label, replies: count }) => {
      return { label, count, percentage: toPercentage(count, base) };
    }),
    total_votes: choices.some(({ replies }) => replies === null) ? null : votes,
    ...omitNull({ total_voters: votersCount }),
    ends_at: toIsoTime(endTime ?? closed),
  };
}

/** Creates a function that returns the full handle of a mentioned account; `null` if unknown. */
export function createMentionNamer(mentions: readonly MentionPayload[]) {
  const byUrl = new Map(mentions.toReversed().map((mention) => [mention.href, mention]));
  const byName = new Map<string, MentionPayload | null>();
  for (const mention of mentions) {
    const user = userIn(mention.name);
    byName.set(user, byName.has(user) ? null : mention); // `null`: several accounts have the name
  }
  return (url: string, label: string): string | null => {
    const known = byUrl.get(url) ?? byName.get(label.trim().replace(/^@/, '').toLowerCase());
    return known ? handleOfMention(known) : null;
  };
}

const userIn = (name: string): string => name.replace(/^@/, '').split('@')[0]?.toLowerCase() ?? '';

function handleOfMention({ name, href }: MentionPayload): string | null {
  const handle = name.replace(/^@/, '');
  if (handle.includes('@')) return handle;
  const url = parseUrl(href);
  return url === null ? null : `${handle}@${url.hostname}`;
}

/** Returns the URL of the quoted post. Each kind of server software uses a different member. */
export function findQuote({ tag, ...note }: NotePayload): string | null {
  const link = tag.find((each) => each.type === 'Link');
  const { quote, quoteUri, quoteUrl, quoteURL, _misskey_quote } = note;
  return quote ?? quoteUri ?? quoteUrl ?? quoteURL ?? _misskey_quote ?? link?.href ?? null;
}

/** Returns the names of the members of a post that are not whole. */
export function leftOutOf({ content, attachment, oneOf, anyOf }: NotePayload): readonly string[] {
  const lists = { media: [attachment], poll: [oneOf ?? anyOf ?? undefined] };
  return [...(isCut(content) ? ['text'] : []), ...findLeftOut(lists)];
}

interface NoteParts {
  readonly text: RichText;
  readonly createdMs: number;
  readonly author: Account;
  readonly quote: Post | null;
}

/** Returns the members of a post that come from its note alone. Unknown members are `null`. */
export const shapeNote = (note: NotePayload, { text, createdMs, ...known }: NoteParts) =>
  ({
    ...text,
    ...omitNull({ tags: findTagsBeside(namesOfTags(note), text) }),
    ...toCreated(createdMs),
    ...known,
    replies: null,
    reposts: note.shares,
    likes: note.likes,
    quotes: null,
    bookmarks: null,
    views: null,
    source: note.generator?.name ?? null,
    reposted_by: null,
    poll: shapePoll(note),
    article: null,
    community_note: null,
    context: null,
  }) as const;
