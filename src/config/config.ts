import * as z from 'zod';
import { trustedProxyFault } from '../access/client-address.ts';
import { isPublicName } from '../lib/http/public-host.ts';
import { parseUrl } from '../lib/http/url.ts';
import { redactCredentials } from '../lib/redact.ts';
import { version } from '../lib/version.ts';
import { defaultMastodonHost } from '../model/reference.ts';
import { sourceNames as providerNames } from '../model/results.ts';
import { forbiddenInUserAgent } from '../providers/fxtwitter/client.ts';
import type { ProviderName } from '../providers/registry.ts';
import {
  checkEach,
  flag,
  httpUrl,
  integer,
  isSecret,
  list,
  oneOf,
  origins,
  secret,
  text,
} from './schemas.ts';
import {
  areaFaults,
  engineVariables,
  limitVariables,
  modelVariables,
  pictureVariables,
  sessionVariables,
  signingVariables,
} from './settings-by-area.ts';
import {
  describeUnknown,
  fileVariableOf,
  gatherSettings,
  labelOf,
  listenDefaults,
  type SettingFault,
  type SettingSources,
  type Settings,
} from './sources.ts';

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
const contactForm = /^(?=[\x21-\x7e]+$)(?:mailto:[^\s@]+@[^\s@]+|https:\/\/\S+|tel:\+?[\d().-]+)$/i;

/** Schema of an optional contact URI (RFC 9116 §2.5.3). */
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
      context.addIssue(
        `must be a comma-separated list of ${known}; unknown: ${unknown.join(', ')}`,
      );
    } else if (new Set(names).size < names.length) {
      context.addIssue('must not list a provider twice');
    }
  })
  .transform((names) => names.filter(isProviderName));

const publicName = z
  .string()
  .toLowerCase()
  .refine(isPublicName, 'must be the public host name of a server, such as `mastodon.social`');

const hostFault = (entry: string) =>
  isPublicName(entry)
    ? null
    : `must be public host names such as \`nitter.net\`, separated by commas, not “${entry}”`;
const hostList = z.string().toLowerCase().pipe(list).superRefine(checkEach(hostFault));

const blueskyUrl = 'https://public.api.bsky.app';
const blueskySearchUrl = 'https://api.bsky.app';

/** Schemas of all environment variables of Perch, with their defaults and descriptions. */
export const variables = z.object({
  HOST: z
    .string()
    .default(listenDefaults.host)
    .describe(
      'Address that the server listens on. `0.0.0.0` means all IPv4 addresses of the machine.',
    ),
  PORT: integer(0, 65_535, listenDefaults.port).describe(
    'Port that the server listens on. `0` means any free port. If you use `0`, also set `PERCH_BASE_URL`, because links in responses start with this URL.',
  ),
  PERCH_BASE_URL: httpUrl
    .optional()
    .describe(
      'Public base URL of this server. All links to this server in responses start with this URL. Default: `http://localhost:{PORT}`.',
    ),
  PERCH_CONTACT_URL: contactUri.describe(
    'Contact for callers that want a key: an `https:`, `mailto:` or `tel:` URI. Default: the documentation page about keys.',
  ),
  PERCH_SECURITY_CONTACT: contactUri.describe(
    'Contact for vulnerability reports, published in `/.well-known/security.txt`: an `https:`, `mailto:` or `tel:` URI. Default: the documentation page about security.',
  ),
  PERCH_DATA_DIR: z
    .string()
    .describe(
      'Directory for all data of Perch: imported posts and their pictures (the archive), API keys, the key that signs cursors, sessions, and the index used to answer questions. With `:memory:`, Perch stores nothing on disk. Default: `./data` if you start Perch in its repository or if `./data/perch.db` exists, otherwise `$XDG_DATA_HOME/perch` (usually `~/.local/share/perch`).',
    ),
  PERCH_CORPUS: list
    .refine((paths) => paths.every((path) => path !== ''), 'must be paths separated by commas')
    .default([])
    .describe(
      'Folders and files with the documents used to answer questions, separated by commas. Default: the documentation of Perch.',
    ),
  PERCH_METRICS: oneOf('operator', 'open').describe(
    'Access to `/metrics`: only requests with `PERCH_ADMIN_TOKEN` (`operator`), or all requests (`open`).',
  ),
  LOG_LEVEL: z
    .enum(logLevels, `must be one of ${logLevels.join(', ')}`)
    .default('info')
    .describe('Lowest level of the log lines that Perch writes.'),
  PERCH_ACCESS_LOG: oneOf('errors', 'all', 'off').describe(
    'Requests that Perch logs: slow requests and requests with a 5xx response (`errors`), all requests (`all`), or no requests (`off`).',
  ),
  PERCH_SLOW_REQUEST_MS: integer(1, 600_000, 2000).describe(
    'Minimum duration in milliseconds of a request that Perch logs as a slow request.',
  ),
  PERCH_PROVIDERS: providerList
    .default([...providerNames])
    .describe(
      'Providers in the order in which Perch tries them, separated by commas. `fxtwitter` and `syndication` read from X, and `archive` reads imported posts.',
    ),
  PERCH_SAMPLE: flag(true).describe(
    'Whether Perch serves the sample, a set of fictional accounts.',
  ),
  PERCH_FXTWITTER_URL: httpUrl
    .default('https://api.fxtwitter.com')
    .describe('Base URL of the API that the `fxtwitter` provider uses.'),
  PERCH_FXTWITTER_PER_MINUTE: integer(1, 100_000, 840).describe(
    'Maximum number of requests to the FxTwitter API in any 60 seconds.',
  ),
  PERCH_SYNDICATION_URL: httpUrl
    .default('https://cdn.syndication.twimg.com')
    .describe('Base URL of the API that the `syndication` provider uses.'),
  PERCH_BLUESKY_URL: httpUrl
    .default(blueskyUrl)
    .describe('Base URL of the Bluesky API server (AppView) that the `bluesky` provider uses.'),
  PERCH_BLUESKY_SEARCH_URL: httpUrl
    .optional()
    .describe(
      `Base URL of the Bluesky API server (AppView) that Perch tries first for post searches. Default: \`${blueskySearchUrl}\`. If you change \`PERCH_BLUESKY_URL\`, the default is the value of that variable.`,
    ),
  PERCH_MASTODON_SEARCH_HOST: publicName
    .default(defaultMastodonHost)
    .describe('Mastodon server used for hashtag searches and for account searches by name.'),
  PERCH_X_MIRRORS: hostList
    .default(['fxtwitter.com', 'vxtwitter.com', 'fixupx.com', 'nitter.net', 'xcancel.com'])
    .describe(
      'Mirrors of X: hosts whose URLs Perch treats like URLs of X, separated by commas. Perch never sends requests to these hosts. Set this variable to `x.com` to accept no mirrors.',
    ),
  PERCH_USER_AGENT: text(
    /^[\x20-\x7e]{1,200}$/,
    'must have 1 to 200 printable ASCII characters',
  ).describe(
    '`User-Agent` header of the requests that Perch sends to upstreams. Default: `Perch/{version} (+{PERCH_BASE_URL})`.',
  ),
  PERCH_CONNECT_TIMEOUT_MS: integer(1, 60_000, 2000).describe(
    'Timeout in milliseconds for connecting to an upstream.',
  ),
  PERCH_ATTEMPT_TIMEOUT_MS: integer(1, 60_000, 6000).describe(
    'Timeout in milliseconds for one request to an upstream.',
  ),
  PERCH_READ_TIMEOUT_MS: integer(1, 120_000, 9000).describe(
    'Timeout in milliseconds for one read, including the attempts with all providers.',
  ),
  PERCH_UPSTREAM_MAX_BYTES: integer(1024, 16_777_216, 2_097_152).describe(
    'Maximum size of the body of an upstream response in bytes. For Mastodon servers in the handle or URL of a request, the maximum is this value, but not more than 1 MiB.',
  ),
  PERCH_BREAKER_FAILURES: integer(1, 1000, 5).describe(
    'Number of consecutive failures that open a circuit breaker. Each provider has a circuit breaker for each kind of query, such as posts or searches. While the circuit breaker is open, Perch sends no queries of this kind to the provider.',
  ),
  PERCH_BREAKER_SECONDS: integer(1, 3600, 5).describe(
    'Seconds for which a circuit breaker stays open the first time. This time doubles with each further failure.',
  ),
  PERCH_BREAKER_MAX_SECONDS: integer(1, 3600, 30).describe(
    'Maximum number of seconds for which a circuit breaker stays open.',
  ),
  PERCH_CACHE_TTL_SECONDS: integer(0, 31_536_000, 3600).describe(
    'Seconds for which a cached post stays fresh. Profiles and lists stay fresh for one twelfth of this time, and searches for one sixtieth.',
  ),
  PERCH_CACHE_ENTRIES: integer(1, 10_000_000, 5000).describe(
    'Maximum number of entries in the response cache.',
  ),
  PERCH_CACHE_BYTES: integer(65_536, 68_719_476_736, 67_108_864).describe(
    'Maximum size of the response cache in bytes. The memory of the process grows by up to 2.5 times this size.',
  ),
  PERCH_STALE_WHILE_REVALIDATE_SECONDS: integer(0, 31_536_000, 300).describe(
    'Seconds for which Perch still serves a stale cache entry while Perch fetches a new entry in the background.',
  ),
  PERCH_STALE_IF_ERROR_SECONDS: integer(0, 31_536_000, 86_400).describe(
    'Seconds for which Perch serves a stale cache entry if all upstreams fail.',
  ),
  PERCH_NOT_FOUND_CACHE_SECONDS: integer(0, 86_400, 30).describe(
    'Seconds for which a confirmed “not found” stays in the cache.',
  ),
  PERCH_CURSOR_KEY: secret(
    text(/^.{32,512}$/s, 'must have 32 to 512 characters').describe(
      'Secret that signs paging cursors and the addresses of pictures. If several servers share one address, all of them must use the same secret. Default: Perch generates a secret on the first start, and stores it in `cursor.key` in the data directory.',
    ),
  ),
  PERCH_ALLOWANCE_WINDOW_SECONDS: integer(1, 3600, 60).describe(
    'Period in seconds in which Perch counts reads for all allowances (a fixed window, which starts with the first read of a caller).',
  ),
  PERCH_PUBLIC_ALLOWANCE: integer(1, 1_000_000, 60).describe(
    'Allowance of each client address without a key: maximum number of reads of profiles, lists and searches in the period `PERCH_ALLOWANCE_WINDOW_SECONDS`. Reads that Perch answers from its cache do not count.',
  ),
  PERCH_KEY_ALLOWANCE: integer(1, 1_000_000, 600).describe(
    'Default allowance of each key: maximum number of reads of profiles, lists and searches in the period `PERCH_ALLOWANCE_WINDOW_SECONDS`. Reads that Perch answers from its cache do not count. An allowance that you set for a key replaces this default.',
  ),
  PERCH_POST_ALLOWANCE: integer(1, 1_000_000, 600).describe(
    'Allowance of each client address for posts, with or without a key: maximum number of reads of posts, replies and oEmbed documents in the period `PERCH_ALLOWANCE_WINDOW_SECONDS`. Reads that Perch answers from its cache do not count.',
  ),
  PERCH_POOL_ALLOWANCE: integer(1, 1_000_000, 800).describe(
    'Maximum number of requests that Perch sends to upstreams in the period `PERCH_ALLOWANCE_WINDOW_SECONDS` for the profiles, lists and searches of all callers together. All callers without a key can together use up to four fifths of this number.',
  ),
  PERCH_TRUST_PROXY: list
    .superRefine(checkEach(trustedProxyFault))
    .default([])
    .describe(
      'Proxies whose `X-Forwarded-For` header Perch trusts: IP addresses, CIDR ranges, `loopback`, `linklocal` or `uniquelocal`, separated by commas.',
    ),
  PERCH_ADMIN_TOKEN: secret(
    text(
      /^[\x21-\x7e]{32,512}$/,
      'must have 32 to 512 printable ASCII characters, without spaces, such as the output of `openssl rand -hex 32`',
    ).describe(
      'Bearer token for the admin routes. If this variable is not set, these routes refuse all requests.',
    ),
  ),
  PERCH_MCP_ORIGINS: origins.describe(
    'Additional web origins whose pages may send requests to `/mcp`, separated by commas. `*` allows all origins. The origin of Perch, `localhost` and loopback addresses are always allowed.',
  ),
  PERCH_LINK_PREVIEWS: flag(false).describe(
    'Whether known crawlers for link previews get a small Open Graph page instead of the post in Markdown.',
  ),
  PERCH_BROWSER_PAGES: flag(false).describe(
    'Whether browsers that open a link to a post, profile, list or search get a web page instead of Markdown.',
  ),
  PERCH_SHARED_CACHE_SECONDS: integer(0, 31_536_000, 0).describe(
    'Seconds for which shared caches, such as a CDN, may keep a response (`s-maxage` in `Cache-Control`). `0` omits `s-maxage`.',
  ),
  PERCH_REQUEST_TIMEOUT_MS: integer(100, 600_000, 15_000).describe(
    'Timeout in milliseconds for receiving a whole request, including headers and body.',
  ),
  PERCH_MAX_EVENT_LOOP_DELAY_MS: integer(0, 60_000, 1000).describe(
    'Delay of the event loop in milliseconds at which Perch starts to refuse reads with the error `overloaded`. `0` disables this check.',
  ),
  PERCH_SHUTDOWN_DRAIN_MS: integer(0, 60_000, 500).describe(
    'Minimum time in milliseconds for which the server continues to listen after a stop signal, so that load balancers can detect that the server is no longer ready.',
  ),
  PERCH_SHUTDOWN_GRACE_MS: integer(0, 60_000, 7000).describe(
    'Maximum time in milliseconds that Perch takes to complete current requests after a stop signal.',
  ),
  ...limitVariables.shape,
  ...pictureVariables.shape,
  ...engineVariables.shape,
  ...modelVariables.shape,
  ...signingVariables.shape,
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

/** Configuration with defaults filled in. Each property has the name of an environment variable. */
export type Config = Readonly<z.output<typeof configSchema>>;

/** Configuration in which defaults replace invalid settings. */
export interface UsableConfig {
  readonly config: Config;
  /** Valid settings from all sources, without defaults. */
  readonly settings: Settings;
  readonly faults: readonly string[];
  /** Messages about unknown variables, which may be misspelled. */
  readonly warnings: readonly string[];
  /** Names of the variables with invalid values. */
  readonly invalid: ReadonlySet<string>;
}

export type ValidConfig = { readonly ok: true } & Omit<UsableConfig, 'faults' | 'invalid'>;

type InvalidConfig = { readonly ok: false } & Pick<UsableConfig, 'faults' | 'warnings'>;

/** Reads the configuration. Empty means unset. `dataFolder`: default of `PERCH_DATA_DIR`. */
export function loadConfig(
  env: SettingSources['env'],
  dataFolder = './data',
  sources: Omit<SettingSources, 'env'> = {},
): ValidConfig | InvalidConfig {
  const { faults, invalid: _, ...loaded } = loadUsableConfig({ ...sources, env }, dataFolder);
  if (faults.length === 0) return { ok: true, ...loaded };
  return { ok: false, faults, warnings: loaded.warnings };
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

function checkSettings(settings: Settings, dataFolder: string) {
  const set: Record<string, string | undefined> = { PERCH_DATA_DIR: dataFolder };
  for (const [name, { value }] of settings) set[name] = value;
  const parsed = configSchema.safeParse(set);
  const issues = parsed.error?.issues ?? [];
  const faults: readonly SettingFault[] = [
    ...issues.map((issue) => describeIssue(issue, settings)),
    ...userAgentFaults(set),
    ...areaFaults(set),
  ];
  return { config: parsed.success && faults.length === 0 ? parsed.data : null, faults };
}

/** Returns an error if FxTwitter would reject the configured user agent. */
function userAgentFaults(set: Record<string, string | undefined>): readonly SettingFault[] {
  const { PERCH_USER_AGENT: own, PERCH_BASE_URL: baseUrl = '', PERCH_PROVIDERS: list } = set;
  const word = forbiddenInUserAgent(own ?? baseUrl);
  if (word === undefined || (list !== undefined && !list.includes('fxtwitter'))) return [];
  const origin = own === undefined ? ' (by default it contains PERCH_BASE_URL)' : '';
  const message = `PERCH_USER_AGENT${origin} must not contain “${word}”, because FxTwitter sends no data to clients with that word.`;
  return [{ names: [own === undefined ? 'PERCH_BASE_URL' : 'PERCH_USER_AGENT'], message }];
}

function describeIssue(issue: z.core.$ZodIssue, settings: Settings): SettingFault {
  const name = String(issue.path[0]);
  const setting = settings.get(name);
  const label = setting === undefined ? name : labelOf(name, setting.origin);
  const isShown = setting !== undefined && !secretNames().includes(name);
  const value = isShown ? ` is ${JSON.stringify(redactCredentials(setting.value))}, but` : '';
  return { names: [name], message: `${label}${value} ${redactCredentials(issue.message)}.` };
}

export function secretNames(): readonly string[] {
  const entries: readonly [string, z.ZodType][] = Object.entries(variables.shape);
  return entries.filter(([, schema]) => isSecret(schema)).map(([name]) => name);
}

const maxUnknowns = 20;

/** Returns warnings, except about environment variables without the prefix `PERCH_`. */
function describeUnknowns(settings: Settings): readonly string[] {
  const known = [
    ...Object.keys(variables.shape),
    ...secretNames().map(fileVariableOf),
    'PERCH_CONFIG',
  ];
  const unknown = [...settings].filter(
    ([name, { origin }]) =>
      !known.includes(name) && (origin.kind === 'file' || name.startsWith('PERCH_')),
  );
  return unknown
    .filter(([name]) => name !== 'PERCH_FIXTURES') // used by the tests
    .slice(0, maxUnknowns)
    .map(([name, { origin }]) => describeUnknown(name, labelOf(name, origin), known));
}
