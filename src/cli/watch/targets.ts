import * as z from 'zod';
import type { Config } from '../../config/config.ts';
import { Problem } from '../../lib/problem.ts';
import { searchPlatforms } from '../../model/reference.ts';
import { feeds } from '../../model/results.ts';
import { reads } from '../../reads/index.ts';
import { parseParameters, timestamp } from '../../reads/parameters.ts';
import type { Read } from '../../reads/read.ts';
import { type CommandContext, type CommandOptions, chooseWord, UsageError } from '../command.ts';
import { createReadOptions, type OptionValues, parseInput, textOf } from '../reading/arguments.ts';
import { toCommandError } from '../reading/open-reading.ts';

/** List to watch: the posts of an account, or the results of a search. */
export interface Target {
  /** Name of the list in messages to the user: the argument as the user wrote it. */
  readonly name: string;
  readonly read: Read;
  readonly parameters: Readonly<Record<string, unknown>>;
}

const kinds = [
  { read: reads.getProfile, name: 'an account' },
  { read: reads.searchPosts, name: 'a search' },
];
const readOptions = createReadOptions(kinds);
const accountOptions = ['with-replies', 'with-reposts', 'only-media'] as const;
const watchFeeds = feeds.filter((feed) => feed !== 'top' && feed !== 'users');

export const targetOptions: CommandOptions = {
  ...Object.fromEntries(
    Object.entries(readOptions.options).filter(([name]) =>
      accountOptions.some((one) => one === name),
    ),
  ),
  platform: {
    type: 'string',
    value: 'NAME',
    choices: searchPlatforms,
    about: 'Platform of the handles, or the platform to search.',
  },
  feed: {
    type: 'string',
    value: 'FEED',
    choices: watchFeeds,
    about: `Results of a search: ${watchFeeds.join(', ')}. Default latest.`,
  },
};

const maxTargets = 20;

/** Returns the lists to watch. @throws UsageError or CommandError for an invalid argument */
export function toTargets(
  args: readonly string[],
  values: OptionValues,
  { config }: Pick<CommandContext, 'config'>,
): readonly Target[] {
  const isSearch = args[0] === 'search';
  const texts = isSearch ? args.slice(1) : args;
  if (texts.length === 0) {
    const fault = isSearch
      ? 'Give the text to search for.'
      : 'Give a handle such as @jack, or `search` and a text to search for.';
    throw new UsageError(fault);
  }
  if (texts.length > maxTargets) {
    throw new UsageError(`perch watch accepts up to ${maxTargets} accounts or searches.`);
  }
  return texts.map((text) =>
    isSearch
      ? toTargetOf(reads.searchPosts, { q: text }, { name: `search ${text}`, values })
      : toTarget(text, values, config),
  );
}

function toTarget(text: string, values: OptionValues, config: Config): Target {
  const { target } = parseInput(text, config, textOf(values.platform));
  if (target instanceof UsageError) throw target;
  if (target instanceof Problem) throw toCommandError(target);
  const { read: name, given } = target;
  if (name !== 'getProfile' && name !== 'searchPosts') {
    throw new UsageError(`${JSON.stringify(text)} is neither an account nor a search.`);
  }
  // Other parameters of a URL, such as `until`, would hide new posts.
  const parameters = Object.fromEntries(kept[name].map((one) => [one, given[one]]));
  return toTargetOf(reads[name], parameters, { name: text, values });
}

const kept = {
  getProfile: ['handle', 'with_replies', 'with_reposts', 'only_media'],
  searchPosts: ['q', 'feed', 'platform'],
} as const;

function toTargetOf(
  read: Read,
  given: Target['parameters'],
  { name, values }: { readonly name: string; readonly values: OptionValues },
): Target {
  const isSearch = read === reads.searchPosts;
  const selection = selectionOf(values, isSearch);
  const feed = String(textOf(selection.feed) ?? given.feed ?? 'latest');
  if (isSearch && feed !== 'media') chooseWord('feed', feed, watchFeeds);
  const parameters = { ...given, ...readOptions.toParameters(read, selection) };
  if (!isSearch) return { name, read, parameters };
  // Without `require_live`, a search can return posts of the archive, which would be reported as
  // new posts.
  return { name, read, parameters: { ...parameters, require_live: 'true' } };
}

function selectionOf(values: OptionValues, isSearch: boolean): OptionValues {
  const names = isSearch ? ['platform', 'feed'] : accountOptions;
  const others = isSearch ? accountOptions : ['feed'];
  const misused = others.find((name) => values[name] !== undefined);
  if (misused !== undefined) {
    const kind = isSearch ? 'accounts' : 'a search';
    throw new UsageError(`--${misused} can be used only with ${kind}.`);
  }
  return Object.fromEntries(names.map((name) => [name, values[name]]));
}

const sinceParameter = z.object({ since: timestamp('Only posts at or after this time') });

/** Returns Unix seconds. @throws UsageError for an invalid time */
export function toSince(text: string | undefined): number | undefined {
  try {
    return parseParameters(sinceParameter, { since: text }).since;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    throw new UsageError(error.message.replace('The parameter `since`', '--since'));
  }
}
