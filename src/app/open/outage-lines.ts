import type { FastifyBaseLogger } from 'fastify';
import type { Clock } from '../../core/clock.ts';
import { errorCodeOf } from '../../core/files/sqlite.ts';
import { createRepeatedLines } from '../../core/repeated-lines.ts';
import { toLogFields } from '../../core/tracing/tracing.ts';
import type { ChainOptions } from '../../fetching/chain/provider-chain.ts';
import type { QueryKind } from '../../model/queries.ts';
import { ProviderError } from '../../platforms/provider-error.ts';
import type { BreakerState } from '../../providers/circuit-breaker.ts';

interface OutageLinesOptions {
  readonly logger: FastifyBaseLogger;
  readonly clock: Clock;
}

interface Source {
  readonly provider: string;
  readonly kind: QueryKind;
}

interface LoggedReason {
  readonly reason: string;
  readonly cause?: string;
}

/** Creates loggers of outages: the first failure, and opening and closing of circuit breakers. */
export function createOutageLines({ logger, clock }: OutageLinesOptions) {
  const repeated = createRepeatedLines(clock);
  const opened = new Map<string, LoggedReason & { readonly openings: number }>();
  return {
    /** Logs the first failure of a provider after an answer. */
    onOutage: ({ provider, kind }: Source, error: ProviderError): void =>
      repeated(`outage ${provider} ${kind}`, (count) =>
        logger.warn(
          { provider, kind, ...toReason(error), ...count },
          'a provider has started to fail',
        ),
      ),
    /** Logs that a circuit breaker has opened or closed. `failure`: error that opened it. */
    onChange: ({ provider, kind }: Source, breaker: BreakerState, failure?: ProviderError) => {
      const key = `${provider} ${kind}`;
      const known = opened.get(key);
      if (breaker === 'half_open') return;
      if (breaker === 'closed') opened.delete(key);
      else opened.set(key, { ...toReason(failure), openings: (known?.openings ?? 0) + 1 });
      // While a breaker that has opened opens again and again, it is only counted.
      if (breaker === 'open' && known !== undefined) return;
      const facts = breaker === 'open' ? toReason(failure) : known;
      logger.warn({ provider, kind, breaker, ...facts }, 'circuit breaker changed state');
    },
    /** Logs a failure: own bugs as errors, malformed responses as warnings, others as `debug`. */
    onFailure: ({ provider, error, span }: Parameters<ChainOptions['onFailure']>[0]): void => {
      const level = levelOf(error);
      const write = (count: object) =>
        logger[level](
          { provider, ...toLogFields(span), err: error, ...count },
          'a request to a provider failed',
        );
      if (level === 'warn') repeated(`malformed ${provider}`, write);
      else write({});
    },
  };
}

function toReason(error?: ProviderError): LoggedReason {
  if (error === undefined) return { reason: 'Another instance reported the failures.' };
  const cause = causeOf(error);
  return { reason: error.message, ...(cause !== undefined && { cause }) };
}

const maxCauseLength = 200;

function causeOf({ cause }: ProviderError): string | undefined {
  let first = cause;
  while (first instanceof Error && first.cause instanceof Error) first = first.cause;
  if (!(first instanceof Error)) return undefined;
  return (errorCodeOf(first) ?? first.message).slice(0, maxCauseLength);
}

function levelOf(error: unknown): 'error' | 'warn' | 'debug' {
  if (!(error instanceof ProviderError)) return 'error';
  return error.kind === 'malformed' ? 'warn' : 'debug';
}
