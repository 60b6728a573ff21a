import type { HttpAnswer } from '../../core/http/http-client.ts';
import type { PostQuery } from '../../model/queries.ts';
import { ProviderError } from '../../platforms/provider-error.ts';
import { withBounds } from '../bounds.ts';
import { createMalformed, listParts, toMissing, toStatusFailure } from '../failure.ts';
import { type Provider, platformOf } from '../provider.ts';
import { createUpstream, isBody, readJson, type UpstreamOptions } from '../upstream.ts';
import { type PostPayload, parseAnswer, parsePost } from './payload.ts';
import { shapePost } from './shape.ts';

/** Creates the provider that reads single posts of X from the endpoint for embedded posts. */
export function createSyndication(options: UpstreamOptions): Provider {
  const upstream = createUpstream(options);
  return withBounds({
    name: 'syndication',
    platforms: ['x'],
    reads: new Set(['post'] as const),
    covers: (query) => query.kind === 'post' && platformOf(query) === 'x',
    ask: {
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
          missing: listParts(query),
          warnings: listWarnings(query, row),
        };
      },
    },
  });
}

const missingParts = {
  thread: 'The thread is missing: this source gives the post and at most the one it answers.',
  replies: 'The replies are missing: this source has none.',
} as const;

function listWarnings(query: PostQuery, row: PostPayload): readonly string[] {
  const isLong = row.note_tweet !== null;
  return [
    ...(isLong ? ['The text of this long post is cut after its beginning.'] : []),
    ...(row.article === null ? [] : ['Only the beginning of the article is known.']),
    ...listParts(query).map((part) => missingParts[part]),
  ];
}

/** Returns the token that X's own widget sends with an id. */
export function tokenOf(id: string): string {
  return ((Number(id) / 1e15) * Math.PI).toString(36).replace(/[0.]/g, '');
}

/** @throws ProviderError also for an answer with status 200 that has no post to show */
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
    const silent = 'The source cannot say whether there is such a post.';
    throw new ProviderError('unavailable', silent);
  }
  const { __typename: type, user = null, tombstone } = kind;
  if (type === 'TweetTombstone') throw readTombstone(tombstone?.text.text ?? '');
  // A suspended author is left out of the post, and so may be one whom X failed to look up.
  if (type === 'Tweet' && user === null) throw createAmbiguous();
  const post = type === 'Tweet' ? parsePost(body) : null;
  if (post === null) throw createMalformed();
  return post;
}

function createAmbiguous(): ProviderError {
  return new ProviderError('ambiguous', 'The source has no such post, or does not show it.');
}

const reasons = [
  ['deleted by', 'deleted'],
  ['suspended', 'suspended'],
  ['limits who can view', 'private'],
] as const;

/** Only these wordings have a known reason; age-restricted posts have tombstones too. */
function readTombstone(text: string): ProviderError {
  const known = reasons.find(([words]) => text.toLowerCase().includes(words));
  return known === undefined ? createAmbiguous() : toMissing(known[1]);
}
