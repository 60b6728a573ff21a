import { Problem, type ProblemCode } from '../core/problem.ts';
import type { Platform } from '../model/reference.ts';
import {
  type Answers,
  type Ask,
  type Provider,
  ProviderError,
  type ProviderErrorKind,
  type QueryKind,
  type ReadName,
} from '../providers/provider.ts';
import { type BreakerState, clampPause, type Gate } from './provider-gate.ts';

/** A provider with the gate before it. */
export interface ChainLink {
  readonly provider: Provider;
  readonly gate: Gate;
}

/** What a provider found, and which one. */
export interface Sourced<Kind extends QueryKind> {
  readonly found: Answers[Kind]['found'];
  readonly source: string;
}

/** A provider's failure, for the log. */
export interface ProviderFailure {
  readonly provider: string;
  readonly error: unknown;
}

/** A provider as `/health/ready` shows it. */
export interface ProviderState {
  readonly name: string;
  readonly breaker: BreakerState;
  readonly platforms: readonly Platform[];
  readonly reads: readonly ReadName[];
}

/** The providers in order. */
export interface ProviderChain {
  /**
   * Asks the first provider that covers the query, then the next one on an upstream failure.
   *
   * @throws Problem `unsupported_platform`, `not_found`, `upstream_error`, `upstream_unavailable` or
   *   `upstream_rate_limited`.
   */
  ask<Kind extends QueryKind>(
    kind: Kind,
    query: Answers[Kind]['query'],
    signal: AbortSignal,
  ): Promise<Sourced<Kind>>;
  /** The providers in order: what they can answer, and the state of their breakers. */
  states(): readonly ProviderState[];
  /** Closes the providers that hold something. */
  close(): void;
}

/**
 * What follows from each kind of failure (decisions section 2): whether the next provider is asked,
 * and the problem when this failure is the one that is told.
 */
const failurePolicy = {
  missing: { next: false, code: 'not_found' },
  ambiguous: { next: true, code: 'upstream_unavailable' },
  throttled: { next: true, code: 'upstream_rate_limited' },
  unavailable: { next: true, code: 'upstream_unavailable' },
  malformed: { next: true, code: 'upstream_error' },
} as const satisfies Record<ProviderErrorKind, { next: boolean; code: ProblemCode }>;

/** Absence needs two witnesses where an outage looks the same as absence. */
const witnessesOfAbsence = 2;

/** Creates the chain of providers, in the order given. */
export function createProviderChain(
  links: readonly ChainLink[],
  onFailure: (failure: ProviderFailure) => void,
): ProviderChain {
  return {
    ask: (kind, query, signal) => askInOrder(links, { kind, query, signal, onFailure }),
    states: () => links.map(toState),
    close: () => {
      for (const { provider } of links) provider.close?.();
    },
  };
}

function toState({ provider, gate }: ChainLink): ProviderState {
  const { name, platforms, reads } = provider;
  return { name, breaker: gate.state, platforms, reads: [...reads] };
}

interface Asking<Kind extends QueryKind> {
  readonly kind: Kind;
  readonly query: Answers[Kind]['query'];
  readonly signal: AbortSignal;
  readonly onFailure: (failure: ProviderFailure) => void;
}

async function askInOrder<Kind extends QueryKind>(
  links: readonly ChainLink[],
  asking: Asking<Kind>,
): Promise<Sourced<Kind>> {
  const { kind, query, signal } = asking;
  const failures: ProviderError[] = [];
  for (const { provider, gate } of links) {
    const ask: Ask<Kind> | undefined = provider.ask[kind];
    if (ask === undefined || !provider.covers(query)) continue;
    try {
      const context = { signal, onThrottled: (error: ProviderError) => gate.pause(error) };
      const found = await gate.run(() => ask(query, context), signal);
      return { found, source: provider.name };
    } catch (error) {
      failures.push(toProviderError(error));
      asking.onFailure({ provider: provider.name, error });
      if (isDecided(failures)) break;
    }
  }
  throw toProblem(failures);
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
  return failures.filter(({ kind }) => kind === 'ambiguous').length >= witnessesOfAbsence;
}

/** The first failure is told, because the first provider is the one that should have answered. */
function toProblem(failures: readonly ProviderError[]): Problem {
  const [first] = failures;
  if (first === undefined) {
    return new Problem('unsupported_platform', {
      detail: 'No provider of this server reads this platform, or holds what was asked for.',
    });
  }
  const gone = failures.find(({ kind }) => kind === 'missing');
  if (gone !== undefined) return new Problem('not_found', { detail: gone.message, cause: gone });
  if (isWitnessed(failures)) {
    return new Problem('not_found', {
      detail: 'There is no such post: two independent sources say so.',
      cause: first,
    });
  }
  const asked = first.kind === 'throttled' ? first.retryAfterSeconds : undefined;
  const retryAfterSeconds = asked === undefined ? undefined : clampPause(asked);
  return new Problem(failurePolicy[first.kind].code, {
    detail: tellFailure(first),
    cause: first,
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  });
}

function tellFailure(failure: ProviderError): string {
  if (failure.kind !== 'ambiguous') return failure.message;
  return 'One source has no such post, but an outage looks the same there and no second source could confirm it.';
}
