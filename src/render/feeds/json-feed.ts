import type { JsonFeed, JsonFeedItem } from '../../model/json-feed.ts';
import type { Entry, Person } from './entry.ts';
import type { FeedWriter } from './feeds.ts';
import { toFormatUrl } from './urls.ts';

/** Writer of JSON Feed 1.1 (https://www.jsonfeed.org/version/1.1/) with extension `_perch`. */
export const jsonFeed: FeedWriter = {
  writeStart: (feed) => {
    const { urls, nextUrl, author } = feed;
    const toUrl = (url: string) => toFormatUrl(url, 'jsonfeed');
    const head: Omit<JsonFeed, 'items'> = {
      version: 'https://jsonfeed.org/version/1.1',
      title: feed.title,
      home_page_url: feed.url ?? urls.self,
      feed_url: toUrl(urls.self),
      ...(feed.subtitle !== '' && { description: feed.subtitle }),
      ...(nextUrl !== null && { next_url: toUrl(nextUrl) }),
      ...(feed.iconUrl !== null && { icon: feed.iconUrl }),
      ...(author !== null && { authors: [toAuthor(author)] }),
      _perch: {
        id: feed.id,
        ...(urls.first !== null && { first_url: toUrl(urls.first) }),
        ...(urls.previous !== null && { previous_url: toUrl(urls.previous) }),
      },
    };
    return `${JSON.stringify(head).slice(0, -1)},"items":[`;
  },
  writeEntry: (entry) => JSON.stringify(toItem(entry)),
  separator: ',',
  end: ']}\n',
};

const toAuthor = ({ name, url, avatarUrl }: Person) => ({
  name,
  ...(url !== null && { url }),
  ...(avatarUrl !== null && { avatar: avatarUrl }),
});

function toItem(entry: Entry): JsonFeedItem {
  const { url, categories, media } = entry;
  const image = media.find(({ medium }) => medium === 'image')?.url ?? media[0]?.thumbnailUrl;
  return {
    id: entry.id,
    ...(url !== null && { url }),
    title: entry.title,
    content_html: entry.html,
    ...(image && { image }),
    date_published: entry.published,
    date_modified: entry.updated,
    authors: [toAuthor(entry.author)],
    ...(categories.length > 0 && { tags: categories }),
    ...(media.length > 0 && { attachments: media.map(toAttachment) }),
    ...toExtension(entry),
  };
}

const toAttachment = (item: Entry['media'][number]) => ({
  url: item.url,
  mime_type: item.mediaType,
  ...(item.description !== '' && { title: item.description }),
  ...(item.duration !== null && { duration_in_seconds: item.duration }),
});

function toExtension({ inReplyTo, repliesUrl, replyCount }: Entry): Pick<JsonFeedItem, '_perch'> {
  const members = {
    ...(inReplyTo !== null && { in_reply_to: inReplyTo }),
    ...(repliesUrl !== null && { replies_url: toFormatUrl(repliesUrl, 'jsonfeed') }),
    ...(replyCount !== null && { reply_count: replyCount }),
  };
  return Object.keys(members).length === 0 ? {} : { _perch: members };
}
