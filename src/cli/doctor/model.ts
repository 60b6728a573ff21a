import { completeChat } from '../../answers/model/chat-client.ts';
import { ModelFailure } from '../../answers/model/model-failure.ts';
import { toModelChoice } from '../../app/open/answers.ts';
import { openPostClient } from '../../core/http/post-client.ts';
import { fault, ok, type Result, warning } from './finding.ts';
import type { DoctorContext } from './run-checks.ts';

/** Milliseconds to wait for the model's first word, unless its configured timeout is shorter. */
const maxStallMs = 7500;

const messages = [{ role: 'user', content: 'Reply with the word OK.' }] as const;

/** Sends a short question to the language model, and stops after the first word of the answer. */
export async function checkModel(
  { config, clock }: DoctorContext,
  signal: AbortSignal,
): Promise<readonly Result[]> {
  const choice = toModelChoice(config);
  if (choice === undefined) return [ok('No language model is configured.')];
  const pool = openPostClient({ ...choice, clock });
  let status: number | null = null;
  const client: typeof pool = {
    ...pool,
    post: async (url, request) => {
      const reply = await pool.post(url, request);
      ({ status } = reply);
      return reply;
    },
  };
  const { hostname } = new URL(choice.url);
  const stallMs = Math.min(maxStallMs, choice.stallMs);
  const limits = { stallMs, totalMs: stallMs };
  try {
    const call = { signal };
    for await (const _ of completeChat({ ...choice, ...limits, client, clock }, messages, call))
      break;
    return [ok(`The language model ${choice.model} at ${hostname} answers.`)];
  } catch (error) {
    if (!(error instanceof ModelFailure)) throw error;
    return [describeFailure(error, status, { model: choice.model, host: hostname, stallMs })];
  } finally {
    await pool.close();
  }
}

interface Endpoint {
  readonly model: string;
  readonly host: string;
  readonly stallMs: number;
}

function describeFailure(
  failure: ModelFailure,
  status: number | null,
  { model, host, stallMs }: Endpoint,
): Result {
  if (status === 401 || status === 403) {
    return fault(
      `The endpoint at ${host} refuses the key (status ${status}).`,
      'Correct PERCH_MODEL_KEY.',
    );
  }
  if (status === 404 || status === 400) {
    const message = `The endpoint at ${host} does not accept the model ${model} (status ${status}).`;
    return fault(message, 'Correct PERCH_MODEL, or the path in PERCH_MODEL_URL.');
  }
  if (status === 429) {
    return warning(
      `The endpoint at ${host} limits the rate of requests.`,
      'Check your account at the provider of the model.',
    );
  }
  if (failure.code === 'model_stalled') {
    const message = `The language model ${model} at ${host} did not answer within ${stallMs} ms.`;
    return warning(
      message,
      'If the model is still being loaded, run perch doctor again. Otherwise, use a faster one.',
    );
  }
  const advice = 'Start the server of the model, or correct PERCH_MODEL_URL.';
  return fault(`${failure.message} The endpoint is at ${host}.`, advice);
}
