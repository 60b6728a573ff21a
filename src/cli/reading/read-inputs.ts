import type { Readable } from 'node:stream';
import { Problem } from '../../core/problem.ts';
import {
  isPostId,
  nobodyOnX,
  type Platform,
  parseHandle,
  platform,
} from '../../model/reference.ts';
import type { AddressedRead, AddressOptions } from '../../reads/addresses/address.ts';
import { parseTypedInput } from '../../reads/addresses/typed-input.ts';
import { UsageError } from '../command.ts';
import { refuseMisspelling } from './read-options.ts';

/** An argument of `perch read`, with its read or the reason why it has none. */
export interface ReadInput {
  readonly text: string;
  readonly asked: AddressedRead | Problem | UsageError;
}

interface ReadingInputs extends AddressOptions {
  /** The value of `--platform`: what a bare id or handle is of. */
  readonly platform: string | undefined;
}

/** Maximum numbers of characters and inputs of a list. */
const maxCharacters = 1_048_576;
const maxInputs = 10_000;

/**
 * Returns the inputs that arguments name; `-` stands for those on standard input, one on a line, without
 * blank lines and comments that start with `#`. Throws UsageError for no input, or too many.
 */
export async function listInputs(
  args: readonly string[],
  stdin: Readable,
): Promise<readonly string[]> {
  if (args.length === 0) {
    throw new UsageError('read needs the URL of a post or an account, an @handle, or - for a list');
  }
  const stdins = args.filter((arg) => arg === '-').length;
  if (stdins > 1) throw new UsageError('standard input can be read once; give one -');
  const listed = stdins === 0 ? [] : await readLines(stdin);
  const inputs = args.flatMap((arg) => (arg === '-' ? listed : [arg]));
  if (inputs.length > maxInputs) {
    throw new UsageError(`read takes at most ${maxInputs} inputs, not ${inputs.length}`);
  }
  return inputs;
}

async function readLines(stdin: Readable): Promise<readonly string[]> {
  let text = '';
  for await (const chunk of stdin.setEncoding('utf8')) {
    text += chunk;
    if (text.length > maxCharacters) {
      throw new UsageError(`the list on standard input is longer than ${maxCharacters} characters`);
    }
  }
  const lines = text.replace(/^\ufeff/, '').split(/\r?\n/);
  return lines.map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('#'));
}

/** Returns the read that an input stands for, or why it stands for none. */
export function readInput(text: string, reading: ReadingInputs): ReadInput {
  try {
    return { text, asked: parse(text.trim(), reading) };
  } catch (error) {
    if (error instanceof Problem || error instanceof UsageError) return { text, asked: error };
    throw error;
  }
}

function parse(text: string, { platform: named, ...place }: ReadingInputs): AddressedRead {
  if (named !== undefined) return understandBare(text, toPlatform(named));
  const found = parseTypedInput(text, place, 'The address');
  if (found !== null) return found;
  // The read says what a handle looks like.
  if (/^@[^\s/]+$/.test(text)) return { read: 'getProfile', given: { handle: text } };
  throw new UsageError(explainWords(text));
}

function explainWords(text: string): string {
  const shown = JSON.stringify(text);
  if (/^@\S+\//.test(text)) {
    return `${shown} is no list of an account; there are /followers and /following, /with_replies and /media`;
  }
  const fault = `${shown} is not an absolute URL, a handle with its @ or with a dot, or a path of one`;
  if (isPostId('x', text)) return `${fault}; the id of a post on X needs --platform x`;
  const offer = parseHandle(text) === null ? '' : `did you mean @${text}? `;
  return `${fault}; ${offer}To search, use perch search`;
}

function toPlatform(text: string): Platform {
  const { success, data } = platform.safeParse(text.toLowerCase());
  if (success) return data;
  refuseMisspelling('platform', text, platform.options);
  throw new UsageError(`--platform is ${platform.options.join(', ')}, not ${JSON.stringify(text)}`);
}

/** Reads an id or a handle whose platform is named. Only on X an id is enough to name a post. */
function understandBare(text: string, of: Platform): AddressedRead {
  if (of === 'x' && isPostId('x', text)) {
    return { read: 'getPost', given: { handle: nobodyOnX, id: text } };
  }
  const account = parseHandle(text);
  if (account?.platform === of) return { read: 'getProfile', given: { handle: account.handle } };
  const shown = JSON.stringify(text);
  throw new UsageError(
    of === 'x'
      ? `${shown} is neither an id nor a handle of X; --platform is for one of them alone`
      : `${shown} is no handle of ${of}; there an id needs its account: @HANDLE/status/ID`,
  );
}
