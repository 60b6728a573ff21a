import type { QueryKind } from '../../model/queries.ts';
import { ProviderError } from '../../platforms/provider-error.ts';
import {
  type BreakerState,
  createGate,
  type Gate,
  type GateOptions,
} from '../../providers/gate.ts';
import type { Provider } from '../../providers/provider.ts';

/**
 * The gates before one provider, one for each kind of query: an upstream whose search is broken may
 * read posts all the same. A pause holds for all of them.
 */
export interface Gates {
  of(kind: QueryKind): Gate;
  /** Keeps the pause that a throttling provider asks for, for every kind of query. */
  pause(error: ProviderError): void;
  /** The kinds of query whose breaker is not closed. */
  readonly broken: Readonly<Partial<Record<QueryKind, BreakerState>>>;
}

/** Creates the gates of a provider; `toOptions` says how the one for a kind of query behaves. */
export function createGates(
  { ask }: Pick<Provider, 'ask'>,
  toOptions: (kind: QueryKind) => GateOptions,
): Gates {
  // The keys of `ask` are kinds of query, by its type.
  const kinds = Object.keys(ask) as QueryKind[];
  const gates = new Map(kinds.map((kind) => [kind, createGate(toOptions(kind))]));
  const pause = (error: ProviderError): void => {
    if (!error.isGeneral) return; // it asks for a pause of one of its hosts, and keeps that itself
    for (const gate of gates.values()) gate.pause(error);
  };
  return {
    of: (kind) => {
      const gate = gates.get(kind);
      if (gate === undefined) throw new Error(`The provider does not answer ${kind}.`);
      return sharingPauses(gate, pause);
    },
    pause,
    get broken() {
      return Object.fromEntries(
        [...gates].flatMap(([kind, { state }]) => (state === 'closed' ? [] : [[kind, state]])),
      );
    },
  };
}

/** A throttle that the upstream tells one kind of query holds for all. */
function sharingPauses(gate: Gate, pause: Gates['pause']): Gate {
  return {
    get state() {
      return gate.state;
    },
    pause,
    run: (ask, asking) =>
      gate.run(async () => {
        try {
          return await ask();
        } catch (error) {
          if (error instanceof ProviderError && error.kind === 'throttled') pause(error);
          throw error;
        }
      }, asking),
  };
}
