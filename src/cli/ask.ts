import { toAnswerReply } from '../answers/answer.ts';
import { CorpusError, corporaAt } from '../answers/corpus/corpus.ts';
import { addModel } from '../answers/llm/add-model.ts';
import { type Answers, openAnswers } from '../answers/open-answers.ts';
import { httpUrl } from '../config/schemas.ts';
import { systemClock } from '../lib/clock.ts';
import { openConfiguredAnswers, toModelChoice } from '../server/wiring/answers.ts';
import { isSessionId } from '../sessions/ids.ts';
import {
  askService,
  atUrl,
  createProgressLine,
  inDataFolder,
  type ProgressLine,
} from './ask-session.ts';
import {
  type CommandBody,
  type CommandContext,
  CommandError,
  exitCodes,
  UsageError,
  withOptions,
} from './command.ts';
import { explainOpenError } from './output/explain.ts';
import { toJsonLines } from './output/output.ts';

export const askCommand: CommandBody = {
  exits:
    'Exit code: 0 answered, perhaps uncertain, 1 not answered, 2 bad usage, no such session, 3 no session or turn failed.',
  ...withOptions(
    {
      corpus: {
        type: 'string',
        multiple: true,
        value: 'PATH',
        about:
          'Folder or file with the documents to answer from; can be repeated. Its index is built in memory for each question. Default: PERCH_CORPUS, or the documentation of Perch, with an index stored in PERCH_DATA_DIR.',
      },
      session: {
        type: 'string',
        value: 'ID',
        about:
          'Continues a session in PERCH_DATA_DIR, also while a server runs. `new` starts a session and prints its ID to standard error.',
      },
      url: {
        type: 'string',
        value: 'URL',
        about:
          'Asks the Perch server at this address, which answers from its own documents, in a new session.',
      },
      json: { type: 'boolean', about: 'Prints one line of JSON instead of text.' },
    },
    ({ corpus, session, url, json = false }, [question = '', ...more]) => {
      if (question.trim() === '') throw new UsageError('Give a question to answer.');
      if (more.length > 0) {
        throw new UsageError('ask takes one question. Put it in quotation marks.');
      }
      refuseCombinations({ corpus, session, url });
      if (url !== undefined) {
        const service = atUrl(toServerUrl(url));
        return (context) => askService({ question, sessionId: null, json }, service, context);
      }
      if (session === undefined) {
        return (context) => ask({ question, corpora: corpus ?? [], json }, context);
      }
      const request = { question, sessionId: toSessionId(session), json };
      return (context) => askService(request, inDataFolder(context), context);
    },
  ),
};

function refuseCombinations({ corpus, session, url }: Readonly<Record<string, unknown>>): void {
  if (corpus !== undefined && session !== undefined) {
    throw new UsageError(
      '--corpus and --session cannot be used together. Sessions answer from PERCH_CORPUS.',
    );
  }
  if (url === undefined || (corpus === undefined && session === undefined)) return;
  const other = corpus === undefined ? '--session' : '--corpus';
  throw new UsageError(
    `--url and ${other} cannot be used together. The server at the URL answers from its own documents, in a new session.`,
  );
}

function toServerUrl(value: string): string {
  const { data } = httpUrl.safeParse(value);
  if (data !== undefined) return data;
  throw new UsageError('--url must be the address of a server, such as https://perch.example.org.');
}

/** Returns `null` for the value `new`. @throws UsageError unless it is a session id */
function toSessionId(value: string): string | null {
  if (value === 'new') return null;
  if (isSessionId(value)) return value;
  throw new UsageError('--session must be `new` or an ID (ses_…) from `perch sessions list`.');
}

async function ask(
  request: Readonly<{ question: string; corpora: readonly string[]; json: boolean }>,
  context: CommandContext,
) {
  const { stdout, stderr } = context;
  const progress = createProgressLine(stderr, systemClock);
  const answers = open(request.corpora, context, progress);
  try {
    await answers.refresh();
    progress.clear();
    const answer = await answers.engine.answer(
      { text: request.question, earlier: [] },
      {
        signal: new AbortController().signal,
        onText: (text) => {
          if (!request.json) stdout.write(text);
        },
      },
    );
    const { abstained, citations, fallback } = answer;
    if (request.json) stdout.writeJson(toJsonLines([toAnswerReply(answer)]));
    if (fallback !== undefined) stderr.write(`perch: ${fallback.message}\n`);
    return abstained && citations.length === 0 ? exitCodes.notFound : undefined;
  } finally {
    await answers.close();
  }
}

function open(
  corpora: readonly string[],
  { config }: CommandContext,
  { hear }: ProgressLine,
): Answers {
  const options = { clock: systemClock, onProgress: hear };
  try {
    if (corpora.length === 0) {
      return openConfiguredAnswers({ ...options, config, open: openAnswers });
    }
    // A folder given by --corpus is usually asked once, so its index is not stored.
    const answers = openAnswers({ ...options, corpora: corporaAt(corpora), path: ':memory:' });
    return addModel(answers, { clock: systemClock, model: toModelChoice(config) });
  } catch (cause) {
    if (cause instanceof CorpusError) throw new UsageError(cause.message, { cause });
    throw new CommandError('usage', explainOpenError(cause, config), { cause });
  }
}
