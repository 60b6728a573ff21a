import type { QueryKind } from '../../model/queries.ts';
import { ProviderError } from '../../platforms/provider-error.ts';
import { type Asking, type BreakerState, Gate, type GateOptions } from '../../providers/gate.ts';
import type { Provider } from '../../providers/provider.ts';

export type Gates = ReturnType<typeof createGates>;

/**
 * Creates the gates before one provider, one for each kind of query, since only its search may be
 * broken.
 * A pause holds for all of them.
 */
export function createGates(
  { ask }: Pick<Provider, 'ask'>,
  toOptions: (kind: QueryKind) => GateOptions,
) {
  // The keys of `ask` are kinds of query, by its type.
  const kinds = Object.keys(ask) as QueryKind[];
  const gates = new Map(kinds.map((kind) => [kind, new Gate(toOptions(kind))]));
  const pause = (error: ProviderError): void => {
    if (!error.isGeneral) return; // a pause of one host, which the provider keeps itself
    for (const gate of gates.values()) gate.pause(error);
  };
  return {
    run: <Found>(kind: QueryKind, ask: () => Promise<Found>, asking: Asking): Promise<Found> => {
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
