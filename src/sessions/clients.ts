import { toClient } from '../access/client-address.ts';
import type { Client } from '../core/caller.ts';
import { createMark } from './tokens.ts';

/** Names clients by keyed hashes, so that no address is stored. */
export interface Clients {
  /** Returns the client behind an address, as `toClientAddress` names it. */
  at(address: string): Client;
}

/** Creates the names of clients under the server's secret. */
export function createClients(secret: Buffer): Clients {
  return {
    at: (address) => {
      const { network } = toClient(address);
      return {
        address: createMark(secret, 'address', address),
        network: network === null ? null : createMark(secret, 'network', network),
      };
    },
  };
}
