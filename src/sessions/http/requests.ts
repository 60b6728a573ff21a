import { parseJsonBody } from '../../lib/http/json-bodies.ts';
import { Problem, quoteInput } from '../../lib/problem.ts';
import { turnPolicy } from '../schemas.ts';
import type { FollowMode } from '../streams/stream-reader.ts';

export type Body = Readonly<Record<string, unknown>>;

/** Returns `undefined` if empty. @throws Problem `invalid_body`, `payload_too_large` */
export function parseBody(bytes: Buffer): Body | undefined {
  if (bytes.length === 0) return undefined;
  const body = parseJsonBody(bytes);
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new Problem('invalid_body', { detail: 'The body is JSON, but not an object.' });
  }
  return body as Body; // an object of JSON has string keys
}

/**
 * Returns the message in a body.
 * @throws Problem `unsupported_feature`, `missing_message`, `invalid_message`, `payload_too_large`,
 *   `invalid_body`
 */
export function readMessage(body: Body, maxBytes: number) {
  const unsupported = ['outputSchema', 'inputResponses'].find((name) => isGiven(body[name]));
  if (unsupported !== undefined) {
    throw new Problem('unsupported_feature', {
      param: unsupported,
      detail: `The member \`${unsupported}\` requests a feature that this server does not support.`,
    });
  }
  const text = readText(body.message);
  if (text.trim() === '') {
    const isBlank = isGiven(body.message);
    const detail = isBlank ? 'The member `message` is blank.' : 'The body has no member `message`.';
    throw new Problem('missing_message', { detail });
  }
  if (Buffer.byteLength(text) > maxBytes) {
    const detail = `The member \`message\` is longer than ${maxBytes} bytes.`;
    throw new Problem('payload_too_large', { detail, param: 'message' });
  }
  return { text, isRefusedWhileRunning: readPolicy(body.turnPolicy) === 'reject' };
}

const isGiven = (value: unknown): boolean => value !== undefined && value !== null;

function readText(message: unknown): string {
  if (!isGiven(message)) return '';
  const isText = typeof message === 'string';
  if (!isText && !Array.isArray(message)) throw notText('is neither a string nor an array');
  return Buffer.from(isText ? message : message.map(readPart).join('\n')).toString();
}

function readPart(part: unknown, index: number): string {
  if (typeof part === 'object' && part !== null && 'type' in part && part.type === 'text') {
    if ('text' in part && typeof part.text === 'string') return part.text;
  }
  throw notText(`has a part at index ${index} that is not text`);
}

function notText(fault: string): Problem {
  return new Problem('invalid_message', {
    detail: `The member \`message\` ${fault}. Send a string or an array of text parts.`,
  });
}

function readPolicy(value: unknown) {
  if (!isGiven(value)) return 'queue';
  const parsed = turnPolicy.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new Problem('invalid_body', {
    param: 'turnPolicy',
    detail: 'The member `turnPolicy` has an unknown value. Send `queue`, `steer` or `reject`.',
  });
}

/** Returns an optional member. @throws Problem `invalid_body` if it is not a string */
export function readString(body: Body | undefined, name: string): string | undefined {
  const value = body?.[name];
  if (!isGiven(value)) return undefined;
  if (typeof value === 'string') return value;
  const detail = `The member \`${name}\` is not a string.`;
  throw new Problem('invalid_body', { detail, param: name });
}

/** Parses the query of a stream. @throws Problem `invalid_start_index`, `invalid_option` */
export function readStreamQuery(url: string) {
  const query = new URLSearchParams(url.split(/\?(.*)/s)[1] ?? '');
  const follow = readFollow(query);
  const isLeased = follow !== 'once' && query.get('streamControlVersion') === '1';
  return { startIndex: readStartIndex(query), mode: isLeased ? ('lease' as const) : follow };
}

function readStartIndex(query: URLSearchParams): number {
  const [value = '0', ...more] = query.getAll('startIndex');
  if (more.length > 0) throw badIndex('is given more than once');
  if (!/^-?\d+$/.test(value)) throw badIndex(`is ${quoteInput(value)}`);
  // No session has more events than this maximum.
  return Math.max(-Number.MAX_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, Number(value)));
}

function badIndex(fault: string): Problem {
  return new Problem('invalid_start_index', {
    detail: `The parameter \`startIndex\` ${fault}. Send one integer.`,
  });
}

function readFollow(query: URLSearchParams): FollowMode {
  const value = query.get('follow');
  if (value === null) return 'automatic';
  if (value === 'true' || value === '1') return 'follow';
  if (value === 'false' || value === '0') return 'once';
  throw new Problem('invalid_option', {
    param: 'follow',
    detail: `The parameter \`follow\` is ${quoteInput(value)}. Send \`true\`, \`false\`, \`1\` or \`0\`.`,
  });
}
