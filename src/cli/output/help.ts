import { globalOptions } from '../arguments.ts';
import type { ActionHelp, Command, CommandOptions, CommandSummary } from '../command.ts';

const maxLine = 100;

export function renderHelp(commands: Iterable<CommandSummary>): string {
  const lines = [...commands].map(({ usage, about }) => `  perch ${usage}\n      ${about}\n`);
  return `Usage: perch [command] [options]

Without a command, perch runs the server: \`perch\` is the same as \`perch serve\`.

${lines.join('')}
  perch COMMAND --help
      Prints the help of a command.
  perch COMMAND --config FILE
      ${globalOptions.config.about}
  perch --version
      Prints the version.
`;
}

export function renderCommandHelp(command: Command, action: ActionHelp = command): string {
  const { subcommands = {} } = action === command ? command : {};
  const listed = Object.values(subcommands).map(({ usage, about }) => `  ${usage}\n      ${about}`);
  const blocks = [
    `Usage: perch ${usageOf(command, action)}`,
    action.details === undefined ? action.about : `${action.about}\n${action.details}`,
    listed.join('\n'),
    listOptions({ ...action.options, ...globalOptions }),
    listed.length === 0 ? '' : `Options: perch ${nameOf(command)} SUBCOMMAND --help`,
    command.exits,
  ];
  return `${blocks.filter((block) => block !== '').join('\n\n')}\n`;
}

/** Returns the usage of a command or of one of its subcommands, without the leading `perch`. */
export function usageOf(command: Command, action: ActionHelp): string {
  return action === command ? command.usage : `${nameOf(command)} ${action.usage}`;
}

function nameOf({ usage }: Command): string {
  return usage.split(' ', 1)[0] ?? usage;
}

function listOptions(options: CommandOptions): string {
  const rows = Object.entries(options).map(([name, { value, isNegative = false, about }]) => {
    const prefix = isNegative ? '--no-' : '--';
    return { name: `${prefix}${name}${value === undefined ? '' : ` ${value}`}`, about };
  });
  const width = Math.max(0, ...rows.map(({ name }) => name.length));
  const indent = ' '.repeat(width + 4);
  return rows
    .map(({ name, about }) => {
      const lines = wrap(about, maxLine - indent.length).join(`\n${indent}`);
      return `  ${name.padEnd(width)}  ${lines}`;
    })
    .join('\n');
}

function wrap(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const line = lines.at(-1);
    if (line === undefined || line.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = `${line} ${word}`;
  }
  return lines;
}
