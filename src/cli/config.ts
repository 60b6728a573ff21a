import {
  describeSource,
  listSettings,
  type ShownSetting,
  shownSettings,
} from '../config/shown-settings.ts';
import {
  type CommandBody,
  type CommandOptions,
  exitCodes,
  listenOptions,
  parseCommandArgs,
  toListenSettings,
  UsageError,
  withOptions,
} from './command.ts';
import { toTable } from './output/table.ts';

const options = {
  json: { type: 'boolean', about: 'Prints a JSON document.' },
  ...listenOptions,
} as const satisfies CommandOptions;

export const configCommand: CommandBody = {
  exits: 'Exit code: 0 printed, 2 bad usage or invalid configuration.',
  settings: (args) => toListenSettings(parseCommandArgs(args, options).values),
  ...withOptions(options, ({ json }, positionals) => {
    if (positionals.length > 0) throw new UsageError('config takes no arguments.');
    return async ({ config, settings, stdout }) => {
      const shown = listSettings(config, settings);
      if (json === true) {
        stdout.writeJson(`${JSON.stringify(shownSettings.parse({ settings: shown }), null, 2)}\n`);
      } else {
        stdout.write(toTable(shown, columns));
      }
      return exitCodes.ok;
    };
  }),
};

const columns = {
  NAME: ({ name }: ShownSetting) => name,
  VALUE: ({ value }: ShownSetting) => value ?? '-',
  SOURCE: ({ name, source }: ShownSetting) => describeSource(source, name),
};
