import type { Config } from '../../config/config.ts';
import { systemClock, toIsoSeconds } from '../../lib/clock.ts';
import { openPostClient, type PostClient } from '../../lib/http/post-client.ts';
import { systemRandom } from '../../lib/random.ts';
import type { Status } from '../../model/post.ts';
import type { Reader } from '../../reads/run.ts';
import { renderPostBlock } from '../../render/markdown/post-page.ts';
import { toThread } from '../../render/markdown/thread.ts';
import {
  type CommandBody,
  type CommandContext,
  type CommandOptions,
  chooseWord,
  type ExitCode,
  UsageError,
  withOptions,
} from '../command.ts';
import { type Output, toJsonLines } from '../output/output.ts';
import { type OptionValues, textOf } from '../reading/arguments.ts';
import { withFetching } from '../reading/open-reading.ts';
import { withStopSignal } from '../stop-signal.ts';
import { deliver, type Handler, parseWebhookUrl, runCommandLine, sendWebhook } from './delivery.ts';
import {
  formatDuration,
  maxAdaptiveMs,
  minAdaptiveMs,
  parseDuration,
  toMinIntervalMs,
} from './pace.ts';
import { type Item, parsePage, type Start, toDeliveryId } from './poll.ts';
import { createState, openStateFile } from './state-file.ts';
import { type Target, targetOptions, toSince, toTargets } from './targets.ts';
import { type KeyedTarget, watch } from './watch.ts';

const printFormats = ['text', 'ndjson'] as const;

const everyRange = { name: 'every', minMs: 1000, maxMs: 86_400_000 };
const execRange = { name: 'exec-timeout', minMs: 1000, maxMs: 3_600_000 };
const maxBacklog = 1000;

const options: CommandOptions = {
  format: {
    type: 'string',
    value: 'FORMAT',
    choices: printFormats,
    about: 'text prints Markdown; ndjson prints a line of JSON for each post. Default text.',
  },
  state: {
    type: 'string',
    value: 'FILE',
    about: 'Stores in FILE which posts were delivered, so that the next run continues from there.',
  },
  since: {
    type: 'string',
    value: 'TIME',
    about: 'On the first run, starts with the oldest post at or after TIME, such as 2026-01-31.',
  },
  backlog: {
    type: 'string',
    value: 'N',
    about: `On the first run, starts with the N newest posts, up to ${maxBacklog}. Default 0.`,
  },
  every: {
    type: 'string',
    value: 'TIME',
    about: `Interval, such as 90s or 5m. Default: a tenth of the usual time between two posts, from ${formatDuration(minAdaptiveMs)} to ${formatDuration(maxAdaptiveMs)}.`,
  },
  once: {
    type: 'boolean',
    about: 'Ends after each list was read once, for cron and other timers.',
  },
  exec: {
    type: 'string',
    value: 'CMD',
    about: 'Runs CMD in the shell for each post, with the post as JSON on its standard input.',
  },
  'exec-timeout': {
    type: 'string',
    value: 'TIME',
    about: 'Maximum time for one run of CMD. Default 60s.',
  },
  webhook: {
    type: 'string',
    value: 'URL',
    about:
      'Sends each post to URL as a Standard Webhooks message, signed with PERCH_WEBHOOK_SECRET.',
  },
  ...targetOptions,
};

export const watchCommand: CommandBody = {
  details: `
Each argument is an account, such as @jack, @ada.example, @user@host or the URL of a profile. With
\`search\` as the first argument, each further argument is a text to search for.

Without --state, the command prints the posts from now on. With --state, it also prints the posts
that appeared since the previous run. The command ends on SIGTERM, SIGINT or a closed output.`,
  exits:
    'Exit code: 0 stopped, 1 account not found, 2 bad usage, 3 post not delivered, or with --once source not available.',
  ...withOptions(options, (values, positionals) => {
    const plan = toPlan(values);
    return (context) => {
      const targets = toTargets(positionals, values, context);
      const webhook = toWebhook(plan.webhookUrl, context.config);
      return withStopSignal((stop) => run({ ...plan, targets, webhook, stop }, context));
    };
  }),
};

function toPlan(values: OptionValues) {
  const exec = textOf(values.exec);
  const execTimeout = textOf(values['exec-timeout']);
  if (execTimeout !== undefined && exec === undefined) {
    throw new UsageError('--exec-timeout can be used only with --exec.');
  }
  if (exec === '') throw new UsageError('--exec is empty. Set it to a command.');
  const every = textOf(values.every);
  const webhook = textOf(values.webhook);
  return {
    format: chooseWord('format', textOf(values.format) ?? 'text', printFormats),
    start: toStart(textOf(values.since), textOf(values.backlog)),
    everyMs: every === undefined ? null : parseDuration(every, everyRange),
    isOnce: values.once === true,
    statePath: textOf(values.state),
    exec,
    execTimeoutMs: parseDuration(execTimeout ?? '60s', execRange),
    webhookUrl: webhook === undefined ? null : parseWebhookUrl(webhook),
  };
}

function toStart(since: string | undefined, backlog: string | undefined): Start {
  if (since !== undefined && backlog !== undefined) {
    throw new UsageError('--since and --backlog cannot be used together.');
  }
  const seconds = toSince(since);
  if (seconds !== undefined) return { kind: 'since', seconds };
  const count = /^\d{1,7}$/.test(backlog ?? '0') ? Number(backlog ?? 0) : Number.NaN;
  if (count <= maxBacklog) return { kind: 'backlog', count };
  throw new UsageError(
    `--backlog must be a number from 0 to ${maxBacklog}, not ${JSON.stringify(backlog)}.`,
  );
}

function toWebhook(url: URL | null, { PERCH_WEBHOOK_SECRET: secret }: Config) {
  if (url === null) return null;
  if (secret !== undefined) return { url, secret };
  throw new UsageError(
    '--webhook needs PERCH_WEBHOOK_SECRET, with which the receiver checks the messages. Set it to the output of: echo "whsec_$(openssl rand -base64 32)"',
  );
}

interface Run extends ReturnType<typeof toPlan> {
  readonly targets: readonly Target[];
  readonly webhook: ReturnType<typeof toWebhook>;
  readonly stop: AbortSignal;
}

function run(plan: Run, context: CommandContext): Promise<ExitCode> {
  const { stop, targets, everyMs, statePath, isOnce, format } = plan;
  const { config, stdout, stderr } = context;
  const report = (text: string) => stderr.write(`perch: ${text}\n`);
  const minIntervalMs = toMinIntervalMs(config, targets.length);
  if (everyMs !== null && everyMs < minIntervalMs) {
    report(
      `The interval is ${formatDuration(minIntervalMs)}, because a shorter one would exceed PERCH_PUBLIC_ALLOWANCE.`,
    );
  }
  if (stderr.isTerminal && !isOnce) {
    report(`Watching ${targets.map(({ name }) => name).join(', ')}. Press Ctrl-C to stop.`);
  }
  return withFetching(context, async (fetching) => {
    const { reader } = fetching;
    const keyed = toKeyed(targets, reader);
    const state = statePath === undefined ? createState() : openStateFile(statePath);
    const { PERCH_CONNECT_TIMEOUT_MS: connectTimeoutMs, PERCH_USER_AGENT: userAgent } = config;
    const client = openPostClient({ connectTimeoutMs, userAgent, clock: systemClock });
    const abort = () => fetching.stop();
    stop.addEventListener('abort', abort, { once: true });
    const retry = { clock: systemClock, random: systemRandom, stop, report };
    const handlers = toHandlers(plan, client);
    const print = (post: Status) =>
      format === 'ndjson'
        ? stdout.writeJson(toJsonLines([post]))
        : stdout.write(`${toText(post)}\n\n`);
    const deliverItem = async (item: Item) => {
      print(item.post);
      if (!(await untilWritten(stdout, stop))) return false;
      for (const handler of handlers) {
        if (!(await deliver(handler, item, retry))) return false;
      }
      return true;
    };
    try {
      const parts = { targets: keyed, minIntervalMs, state, reader, deliver: deliverItem };
      return await watch({ ...plan, ...retry, ...parts });
    } finally {
      stop.removeEventListener('abort', abort);
      state.close();
      await client.close();
    }
  });
}

function toKeyed(targets: readonly Target[], reader: Reader): readonly KeyedTarget[] {
  const keyed = targets.map((target) => {
    const { query } = parsePage(target, reader, { limit: 1 }).plan;
    if (query.kind !== 'browse')
      throw new Error('The read operation of a watched target does not return a list.');
    return [query.listKey, target] as const;
  });
  return [...new Map(keyed)].map(([key, target]) => ({ key, target }));
}

function toHandlers(plan: Run, client: PostClient): readonly Handler[] {
  const { exec, execTimeoutMs: timeoutMs, webhook } = plan;
  const handlers: Handler[] = [];
  if (exec !== undefined) {
    const send = ({ post }: Item) =>
      runCommandLine(exec, { input: toJsonLines([post]), timeoutMs });
    handlers.push({ name: 'The command of --exec', attempts: 5, maxWaitMs: 60_000, send });
  }
  if (webhook !== null) {
    const basics = { ...webhook, client, clock: systemClock };
    const send = (item: Item) => {
      const body = { type: 'post.published', timestamp: item.post.created_at, data: item.post };
      return sendWebhook(basics, { id: toDeliveryId(item), body });
    };
    handlers.push({ name: 'The webhook', attempts: 12, maxWaitMs: 300_000, send });
  }
  return handlers;
}

function toText(post: Status): string {
  const thread = toThread([]);
  const context = { thread, owner: null, position: null, isRequested: false, level: 2 };
  const fetchedAt = toIsoSeconds(systemClock.now());
  return renderPostBlock(post, context, { full: false, fetchedAt, articles: 'preview' });
}

/** Waits for a slow reader of the output, such as `less`, until `stop` is aborted. */
function untilWritten({ stream, hasLeft }: Output, stop: AbortSignal): Promise<boolean> {
  if (stream === null || hasLeft) return Promise.resolve(!hasLeft);
  return new Promise((resolve) => {
    const abandon = () => resolve(false);
    stop.addEventListener('abort', abandon, { once: true });
    stream.write('', (error) => {
      stop.removeEventListener('abort', abandon);
      resolve(error === null || error === undefined);
    });
  });
}
