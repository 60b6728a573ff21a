import { joinTexts } from '../../../platforms/mastodon/profile.ts';
import { readPostText } from '../../../platforms/mastodon/text.ts';
import { countCodePoints } from '../../../platforms/text.ts';
import type { RichText } from '../../../platforms/text-writer.ts';
import { createMentionNamer } from './actor.ts';
import type { NotePayload } from './payload.ts';

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
