import type { HttpAnswer, RequestContext } from '../../core/http/http-client.ts';
import type { Tombstone } from '../../model/post.ts';
import { ProviderError } from '../../platforms/provider-error.ts';
import { createMalformed, toMissing, toStatusFailure } from '../failure.ts';
import { createUpstream, readJson, type UpstreamOptions } from '../upstream.ts';
import { type AnswerPayload, type PostPayload, parseAnswer, parsePost } from './payload.ts';

/** Asks the syndication endpoint. */
export interface SyndicationClient {
  /**
   * Gives the post.
   *
   * @throws ProviderError
   */
  readPost(id: string, context: RequestContext): Promise<PostPayload>;
}

/** Creates a client of the endpoint. */
export function createClient(options: UpstreamOptions): SyndicationClient {
  const upstream = createUpstream(options);
  return {
    readPost: async (id, context) => {
      const query = new URLSearchParams({ id, lang: 'en', token: tokenOf(id) });
      return readPost(await upstream(`/tweet-result?${query}`, context));
    },
  };
}

/** Gives the token that X's own widget sends with an id (syndication, section 1). */
export function tokenOf(id: string): string {
  return ((Number(id) / 1e15) * Math.PI).toString(36).replace(/[0.]/g, '');
}

const sentences = {
  ambiguous: 'The source has no such post, or does not show it.',
  silent: 'The source cannot say whether there is such a post.',
} as const;

function readPost(answer: HttpAnswer): PostPayload {
  if (answer.status !== 200) throw readFailure(answer);
  const body = readJson(answer);
  const kind = parseAnswer(body);
  const refusal = kind === null ? null : readRefusal(body, kind);
  const post = refusal === null ? parsePost(body) : null;
  if (post === null || kind?.__typename !== 'Tweet') {
    throw refusal ?? createMalformed();
  }
  return post;
}

function readFailure({ status, retryAfterSeconds }: HttpAnswer): ProviderError {
  const failure = toStatusFailure(status, retryAfterSeconds);
  if (failure !== null) return failure;
  if (status === 404 || status === 400) return new ProviderError('ambiguous', sentences.ambiguous);
  return createMalformed();
}

/** Reads the ways of saying with status 200 that there is no post to show; null when it is none. */
function readRefusal(body: unknown, kind: AnswerPayload): ProviderError | null {
  if (isEmpty(body)) return new ProviderError('unavailable', sentences.silent);
  if (kind.__typename === 'TweetTombstone') return readTombstone(kind.tombstone?.text.text ?? '');
  // A suspended author is left out of the post, and so may be one whom X failed to look up.
  const anonymous = kind.__typename === 'Tweet' && (kind.user ?? null) === null;
  return anonymous ? new ProviderError('ambiguous', sentences.ambiguous) : null;
}

function isEmpty(body: unknown): boolean {
  return typeof body === 'object' && body !== null && Object.keys(body).length === 0;
}

const reasons: readonly (readonly [string, Tombstone['reason']])[] = [
  ['deleted by', 'deleted'],
  ['suspended', 'suspended'],
  ['limits who can view', 'private'],
];

/** Only these wordings name what happened; age-restricted posts have tombstones too. */
function readTombstone(text: string): ProviderError {
  const known = reasons.find(([words]) => text.toLowerCase().includes(words));
  return known === undefined
    ? new ProviderError('ambiguous', sentences.ambiguous)
    : toMissing(known[1]);
}
