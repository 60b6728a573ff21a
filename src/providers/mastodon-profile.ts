import type { Account } from '../model/account.ts';
import { joinTexts, prefixText } from './rich-lines.ts';
import type { RichText } from './text-writer.ts';

/** A field of a profile of Mastodon. */
export interface ProfileField {
  readonly name: string;
  readonly value: RichText;
}

/** Returns the description of an account: what it says of itself, and its fields as the last lines. */
export function describeProfile(
  about: RichText,
  fields: readonly ProfileField[],
): Pick<Account, 'description' | 'description_facets'> {
  const lines = fields.map(({ name, value }) => prefixText(`${name.trim()}: `, value));
  const { text, facets } = joinTexts([about, joinTexts(lines, '\n')], '\n\n');
  return {
    description: text === '' ? null : text,
    ...(facets.length > 0 && { description_facets: facets }),
  };
}
