import type { HttpAnswer } from '../../lib/http/http-client.ts';
import type { PostQuery } from '../../model/queries.ts';
import { ProviderError } from '../../normalize/provider-error.ts';
import { readNotice } from '../../normalize/x.ts';
import { withBounds } from '../bounds.ts';
import { createMalformed, toMissing, toStatusFailure, wantedParts } from '../failure.ts';
import { type Provider, platformOf } from '../provider.ts';
import { createUpstream, isBody, readJson, type UpstreamOptions } from '../upstream.ts';
import { shapePost } from './normalize.ts';
import { type PostPayload, parseAnswer, parsePost } from './wire.ts';

/** Creates the provider that reads single posts on X. It uses X's endpoint for embedded posts. */
export function createSyndication(options: UpstreamOptions): Provider {
  const upstream = createUpstream(options);
  return withBounds({
    name: 'syndication',
    platforms: ['x'],
    reads: new Set(['post'] as const),
    covers: (query) => query.kind === 'post' && platformOf(query) === 'x',
    fetch: {
      post: async (query, context) => {
        const { id } = query.post;
        const parameters = new URLSearchParams({ id, lang: 'en', token: tokenOf(id) });
        const row = readPost(await upstream(`/tweet-result?${parameters}`, context));
        const parent = query.thread ? parsePost(row.parent) : null;
        return {
          ancestors: parent === null ? [] : [shapePost(parent)],
          post: shapePost(row),
          continuation: [],
          replies: [],
          missing: wantedParts(query),
          warnings: listWarnings(query, row),
        };
      },
    },
  });
}

const missingParts = {
  thread:
    'The thread is missing: this source sends only the post and, if the post is a reply, the post that it replies to.',
  replies: 'The replies are missing: this source does not have replies.',
} as const;

function listWarnings(query: PostQuery, row: PostPayload): readonly string[] {
  const isLong = row.note_tweet !== null;
  return [
    ...(isLong ? ['This source sends only the beginning of the text of this long post.'] : []),
    ...(row.article === null ? [] : ['This source sends only the beginning of the article.']),
    ...wantedParts(query).map((part) => missingParts[part]),
  ];
}

/** Returns the parameter `token` for a post id, computed as X's embed widget does. */
export const tokenOf = (id: string): string =>
  ((Number(id) / 1e15) * Math.PI).toString(36).replace(/[0.]/g, '');

function readPost(answer: HttpAnswer): PostPayload {
  const { status, retryAfterSeconds } = answer;
  if (status === 404 || status === 400) throw createAmbiguous();
  if (status !== 200) throw toStatusFailure(status, retryAfterSeconds) ?? createMalformed();
  return parsePostAnswer(readJson(answer));
}

function parsePostAnswer(body: unknown): PostPayload {
  const kind = parseAnswer(body);
  if (kind === null) throw createMalformed();
  if (isBody(body) && Object.keys(body).length === 0) {
    const empty = 'The source sent an empty response, so it is unknown whether the post exists.';
    throw new ProviderError('unavailable', empty);
  }
  const { __typename: type, user = null, tombstone } = kind;
  if (type === 'TweetTombstone') throw readTombstone(tombstone?.text.text ?? '');
  // A post without an author: the account is suspended, or X failed to look it up.
  if (type === 'Tweet' && user === null) throw createAmbiguous();
  const post = type === 'Tweet' ? parsePost(body) : null;
  if (post === null) throw createMalformed();
  return post;
}

const createAmbiguous = (): ProviderError =>
  new ProviderError('ambiguous', 'The source has no such post, or does not show it.');

function readTombstone(text: string): ProviderError {
  const known = readNotice(text);
  return known === null ? createAmbiguous() : toMissing(known);
}
