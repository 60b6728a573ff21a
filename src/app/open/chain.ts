import type { Config } from '../../config/config.ts';
import {
  createProviderBreakers,
  createProviderChain,
} from '../../fetching/chain/provider-chain.ts';
import { createProviderRecords } from '../../fetching/chain/provider-records.ts';
import { sharePauses } from '../../fetching/chain/shared-pauses.ts';
import type { QueryKind } from '../../model/queries.ts';
import type { BreakerOptions, CircuitBreakerOptions } from '../../providers/circuit-breaker.ts';
import type { Provider } from '../../providers/provider.ts';
import type { FetchingOptions } from './fetching.ts';
import { createOutageLines } from './outage-lines.ts';

export function toBreakerOptions(config: Config): BreakerOptions {
  return {
    failures: config.PERCH_BREAKER_FAILURES,
    openMs: config.PERCH_BREAKER_SECONDS * 1000,
    maxOpenMs: config.PERCH_BREAKER_MAX_SECONDS * 1000,
  };
}

/** Creates the provider chain. With a shared engine, its pauses apply to all instances. */
export function createChain(
  providers: readonly Provider[],
  { config, clock, logger, sharedEngine }: FetchingOptions,
) {
  const lines = createOutageLines({ logger, clock });
  const announce = (name: string, ms: number) => pauses?.announce(name, ms);
  const links = providers.map((provider) => {
    const toOptions = (kind: QueryKind): CircuitBreakerOptions => ({
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
    sharedEngine &&
    sharePauses({
      engine: sharedEngine,
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
    watch: records.watch,
    clock,
    onFailure: lines.onFailure,
  });
  const close = () => {
    pauses?.close();
    chain.close();
  };
  return { ...chain, records, close };
}
