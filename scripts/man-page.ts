import type { ActionHelp, Command, CommandOptions } from '../src/cli/command.ts';
import { exitCodes, globalOptions } from '../src/cli/command.ts';
import { wrap } from '../src/cli/run.ts';

/** Environment variable that the manual page lists. `description` is a text with Markdown. */
export interface ManVariable {
  readonly name: string;
  readonly byDefault: string | null;
  readonly description: string;
}

/** Maximum number of characters in a line of text. `\&` at the start of a line does not count. */
const maxLine = 78;

/** Date of the last change to the fixed texts below. mdoc requires a date. */
const revised = 'November 28, 2026';

/** Returns the manual page perch(1) in the language mdoc (https://mandoc.bsd.lv/man/mdoc.7.html). */
export function renderManPage(
  commands: Readonly<Record<string, Command>>,
  variables: readonly ManVariable[],
): string {
  return `${[
    `.Dd ${revised}`,
    '.Dt PERCH 1',
    '.Os',
    '.Sh NAME',
    '.Nm perch',
    '.Nd return public social posts as Markdown, JSON, web pages or feeds',
    '.Sh SYNOPSIS',
    '.Nm',
    '.Op Ar command',
    '.Op Ar options',
    '.Nm',
    '.Ar command Fl -help',
    '.Sh DESCRIPTION',
    '.Nm',
    ...toText(
      'reads public posts from X, Bluesky and Mastodon, and returns them as Markdown, JSON, web pages or feeds. It runs as a server, or prints a result as a command. Without a command, it runs the server.',
    ),
    '.Pp',
    ...toText('Every command has these options:'),
    ...listOptions({
      ...globalOptions,
      help: { type: 'boolean', about: 'Prints the help of a command.' },
    }),
    '.Sh COMMANDS',
    '.Bl -tag -width Ds',
    ...Object.entries(commands).flatMap(([name, command]) => describeCommand(name, command)),
    '.El',
    '.Sh ENVIRONMENT',
    ...toText(
      'Environment variables configure Perch. A file with NAME=value lines, which PERCH_CONFIG or the option --config names, has the same effect.',
    ),
    '.Bl -tag -width Ds',
    ...variables.flatMap(describeVariable),
    '.El',
    '.Sh FILES',
    '.Bl -tag -width Ds',
    '.It Pa ~/.local/share/perch',
    ...toText('Data of Perch, if PERCH_DATA_DIR is not set.'),
    '.El',
    '.Sh EXIT STATUS',
    ...toText('The help of a command describes its exit codes. In general:'),
    '.Bl -tag -width Ds',
    ...Object.entries(exitTexts).flatMap(([code, text]) => [`.It ${code}`, ...toText(text)]),
    '.El',
    '.Sh EXAMPLES',
    ...toText('Run the server on port 9000:'),
    ...toLiteral('perch serve --port 9000'),
    '.Pp',
    ...toText('Print a post with its thread:'),
    ...toLiteral('perch read https://x.com/jack/status/20'),
    '.Pp',
    ...toText('Enable completion in bash:'),
    ...toLiteral('eval "$(perch completion bash)"'),
    '.Sh SEE ALSO',
    ...toText('The server shows its documentation at /docs.'),
  ].join('\n')}\n`;
}

const exitTexts: Readonly<Record<number, string>> = {
  [exitCodes.ok]: 'Success.',
  [exitCodes.notFound]: 'Not found, not ready or no answer.',
  [exitCodes.usage]: 'Wrong usage, invalid configuration or failed start.',
  [exitCodes.upstream]: 'A source or a store is not available.',
  [exitCodes.defect]: 'A bug in Perch.',
};

function describeCommand(name: string, command: Command): readonly string[] {
  const subcommands = Object.values(command.subcommands ?? {});
  if (subcommands.length > 0) {
    return subcommands.flatMap((action) => describeAction(`${name} ${action.usage}`, action));
  }
  return describeAction(command.usage, command);
}

function describeAction(
  usage: string,
  { about, details, options = {} }: ActionHelp,
): readonly string[] {
  return [
    `.It Ic ${toArguments(usage)}`,
    ...toText(about),
    ...(details === undefined ? [] : toLiteral(details.trim())),
    ...listOptions(options),
  ];
}

function listOptions(options: CommandOptions): readonly string[] {
  const rows = Object.entries(options).flatMap(([name, { value, isNegative = false, about }]) => {
    const argument = value === undefined ? '' : ` Ar ${toArguments(value)}`;
    return [`.It Fl -${isNegative ? 'no-' : ''}${toArguments(name)}${argument}`, ...toText(about)];
  });
  return rows.length === 0 ? [] : ['.Bl -tag -width Ds', ...rows, '.El'];
}

function describeVariable({ name, byDefault, description }: ManVariable): readonly string[] {
  const plain = description.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll('`', '');
  const value = byDefault === null ? '' : ` Default: ${byDefault}.`;
  return [`.It Ev ${name}`, ...toText(`${plain}${value}`)];
}

/** Escapes and wraps a text. Each sentence starts a line, as mdoc recommends. */
function toText(text: string): readonly string[] {
  const sentences = toRoff(text).split(/(?<=\.) (?=[A-Z\\])/);
  return sentences.flatMap((sentence) => wrap(sentence, maxLine)).map(guard);
}

function toLiteral(text: string): readonly string[] {
  return [
    '.Bd -literal -offset indent',
    ...text.split('\n').map((line) => guard(toRoff(line))),
    '.Ed',
  ];
}

/**
 * Escapes text that follows a macro on the same line. There, mdoc would interpret punctuation and names of macros in
 * the text.
 */
function toArguments(text: string): string {
  return text
    .split(' ')
    .map((word) =>
      /^(?:[A-Z][a-z]|[|.,;:()[\]?!]$)/.test(word) ? `\\&${toRoff(word)}` : toRoff(word),
    )
    .join(' ');
}

const toRoff = (text: string) =>
  text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll('…', '...')
    .replaceAll('“', '\\(lq')
    .replaceAll('”', '\\(rq');

/** Escapes a line of text that mdoc would interpret as a macro, because it starts with `.` or `'`. */
const guard = (line: string) => (/^[.']/.test(line) ? `\\&${line}` : line);
