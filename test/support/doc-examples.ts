import { parseArgs } from 'node:util';

/**
 * Example in the documentation: a fenced `sh` block with commands that tests can run, and the block
 * without a language after it, which is the expected output.
 */
export interface DocExample {
  /** Line of the page where the commands start. */
  readonly line: number;
  readonly commands: readonly Command[];
  /** Whether the block needs a shell: variables, pipes, loops. */
  readonly needsShell: boolean;
  /** Text of the block. */
  readonly script: string;
  /** Output that the page shows; `undefined` if it shows none. */
  readonly output: string | undefined;
  /** Environment variables with which the section starts Perch (`PERCH_…=… npm start`). */
  readonly env: Readonly<Record<string, string>>;
  /** Text between the block and the next one, with further claims about the response. */
  readonly remark: string;
}

/** Command of a block, split into words. `env` has the variables set before it. */
export interface Command {
  readonly words: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** Documentation page. */
interface DocPage {
  readonly examples: readonly DocExample[];
  /** Faults of the page itself. */
  readonly faults: readonly string[];
}

/** A fenced block of a page. */
export interface Fence {
  readonly kind: 'fence';
  /** Line of the page where the block begins. */
  readonly line: number;
  readonly language: string;
  /** Reason why a test cannot run the block (`no-run="…"`); `undefined` if it has no such mark. */
  readonly skipReason: string | undefined;
  /** Text after the language that is not a mark with a reason; empty if there is none. */
  readonly unknownMark: string;
  readonly text: string;
}

type Part = Fence | { readonly kind: 'heading' | 'prose'; readonly text: string };

/** Commands for preparation, without output on the page. */
const preparing: ReadonlySet<string> = new Set(['npm', 'npx', 'docker', 'bash', 'openssl']);

/** Returns the examples of a page. An output belongs to the preceding commands under the same heading. */
export function parseDocPage(markdown: string): DocPage {
  const parts = splitPage(markdown);
  const sections = splitSections(parts).map(readSection);
  return {
    examples: sections.flatMap(({ examples }) => examples),
    faults: [...findUnknownMarks(parts), ...sections.flatMap(({ faults }) => faults)],
  };
}

function findUnknownMarks(parts: readonly Part[]): readonly string[] {
  return parts.flatMap((part) =>
    part.kind === 'fence' && part.unknownMark !== '' ? `line ${part.line}: ${withoutReason}` : [],
  );
}

const withoutReason =
  'the only mark is no-run="REASON", with the reason why the block cannot be run';

/** Returns the fenced blocks of a page in their order. */
export function listFences(markdown: string): readonly Fence[] {
  return splitPage(markdown).filter((part): part is Fence => part.kind === 'fence');
}

function splitPage(markdown: string): readonly Part[] {
  const found = markdown.matchAll(/^```(\w*)( .*)?\n((?:.*\n)*?)```$|^#+ .*$|^.+$/gm);
  return [...found].map((match): Part => {
    const [text, language, mark = '', inside] = match;
    if (language === undefined) return { kind: text.startsWith('#') ? 'heading' : 'prose', text };
    const line = markdown.slice(0, match.index).split('\n').length;
    const [, skipReason] = /^ no-run="([^"`]+)"$/.exec(mark) ?? [];
    const unknownMark = skipReason === undefined ? mark : '';
    const content = (inside ?? '').trimEnd();
    return { kind: 'fence', line, language, skipReason, unknownMark, text: content };
  });
}

function splitSections(parts: readonly Part[]): readonly (readonly Part[])[] {
  const sections: Part[][] = [[]];
  for (const part of parts) {
    if (part.kind === 'heading') sections.push([]);
    else sections.at(-1)?.push(part);
  }
  return sections;
}

function readSection(parts: readonly Part[]): DocPage {
  const examples: DocExample[] = [];
  const faults: string[] = [];
  const outputs = new Set<Part | undefined>();
  let env: DocExample['env'] = {};
  for (const [index, part] of parts.entries()) {
    if (part.kind !== 'fence') continue;
    if (part.language === '' && !outputs.has(part)) faults.push(`line ${part.line}: ${orphan}`);
    if (!isScript(part)) continue;
    const block = readBlock(part.text);
    env = { ...env, ...block.env };
    faults.push(...block.faults.map((fault) => `line ${part.line}: ${fault}`));
    if (!block.runs) continue;
    const { output, remark } = lookAhead(parts.slice(index + 1));
    outputs.add(output);
    examples.push({ ...toExample(part, block), output: output?.text, env, remark });
  }
  return { examples, faults };
}

const isScript = ({ language, skipReason }: Fence) => language === 'sh' && skipReason === undefined;

const orphan = 'the output of nothing that is run; say `text` where it is none';

function lookAhead(rest: readonly Part[]) {
  const next = rest.find((part): part is Fence => part.kind === 'fence');
  const prose = next === undefined ? rest : rest.slice(0, rest.indexOf(next));
  return {
    output: next?.language === '' ? next : undefined,
    remark: prose.map(({ text }) => text).join(' '),
  };
}

interface Block {
  /** `null` if a line is not a single plain command. */
  readonly commands: readonly Command[] | null;
  readonly runs: boolean;
  readonly env: Readonly<Record<string, string>>;
  readonly faults: readonly string[];
}

function readBlock(script: string): Block {
  const lines = script
    .split('\n')
    .map((line) => line.replace(/(?:^| +)# .*$/, ''))
    .flatMap((line) => line.split(' && '))
    .filter((line) => line.trim() !== '');
  const read = lines.map(splitCommand);
  const commands = read.filter((command) => command !== null);
  const isPlain = commands.length === read.length && commands.every(isKnown);
  const runs = isPlain
    ? commands.some(isRun)
    : /\bcurl |\bnode dist\/main\.js |\bnpx perch /.test(script);
  const started = commands.filter(({ words }) => words.join(' ') === 'npm start');
  return {
    commands: isPlain ? commands.filter(isRun) : null,
    runs,
    env: Object.assign({}, ...started.map(({ env }) => env)),
    faults: isPlain || runs ? [] : [`nobody knows what to do with ${lines[0]}`],
  };
}

function toExample({ line, text }: Fence, { commands }: Block) {
  return { line, commands: commands ?? [], needsShell: commands === null, script: text };
}

function isKnown(command: Command): boolean {
  return isRun(command) || preparing.has(command.words[0] ?? '') || isServer(command);
}

/** Returns whether a command starts a server. A server with invalid settings exits by itself. */
function isServer({ words, env }: Command): boolean {
  return words[0] === 'node' && words[2] === 'serve' && env.PORT === undefined;
}

function isRun(command: Command): boolean {
  const [first, second] = command.words;
  return first === 'curl' || (first === 'node' && second === 'dist/main.js' && !isServer(command));
}

const word = /(?:[^\s'"\\|&;<>()$`*?]|'[^']*'|"[^"$`\\]*")+(?:\s+|$)/y;

/** Splits a line as a shell does. Returns `null` for syntax other than words and quotes. */
function splitCommand(line: string): Command | null {
  const words: string[] = [];
  for (let at = 0; at < line.length; at = word.lastIndex) {
    word.lastIndex = at;
    const [found] = word.exec(line) ?? [];
    if (found === undefined) return null;
    words.push(found.trim().replace(/'([^']*)'|"([^"]*)"/g, '$1$2'));
  }
  const first = words.findIndex((one) => !/^[A-Z_]+=/.test(one));
  const env = words.slice(0, first).map((one) => one.split(/=(.*)/s).slice(0, 2));
  const [program, command, ...rest] = words.slice(first);
  const isPerch = program === 'npx' && command === 'perch';
  return {
    words: isPerch ? ['node', 'dist/main.js', ...rest] : words.slice(first),
    env: Object.fromEntries(env),
  };
}

/** Request and output options of a `curl` command. */
interface CurlRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly shows: ReadonlySet<'headers' | 'body'>;
}

const curlOptions = {
  silent: { type: 'boolean', short: 's' },
  fail: { type: 'boolean', short: 'f' },
  include: { type: 'boolean', short: 'i' },
  head: { type: 'boolean', short: 'I' },
  get: { type: 'boolean', short: 'G' },
  request: { type: 'string', short: 'X', default: 'GET' },
  header: { type: 'string', short: 'H', multiple: true },
  'user-agent': { type: 'string', short: 'A', default: 'curl/8.0' },
  'dump-header': { type: 'string', short: 'D' },
  output: { type: 'string', short: 'o' },
  'remote-name': { type: 'boolean', short: 'O' },
  'remote-header-name': { type: 'boolean', short: 'J' },
  data: { type: 'string', short: 'd', multiple: true },
  'data-urlencode': { type: 'string', multiple: true },
} as const;

/**
 * Parses the `curl` options that the documentation uses.
 *
 * @throws Error for an unknown option
 */
export function parseCurl(args: readonly string[]): CurlRequest {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: curlOptions,
    allowPositionals: true,
  });
  const [url = '', ...more] = positionals;
  if (more.length > 0) throw new Error(`One URL is expected, not ${positionals.length}.`);
  const hasHeaders = values.include || values.head || values['dump-header'] === '-';
  const isSaved = values.output !== undefined || values['remote-name'];
  const hasBody = !values.head && !isSaved;
  return {
    url: addQuery(url, [...(values.data ?? []), ...(values['data-urlencode'] ?? [])]),
    method: values.head ? 'HEAD' : values.request,
    headers: {
      accept: '*/*',
      'user-agent': values['user-agent'],
      ...Object.fromEntries((values.header ?? []).map(splitHeader)),
    },
    shows: new Set([
      ...(hasHeaders ? (['headers'] as const) : []),
      ...(hasBody ? (['body'] as const) : []),
    ]),
  };
}

function splitHeader(line: string): readonly [name: string, value: string] {
  const [, name = '', value = ''] = /^([^:]*): *(.*)$/s.exec(line) ?? [];
  return [name.toLowerCase(), value];
}

function addQuery(url: string, pairs: readonly string[]): string {
  if (pairs.length === 0) return url;
  const query = pairs.map((pair) => {
    const [name, value = ''] = pair.split(/=(.*)/s);
    return `${name}=${encodeURIComponent(value)}`;
  });
  return `${url}${url.includes('?') ? '&' : '?'}${query.join('&')}`;
}

/**
 * Returns whether a text matches the output on a page. There, a line `…` matches any lines, and `…` within
 * a line matches any text. Trailing spaces are ignored.
 */
export function isShown(output: string, actual: string): boolean {
  const pattern = splitLines(output).map((line) =>
    line === '…' ? '(?:[^\\n]*\\n)*?' : `${toPattern(line)}\\n`,
  );
  return new RegExp(`^${pattern.join('')}$`).test(`${splitLines(actual).join('\n')}\n`);
}

function toPattern(line: string): string {
  const texts = line.split('…').map((text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return texts.join('[^\\n]*?');
}

function splitLines(text: string): readonly string[] {
  return text
    .trimEnd()
    .split(/\r?\n/)
    .map((line) => line.trimEnd());
}
