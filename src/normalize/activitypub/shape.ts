import { parseUrl } from '../../lib/http/url.ts';
import type { Account } from '../../model/account.ts';
import { parseFediversePost } from '../../model/addresses/address.ts';
import { type Media, toMediaSet } from '../../model/media.ts';
import type { Card, Community, Post, Status } from '../../model/post.ts';
import { nameLeftOut, omitNull } from '../fields.ts';
import { contentTypeOf } from '../files.ts';
import { toRichText } from '../html-text.ts';
import { toLanguage } from '../language.ts';
import { joinTexts } from '../mastodon/text.ts';
import { isWebUrl, webUrlOrNull } from '../text.ts';
import type { RichText } from '../text-writer.ts';
import { toCreated, toIsoTime } from '../times.ts';
import {
  createMentionNamer,
  languageOf,
  leftOutOf,
  readText,
  shapeMedia,
  shapeNote,
} from './content.ts';
import { authorOf, hostOf, isPlayable, type ObjectPayload, toObjectId } from './object.ts';

/** Parts of a post that its own object does not contain. */
export interface Surroundings {
  readonly author: Account;
  readonly quote?: Post | null;
  readonly reposter?: Account | null;
}

/** Returns Unix milliseconds of a post; `null` if its object has no readable time. */
export const createdMsOf = ({ note }: ObjectPayload): number | null =>
  note.published ?? note.updated;

/** Converts the object of a post that has a time. */
export function shapeObject(object: ObjectPayload, around: Surroundings): Status {
  const { note, id } = object;
  const { author, quote = null, reposter = null } = around;
  const createdMs = createdMsOf(object) ?? 0;
  const text = describe(object, { showsQuote: quote?.type === 'status' });
  const media = toMediaSet(listMedia(object));
  const status: Status = {
    type: 'status',
    id,
    url: findPage(object),
    ...shapeNote(note, { text, createdMs, author, quote }),
    ...omitNull({ edited_at: toEdited(object), community: findCommunity(object) }),
    lang: languageOf(note) ?? toLanguage(object.language?.identifier),
    replies: object.replies.total,
    reposts: object.shares.total,
    likes: object.likes.total,
    views: object.views,
    possibly_sensitive: note.sensitive === true && media.all.length > 0,
    content_warning: toWarning(object),
    replying_to: toAnswered(object),
    reposted_by: reposter,
    media,
    card: findCard(object),
    platform: 'activitypub',
  };
  return nameLeftOut(status, leftOutOf(note));
}

function toEdited(object: ObjectPayload): string | null {
  const { updated } = object.note;
  // PeerTube also updates a video when somebody has watched it.
  if (updated === null || object.type === 'Video') return null;
  return updated > (createdMsOf(object) ?? updated) ? toCreated(updated).created_at : null;
}

function toWarning(object: ObjectPayload): string | null {
  const { summary, sensitive } = object.note;
  if (summary === null || (sensitive !== true && !isShort(object))) return null;
  return toRichText(summary, { nameMention: createMentionNamer([]) }).text || null;
}

/** Whether the summary of such an object is a warning; that of an article is its beginning. */
const isShort = ({ type }: ObjectPayload): boolean => type === 'Note' || type === 'Question';

function describe(object: ObjectPayload, options: { readonly showsQuote: boolean }): RichText {
  const { note } = object;
  const isEmpty = !note.content?.trim() && note.contentMap.length === 0;
  const summary = isEmpty && !isShort(object) ? { content: note.summary, mediaType: null } : {};
  const facts = [
    ['Starts', toIsoTime(object.startTime)],
    ['Ends', object.type === 'Event' ? toIsoTime(note.endTime) : null],
    ['Place', object.location],
    ['Licence', object.licence ?? object.license],
  ].flatMap(([name, value]) => (value ? [`${name}: ${value}`] : []));
  const text = { text: facts.join('\n'), facets: [] };
  return joinTexts([readText({ ...note, ...summary }, options), text], '\n\n');
}

/** Returns the web page of a post if it is on the server of the object, otherwise the object. */
function findPage({ id, url }: ObjectPayload): string {
  const pages = url.filter(({ mediaType }) => mediaType === null || /html/i.test(mediaType));
  const page = toObjectId(pages.find(({ href }) => hostOf(href) === hostOf(id))?.href);
  return page ?? id;
}

function toAnswered({ note }: ObjectPayload): Status['replying_to'] {
  const { inReplyTo } = note;
  if (inReplyTo === null) return null;
  const host = hostOf(inReplyTo);
  const mentions = note.tag.filter((tag) => tag.type === 'Mention');
  const [only, ...others] = mentions.filter(({ href }) => hostOf(href) === host);
  const named = only && others.length === 0 ? createMentionNamer([only])(only.href, '') : null;
  return {
    screen_name: parseFediversePost(inReplyTo)?.handle ?? named,
    status: toObjectId(inReplyTo),
    url: webUrlOrNull(inReplyTo),
  };
}

function findCommunity(object: ObjectPayload): Community | null {
  const { note, audience, attributedTo, type } = object;
  const groups = attributedTo.filter((each) => each.type === 'Group').map((each) => each.id);
  const others = note.to.filter((each) => typeof each === 'string' && !each.endsWith('/followers'));
  // A page of Lemmy or PieFed is addressed to its community.
  const addressed = type === 'Page' ? others.map(toObjectId).filter((each) => each !== null) : [];
  const id = toObjectId(audience ?? groups[0] ?? addressed[0]);
  if (id === null || id === authorOf(object)) return null;
  const last =
    parseUrl(id)
      ?.pathname.split('/')
      .findLast((part) => part !== '') ?? '';
  return { id, name: `${last.replace(/^@/, '')}@${hostOf(id)}`, url: id, description: null };
}

function listMedia(object: ObjectPayload): readonly Media[] {
  const { note, image, type } = object;
  const files = note.attachment.filter((item) => !isLink(item) && isWebUrl(item.url));
  const own = shapeOwnFile(object);
  const attached = [...(own === null ? [] : [own]), ...files.map((f) => shapeMedia(f, f.url))];
  const cover = webUrlOrNull(image);
  const isShown = cover === null || type === 'Page' || attached.length > 0;
  return isShown ? attached : [{ type: 'photo', url: cover, width: null, height: null, alt: null }];
}

const mediaTypes = { Video: 'video', Audio: 'audio', Image: 'photo' } as const;

/** Returns the file of a video, a recording or a picture that is a post of its own. */
function shapeOwnFile({ type, url, icon, duration }: ObjectPayload): Media | null {
  if (type !== 'Video' && type !== 'Audio' && type !== 'Image') return null;
  const all = url.flatMap(({ files, ...link }) => [link, ...files]);
  const playable = all.filter(({ href, mediaType }) => isWebUrl(href) && isPlayable(mediaType));
  const whole = playable.filter(({ mediaType }) => !/mpegurl$/i.test(mediaType ?? ''));
  const [best = playable[0]] = whole.toSorted((a, b) => (b.height ?? 0) - (a.height ?? 0));
  if (best === undefined) return null;
  const { href, width, height } = best;
  const file = { type: mediaTypes[type], url: href, width, height, alt: null };
  if (type === 'Image') return file;
  return {
    ...file,
    thumbnail_url: webUrlOrNull(icon),
    duration: toSeconds(duration),
    variants: playable.map((one) => ({
      url: one.href,
      content_type: contentTypeOf(one.href, one.mediaType),
      bitrate: null,
    })),
  };
}

const durationForm = /^PT(?:(\d{1,6})H)?(?:(\d{1,6})M)?(?:(\d{1,9}(?:\.\d{1,9})?)S)?$/;

/** Converts a duration without days (ISO 8601), such as `PT1H2M3S`. */
function toSeconds(duration: string | null): number | null {
  const found = durationForm.exec(duration ?? '');
  if (found === null) return null;
  const [, hours = 0, minutes = 0, seconds = 0] = found;
  return Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
}

type Attachment = ObjectPayload['note']['attachment'][number];

const isLink = ({ type, mediaType, url }: Attachment): boolean =>
  type === 'Link' && !isPlayable(contentTypeOf(url, mediaType));

function findCard({ id, note, image, type, url }: ObjectPayload): Card | null {
  const isPage = type === 'Page';
  const image_url = isPage ? webUrlOrNull(image) : null;
  const link = note.attachment.find(isLink);
  if (link !== undefined && isWebUrl(link.url)) {
    return { url: link.url, title: link.name ?? '', description: link.summary, image_url };
  }
  // Friendica and others share a link as the address of the page.
  const shared = isPage
    ? url.find(({ href }) => isWebUrl(href) && hostOf(href) !== hostOf(id))
    : null;
  return shared ? { url: shared.href, title: '', description: null, image_url } : null;
}
