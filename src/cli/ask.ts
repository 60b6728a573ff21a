import { CorpusError, corporaAt } from '../answers/corpus/corpus.ts';
import { addModel } from '../answers/model/add-model.ts';
import { type Answers, openAnswers } from '../answers/open-answers.ts';
import { openConfiguredAnswers, toModelChoice } from '../app/open/answers.ts';
import { systemClock } from '../core/clock.ts';
import { isSessionId } from '../sessions/ids.ts';
import { taking } from './arguments.ts';
import {
  type CommandBody,
  type CommandContext,
  CommandError,
  type ExitCode,
  exitCodes,
  UsageError,
} from './command.ts';
import { explainOpening } from './output/explain.ts';
import { createProgressLine, type ProgressLine } from './output/progress-line.ts';
import { toJsonLines } from './output/table.ts';
import { askSession } from './sessions/ask-session.ts';

/** `perch ask`: what docs or code say about a question, on standard output; no server is needed. */
export const askCommand: CommandBody = {
  exits:
    'Exit code: 0 answered, 1 the docs do not answer it, 2 bad usage or no such session, 3 the session cannot be asked.',
  ...taking(
    {
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
    },
    ({ corpus, session, json = false }, [question = '', ...more]) => {
      if (question.trim() === '') throw new UsageError('ask needs a question');
      if (more.length > 0) {
        throw new UsageError('ask takes one question; put several words in quotation marks');
      }
      if (session === undefined) {
        return (context) => ask({ question, corpora: corpus ?? [], json }, context);
      }
      if (corpus !== undefined) {
        throw new UsageError(
          '--corpus and --session contradict: sessions answer from PERCH_CORPUS',
        );
      }
      const asked = { question, sessionId: toSessionId(session), json };
      return (context) => askSession(asked, context);
    },
  ),
};

/** Returns `null` for a new session. */
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
  const { stdout, stderr } = context;
  const progress = createProgressLine(stderr, systemClock);
  const answers = openFor(asked, context, progress);
  try {
    await answers.refresh();
    progress.clear();
    const answer = await answers.engine.answer(
      { text: asked.question, earlier: [] },
      {
        signal: new AbortController().signal,
        onText: (piece) => {
          if (!asked.json) stdout.write(piece);
        },
      },
    );
    const { text: message, finishReason, citations, abstained, fallback } = answer;
    // The members of a session's `message.completed`.
    const members = { message, finishReason, citations, abstained };
    if (asked.json) stdout.writeJson(toJsonLines([members]));
    if (fallback !== undefined) stderr.write(`perch: ${fallback.message}\n`);
    return abstained ? exitCodes.notFound : exitCodes.ok;
  } finally {
    await answers.close();
  }
}

function openFor({ corpora }: Asked, { config }: CommandContext, { hear }: ProgressLine): Answers {
  const options = { clock: systemClock, onProgress: hear };
  try {
    if (corpora.length === 0) {
      return openConfiguredAnswers({ ...options, config, open: openAnswers });
    }
    // A folder that is named once is not worth a place in the data directory.
    const answers = openAnswers({ ...options, corpora: corporaAt(corpora), path: ':memory:' });
    return addModel(answers, { clock: systemClock, model: toModelChoice(config) });
  } catch (cause) {
    if (cause instanceof CorpusError) throw new UsageError(cause.message, { cause });
    throw new CommandError('usage', explainOpening(cause, config), { cause });
  }
}
