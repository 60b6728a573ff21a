import {
  describeSource,
  listSettings,
  type ShownSetting,
  shownSettings,
} from '../config/shown-settings.ts';
import { type CommandBody, listenOptions, withoutArguments } from './command.ts';
import { toTable } from './output/output.ts';

const json = { type: 'boolean', about: 'Prints a JSON document.' } as const;

export const configCommand: CommandBody = {
  exits: 'Exit code: 0 printed, 2 bad usage or invalid configuration.',
  ...withoutArguments('config', { json, ...listenOptions }, (values) => {
    return async ({ config, settings, stdout }) => {
      const shown = listSettings(config, settings);
      if (values.json !== true) stdout.write(toTable(shown, columns));
      else
        stdout.writeJson(`${JSON.stringify(shownSettings.parse({ settings: shown }), null, 2)}\n`);
    };
  }),
};

const columns = {
  NAME: ({ name }: ShownSetting) => name,
  VALUE: ({ value }: ShownSetting) => value ?? '-',
  SOURCE: ({ name, source }: ShownSetting) => describeSource(source, name),
};
