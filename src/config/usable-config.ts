import { type Config, checkSettings, describeUnknowns, secretNames } from './config.ts';
import {
  gatherSettings,
  type SettingFault,
  type SettingSources,
  type Settings,
} from './sources.ts';

/** Configuration in which defaults replace invalid settings. */
export interface UsableConfig {
  readonly config: Config;
  /** Valid settings from all sources, without defaults. */
  readonly settings: Settings;
  readonly faults: readonly string[];
  readonly warnings: readonly string[];
  /** Names of the variables with invalid values. */
  readonly invalid: ReadonlySet<string>;
}

export function loadUsableConfig(sources: SettingSources, dataFolder: string): UsableConfig {
  const gathered = gatherSettings(sources, secretNames());
  const warnings = describeUnknowns(gathered.settings);
  const faults = gathered.faults.map(({ message }) => message);
  const invalid = new Set(gathered.faults.flatMap(({ names }) => names));
  let { settings } = gathered;
  for (;;) {
    const checked = checkSettings(settings, dataFolder);
    if (checked.config !== null) {
      return { config: checked.config, settings, faults, warnings, invalid };
    }
    // Invalid settings are removed below. Faults that result from their removal are not reported.
    const isNew = ({ names }: SettingFault) => !names.some((name) => invalid.has(name));
    faults.push(...checked.faults.filter(isNew).map(({ message }) => message));
    for (const name of checked.faults.flatMap(({ names }) => names)) invalid.add(name);
    const valid = new Map([...settings].filter(([name]) => !invalid.has(name)));
    if (valid.size === settings.size) throw new Error('The default configuration is not valid.');
    settings = valid;
  }
}
