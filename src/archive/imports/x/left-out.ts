import { type ReasonOf, unknownFile } from '../left-out.ts';
import { mediaNameOf } from './media.ts';
import type { MonthlyParts } from './monthly.ts';

/*
 * Files of X exports that Perch does not import. The names are those of `data/README.txt` and of `dataTypes` in
 * `data/manifest.js`, from several years.
 */

const notPosts = 'Perch imports only posts, the profile and connections';

const reasons: readonly (readonly [name: RegExp, reason: string])[] = [
  [/^(?:direct[-_]message|message-event|audio-video-calls-in-dm|xchat)/, 'private messages'],
  [/^grok[-_]/, 'conversations with Grok are private'],
  [/^likes?$/, 'likes are private'],
  [/^bookmark/, 'bookmarks are private'],
  [/^(?:block|mute|smartblock)/, 'blocks and mutes are private'],
  [/^deleted[-_]/, 'the author deleted these posts'],
  [/^twitter[-_]circle/, 'posts and members of a Circle are not public'],
  [/^(?:ads?-|personalization$|user-link-clicks$|branch-links$)/, 'advertising data is private'],
  [
    /^(?:account-|ageinfo$|app$|birthdate|connected-application$|contact$|device-token$|email-address|facebook-connection$|ip-audit$|key-registry$|ni-devices$|phone-number$|sso$|verified|reply-prompt$|tweetdeck$)/,
    'settings, addresses and devices of the account are private',
  ],
  [/^screen-name-change$/, 'earlier handles of the account are private'],
  [/^saved-search$/, 'saved searches are private'],
  [/^tweet-?headers$/, 'the posts themselves are in other files'],
  [/^lists-/, 'Perch does not import lists'],
  [/^moment/, 'X has removed moments'],
  [/^(?:twitter-)?article/, 'Perch does not import articles from an export'],
  [/^twitter_article/, 'Perch does not import articles from an export'],
  [/^community-note/, 'X publishes community notes under another name'],
  [/^(?:periscope|spaces|profile-broadcast)/, 'Perch does not import broadcasts'],
  [/^(?:catalog|commerce|product|shop|twitter-shop|professional)/, notPosts],
];

const viewer = /(?:^|\/)(?:assets\/|Your archive\.html$|README\.txt$|index\.html$)/;

/** `folder`: folder of `account.js` with a trailing `/`. `imported`: paths of the read files. */
export const createReasonOf =
  (folder: string, imported: ReadonlySet<string>): ReasonOf =>
  (path) => {
    if (imported.has(path) || mediaNameOf(path) !== null || viewer.test(path)) return null;
    if (!path.startsWith(folder)) return unknownFile;
    const name = path.slice(folder.length).replace(/(?:[-_]part\d{1,9})?\.js$|\/.*$/s, '');
    return reasons.find(([pattern]) => pattern.test(name))?.[1] ?? unknownFile;
  };

const monthlyViewer = /^(?:index\.html|README\.txt|(?:css|img|js|lib)\/.*)$/s;

export function createMonthlyReasonOf({ folder, ...parts }: MonthlyParts): ReasonOf {
  const imported = new Set(
    [parts.details, parts.payload, ...parts.months].map((file) => file?.name),
  );
  const root = folder.replace(/(?:data\/)?js\/$/, '');
  return (path) => {
    if (imported.has(path) || path === `${folder}tweet_index.js`) return null;
    const name = path.startsWith(root) ? path.slice(root.length) : path;
    if (monthlyViewer.test(name)) return null;
    return name.endsWith('.csv') ? 'the same posts are in other files' : unknownFile;
  };
}

/** Returns the reasons for an export from 2012 to 2018 of which only `tweets.csv` is left. */
export const createCsvReasonOf = (imported: string): ReasonOf => {
  const root = imported.slice(0, imported.lastIndexOf('/') + 1);
  return (path) => {
    const name = path.startsWith(root) ? path.slice(root.length) : path;
    return path === imported || monthlyViewer.test(name) ? null : unknownFile;
  };
};
