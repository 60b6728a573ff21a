import type { Clock } from '../../lib/clock.ts';
import { type HttpClient, openHttpClient } from '../../lib/http/http-client.ts';
import { openPublicHttpClient } from '../../lib/http/public-http-client.ts';
import { withDeadline } from '../../lib/scheduling/deadline.ts';
import { createHeavyTurns, createServerLoop } from '../../lib/scheduling/fair-queue.ts';
import { ProviderError } from '../../normalize/provider-error.ts';
import type { Provider, ProviderContext } from '../../providers/provider.ts';
import { type ProviderName, providerFactories } from '../../providers/registry.ts';
import { toLimits, toSettings } from '../../server/wiring/fetching.ts';
import { type DoctorContext, fault, ok, type Result, warning } from './finding.ts';

type Remote = Exclude<ProviderName, 'archive'>;

/** Duration of a read in milliseconds above which a provider (data source) counts as slow. */
const slowMs = 3000;

/** Timeout in milliseconds for all reads, shorter than a check, so that it can report slow ones. */
const stopMs = 7500;

interface Seen {
  readonly status: number;
  /** Milliseconds by which this clock is ahead; `null` if the response has no valid `Date`. */
  readonly aheadMs: number | null;
}

interface ProviderReport {
  readonly result: Result;
  readonly seen: readonly Seen[];
}

/** Creates the checks of providers and clock, which share one request to each provider. */
export function createProviderChecks({ config, clock, random }: DoctorContext) {
  const names = config.PERCH_PROVIDERS.filter((name): name is Remote => name !== 'archive');
  let reading: Promise<readonly ProviderReport[]> | undefined;
  const read = (signal: AbortSignal): Promise<readonly ProviderReport[]> => {
    const readAll = (stop: AbortSignal) =>
      Promise.all(names.map((name) => readOne(name, { config, clock, random }, stop)));
    reading ??= withDeadline(stopMs, [signal], readAll);
    return reading;
  };
  return {
    checkProviders: async (signal: AbortSignal): Promise<readonly Result[]> => {
      if (names.length === 0)
        return [ok('Only the archive is configured, which needs no network.')];
      return (await read(signal)).map(({ result }) => result);
    },
    checkClock: async (signal: AbortSignal): Promise<readonly Result[]> => {
      if (names.length === 0) return [ok('Not compared, because only the archive is configured.')];
      const seen = (await read(signal)).flatMap((one) => one.seen.slice(-1));
      return [judgeClock(seen.map(({ aheadMs }) => aheadMs).filter((ms) => ms !== null))];
    },
  };
}

type Sources = Pick<DoctorContext, 'config' | 'clock' | 'random'>;

async function readOne(
  name: Remote,
  { config, clock, random }: Sources,
  signal: AbortSignal,
): Promise<ProviderReport> {
  const heavyTurns = createHeavyTurns(createServerLoop());
  const limits = toLimits({ config, clock, random, heavyTurns });
  const seen: Seen[] = [];
  const http = observe(openHttpClient(limits), clock, seen);
  const publicHttp = observe(openPublicHttpClient(limits), clock, seen);
  const provider = providerFactories[name](
    toSettings(config, { http, publicHttp, clock, signingKey: null }, null),
  );
  const startedMs = clock.now();
  try {
    await cheapReads[name](provider.fetch, { signal });
    return { result: judgeSpeed(name, clock.now() - startedMs), seen };
  } catch (error) {
    return { result: describeFailure(name, error, { seen, ms: clock.now() - startedMs }), seen };
  } finally {
    provider.close?.();
    await Promise.all([http.close(), publicHttp.close()]);
  }
}

function observe(http: HttpClient, clock: Clock, seen: Seen[]): HttpClient {
  return {
    get: async (url, context) => {
      const answer = await http.get(url, context);
      const dateMs = Date.parse(answer.header('date') ?? '');
      // The header has whole seconds. On average, the real time is half a second later.
      const aheadMs = Number.isNaN(dateMs) ? null : clock.now() - dateMs - 500;
      seen.push({ status: answer.status, aheadMs });
      return answer;
    },
    close: () => http.close(),
  };
}

const onePost = {
  feed: 'latest',
  cursor: null,
  count: 1,
  sinceSeconds: null,
  untilSeconds: null,
} as const;

/** Requests that cost a provider little. */
const cheapReads: Readonly<
  Record<
    Remote,
    (fetch: Provider['fetch'], context: ProviderContext) => Promise<unknown> | undefined
  >
> = {
  fxtwitter: ({ profile }, context) =>
    profile?.({ kind: 'profile', account: { platform: 'x', handle: 'jack' } }, context),
  syndication: ({ post }, context) => {
    const first = { platform: 'x', handle: 'jack', id: '20' } as const;
    return post?.({ kind: 'post', post: first, thread: false, replies: 'off' }, context);
  },
  bluesky: ({ profile }, context) =>
    profile?.({ kind: 'profile', account: { platform: 'bluesky', handle: 'bsky.app' } }, context),
  mastodon: ({ search }, context) =>
    search?.({ kind: 'search', platform: 'mastodon', text: '#mastodon', ...onePost }, context),
  activitypub: ({ profile }, context) => {
    const account = { platform: 'mastodon', handle: 'mastodon@mastodon.social' } as const;
    return profile?.({ kind: 'profile', account }, context);
  },
};

function judgeSpeed(name: Remote, ms: number): Result {
  if (ms <= slowMs) return ok(`${name} answered in ${ms} ms.`);
  const message = `${name} answered only after ${(ms / 1000).toFixed(1)} seconds.`;
  return warning(
    message,
    'Check the network of this machine. If the network is fast, the platform is slow at the moment.',
  );
}

function describeFailure(
  name: Remote,
  error: unknown,
  { seen, ms }: { readonly seen: readonly Seen[]; readonly ms: number },
): Result {
  if (!(error instanceof ProviderError)) throw error;
  if (error.kind === 'missing' || error.kind === 'ambiguous') return judgeSpeed(name, ms);
  const status = seen.at(-1)?.status;
  if (error.kind === 'throttled') {
    const message = `${name} limits the rate of requests from this machine (status ${status}).`;
    return warning(
      message,
      'Wait a few minutes, and run perch doctor again. If the limit remains, another program at the same IP address probably sends many requests.',
    );
  }
  const code = codeOf(error);
  const detail = status === undefined ? code : `status ${status}`;
  const advice = `Check the network of this machine and the URL of ${name} in the settings. If both are right, the platform is failing. To run Perch without this provider, remove ${name} from PERCH_PROVIDERS.`;
  return fault(
    `${name} cannot be used${detail === null ? '' : ` (${detail})`}. ${error.message}`,
    advice,
  );
}

function codeOf(error: Error): string | null {
  if (error.cause instanceof Error) return codeOf(error.cause) ?? ownCodeOf(error);
  return ownCodeOf(error);
}

const ownCodeOf = (error: Error): string | null =>
  'code' in error && typeof error.code === 'string' ? error.code : null;

const clockLimits = {
  /** Clock offset in milliseconds above which the check of the clock reports a warning. */
  inexact: 5000,
  /** Clock offset in milliseconds above which the check of the clock reports a fault. */
  wrong: 60_000,
} as const;

function judgeClock(aheadMs: readonly number[]): Result {
  const sorted = aheadMs.toSorted((a, b) => a - b);
  const median = sorted[Math.floor(sorted.length / 2)];
  if (median === undefined) {
    const message = 'The clock cannot be compared, because no platform answered.';
    return warning(message, 'See the findings about the providers.');
  }
  const seconds = Math.round(Math.abs(median) / 1000);
  if (Math.abs(median) <= clockLimits.inexact)
    return ok('The clock agrees with the clocks of the platforms.');
  const message = `The clock of this machine is ${seconds} seconds ${median > 0 ? 'ahead of' : 'behind'} the clocks of the platforms.`;
  const advice =
    'Turn on the synchronization of the clock, for example with `timedatectl set-ntp true`.';
  return Math.abs(median) > clockLimits.wrong ? fault(message, advice) : warning(message, advice);
}
