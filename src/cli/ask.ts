import type { Answer } from '../answers/answer.ts';
import { CorpusError, corporaAt } from '../answers/corpus/corpus.ts';
import { addModel } from '../answers/model/add-model.ts';
import { type Answers, openAnswers } from '../answers/open-answers.ts';
import { openConfiguredAnswers, toModelChoice } from '../app/open/answers.ts';
import { systemClock } from '../core/clock.ts';
import { isSessionId } from '../sessions/ids.ts';
import { parseCommandArgs } from './arguments.ts';
import {
  type CommandBody,
  type CommandContext,
  type CommandOptions,
  type ExitCode,
  exitCodes,
  UsageError,
} from './command.ts';
import { explainOpening } from './output/explain.ts';
import { createProgressLine, type ProgressLine } from './output/progress-line.ts';
import { askSession } from './sessions/ask-session.ts';

const askOptions = {
  corpus: {
    type: 'string',
    multiple: true,
    value: 'PATH',
    about:
      'A folder or file to answer from, read anew each time; may be given several times. Default: PERCH_CORPUS, or the docs of Perch; their index is kept in PERCH_DATA_DIR.',
  },
  session: {
    type: 'string',
    value: 'ID',
    about:
      'Asks further in a session of PERCH_DATA_DIR, beside a running server too; `new` starts one, whose ID is printed on standard error.',
  },
  json: { type: 'boolean', about: 'Prints one line of JSON instead.' },
} as const satisfies CommandOptions;

/** `perch ask`: what docs or code say about a question, on standard output; no server is needed. */
export const askCommand: CommandBody = {
  options: askOptions,
  exits:
    'Exit code: 0 answered, 1 the docs do not answer it, 2 bad usage or no such session, 3 the session cannot be asked.',
  plan: (args) => {
    const { values, positionals } = parseCommandArgs(args, askOptions);
    const [question = '', ...more] = positionals;
    if (question.trim() === '') throw new UsageError('ask needs a question');
    if (more.length > 0) {
      throw new UsageError('ask takes one question; put several words in quotation marks');
    }
    const json = values.json ?? false;
    if (values.session === undefined) {
      return (context) => ask({ question, corpora: values.corpus ?? [], json }, context);
    }
    if (values.corpus !== undefined) {
      throw new UsageError('--corpus and --session contradict: sessions answer from PERCH_CORPUS');
    }
    const asked = { question, sessionId: toSessionId(values.session), json };
    return (context) => askSession(asked, context, createProgressLine(context.stderr, systemClock));
  },
};

/** Null stands for a new session. */
function toSessionId(given: string): string | null {
  if (given === 'new') return null;
  if (isSessionId(given)) return given;
  throw new UsageError('--session takes an ID as `perch sessions list` shows it (ses_…), or `new`');
}

interface Asked {
  readonly question: string;
  readonly corpora: readonly string[];
  readonly json: boolean;
}

async function ask(asked: Asked, context: CommandContext): Promise<ExitCode> {
  const progress = createProgressLine(context.stderr, systemClock);
  let answers: Answers;
  try {
    answers = openFor(asked, context, progress);
  } catch (error) {
    if (error instanceof CorpusError) throw new UsageError(error.message, { cause: error });
    context.stderr.write(`perch: ${explainOpening(error, context.config)}\n`);
    return exitCodes.usage;
  }
  try {
    await answers.refresh();
    progress.clear();
    return await tell(answers, asked, context);
  } finally {
    await answers.close();
  }
}

/** A folder that is named once is not worth a place in the data directory. */
function openFor({ corpora }: Asked, { config }: CommandContext, { hear }: ProgressLine): Answers {
  const options = { clock: systemClock, onProgress: hear };
  if (corpora.length === 0) return openConfiguredAnswers({ ...options, config, open: openAnswers });
  const answers = openAnswers({ ...options, corpora: corporaAt(corpora), path: ':memory:' });
  return addModel(answers, { clock: systemClock, model: toModelChoice(config) });
}

async function tell(
  { engine }: Answers,
  { question, json }: Asked,
  { stdout, stderr }: CommandContext,
): Promise<ExitCode> {
  const asking = {
    signal: new AbortController().signal,
    onText: (piece: string) => {
      if (!json) stdout.write(piece);
    },
  };
  const answer = await engine.answer({ text: question, earlier: [] }, asking);
  if (json) stdout.writeJson(`${JSON.stringify(toJson(answer))}\n`);
  if (answer.fallback !== undefined) stderr.write(`perch: ${answer.fallback.message}\n`);
  return answer.abstained ? exitCodes.notFound : exitCodes.ok;
}

/** The members of a session's `message.completed`. */
function toJson({ text, finishReason, citations, abstained }: Answer) {
  return { message: text, finishReason, citations, abstained };
}
