import { Agent, cacheStores, interceptors, request } from 'undici';
import { onTestFinished } from 'vitest';
import { type ListeningApp, listen } from './listen.ts';

/** Response from the cache. */
export interface CachedReply {
  readonly code: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
  /** Whether the response came from the cache without a request to the server. */
  readonly isFromCache: boolean;
}

/** Shared cache (RFC 9111), such as a CDN, in front of an app. */
export interface SharedCache extends ListeningApp {
  /** Requests a path. Requests run one after another. */
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<CachedReply>;
}

/**
 * Cache store that ignores undici's deletion of all responses for a URL after an uncacheable response.
 * A CDN keeps the responses for other callers (RFC 9111 §4.1), so it depends more on `Vary`.
 */
class KeepingStore extends cacheStores.MemoryCacheStore {
  override delete(): void {}
}

/** Starts an app behind a shared cache. Both are closed at the end of the test. */
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
  // Without `cacheByDefault`, only responses that the headers allow are cached.
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
