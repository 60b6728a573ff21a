import type { Client } from '../../core/caller.ts';

/** Waiting work, with a unique key. The client is `null` if it is unknown; `order` sorts in the order of arrival. */
export type Waiting = Readonly<{ key: string; client: Client | null; order: string }>;

/** Creates a line of work in a fair order. An IPv4 address is a network, and so are all unknown clients together. */
export function createLine<Work extends Waiting>() {
  /** Work by network and address; the next of each is first. */
  const networks = new Map<string, Map<string, Work[]>>();
  const places = new Map<string, Waiting>();
  const turnsOf = (client: Client | null) => {
    const address = client?.address ?? '';
    const network = client?.network ?? address;
    const addresses = networks.get(network) ?? new Map<string, Work[]>();
    return { network, addresses, address, turns: addresses.get(address) ?? [] };
  };
  return {
    get length() {
      return places.size;
    },
    /** Adds work; does nothing if its key waits already. */
    join: (work: Work): void => {
      if (places.has(work.key)) return;
      places.set(work.key, work);
      const { network, addresses, address, turns } = turnsOf(work.client);
      const before = turns.findLastIndex(({ order }) => order < work.order);
      turns.splice(before + 1, 0, work);
      addresses.set(address, turns);
      networks.set(network, addresses);
    },
    /** Takes the next one: networks take turns, then the addresses in each, then the oldest of an address. */
    take: (): Work | undefined => {
      const [network] = networks;
      const [next] = network?.[1] ?? [];
      if (network === undefined || next === undefined) return undefined;
      const work = next[1].shift();
      toTheEnd(network[1], next, next[1].length);
      toTheEnd(networks, network, network[1].size);
      if (work !== undefined) places.delete(work.key);
      return work;
    },
    leave: (key: string): void => {
      const place = places.get(key);
      if (place === undefined) return;
      places.delete(key);
      const { network, addresses, address, turns } = turnsOf(place.client);
      const at = turns.findIndex((turn) => turn.key === key);
      turns.splice(at, 1);
      if (turns.length === 0) addresses.delete(address);
      if (addresses.size === 0) networks.delete(network);
    },
  };
}

/** Moves an entry behind the others, or removes it once it has nothing left. */
function toTheEnd<Value>(map: Map<string, Value>, [name, value]: [string, Value], left: number) {
  map.delete(name);
  if (left > 0) map.set(name, value);
}
