import type { Facet } from '../../model/post.ts';
import { nestRuns } from '../../platforms/runs.ts';
import { isNamed, scanFacets, type TagType, tagUrl } from '../../platforms/tags.ts';
import { countCodePoints, decodeEntities, isWebUrl, toCodePoints } from '../../platforms/text.ts';
import type { RichText } from '../../platforms/text-writer.ts';
import type { PostPayload } from './payload.ts';

interface Edit {
  readonly start: number;
  readonly end: number;
  /** Expected text. The edit is skipped if the post has a different text there. */
  readonly original: string;
  /** Replacement for the text between `start` and `end`; `null` keeps the text. */
  readonly shown: string | null;
  readonly facet: Pick<Facet, 'type' | 'url'> | null;
}

/** Returns the text for display: expands links, decodes entities, removes media and quote links. */
export function cleanText(post: PostPayload, quotedId: string | null): RichText {
  const raw = toCodePoints(post.text);
  const parts: string[] = [];
  const facets: Facet[] = [];
  let at = 0;
  let offset = 0;
  const append = (part: string) => {
    parts.push(part);
    offset += countCodePoints(part);
  };
  for (const { start, end, original, shown, facet } of toEdits(post, quotedId)) {
    const run = raw.slice(start, end).join('');
    if (start < at || run === '' || !isNamed(run, original)) continue;
    append(decodeEntities(raw.slice(at, start).join('')));
    const from = offset;
    append(shown ?? decodeEntities(run));
    if (facet !== null) facets.push({ ...facet, start: from, end: offset });
    at = end;
  }
  append(decodeEntities(raw.slice(at).join('')));
  const text = parts.join('').trimEnd();
  if (post.entities === null) return { text, facets: scanFacets(text) };
  return { text, facets: nestRuns(facets, countCodePoints(text)) };
}

function toEdits(post: PostPayload, quotedId: string | null): readonly Edit[] {
  const { entities } = post;
  const { urls = [], user_mentions = [], hashtags = [], symbols = [] } = entities ?? {};
  const edits = [
    ...mediaEdits(post),
    ...urls.map((link) => linkEdit(link, quotedId)),
    ...user_mentions.map((tag) => tagEdit('mention', tag.indices, tag.screen_name)),
    ...hashtags.map((tag) => tagEdit('hashtag', tag.indices, tag.text)),
    ...symbols.map((tag) => tagEdit('symbol', tag.indices, tag.text)),
  ];
  return edits.sort((a, b) => a.start - b.start);
}

function mediaEdits({ entities, mediaDetails }: PostPayload): readonly Edit[] {
  return [...(entities?.media ?? []), ...mediaDetails].flatMap(({ indices, url }): Edit[] => {
    if (indices === null || url === null) return [];
    return [{ start: indices[0], end: indices[1], original: url, shown: '', facet: null }];
  });
}

type LinkEntity = NonNullable<PostPayload['entities']>['urls'][number];

const postLink = /^https?:\/\/(?:\w+\.)?(?:x|twitter)\.com\/\w+\/status\/(\d+)/i;

function linkEdit({ indices, url, expanded_url }: LinkEntity, quotedId: string | null): Edit {
  const run = { start: indices[0], end: indices[1], original: url };
  const [, id] = postLink.exec(expanded_url) ?? [];
  if (id !== undefined && id === quotedId) return { ...run, shown: '', facet: null };
  if (!isWebUrl(expanded_url)) return { ...run, shown: null, facet: null };
  return { ...run, shown: expanded_url, facet: { type: 'link', url: expanded_url } };
}

function tagEdit(type: TagType, indices: readonly [number, number], name: string): Edit {
  const url = tagUrl(type, name);
  const facet = url === null ? null : { type, url };
  return { start: indices[0], end: indices[1], original: name, shown: null, facet };
}
