import { quoteInput } from '../lib/problem.ts';
import { redactKeys } from '../lib/redact.ts';
import type { Sdk } from './server.ts';

const revisionWithoutHandshake = '2026-07-28';

type Members = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Removes `params` members that are `null`, which many clients send although MCP has none. */
export function withoutNulls(message: unknown): unknown {
  return Array.isArray(message) ? message.map(removeNulls) : removeNulls(message);
}

function removeNulls(message: unknown): unknown {
  if (!isObject(message)) return message;
  const { params, ...rest } = message;
  if (params === undefined || params === null) return rest;
  if (!isObject(params)) return message;
  const given = Object.entries(params).filter(([, value]) => value !== null);
  return { ...rest, params: Object.fromEntries(given) };
}

/** Returns whether a message starts a handshake, in which client and server agree on a revision. */
export const isHandshake = (sdk: Sdk, message: unknown): boolean =>
  isObject(message) && message.method === 'initialize' && revisionIn(sdk, message) === null;

const headerMismatch = -32020;

/** Returns the error for an unknown MCP revision, named by message or `MCP-Protocol-Version`. */
export function refuseUnknownRevision(sdk: Sdk, message: unknown, header: string | null = null) {
  const known = [revisionWithoutHandshake, ...sdk.SUPPORTED_PROTOCOL_VERSIONS];
  const inMessage = revisionIn(sdk, message);
  const unknown = [header, inMessage].find((name) => name !== null && !known.includes(name));
  if (typeof unknown !== 'string') return undefined;
  const isMismatch = header !== null && inMessage !== null && header !== inMessage;
  const id = isObject(message) ? message.id : null;
  return {
    jsonrpc: '2.0' as const,
    id: typeof id === 'string' || typeof id === 'number' ? id : null,
    error: {
      code: isMismatch ? headerMismatch : sdk.ProtocolErrorCode.UnsupportedProtocolVersion,
      message: `Unsupported protocol version ${quoteInput(unknown)}. The supported versions are ${known.join(', ')}.`,
      // As in `server/discover`, only revisions without a handshake.
      data: { supported: [revisionWithoutHandshake], requested: redactKeys(unknown).slice(0, 80) },
    },
  };
}

function revisionIn(sdk: Sdk, message: unknown): string | null {
  const params = isObject(message) ? message.params : undefined;
  const meta = isObject(params) ? params._meta : undefined;
  const revision = isObject(meta) ? meta[sdk.PROTOCOL_VERSION_META_KEY] : undefined;
  return typeof revision === 'string' ? revision : null;
}
