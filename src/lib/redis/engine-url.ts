import { X509Certificate } from 'node:crypto';
import { readBoundedText, UnusableTextError } from '../files/bounded-text.ts';
import { parseUrl } from '../http/url.ts';
import { UnusableEngineError } from './engine-error.ts';

/** Host and port of one Valkey or Redis server, or of one sentinel. */
export type EngineNode = Readonly<{ host: string; port: number }>;

/** Parsed value of `PERCH_REDIS_URL`, the URL of the shared Valkey or Redis server. */
export interface EngineAddress {
  readonly kind: 'single' | 'sentinel' | 'cluster';
  readonly isTls: boolean;
  /** Servers to connect to first (never empty); the sentinels if `kind` is `sentinel`. */
  readonly nodes: readonly EngineNode[];
  readonly username: string | undefined;
  readonly password: string | undefined;
  /** Number of the Redis database; always 0 if `kind` is `cluster`. */
  readonly database: number;
  /** Name of the primary server that the sentinels monitor; empty unless `kind` is `sentinel`. */
  readonly primary: string;
}

const form = /^(?:redis(s?)|redis\+(sentinel|cluster)):\/\/(?:([^@/?#]*)@)?([^@/?#]+)(\/[^?#]*)?$/;

const paths = {
  single: /^\/?()(\d{0,5})$/,
  sentinel: /^\/([^/]+)\/?(\d{0,5})$/,
  cluster: /^\/?()(0?)$/,
} as const;

const defaultPorts = { single: 6379, sentinel: 26_379, cluster: 6379 } as const;

/** Parses `PERCH_REDIS_URL` (docs/instances.md). Returns `null` if the URL is invalid. */
export function parseEngineUrl(url: string): EngineAddress | null {
  const [whole, tls, scheme = 'single', credentials = '', hosts = '', path = ''] =
    form.exec(url) ?? [];
  const kind = scheme as EngineAddress['kind']; // the pattern allows no other
  const place = paths[kind].exec(path);
  const login = parseCredentials(credentials);
  if (whole === undefined || place === null || login === null) return null;
  const nodes = hosts.split(',').map((host) => parseNode(host, defaultPorts[kind]));
  if (!isEach(nodes) || (kind === 'single' && nodes.length > 1)) return null;
  const [, primary = '', database = ''] = place;
  return { kind, isTls: tls === 's', nodes, ...login, primary, database: Number(database) };
}

const isEach = (nodes: readonly (EngineNode | null)[]): nodes is readonly EngineNode[] =>
  !nodes.includes(null);

function parseNode(text: string, defaultPort: number): EngineNode | null {
  const url = parseUrl(`redis://${text}`);
  if (url === null || url.hostname === '') return null;
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  return { host, port: url.port === '' ? defaultPort : Number(url.port) };
}

function parseCredentials(text: string) {
  const [user = '', ...rest] = text.split(':');
  try {
    const username = decodeURIComponent(user) || undefined;
    return { username, password: decodeURIComponent(rest.join(':')) || undefined };
  } catch {
    return null;
  }
}

const maxAuthorityBytes = 1_048_576;

/** Returns PEM certificates. Throws UnusableEngineError if the file has none or is unreadable. */
export function readAuthority(path: string | undefined): string | undefined {
  if (path === undefined) return undefined;
  try {
    const text = readBoundedText(path, maxAuthorityBytes);
    new X509Certificate(text); // reads the first certificate, or throws an error
    return text;
  } catch (cause) {
    const reason = cause instanceof UnusableTextError ? cause.reason : 'contains no certificate';
    const fault = `PERCH_REDIS_CA_FILE is ${JSON.stringify(path)}, but this file ${reason}. Set it to a file with certificates in PEM.`;
    throw new UnusableEngineError(fault, { cause });
  }
}
