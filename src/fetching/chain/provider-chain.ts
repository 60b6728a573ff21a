import type { RequestContext } from '../../core/http/http-client.ts';
import { Problem, type ProblemCode, quoteInput } from '../../core/problem.ts';
import { createSlices, type Slices } from '../../core/scheduling/slices.ts';
import { type Turns, waitForTurn } from '../../core/scheduling/turns.ts';
import type { Answers, Query, QueryKind } from '../../model/queries.ts';
import { platformNames } from '../../model/reference.ts';
import { ProviderError, type ProviderErrorKind } from '../../platforms/provider-error.ts';
import {
  type BreakerCall,
  type BreakerState,
  CircuitBreaker,
  type CircuitBreakerOptions,
  clampPause,
} from '../../providers/circuit-breaker.ts';
import type { Ask, Provider } from '../../providers/provider.ts';

interface ChainLink {
  readonly provider: Provider;
  readonly gates: Gates;
}

export interface Sourced<Kind extends QueryKind> {
  readonly found: Answers[Kind]['found'];
  readonly source: string;
  readonly degraded: boolean;
  readonly isLocal: boolean;
}

export interface AskOptions extends RequestContext {
  /** The only provider to ask; default: all that cover the query, in order. */
  readonly provider?: string | undefined;
  /** Leaves out the providers that cover the query as the last resort. */
  readonly isLiveOnly?: boolean | undefined;
}

interface ChainOptions {
  readonly onFailure: (failure: { readonly provider: string; readonly error: unknown }) => void;
  /** The turns that the slices of long answers wait for; default: answers are read in one piece. */
  readonly heavyTurns?: Turns | undefined;
}

export type ProviderChain = ReturnType<typeof createProviderChain>;

export function createProviderChain(
  links: readonly ChainLink[],
  { onFailure, heavyTurns }: ChainOptions,
) {
  return {
    /**
     * Asks the first provider that covers the query, and the next one on an upstream failure; a last
     * resort only after another has failed. Throws Problem, `invalid_cursor` if the only provider to ask
     * is gone.
     */
    ask: <Kind extends QueryKind>(
      kind: Kind,
      query: Answers[Kind]['query'],
      options: AskOptions,
    ): Promise<Sourced<Kind>> => {
      const slices = heavyTurns && createAnswerSlices(options, heavyTurns);
      return askInOrder(links, { ...slices, kind, query, onFailure, ...options });
    },
    /** The providers in order as `/health/ready` shows them, with the state of their breakers. */
    states: () =>
      links.map(({ provider: { name, platforms, reads }, gates: { broken } }) => {
        const [breaker = 'closed' as const] = Object.values(broken).toSorted().reverse();
        return { name, breaker, broken, platforms, reads: [...reads] };
      }),
    close: (): void => {
      for (const { provider } of links) provider.close?.();
    },
  };
}

/** Creates the slices in which an answer is read; the work ends when nobody waits for it any more. */
function createAnswerSlices({ client, signal }: AskOptions, turns: Turns): Slices {
  return createSlices(async () => {
    if (await waitForTurn(turns, client?.address ?? '', () => !signal.aborted)) return;
    throw new ProviderError('unavailable', 'The read was given up before it was complete.');
  });
}

interface ChainQuery<Kind extends QueryKind> extends AskOptions {
  readonly kind: Kind;
  readonly query: Answers[Kind]['query'];
  readonly onFailure: ChainOptions['onFailure'];
}

async function askInOrder<Kind extends QueryKind>(
  links: readonly ChainLink[],
  asking: ChainQuery<Kind>,
): Promise<Sourced<Kind>> {
  const { kind, query, provider: _only, isLiveOnly: _isLive, onFailure, ...request } = asking;
  const failures: ProviderError[] = [];
  const about = describe(query);
  for (const { provider, gates, ask, isLastResort } of toCandidates(links, asking)) {
    try {
      const context = { ...request, onThrottled: gates.pause };
      const asked = { signal: request.signal, subject: about.subject };
      const found = await gates.run(kind, () => ask(query, context), asked);
      const isLocal = provider.isLocal === true;
      return { found, source: provider.name, degraded: isLastResort, isLocal };
    } catch (error) {
      // Not the provider's failure: the request was never sent, and the next one would not be either.
      if (error instanceof Problem) throw error;
      const failure = toProviderError(error);
      failures.push(failure);
      onFailure({ provider: provider.name, error });
      if (!failurePolicy[failure.kind].next || isWitnessed(failures)) break;
    }
  }
  throw toProblem(failures, about);
}

interface Candidate<Kind extends QueryKind> extends ChainLink {
  readonly ask: Ask<Kind>;
  readonly isLastResort: boolean;
}

/** Returns the providers to ask, in order; none if a last resort would be the only one. */
function toCandidates<Kind extends QueryKind>(
  links: readonly ChainLink[],
  { kind, query, provider: only, isLiveOnly }: ChainQuery<Kind>,
): readonly Candidate<Kind>[] {
  const covering = links.flatMap(({ provider, gates }): Candidate<Kind>[] => {
    const ask: Ask<Kind> | undefined = provider.ask[kind];
    const coverage = ask === undefined ? false : provider.covers(query);
    if (ask === undefined || coverage === false) return [];
    return [{ provider, gates, ask, isLastResort: coverage === 'last resort' }];
  });
  if (only === undefined) {
    const live = covering.filter(({ isLastResort }) => !isLastResort);
    const isEnough = live.length === 0 || isLiveOnly === true;
    return isEnough ? live : [...live, ...covering.filter((one) => one.isLastResort)];
  }
  const same = covering.filter(({ provider }) => provider.name === only);
  if (same.length > 0) return same;
  throw new Problem('invalid_cursor', {
    detail: `The parameter \`cursor\` belongs to a walk through ${quoteInput(only)}, which does not answer here any more.`,
  });
}

/** Whether a kind of failure lets the next provider be asked, and the code of its problem. */
const failurePolicy = {
  missing: { next: false, code: 'not_found' },
  ambiguous: { next: true, code: 'upstream_unavailable' },
  rejected: { next: false, code: 'invalid_query' },
  throttled: { next: true, code: 'upstream_rate_limited' },
  unavailable: { next: true, code: 'upstream_unavailable' },
  malformed: { next: true, code: 'upstream_error' },
} as const satisfies Record<ProviderErrorKind, { next: boolean; code: ProblemCode }>;

/** A defect inside a provider counts as its failure, so that the next one can still answer. */
function toProviderError(error: unknown): ProviderError {
  if (error instanceof ProviderError) return error;
  return new ProviderError('malformed', 'The provider could not be read.', { cause: error });
}

/** Absence needs two witnesses if an outage looks the same as absence. */
function isWitnessed(failures: readonly ProviderError[]): boolean {
  const witnesses = failures.filter(({ kind, isEvidence }) => kind === 'ambiguous' && isEvidence);
  return witnesses.length >= 2;
}

function describe(query: Query) {
  if ('post' in query) {
    const { platform, id } = query.post;
    const unsupported = `No provider of this server reads ${platformNames[platform]}, where this post is.`;
    return { subject: `${platform} ${id}`, noun: 'post', unsupported };
  }
  if ('account' in query) {
    const { platform, handle } = query.account;
    const unsupported = `The parameter \`handle\` names an account of ${platformNames[platform]}, which no provider of this server reads.`;
    return { subject: `${platform} ${handle}`, noun: 'account', unsupported };
  }
  const { platform, text } = query;
  const unsupported = `The parameter \`platform\` names ${platformNames[platform]}, which no provider of this server searches.`;
  return { subject: `${platform} ${text}`, noun: 'account', unsupported };
}

type About = ReturnType<typeof describe>;

/** Reports the first failure, because the first provider is the one that should have answered. */

function toProblem(failures: readonly ProviderError[], { noun, unsupported }: About) {
  const [first] = failures;
  if (first === undefined) return new Problem('unsupported_platform', { detail: unsupported });
  const gone = failures.find(({ kind }) => kind === 'missing');
  if (gone !== undefined) return new Problem('not_found', { detail: gone.message, cause: gone });
  if (isWitnessed(failures)) {
    const detail = `There is no such ${noun}: two independent sources say so.`;
    return new Problem('not_found', { detail, cause: first });
  }
  const asked = first.kind === 'throttled' ? first.retryAfterSeconds : undefined;
  return new Problem(failurePolicy[first.kind].code, {
    detail: explainFailure(first, noun),
    cause: first,
    ...(asked !== undefined && { retryAfterSeconds: clampPause(asked) }),
  });
}

function explainFailure({ kind, message }: ProviderError, noun: string): string {
  if (kind === 'rejected') return `The parameter \`q\` is not accepted: ${message}`;
  if (kind !== 'ambiguous') return message;
  return `One source has no such ${noun}, but an outage looks the same there and no second source could confirm it.`;
}

/** Returns the error of a read of live results only: one code for any failure of a source. */
export function toNotLive(error: unknown): unknown {
  const ofSource = ['upstream_error', 'upstream_rate_limited', 'upstream_unavailable'];
  if (!(error instanceof Problem) || !ofSource.includes(error.code)) return error;
  const { retryAfterSeconds } = error;
  return new Problem('upstream_unavailable', {
    detail: `There are no live results: ${error.message}`,
    cause: error,
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  });
}

export type Gates = ReturnType<typeof createGates>;

/**
 * Creates the gates before one provider, one for each kind of query, since only its search may be
 * broken. A pause holds for all of them.
 */
export function createGates(
  { ask }: Pick<Provider, 'ask'>,
  toOptions: (kind: QueryKind) => CircuitBreakerOptions,
) {
  // The keys of `ask` are kinds of query, by its type.
  const kinds = Object.keys(ask) as QueryKind[];
  const gates = new Map(kinds.map((kind) => [kind, new CircuitBreaker(toOptions(kind))]));
  const pause = (error: ProviderError): void => {
    if (!error.isProviderWide) return; // a pause of one host, which the provider keeps itself
    for (const gate of gates.values()) gate.pause(error);
  };
  return {
    run: <Found>(
      kind: QueryKind,
      ask: () => Promise<Found>,
      asking: BreakerCall,
    ): Promise<Found> => {
      const gate = gates.get(kind);
      if (gate === undefined) throw new Error(`The provider does not answer ${kind}.`);
      const askPausing = () =>
        ask().catch((error: unknown) => {
          if (error instanceof ProviderError && error.kind === 'throttled') pause(error);
          throw error;
        });
      return gate.run(askPausing, asking);
    },
    pause,
    get broken(): Readonly<Partial<Record<QueryKind, BreakerState>>> {
      const states = [...gates].map(([kind, { state }]) => [kind, state] as const);
      return Object.fromEntries(states.filter(([, state]) => state !== 'closed'));
    },
  };
}
