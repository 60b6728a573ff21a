import { LRUCache } from 'lru-cache';
import type { Clock } from '../../core/clock.ts';
import type { RequestContext } from '../../core/http/http-client.ts';
import { Problem } from '../../core/problem.ts';
import { type Book, createBook, openHold } from '../../core/scheduling/ledger.ts';
import { type BreakerOptions, createGate, type Gate } from '../gate.ts';

/** Options of `createHostGates`. */
export interface HostGateOptions {
  readonly clock: Clock;
  readonly breaker: BreakerOptions;
  /** Maximum number of concurrent requests to one host; one client address may have half of them. */
  readonly maxPerHost: number;
}

/** The gates before hosts that callers name. */
export interface HostGates {
  /**
   * Asks a host, unless it is left alone or too many requests to it are in flight.
   *
   * @throws what `ask` throws; ProviderError as `Gate.run`; Problem `overloaded`
   */
  run<Found>(asked: AskedHost, context: RequestContext, ask: () => Promise<Found>): Promise<Found>;
}

/** A host, and the path that is asked for. */
export interface AskedHost {
  readonly host: string;
  readonly path: string;
}

interface HostGate {
  readonly gate: Gate;
  readonly requests: Book;
}

/** Maximum number of hosts whose state is remembered; the least recently asked is forgotten. */
const maxHosts = 4096;

/** Creates the gates. A host that has never been asked has a closed one. */
export function createHostGates({ clock, breaker, maxPerHost }: HostGateOptions): HostGates {
  const hosts = new LRUCache<string, HostGate>({ max: maxHosts });
  const bound = { perAddress: Math.max(1, Math.floor(maxPerHost / 2)), total: maxPerHost };
  const gateOf = (host: string): HostGate => {
    const known = hosts.get(host) ?? {
      gate: createGate({ ...breaker, clock, host }),
      requests: createBook(bound),
    };
    hosts.set(host, known);
    return known;
  };
  return {
    run: async ({ host, path }, { client = null, signal }, ask) => {
      const { gate, requests } = gateOf(host);
      const hold = openHold(requests, client);
      if (!hold.take(1)) {
        const detail = `Too many requests to the server ${host} are in flight.`;
        throw new Problem('overloaded', { detail });
      }
      try {
        return await gate.run(ask, { signal, subject: path });
      } finally {
        hold.release();
      }
    },
  };
}
