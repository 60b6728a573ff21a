import { toUnavailability, type Unavailability, type UnavailableReason } from './unavailable.ts';

const notices: readonly (readonly [RegExp, UnavailableReason])[] = [
  [/age-restricted|adult content/i, 'age_restricted'],
  [/\bwithheld\b/i, 'withheld'],
  [/deleted by|no longer exists/i, 'deleted'],
  [/suspended/i, 'suspended'],
  [/limits who can view/i, 'protected'],
];

/** Countries in a notice such as `withheld in Germany based on local law(s)`. */
const place =
  /\b[Ww]ithheld in (?!response\b)((?:the )?\p{Lu}[\p{L} ,'’-]{1,80}?)(?= in response| based on|[.;]|$)/u;

/** Returns why a post is unavailable; `null` if X's notice states no known reason. */
export function readNotice(text: string): Unavailability | null {
  const [, reason] = notices.find(([pattern]) => pattern.test(text)) ?? [];
  if (reason === undefined) return null;
  const [, country] = reason === 'withheld' ? (place.exec(text) ?? []) : [];
  return country === undefined
    ? toUnavailability(reason)
    : toUnavailability(reason, `X withholds this post in ${country}, because of a legal demand.`);
}
