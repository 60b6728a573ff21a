import type { Config } from '../../config/config.ts';
import {
  type ChainOptions,
  createProviderBreakers,
  createProviderChain,
} from '../../fetching/chain/provider-chain.ts';
import { createProviderRecords } from '../../fetching/chain/provider-records.ts';
import { sharePauses } from '../../fetching/chain/shared-pauses.ts';
import type { BreakerOptions, BreakerState } from '../../lib/breaker.ts';
import { errorCodeOf } from '../../lib/files/sqlite.ts';
import { createRepeatedLines } from '../../lib/repeated-lines.ts';
import { toLogFields } from '../../lib/tracing/tracing.ts';
import type { QueryKind } from '../../model/queries.ts';
import { ProviderError } from '../../normalize/provider-error.ts';
import type { Provider } from '../../providers/provider.ts';
import type { ProviderBreakerOptions } from '../../providers/provider-breaker.ts';
import type { AppContext } from '../context.ts';

export function toBreakerOptions(config: Config): BreakerOptions {
  return {
    failures: config.PERCH_BREAKER_FAILURES,
    openMs: config.PERCH_BREAKER_SECONDS * 1000,
    maxOpenMs: config.PERCH_BREAKER_MAX_SECONDS * 1000,
  };
}

/** Creates the provider chain. With Redis, its pauses apply to all instances. */
export function createChain(
  providers: readonly Provider[],
  { config, clock, logger, redis }: AppContext,
) {
  const lines = createOutageLines({ logger, clock });
  const announce = (name: string, ms: number) => pauses?.announce(name, ms);
  const links = providers.map((provider) => {
    const toOptions = (kind: QueryKind): ProviderBreakerOptions => ({
      ...toBreakerOptions(config),
      clock,
      onOpen: (ms) => announce(`${provider.name} ${kind}`, ms),
      onChange: (state, failure) =>
        lines.onChange({ provider: provider.name, kind }, state, failure),
    });
    const onPause = (ms: number) => announce(provider.name, ms);
    return { provider, breakers: createProviderBreakers(provider, toOptions, onPause) };
  });
  const pauses =
    redis &&
    sharePauses({
      engine: redis,
      onPause: (paused, leftMs) => {
        const [name, kind = null] = paused.split(' ');
        links.find(({ provider }) => provider.name === name)?.breakers.pauseFor(kind, leftMs);
      },
    });
  const records = createProviderRecords(
    providers.map(({ name }) => name),
    { clock, onOutage: lines.onOutage },
  );
  const chain = createProviderChain(links, {
    records,
    clock,
    onFailure: lines.onFailure,
  });
  const close = () => {
    pauses?.close();
    chain.close();
  };
  return { ...chain, records, close };
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
function createOutageLines({ logger, clock }: Pick<AppContext, 'logger' | 'clock'>) {
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
    onChange: ({ provider, kind }: Source, breaker: BreakerState, failure?: unknown) => {
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

function toReason(error?: unknown): LoggedReason {
  if (!(error instanceof ProviderError))
    return { reason: 'Another instance reported the failures.' };
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
