import { LRUCache } from 'lru-cache';
import type { Client } from '../lib/caller.ts';
import {
  type AddressRange,
  type IpAddress,
  isV4,
  isWithin,
  parseAddress,
  parseRange,
  toDottedEnd,
} from '../lib/http/ip-address.ts';

const unknownClient = 'unknown';

/** Returns an IPv4 address, or the first 64 bits of IPv6 (`2001:db8:1:2`); `unknown` if invalid. */
export function toClientAddress(address: string | undefined): string {
  return nameOf(toAddress(address));
}

function nameOf(address: IpAddress | null): string {
  if (address === null) return unknownClient;
  if (isV4(address)) return toDottedEnd(address);
  const network = address.parts.slice(0, 4).map((group) => group.toString(16));
  return network.join(':');
}

/** Converts a result of `toClientAddress` to an address and its IPv6 /48 network (RFC 6177 §2). */
export function toClient(name: string): Client {
  const end = name.lastIndexOf(':');
  return { address: name, network: end === -1 ? null : `${name.slice(0, end)}/48` };
}

function toAddress(written: string | undefined): IpAddress | null {
  return written === undefined ? null : parseAddress(withoutPort(written));
}

const bracketed = /^\[([^\]]*)\](?::\d{1,5})?$/;
const dottedWithPort = /^([\d.]+):\d{1,5}$/;

function withoutPort(written: string): string {
  const [, address] = bracketed.exec(written) ?? dottedWithPort.exec(written) ?? [];
  return address ?? written;
}

/** Ranges that `PERCH_TRUST_PROXY` accepts by name (RFC 1122, 1918, 3927, 4193, 4291). */
const namedRanges: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.0/8', '::1/128'],
  linklocal: ['169.254.0.0/16', 'fe80::/10'],
  uniquelocal: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
};

/** Returns the error message for an entry of `PERCH_TRUST_PROXY`; `null` if it is valid. */
export function trustedProxyFault(entry: string): string | null {
  if (parseRanges(entry) !== null) return null;
  const names = Object.keys(namedRanges).join(', ');
  return `must be a comma-separated list of IP addresses, CIDR ranges or ${names}, not “${entry}”`;
}

function parseRanges(entry: string): readonly AddressRange[] | null {
  const name = entry.toLowerCase();
  const written = Object.hasOwn(namedRanges, name) ? (namedRanges[name] ?? []) : [entry];
  const ranges = written.map(parseRange).filter((range) => range !== null);
  return ranges.length === written.length ? ranges : null;
}

type Peer = Readonly<{ name: string; isTrusted: boolean }>;

type Trust = (address: IpAddress) => boolean;

function createTrust(entries: readonly string[]): Trust {
  const trusted = entries.flatMap((entry) => {
    const ranges = parseRanges(entry);
    if (ranges === null) throw new Error(`${entry} is not an address or a range of proxies.`);
    return ranges;
  });
  return (address) => trusted.some((range) => isWithin(address, range));
}

function toPeer(remoteAddress: string | undefined, isTrusted: Trust): Peer {
  const address = toAddress(remoteAddress);
  return { name: nameOf(address), isTrusted: address !== null && isTrusted(address) };
}

type Connection = Readonly<{ remoteAddress?: string | undefined }>;

/** Creates a function that returns the client of a connection; `null` for a trusted proxy. */
export function createConnectionReader(
  trusted: readonly string[],
): (socket: Connection) => Client | null {
  const isTrusted = createTrust(trusted);
  return ({ remoteAddress }) => {
    const peer = toPeer(remoteAddress, isTrusted);
    return peer.isTrusted ? null : toClient(peer.name);
  };
}

export interface AddressSource {
  readonly socket: Connection;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

interface AddressReaderOptions {
  /** Valid entries of `PERCH_TRUST_PROXY`: proxies whose `X-Forwarded-For` header is trusted. */
  readonly trusted: readonly string[];
  /** Called once, when the first `X-Forwarded-For` header from an untrusted address is ignored. */
  readonly onIgnored: () => void;
}

const maxCached = 2000;
const maxCachedLength = 200;

/** Creates a reader of the socket's address or the last untrusted one in `X-Forwarded-For`. */
export function createAddressReader({
  trusted,
  onIgnored,
}: AddressReaderOptions): (request: AddressSource) => string {
  const isTrusted = createTrust(trusted);
  const follow = (header: string) => followForwarded(header, isTrusted);
  const max = maxCached;
  const peers = new LRUCache({ max, memoMethod: (text: string) => toPeer(text, isTrusted) });
  const forwarded = new LRUCache({ max, memoMethod: follow });
  const nameForwarded = (header: string) =>
    header.length > maxCachedLength ? follow(header) : forwarded.memo(header);
  let hasIgnored = false;
  return ({ socket: { remoteAddress = '' }, headers: { 'x-forwarded-for': written } }) => {
    const peer = peers.memo(remoteAddress);
    if (written === undefined || written.length === 0) return peer.name;
    if (peer.isTrusted) return nameForwarded(String(written)) || peer.name;
    if (!hasIgnored) onIgnored();
    hasIgnored = true;
    return peer.name;
  };
}

const maxEntries = 32;

function followForwarded(header: string, isTrusted: Trust): string {
  let client = '';
  let end = header.length;
  for (let entries = 0; entries < maxEntries && end >= 0; entries += 1) {
    const comma = end === 0 ? -1 : header.lastIndexOf(',', end - 1);
    const address = toAddress(header.slice(comma + 1, end).trim());
    // A trusted proxy appends only addresses, so anything before an invalid entry is not
    // trustworthy.
    if (address === null) return client;
    client = nameOf(address);
    if (!isTrusted(address)) return client;
    end = comma;
  }
  return client;
}
