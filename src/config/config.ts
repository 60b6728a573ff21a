import { z } from 'zod';
import { trustedProxyFault } from '../access/client-address.ts';
import { isPublicName } from '../core/http/public-host.ts';
import { parseUrl } from '../core/http/url.ts';
import { version } from '../core/version.ts';
import { defaultMastodonHost } from '../model/reference.ts';
import { forbiddenInUserAgent } from '../providers/fxtwitter/user-agent.ts';
import { type ProviderName, providerNames } from '../providers/registry.ts';
import { each, flag, httpUrl, list, maybeText, maybeUrl, origins, whole, word } from './forms.ts';
import { limitVariables } from './limits.ts';
import { modelFaults, modelVariables } from './model.ts';
import { sessionVariables } from './sessions.ts';

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
const contactForm = /^(?=[\x21-\x7e]+$)(?:mailto:[^\s@]+@[^\s@]+|https:\/\/\S+|tel:\+?[\d().-]+)$/i;

/** An address that people can turn to (RFC 9116 §2.5.3). */
const contactUri = z
  .string()
  .max(1000)
  .refine(
    (value) => contactForm.test(value) && parseUrl(value) !== null,
    'must be a mailto:, https:// or tel: URI, such as mailto:name@example.org',
  )
  .optional();

const isProviderName = (name: string): name is ProviderName =>
  (providerNames as readonly string[]).includes(name);

const providerList = z
  .string()
  .toLowerCase()
  .pipe(list)
  .superRefine((names, context) => {
    const unknown = names.filter((name) => !isProviderName(name)).map((name) => `“${name}”`);
    const known = providerNames.join(', ');
    if (unknown.length > 0) {
      context.addIssue(`must be a comma-separated list of ${known}, not ${unknown.join(', ')}`);
    } else if (new Set(names).size < names.length) {
      context.addIssue('must not name a provider twice');
    }
  })
  .transform((names) => names.filter(isProviderName));

const publicName = z
  .string()
  .toLowerCase()
  .refine(isPublicName, 'must be the public name of a server, such as `mastodon.social`');

const hostFault = (entry: string) =>
  isPublicName(entry)
    ? null
    : `must be public host names such as \`nitter.net\`, separated by commas, not “${entry}”`;
const hostList = z.string().toLowerCase().pipe(list).superRefine(each(hostFault));

/** The public AppView, and the one behind it, which also searches for those without an account. */
const blueskyUrl = 'https://public.api.bsky.app';
const blueskySearchUrl = 'https://api.bsky.app';

/** Every environment variable that Perch reads: its form, its default and what it does. */
export const variables = z.object({
  HOST: z.string().default('127.0.0.1').describe('The address to listen on; `0.0.0.0` for all.'),
  PORT: whole(0, 65_535, 8080).describe(
    'The port to listen on; `0` takes a free one, and links then need `PERCH_BASE_URL`.',
  ),
  PERCH_BASE_URL: maybeUrl.describe(
    'Perch’s own address, of which every link is made. Default: `http://localhost:{PORT}`.',
  ),
  PERCH_CONTACT_URL: contactUri.describe(
    'Where people ask for a key: a `https:`, `mailto:` or `tel:` URI. Default: the page on keys, which says to ask the operator.',
  ),
  PERCH_SECURITY_CONTACT: contactUri.describe(
    'Where a weakness is reported, for `/.well-known/security.txt`: the same kinds of URI. Default: the page on security.',
  ),
  PERCH_DATA_DIR: z
    .string()
    .describe(
      'The folder of the archive, the keys of callers, the key of cursors, the sessions and the index of answers; `:memory:` keeps nothing. Default: `./data` in a checkout of Perch and where `./data/perch.db` exists, elsewhere `$XDG_DATA_HOME/perch`, which is `~/.local/share/perch` by default.',
    ),
  PERCH_CORPUS: list
    .refine((paths) => paths.every((path) => path !== ''), 'must be paths separated by commas')
    .default([])
    .describe(
      'The folders and files that questions are answered from, separated by commas. Default: the docs of Perch.',
    ),
  PERCH_METRICS: word('operator', 'open').describe(
    'Who may read `/metrics`: whoever has `PERCH_ADMIN_TOKEN`, or everybody.',
  ),
  LOG_LEVEL: z
    .enum(logLevels, `must be one of ${logLevels.join(', ')}`)
    .default('info')
    .describe('The least level that is logged.'),
  PERCH_ACCESS_LOG: word('errors', 'all', 'off').describe(
    'Which requests get a log line: 5xx and slow ones, all, or none.',
  ),
  PERCH_SLOW_REQUEST_MS: whole(1, 600_000, 2000).describe(
    'Milliseconds from which a request counts as slow in the access log.',
  ),
  PERCH_PROVIDERS: providerList
    .default([...providerNames])
    .describe('Who answers reads, in this order, separated by commas.'),
  PERCH_SAMPLE: flag(true).describe('Whether the archive holds the made-up sample.'),
  PERCH_FXTWITTER_URL: httpUrl
    .default('https://api.fxtwitter.com')
    .describe('The address of the `fxtwitter` provider’s API.'),
  PERCH_FXTWITTER_PER_MINUTE: whole(1, 100_000, 840).describe(
    'The most requests to `fxtwitter` in any 60 seconds.',
  ),
  PERCH_SYNDICATION_URL: httpUrl
    .default('https://cdn.syndication.twimg.com')
    .describe('The address of the `syndication` provider’s API.'),
  PERCH_BLUESKY_URL: httpUrl
    .default(blueskyUrl)
    .describe('The address of the AppView that the `bluesky` provider reads.'),
  PERCH_BLUESKY_SEARCH_URL: maybeUrl.describe(
    `The AppView that searches of posts on Bluesky go to first. Default: \`${blueskySearchUrl}\`; where \`PERCH_BLUESKY_URL\` is set to another address, that one.`,
  ),
  PERCH_MASTODON_SEARCH_HOST: publicName
    .default(defaultMastodonHost)
    .describe('The server that `mastodon` asks for hashtags and for accounts by their names.'),
  PERCH_X_MIRRORS: hostList
    .default(['fxtwitter.com', 'vxtwitter.com', 'fixupx.com', 'nitter.net', 'xcancel.com'])
    .describe(
      'The hosts whose addresses are read as those of X, separated by commas. They are never contacted. `x.com` alone leaves all mirrors out.',
    ),
  PERCH_USER_AGENT: maybeText(
    /^[\x20-\x7e]{1,200}$/,
    'must be 1 to 200 printable ASCII characters',
  ).describe(
    'How Perch names itself to upstreams. Default: `Perch/{version} (+{PERCH_BASE_URL})`.',
  ),
  PERCH_CONNECT_TIMEOUT_MS: whole(1, 60_000, 2000).describe(
    'Milliseconds to connect to an upstream.',
  ),
  PERCH_ATTEMPT_TIMEOUT_MS: whole(1, 60_000, 6000).describe(
    'Milliseconds for one upstream request.',
  ),
  PERCH_READ_TIMEOUT_MS: whole(1, 120_000, 9000).describe(
    'Milliseconds for one read, all providers together.',
  ),
  PERCH_UPSTREAM_MAX_BYTES: whole(1024, 1_073_741_824, 8_388_608).describe(
    'The most bytes that an upstream’s body may have.',
  ),
  PERCH_BREAKER_FAILURES: whole(1, 1000, 5).describe(
    'Consecutive failures after which a provider is left alone for a while.',
  ),
  PERCH_BREAKER_SECONDS: whole(1, 3600, 5).describe(
    'Seconds that a provider is first left alone; doubled each time.',
  ),
  PERCH_BREAKER_MAX_SECONDS: whole(1, 3600, 30).describe('The most seconds that it is left alone.'),
  PERCH_CACHE_TTL_SECONDS: whole(0, 31_536_000, 3600).describe(
    'Seconds that a post stays fresh in the response cache; lists a twelfth, searches a sixtieth.',
  ),
  PERCH_CACHE_ENTRIES: whole(1, 10_000_000, 5000).describe(
    'The most answers that the cache holds.',
  ),
  PERCH_CACHE_BYTES: whole(65_536, 68_719_476_736, 67_108_864).describe(
    'The most bytes that the cache holds.',
  ),
  PERCH_STALE_WHILE_REVALIDATE_SECONDS: whole(0, 31_536_000, 300).describe(
    'Seconds after its freshness that an answer is still served while a new one is fetched.',
  ),
  PERCH_STALE_IF_ERROR_SECONDS: whole(0, 31_536_000, 86_400).describe(
    'Seconds after its freshness that an answer is served when no upstream answers.',
  ),
  PERCH_NOT_FOUND_CACHE_SECONDS: whole(0, 86_400, 30).describe(
    'Seconds that a confirmed “not found” is kept.',
  ),
  PERCH_CURSOR_KEY: maybeText(/^.{32,512}$/s, 'must have 32 to 512 characters').describe(
    'The key that the cursors of lists are signed with; servers behind one address share it. Default: made on the first start and kept in `cursor.key` in the data directory.',
  ),
  PERCH_ALLOWANCE_WINDOW_SECONDS: whole(1, 3600, 60).describe(
    'Seconds of the window that every allowance is counted in.',
  ),
  PERCH_PUBLIC_ALLOWANCE: whole(1, 1_000_000, 60).describe(
    'Browse reads in a window for each client address, beyond what the cache answers.',
  ),
  PERCH_KEY_ALLOWANCE: whole(1, 1_000_000, 600).describe(
    'The same for a key that has no allowance of its own.',
  ),
  PERCH_POST_ALLOWANCE: whole(1, 1_000_000, 600).describe(
    'Posts in a window for each client address, beyond what the cache answers; keys change nothing.',
  ),
  PERCH_POOL_ALLOWANCE: whole(1, 1_000_000, 800).describe(
    'Upstream requests in a window for the browse reads of all callers together; those without a key get four fifths.',
  ),
  PERCH_TRUST_PROXY: list
    .superRefine(each(trustedProxyFault))
    .default([])
    .describe(
      'The proxies whose `X-Forwarded-For` is believed: addresses, CIDR ranges, `loopback`, `linklocal` or `uniquelocal`, separated by commas.',
    ),
  PERCH_ADMIN_TOKEN: maybeText(
    /^[\x21-\x7e]{32,512}$/,
    'must have 32 to 512 printable ASCII characters, no spaces',
  ).describe('The bearer token of the admin routes; without it they are closed to everybody.'),
  PERCH_MCP_ORIGINS: origins.describe(
    'The web origins whose pages may call `/mcp`, beside Perch’s own and those of this machine, separated by commas; `*` for any.',
  ),
  PERCH_LINK_PREVIEWS: flag(false).describe(
    'Whether known crawlers of link previews get a small Open Graph page at the permalinks of posts.',
  ),
  PERCH_SHARED_CACHE_SECONDS: whole(0, 31_536_000, 0).describe(
    'Seconds that a shared cache may keep an answer (`s-maxage`); `0` says nothing of it.',
  ),
  PERCH_REQUEST_TIMEOUT_MS: whole(100, 600_000, 15_000).describe(
    'Milliseconds in which a request must have arrived, headers and body.',
  ),
  PERCH_MAX_EVENT_LOOP_DELAY_MS: whole(0, 60_000, 1000).describe(
    'Milliseconds of event-loop delay from which reads are answered `overloaded`; `0` never.',
  ),
  PERCH_SHUTDOWN_DRAIN_MS: whole(0, 60_000, 500).describe(
    'Milliseconds that the listener stays open at least after a stop signal, so that readiness is seen to end.',
  ),
  PERCH_SHUTDOWN_GRACE_MS: whole(0, 60_000, 7000).describe(
    'Milliseconds that work in flight may take after a stop signal.',
  ),
  ...limitVariables.shape,
  ...modelVariables.shape,
  ...sessionVariables.shape,
});

const configSchema = variables.transform((set) => {
  const PERCH_BASE_URL = set.PERCH_BASE_URL ?? `http://localhost:${set.PORT}`;
  return {
    ...set,
    PERCH_BASE_URL,
    PERCH_CONTACT_URL: set.PERCH_CONTACT_URL ?? `${PERCH_BASE_URL}/docs/keys#get-a-key`,
    PERCH_SECURITY_CONTACT: set.PERCH_SECURITY_CONTACT ?? `${PERCH_BASE_URL}/docs/security`,
    PERCH_BLUESKY_SEARCH_URL:
      set.PERCH_BLUESKY_SEARCH_URL ??
      (set.PERCH_BLUESKY_URL === blueskyUrl ? blueskySearchUrl : set.PERCH_BLUESKY_URL),
    PERCH_USER_AGENT: set.PERCH_USER_AGENT ?? `Perch/${version} (+${PERCH_BASE_URL})`,
  };
});

/** The configuration, with its defaults filled in; the names are the variables'. */
export type Config = Readonly<z.output<typeof configSchema>>;

/** What came of reading the environment: a configuration, or every fault in it at once. */
export type LoadedConfig =
  | { readonly ok: true; readonly config: Config; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly faults: readonly string[] };

/**
 * Reads the configuration from environment variables. An empty variable counts as not set. A
 * `PERCH_…` variable that nothing reads is named in `warnings`, because it is most likely a typo.
 *
 * @param dataFolder The data folder if `PERCH_DATA_DIR` is not set.
 */
export function loadConfig(
  env: Readonly<Record<string, string | undefined>>,
  dataFolder = './data',
): LoadedConfig {
  const given = Object.entries(env).filter(([, value]) => value !== '' && value !== undefined);
  const set: Record<string, string | undefined> = {
    PERCH_DATA_DIR: dataFolder,
    ...Object.fromEntries(given),
  };
  const parsed = configSchema.safeParse(set);
  const issues = parsed.error?.issues ?? [];
  const faults = [
    ...issues.map((issue) => faultLine(issue, set)),
    ...userAgentFaults(set),
    ...modelFaults(set),
  ];
  if (!parsed.success || faults.length > 0) return { ok: false, faults };
  return { ok: true, config: parsed.data, warnings: unknownVariables(set) };
}

/** Looks at the variables as they are set, so that it is told together with the other faults. */
function userAgentFaults(set: Record<string, string | undefined>): readonly string[] {
  const { PERCH_USER_AGENT: own, PERCH_BASE_URL: baseUrl = '', PERCH_PROVIDERS: list } = set;
  const word = forbiddenInUserAgent(own ?? baseUrl);
  if (word === undefined || (list !== undefined && !list.includes('fxtwitter'))) return [];
  const from = own === undefined ? ' (it is made from PERCH_BASE_URL)' : '';
  return [
    `PERCH_USER_AGENT${from}: must not contain “${word}”, because fxtwitter answers such clients with no data`,
  ];
}

function faultLine(issue: z.core.$ZodIssue, set: Record<string, string | undefined>): string {
  const name = String(issue.path[0]);
  const isShown = set[name] !== undefined && !secret.test(name);
  const value = isShown ? `=${JSON.stringify(set[name])}` : '';
  return `${name}${value}: ${issue.message}`;
}

/** Variables whose values are never told; an address may have a password in it by mistake. */
const secret = /^PERCH_(?:ADMIN_TOKEN|CURSOR_KEY|MODEL_KEY|MODEL_URL)$/;

function unknownVariables(set: Record<string, string | undefined>): readonly string[] {
  // `PERCH_FIXTURES` is one of the project's tests.
  const known: ReadonlySet<string> = new Set([...Object.keys(variables.shape), 'PERCH_FIXTURES']);
  return Object.keys(set)
    .filter((name) => name.startsWith('PERCH_') && !known.has(name))
    .map((name) => `${name} is set, but Perch has no such variable.`);
}
