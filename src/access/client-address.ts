import { LRUCache } from 'lru-cache';
import type { Client } from '../core/caller.ts';
import {
  type AddressRange,
  type IpAddress,
  isV4,
  isWithin,
  parseAddress,
  parseRange,
  toDottedEnd,
} from '../core/http/ip-address.ts';

/** The name of every client whose address cannot be told: one for all, so that garbage makes no accounts. */
const unknownClient = 'unknown';

/**
 * Gives the name that a client's allowance goes by: an IPv4 address as it is, also where IPv6 maps it;
 * of any other IPv6 address its /64 as four groups, `2001:db8:1:2`. Brackets and
 * a port are tolerated. Whatever is no address is `unknown`.
 */
export function toClientAddress(address: string | undefined): string {
  return nameOf(toAddress(address));
}

function nameOf(address: IpAddress | null): string {
  if (address === null) return unknownClient;
  if (isV4(address)) return toDottedEnd(address);
  const network = address.parts.slice(0, 4).map((group) => group.toString(16));
  return network.join(':');
}

/**
 * Returns the client of a name that `toClientAddress` has returned. The network of an IPv6 address is
 * its /48, `2001:db8:1/48`: sites and customers commonly get a whole one (RFC 6177 §2), so that its
 * /64s have to count together as well.
 */
export function toClient(name: string): Client {
  const end = name.lastIndexOf(':');
  return { address: name, network: end === -1 ? null : `${name.slice(0, end)}/48` };
}

function toAddress(written: string | undefined): IpAddress | null {
  return written === undefined ? null : parseAddress(withoutPort(written));
}

const bracketed = /^\[([^\]]*)\](?::\d{1,5})?$/;
const dottedWithPort = /^([\d.]+):\d{1,5}$/;

/** `[2001:db8::1]:443` and `203.0.113.7:4711`, as some proxies write them. */
function withoutPort(written: string): string {
  const [, address] = bracketed.exec(written) ?? dottedWithPort.exec(written) ?? [];
  return address ?? written;
}

/** Names for ranges of addresses, as other servers have them (RFC 1122, RFC 1918, RFC 3927, RFC 4193, RFC 4291). */
const namedRanges: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.0/8', '::1/128'],
  linklocal: ['169.254.0.0/16', 'fe80::/10'],
  uniquelocal: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
};

/** Tells what is wrong with an entry of `PERCH_TRUST_PROXY`; null where nothing is. */
export function trustedProxyFault(entry: string): string | null {
  if (parseRanges(entry) !== null) return null;
  const names = Object.keys(namedRanges).join(', ');
  return `must be a comma-separated list of IP addresses, CIDR ranges or ${names}, not “${entry}”`;
}

/** Gives the ranges that an entry stands for; null where it is none. */
function parseRanges(entry: string): readonly AddressRange[] | null {
  const name = entry.toLowerCase();
  const written = Object.hasOwn(namedRanges, name) ? (namedRanges[name] ?? []) : [entry];
  const ranges = written.map(parseRange).filter((range) => range !== null);
  return ranges.length === written.length ? ranges : null;
}

/** Who is at the other end of a connection. */
interface Peer {
  readonly name: string;
  readonly isTrusted: boolean;
}

type Trust = (address: IpAddress) => boolean;

/** Creates the function that returns whether an address belongs to a trusted proxy. */
function createTrust(entries: readonly string[]): Trust {
  const trusted = entries.flatMap((entry) => {
    const ranges = parseRanges(entry);
    if (ranges === null) throw new Error(`${entry} is no address of a proxy`);
    return ranges;
  });
  return (address) => trusted.some((range) => isWithin(address, range));
}

function toPeer(remoteAddress: string | undefined, isTrusted: Trust): Peer {
  const address = toAddress(remoteAddress);
  return { name: nameOf(address), isTrusted: address !== null && isTrusted(address) };
}

/** The part of a connection that says where it comes from. */
interface Connection {
  readonly remoteAddress?: string | undefined;
}

/**
 * Creates the reader of connections, which returns the client at the other end, or `null` for a trusted
 * proxy: the connections of many clients come through it.
 *
 * @param trusted Entries without a `trustedProxyFault`.
 */
export function createConnectionReader(
  trusted: readonly string[],
): (socket: Connection) => Client | null {
  const isTrusted = createTrust(trusted);
  return ({ remoteAddress }) => {
    const peer = toPeer(remoteAddress, isTrusted);
    return peer.isTrusted ? null : toClient(peer.name);
  };
}

/** The part of a request that says where it comes from. */
export interface AddressSource {
  readonly socket: Connection;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

interface AddressReaderOptions {
  /** The proxies whose `X-Forwarded-For` is believed; each has no `trustedProxyFault`. */
  readonly trusted: readonly string[];
  /** Is called once, when the first `X-Forwarded-For` comes from somebody else. */
  readonly onIgnored: () => void;
}

/** Maximum number of peers and of headers that are remembered, and maximum length of such a header. */
const maxRemembered = 2000;
const maxRememberedLength = 200;

/**
 * Creates the reader of clients' addresses, which gives the name of a request's client (see
 * `toClientAddress`). It is the socket's address. If that is a trusted proxy's, `X-Forwarded-For` is
 * followed from its right end, where the nearest proxy wrote, up to the first address that is not.
 */
export function createAddressReader({
  trusted,
  onIgnored,
}: AddressReaderOptions): (request: AddressSource) => string {
  const isTrusted = createTrust(trusted);
  const follow = (header: string) => followForwarded(header, isTrusted);
  const max = maxRemembered;
  const peers = new LRUCache({ max, memoMethod: (text: string) => toPeer(text, isTrusted) });
  const forwarded = new LRUCache({ max, memoMethod: follow });
  const nameForwarded = (header: string) =>
    header.length > maxRememberedLength ? follow(header) : forwarded.memo(header);
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

/** The most entries of `X-Forwarded-For` that are looked at, from the right. */
const maxEntries = 32;

/** Returns the name of the last address that can be believed; '' if there is none. */
function followForwarded(header: string, isTrusted: Trust): string {
  let client = '';
  let end = header.length;
  for (let looked = 0; looked < maxEntries && end >= 0; looked += 1) {
    const comma = end === 0 ? -1 : header.lastIndexOf(',', end - 1);
    const address = toAddress(header.slice(comma + 1, end).trim());
    // What is beyond something that is no address was not written by a proxy that is believed.
    if (address === null) return client;
    client = nameOf(address);
    if (!isTrusted(address)) return client;
    end = comma;
  }
  return client;
}
