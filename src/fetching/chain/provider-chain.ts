import type { BreakerHold, BreakerState } from '../../lib/breaker.ts';
import { type Clock, createSteadyClock, systemClock } from '../../lib/clock.ts';
import type { RequestContext } from '../../lib/http/http-client.ts';
import { Problem, type ProblemCode, quoteInput } from '../../lib/problem.ts';
import { endWith, type TraceSpan } from '../../lib/tracing/tracing.ts';
import type { Answers, Query, QueryKind } from '../../model/queries.ts';
import { platformNames } from '../../model/reference.ts';
import { ProviderError, type ProviderErrorKind } from '../../normalize/provider-error.ts';
import { unanswered } from '../../providers/failure.ts';
import type { Fetch, Provider } from '../../providers/provider.ts';
import {
  clampPause,
  createProviderBreaker,
  type JudgedFailure,
  type ProviderBreaker,
  type ProviderBreakerOptions,
  toPauseMs,
} from '../../providers/provider-breaker.ts';
import { type Contacts, createContacts, describeOutage } from './contacts.ts';
import type { ProviderRecords } from './provider-records.ts';

interface ChainLink {
  readonly provider: Provider;
  readonly breakers: ProviderBreakers;
}

export interface SourcedAnswer<Kind extends QueryKind> {
  readonly found: Answers[Kind]['found'];
  readonly source: string;
  readonly degraded: boolean;
  readonly isLocal: boolean;
}

export interface ChainFetchOptions extends RequestContext {
  /** Name of the only provider to ask. Default: all providers that support the query, in order. */
  readonly provider?: string | undefined;
  /** Whether providers of last resort, such as the server's archive, are excluded. */
  readonly isLiveOnly?: boolean | undefined;
}

interface ProviderFailure {
  readonly provider: string;
  readonly error: unknown;
  /** Span of the query to the provider; `undefined` if tracing is off. */
  readonly span: TraceSpan | undefined;
}

export interface ChainOptions {
  readonly onFailure: (failure: ProviderFailure) => void;
  readonly clock?: Pick<Clock, 'now'> | undefined;
  /** Counters of answers and failures. Default: nothing is counted. */
  readonly records?: Pick<ProviderRecords, 'count'> | undefined;
}

export type ProviderChain = ReturnType<typeof createProviderChain>;

export function createProviderChain(
  links: readonly ChainLink[],
  { onFailure, records, clock = systemClock }: ChainOptions,
) {
  const providers = links.map(({ provider }) => provider);
  const contacts = createContacts(providers, createSteadyClock(clock).now);
  return {
    /**
     * Asks the providers that support the query, in order, until one answers. Providers of last
     * resort are asked only after another has failed.
     * @throws Problem if no provider answers; `invalid_cursor` if `options.provider` does not
     *   support the query
     */
    fetch: <Kind extends QueryKind>(
      kind: Kind,
      query: Answers[Kind]['query'],
      options: ChainFetchOptions,
    ): Promise<SourcedAnswer<Kind>> => {
      const span = options.span?.startChild('chain', { attributes: { 'perch.query.kind': kind } });
      const chainQuery = { kind, query, onFailure, records, contacts, ...options, span };
      return endWith(span, fetchInOrder(links, chainQuery));
    },
    /** Lists the providers in order with their circuit breakers' states, for `/health/ready`. */
    states: () =>
      links.map(({ provider: { name, platforms, reads }, breakers: { broken } }) => {
        const [breaker = 'closed' as const] = Object.values(broken).toSorted().reverse();
        return { name, breaker, broken, platforms, reads: [...reads] };
      }),
    /** Returns, by provider name, the kinds of query that are currently not answered. */
    holds: (): ReadonlyMap<string, readonly QueryHold[]> =>
      new Map(links.map(({ provider, breakers }) => [provider.name, breakers.holds()])),
    close: (): void => {
      for (const { provider } of links) provider.close?.();
    },
  };
}

interface ChainQuery<Kind extends QueryKind> extends ChainFetchOptions {
  readonly kind: Kind;
  readonly query: Answers[Kind]['query'];
  readonly onFailure: ChainOptions['onFailure'];
  readonly records: ChainOptions['records'];
  readonly contacts: Contacts;
}

async function fetchInOrder<Kind extends QueryKind>(
  links: readonly ChainLink[],
  chainQuery: ChainQuery<Kind>,
): Promise<SourcedAnswer<Kind>> {
  const { kind, query, provider: _only, isLiveOnly: _isLive, onFailure, ...rest } = chainQuery;
  const { records, contacts, ...request } = rest;
  const failures: ProviderFailed[] = [];
  const description = describe(query);
  for (const { provider, breakers, fetch, isLastResort } of toCandidates(links, chainQuery)) {
    if (isLastResort && failures.some(({ failure }) => lacksReason(failure))) break;
    const { name } = provider;
    const named = { attributes: { 'perch.provider': name } };
    const span = request.span?.startChild('provider', named);
    const note = (failure: JudgedFailure | null): void => {
      contacts.note(name, failure);
      records?.count({ provider: name, kind }, failure);
    };
    const send = () => fetch(query, { ...request, span, onThrottled: breakers.pause });
    const call = { signal: request.signal, subject: description.subject, onFailure: note };
    try {
      const found = await endWith(span, breakers.of(kind).run(send, call));
      note(null);
      request.span?.set(named.attributes);
      return { found, source: name, degraded: isLastResort, isLocal: provider.isLocal === true };
    } catch (error) {
      const failure = toProviderError(error, request.signal);
      failures.push({ provider, failure });
      onFailure({ provider: name, error, span });
      if (isFinal(failures)) break;
    }
  }
  throw toProblem(failures, description, contacts);
}

type ProviderFailed = Readonly<{ provider: Provider; failure: ProviderError }>;

interface Candidate<Kind extends QueryKind> extends ChainLink {
  readonly fetch: Fetch<Kind>;
  readonly isLastResort: boolean;
}

/**
 * Returns the providers to ask, in order, or only `provider`. Providers of last resort come last;
 * they are omitted if no other provider supports the query or if `isLiveOnly` is set.
 * @throws Problem `invalid_cursor` if `provider` does not support the query
 */
function toCandidates<Kind extends QueryKind>(
  links: readonly ChainLink[],
  { kind, query, provider: only, isLiveOnly }: ChainQuery<Kind>,
): readonly Candidate<Kind>[] {
  const live: Candidate<Kind>[] = [];
  const lastResorts: Candidate<Kind>[] = [];
  for (const { provider, breakers } of links) {
    const fetch: Fetch<Kind> | undefined = provider.fetch[kind];
    const coverage = provider.covers(query);
    if (fetch === undefined || coverage === false) continue;
    const isLastResort = coverage === 'last resort';
    (isLastResort ? lastResorts : live).push({ provider, breakers, fetch, isLastResort });
  }
  const all = live.length === 0 || isLiveOnly ? live : [...live, ...lastResorts];
  if (only === undefined) return all;
  const same = [...live, ...lastResorts].filter(({ provider }) => provider.name === only);
  if (same.length > 0) return same;
  throw new Problem('invalid_cursor', {
    detail: `The parameter \`cursor\` comes from the provider ${quoteInput(only)}, which this server no longer uses for this list. Start again without \`cursor\`.`,
  });
}

const failurePolicy = {
  missing: { next: false, code: 'not_found' },
  ambiguous: { next: true, code: 'upstream_unavailable' },
  rejected: { next: false, code: 'invalid_query' },
  throttled: { next: true, code: 'upstream_rate_limited' },
  unavailable: { next: true, code: 'upstream_unavailable' },
  malformed: { next: true, code: 'upstream_error' },
} as const satisfies Record<ProviderErrorKind, { next: boolean; code: ProblemCode }>;

/** Converts an unexpected error, so that the next provider is tried. Rethrows a Problem. */
function toProviderError(error: unknown, { aborted }: AbortSignal): ProviderError {
  // A Problem means that the request was never sent, and the next provider would refuse it too.
  if (error instanceof Problem) throw error;
  if (error instanceof ProviderError) return error;
  if (aborted) return new ProviderError('unavailable', unanswered.aborted, { cause: error });
  return new ProviderError('malformed', 'The source’s response is not usable.', { cause: error });
}

function isConfirmedAbsent(failures: readonly ProviderFailed[]): boolean {
  const witnesses = failures.filter(
    ({ failure: { kind, isEvidence } }) => kind === 'ambiguous' && isEvidence,
  );
  return witnesses.length >= 2;
}

function isFinal(failures: readonly ProviderFailed[]): boolean {
  const { failure } = failures.at(-1) ?? {};
  if (failure === undefined) return false;
  if (isConfirmedAbsent(failures)) return true;
  return !failurePolicy[failure.kind].next && !lacksReason(failure);
}

const lacksReason = ({ kind, unavailable }: ProviderError): boolean =>
  kind === 'missing' && unavailable?.reason === 'unknown';

function describe(query: Query) {
  if ('post' in query) {
    const { platform, id } = query.post;
    const unsupported = `The post is on ${platformNames[platform]}, which no provider of this server reads.`;
    return { platform, subject: `${platform} ${id}`, noun: 'post', unsupported, param: undefined };
  }
  if ('account' in query) {
    const { platform, handle } = query.account;
    const unsupported = `The parameter \`handle\` names an account of ${platformNames[platform]}, which no provider of this server reads.`;
    return {
      platform,
      subject: `${platform} ${handle}`,
      noun: 'account',
      unsupported,
      param: 'handle',
    };
  }
  const { platform, text } = query;
  const unsupported = `The parameter \`platform\` names ${platformNames[platform]}, which no provider of this server searches.`;
  return {
    platform,
    subject: `${platform} ${text}`,
    noun: 'account',
    unsupported,
    param: 'platform',
  };
}

type QueryDescription = ReturnType<typeof describe>;

function toProblem(
  failed: readonly ProviderFailed[],
  { platform, noun, unsupported, param }: QueryDescription,
  contacts: Contacts,
) {
  const failures = failed.map(({ failure }) => failure);
  const first = failures.find(({ isUnsupported }) => !isUnsupported) ?? failures.at(-1);
  if (first === undefined)
    return new Problem('unsupported_platform', { detail: unsupported, param });
  const absent = failures.filter(({ kind }) => kind === 'missing');
  const gone = absent.find((failure) => !lacksReason(failure)) ?? absent[0];
  if (gone !== undefined) {
    const { message: detail, unavailable } = gone;
    return new Problem('not_found', { detail, unavailable, cause: gone });
  }
  if (isConfirmedAbsent(failed)) {
    const detail = `There is no such ${noun}. Two independent sources confirm it.`;
    return new Problem('not_found', { detail, cause: first });
  }
  const refused = toRefusal(first, platform);
  if (refused !== null) return refused;
  const remote = failed.filter(({ provider }) => provider.isLocal !== true);
  const sources = remote.map(({ provider }) => provider.name);
  const fault = explainFailure(first, noun);
  const { detail, resolution } = describeOutage(
    { platform, sources, error: first, fault },
    contacts,
  );
  const code = failurePolicy[first.kind].code;
  const retryAfter = first.kind === 'throttled' ? first.retryAfterSeconds : undefined;
  return new Problem(code, {
    detail,
    ...(code === 'upstream_unavailable' && { resolution }),
    cause: first,
    ...(retryAfter !== undefined && { retryAfterSeconds: clampPause(retryAfter) }),
  });
}

/** Returns the Problem of a caller who named what no source can answer; otherwise `null`. */
function toRefusal(cause: ProviderError, platform: string): Problem | null {
  if (cause.kind === 'rejected') {
    const detail = `The parameter \`q\` is not accepted: ${cause.message}`;
    return new Problem('invalid_query', { detail, cause });
  }
  // The host of the URL works, but publishes no post there.
  if (platform !== 'activitypub' || cause.kind !== 'malformed' || !cause.isUnsupported) return null;
  const detail = `The URL of the post cannot be read. ${cause.message}`;
  return new Problem('unsupported_host', { detail, cause });
}

function explainFailure({ kind, message }: ProviderError, noun: string): string {
  if (kind !== 'ambiguous') return message;
  return `One source reported that the ${noun} does not exist, but it responds in the same way during an outage, and no second source confirmed it.`;
}

/** Converts upstream failures of an `isLiveOnly` read to Problem `upstream_unavailable`. */
export function toLiveOnlyError(error: unknown): unknown {
  const ofSource = ['upstream_error', 'upstream_rate_limited', 'upstream_unavailable'];
  if (!(error instanceof Problem) || !ofSource.includes(error.code)) return error;
  const { code, resolution, retryAfterSeconds } = error;
  return new Problem('upstream_unavailable', {
    detail: `There are no live results. ${error.message}`,
    ...(code === 'upstream_unavailable' && { resolution }),
    cause: error,
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  });
}

/** Kind of query that a provider currently does not answer, with the reason. */
export type QueryHold = BreakerHold & { readonly query: QueryKind };

export type ProviderBreakers = ReturnType<typeof createProviderBreakers>;

/** Creates a breaker for each kind of query. A pause of the whole provider pauses all of them. */
export function createProviderBreakers(
  { fetch }: Pick<Provider, 'fetch'>,
  toOptions: (kind: QueryKind) => ProviderBreakerOptions,
  onPause?: (pauseMs: number) => void,
) {
  // By its type, all keys of `fetch` are kinds of query.
  const kinds = Object.keys(fetch) as QueryKind[];
  const pause = (error: ProviderError): void => {
    if (!error.isProviderWide) return; // a pause of one host, which the provider tracks itself
    const ms = toPauseMs(error);
    for (const breaker of breakers.values()) breaker.pause(ms);
    onPause?.(ms);
  };
  const create = (kind: QueryKind) =>
    createProviderBreaker({ ...toOptions(kind), onThrottled: pause });
  const breakers = new Map(kinds.map((kind) => [kind, create(kind)]));
  return {
    of: (kind: QueryKind): ProviderBreaker => {
      const breaker = breakers.get(kind);
      if (breaker === undefined) throw new Error(`The provider does not answer ${kind}.`);
      return breaker;
    },
    pause,
    /** Pauses queries as another instance announced. `kind`: `null` for all kinds of query. */
    pauseFor: (kind: string | null, ms: number): void => {
      for (const [own, breaker] of breakers) {
        if (kind === null) breaker.pause(ms);
        else if (kind === own) breaker.openFor(ms);
      }
    },
    holds: (): readonly QueryHold[] =>
      [...breakers].flatMap(([query, breaker]) => {
        const hold = breaker.hold();
        return hold === null ? [] : [{ ...hold, query }];
      }),
    get broken(): Readonly<Partial<Record<QueryKind, BreakerState>>> {
      const states = [...breakers].map(([kind, { state }]) => [kind, state] as const);
      return Object.fromEntries(states.filter(([, state]) => state !== 'closed'));
    },
  };
}
