import { Agent, cacheStores, interceptors, request } from 'undici';
import { onTestFinished } from 'vitest';
import { type ListeningApp, listen } from './listen.ts';

/** What came through the cache. */
export interface CachedReply {
  readonly code: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
  /** Whether the server was not asked at all. */
  readonly isFromCache: boolean;
}

/** A shared cache (RFC 9111), as a CDN is one, in front of an app that listens. */
export interface SharedCache extends ListeningApp {
  /** Asks for a path, one request after the other. */
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<CachedReply>;
}

/**
 * undici drops every copy of an address when a reply to it may not be kept, whatever that reply was
 * chosen by. A CDN keeps the copies of other callers (RFC 9111 §4.1), which asks more of `Vary`.
 */
class KeepingStore extends cacheStores.MemoryCacheStore {
  override delete(): void {}
}

/** Starts an app and a shared cache before it; both are closed when the test has finished. */
export async function startSharedCache(
  env: Readonly<Record<string, string>> = {},
): Promise<SharedCache> {
  const listening = await listen(env);
  let asked = 0;
  listening.app.server.server.on('request', () => {
    asked += 1;
  });
  const agent = new Agent();
  onTestFinished(() => agent.close());
  // Without `cacheByDefault` it keeps what the headers allow, and nothing else.
  const dispatcher = agent.compose(
    interceptors.cache({ store: new KeepingStore(), type: 'shared' }),
  );
  return {
    ...listening,
    get: async (path, headers = {}) => {
      const before = asked;
      const reply = await request(`${listening.url}${path}`, { dispatcher, headers });
      const body = await reply.body.text();
      const isFromCache = asked === before;
      return { code: reply.statusCode, headers: reply.headers, body, isFromCache };
    },
  };
}
