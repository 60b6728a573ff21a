import type { RequestContext } from '../../core/http/http-client.ts';
import { Problem, type ProblemCode, quoteInput } from '../../core/problem.ts';
import { createSlices, type Slices } from '../../core/scheduling/slices.ts';
import { type Turns, waitForTurn } from '../../core/scheduling/turns.ts';
import type { Answers, Query, QueryKind } from '../../model/queries.ts';
import { type Platform, platformNames } from '../../model/reference.ts';
import { ProviderError, type ProviderErrorKind } from '../../platforms/provider-error.ts';
import type { BreakerState } from '../../providers/gate.ts';
import { clampPause } from '../../providers/gate.ts';
import type { Ask, Provider, ReadName } from '../../providers/provider.ts';
import type { Gates } from './provider-gate.ts';

/** A provider with the gates before it. */
export interface ChainLink {
  readonly provider: Provider;
  readonly gates: Gates;
}

/** What a provider found, and which one. */
export interface Sourced<Kind extends QueryKind> {
  readonly found: Answers[Kind]['found'];
  readonly source: string;
  /** Whether it is a provider that answers as the last resort. */
  readonly degraded: boolean;
  /** Whether it is a provider of this machine. */
  readonly isLocal: boolean;
}

/** How a query is asked. */
export interface AskOptions extends RequestContext {
  /** The only provider to ask; default: all that cover the query, in order. */
  readonly provider?: string | undefined;
  /** True leaves out those that cover the query as the last resort. */
  readonly isLiveOnly?: boolean | undefined;
}

/** A provider's failure, for the log. */
export interface ProviderFailure {
  readonly provider: string;
  readonly error: unknown;
}

/** A provider as `/health/ready` shows it. */
export interface ProviderState {
  readonly name: string;
  /** `open` while any kind of query is not asked; `half_open` while one tries whether it is back. */
  readonly breaker: BreakerState;
  /** The kinds of query whose breaker is not closed. */
  readonly broken: Gates['broken'];
  readonly platforms: readonly Platform[];
  readonly reads: readonly ReadName[];
}

/** The providers in order. */
export interface ProviderChain {
  /**
   * Asks the first provider that covers the query, then the next one on an upstream failure. Those
   * that cover it as the last resort come last, and only after another one has failed.
   *
   * @throws Problem `unsupported_platform`, `not_found`, `invalid_query`, `upstream_error`,
   *   `upstream_unavailable` or `upstream_rate_limited`; `invalid_cursor` when the only provider to
   *   ask does not answer such queries any more; what `takeRequest` throws.
   */
  ask<Kind extends QueryKind>(
    kind: Kind,
    query: Answers[Kind]['query'],
    options: AskOptions,
  ): Promise<Sourced<Kind>>;
  /** The providers in order: what they can answer, and the state of their breakers. */
  states(): readonly ProviderState[];
  /** Closes the providers that hold something. */
  close(): void;
}

/**
 * What follows from each kind of failure: whether the next provider is asked,
 * and the problem when this failure is the one that is told.
 */
const failurePolicy = {
  missing: { next: false, code: 'not_found' },
  ambiguous: { next: true, code: 'upstream_unavailable' },
  rejected: { next: false, code: 'invalid_query' },
  throttled: { next: true, code: 'upstream_rate_limited' },
  unavailable: { next: true, code: 'upstream_unavailable' },
  malformed: { next: true, code: 'upstream_error' },
} as const satisfies Record<ProviderErrorKind, { next: boolean; code: ProblemCode }>;

/** Absence needs two witnesses where an outage looks the same as absence. */
const witnessesOfAbsence = 2;

/** What a chain is created with. */
export interface ChainOptions {
  readonly onFailure: (failure: ProviderFailure) => void;
  /** The turns that the slices of long answers wait for; default: answers are read in one piece. */
  readonly heavyTurns?: Turns | undefined;
}

/** Creates the chain of providers, in the order given. */
export function createProviderChain(
  links: readonly ChainLink[],
  { onFailure, heavyTurns }: ChainOptions,
): ProviderChain {
  return {
    ask: (kind, query, options) =>
      askInOrder(links, {
        ...(heavyTurns && sliceFor(options, heavyTurns)),
        kind,
        query,
        onFailure,
        ...options,
      }),
    states: () => links.map(toState),
    close: () => {
      for (const { provider } of links) provider.close?.();
    },
  };
}

/** Creates the slices in which an answer is read; the work ends when nobody waits for it any more. */
function sliceFor({ client, signal }: AskOptions, turns: Turns): Slices {
  return createSlices(async () => {
    if (await waitForTurn(turns, client?.address ?? '', () => !signal.aborted)) return;
    throw new ProviderError('unavailable', 'The read was given up before it was complete.');
  });
}

function toState({ provider, gates }: ChainLink): ProviderState {
  const { name, platforms, reads } = provider;
  const { broken } = gates;
  const [first = 'closed'] = Object.values(broken).toSorted().reverse();
  return { name, breaker: first, broken, platforms, reads: [...reads] };
}

interface Asking<Kind extends QueryKind> extends AskOptions {
  readonly kind: Kind;
  readonly query: Answers[Kind]['query'];
  readonly onFailure: (failure: ProviderFailure) => void;
}

async function askInOrder<Kind extends QueryKind>(
  links: readonly ChainLink[],
  asking: Asking<Kind>,
): Promise<Sourced<Kind>> {
  const { kind, query, provider: _only, isLiveOnly: _isLive, onFailure, ...request } = asking;
  const failures: ProviderError[] = [];
  const subject = nameSubject(query);
  for (const { provider, gates, ask, isLastResort } of toCandidates(links, asking)) {
    try {
      const context = {
        ...request,
        onThrottled: (error: ProviderError) => gates.pause(error),
      };
      const found = await gates.of(kind).run(() => ask(query, context), {
        signal: request.signal,
        subject,
      });
      const isLocal = provider.isLocal === true;
      return { found, source: provider.name, degraded: isLastResort, isLocal };
    } catch (error) {
      // Not the provider's failure: the request was never sent, and the next one would not be either.
      if (error instanceof Problem) throw error;
      failures.push(toProviderError(error));
      onFailure({ provider: provider.name, error });
      if (isDecided(failures)) break;
    }
  }
  throw toProblem(failures, query);
}

/** Names what a query is about, wherever in a list it is. */
function nameSubject(query: Query): string {
  switch (query.kind) {
    case 'post':
    case 'replies':
      return `${query.post.platform} ${query.post.id}`;
    case 'search':
    case 'searchUsers':
      return `${query.platform} ${query.text}`;
    default:
      return `${query.account.platform} ${query.account.handle}`;
  }
}

interface Candidate<Kind extends QueryKind> extends ChainLink {
  readonly ask: Ask<Kind>;
  readonly isLastResort: boolean;
}

/** Gives the providers to ask, in order; none where a last resort would be the only one. */
function toCandidates<Kind extends QueryKind>(
  links: readonly ChainLink[],
  { kind, query, provider: only, isLiveOnly }: Asking<Kind>,
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

/** A defect inside a provider counts as its failure, so that the next one can still answer. */
function toProviderError(error: unknown): ProviderError {
  if (error instanceof ProviderError) return error;
  return new ProviderError('malformed', 'The provider could not be read.', { cause: error });
}

function isDecided(failures: readonly ProviderError[]): boolean {
  const last = failures.at(-1);
  return last !== undefined && (!failurePolicy[last.kind].next || isWitnessed(failures));
}

function isWitnessed(failures: readonly ProviderError[]): boolean {
  const witnesses = failures.filter(({ kind, isWitness }) => kind === 'ambiguous' && isWitness);
  return witnesses.length >= witnessesOfAbsence;
}

/** The first failure is told, because the first provider is the one that should have answered. */
function toProblem(failures: readonly ProviderError[], query: Query): Problem {
  const { kind } = query;
  const [first] = failures;
  if (first === undefined) {
    return new Problem('unsupported_platform', { detail: tellUnsupported(query) });
  }
  const gone = failures.find(({ kind }) => kind === 'missing');
  if (gone !== undefined) return new Problem('not_found', { detail: gone.message, cause: gone });
  if (isWitnessed(failures)) {
    return new Problem('not_found', {
      detail: `There is no such ${nounOf(kind)}: two independent sources say so.`,
      cause: first,
    });
  }
  const asked = first.kind === 'throttled' ? first.retryAfterSeconds : undefined;
  const retryAfterSeconds = asked === undefined ? undefined : clampPause(asked);
  return new Problem(failurePolicy[first.kind].code, {
    detail: tellFailure(first, kind),
    cause: first,
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  });
}

/** Names the platform, and by what the caller has named it. */
function tellUnsupported(query: Query): string {
  switch (query.kind) {
    case 'post':
    case 'replies':
      return `No provider of this server reads ${platformNames[query.post.platform]}, where this post is.`;
    case 'search':
    case 'searchUsers':
      return `The parameter \`platform\` names ${platformNames[query.platform]}, which no provider of this server searches.`;
    default:
      return `The parameter \`handle\` names an account of ${platformNames[query.account.platform]}, which no provider of this server reads.`;
  }
}

function nounOf(kind: QueryKind): string {
  return kind === 'post' || kind === 'replies' ? 'post' : 'account';
}

function tellFailure(failure: ProviderError, kind: QueryKind): string {
  if (failure.kind === 'rejected') {
    return `The parameter \`q\` is not accepted: ${failure.message}`;
  }
  if (failure.kind !== 'ambiguous') return failure.message;
  return `One source has no such ${nounOf(kind)}, but an outage looks the same there and no second source could confirm it.`;
}
