import { errorCodeOf } from '../../lib/files/sqlite.ts';
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

/** Last response of a provider. `aheadMs`: by how much this clock is ahead; `null` if unknown. */
type Seen = Readonly<{ status: number; aheadMs: number | null }>;

/** Sends one request to each provider, and checks its `Date` header and its response. */
export async function checkProviders(
  { config, clock, random }: DoctorContext,
  signal: AbortSignal,
): Promise<readonly (readonly Result[])[]> {
  const names = config.PERCH_PROVIDERS.filter((name): name is Remote => name !== 'archive');
  if (names.length === 0) {
    return [
      [ok('Not compared, because only the archive is configured.')],
      [ok('Only the archive is configured, which needs no network.')],
    ];
  }
  const sources = { config, clock, random };
  const reports = await withDeadline(stopMs, [signal], (stop) =>
    Promise.all(names.map((name) => readOne(name, sources, stop))),
  );
  const aheadMs = reports.map(({ seen }) => seen?.aheadMs ?? null);
  return [[judgeClock(aheadMs.filter((ms) => ms !== null))], reports.map(({ result }) => result)];
}

async function readOne(
  name: Remote,
  { config, clock, random }: Pick<DoctorContext, 'config' | 'clock' | 'random'>,
  signal: AbortSignal,
) {
  const heavyTurns = createHeavyTurns(createServerLoop());
  const limits = toLimits({ config, clock, random, heavyTurns });
  let seen: Seen | undefined;
  const observe = (http: HttpClient): HttpClient => ({
    ...http,
    get: async (url, context) => {
      const answer = await http.get(url, context);
      const dateMs = Date.parse(answer.header('date') ?? '');
      // The header has whole seconds. On average, the real time is half a second later.
      const aheadMs = Number.isNaN(dateMs) ? null : clock.now() - dateMs - 500;
      seen = { status: answer.status, aheadMs };
      return answer;
    },
  });
  const http = observe(openHttpClient(limits));
  const publicHttp = observe(openPublicHttpClient(limits));
  const settings = toSettings(config, { http, publicHttp, clock, signingKey: null }, null);
  const provider = providerFactories[name](settings);
  const startedMs = clock.now();
  let result: Result;
  try {
    await cheapReads[name](provider.fetch, { signal });
    result = judgeSpeed(name, clock.now() - startedMs);
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    const isAnswer = error.kind === 'missing' || error.kind === 'ambiguous';
    result = isAnswer
      ? judgeSpeed(name, clock.now() - startedMs)
      : describeFailure(name, error, seen?.status);
  } finally {
    provider.close?.();
    await Promise.all([http.close(), publicHttp.close()]);
  }
  return { result, seen };
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

function describeFailure(name: Remote, error: ProviderError, status: number | undefined): Result {
  if (error.kind === 'throttled') {
    return warning(
      `${name} limits the rate of requests from this machine (status ${status}).`,
      'Wait a few minutes, and run perch doctor again. If the limit remains, another program at the same IP address probably sends many requests.',
    );
  }
  const code = codeOf(error);
  const detail = status === undefined ? code : `status ${status}`;
  return fault(
    `${name} cannot be used${detail === undefined ? '' : ` (${detail})`}. ${error.message}`,
    `Check the network of this machine and the URL of ${name} in the settings. If both are right, the platform is failing. To run Perch without this provider, remove ${name} from PERCH_PROVIDERS.`,
  );
}

/** Returns the code of the innermost cause that has one. */
function codeOf(error: Error): string | undefined {
  const inner = error.cause instanceof Error ? codeOf(error.cause) : undefined;
  return inner ?? errorCodeOf(error);
}

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
