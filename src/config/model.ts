import { z } from 'zod';
import { httpUrl, maybeText, whole } from './forms.ts';

/** The environment variables of the language model that may answer questions. */
export const modelVariables = z.object({
  PERCH_MODEL_URL: httpUrl
    .refine(
      (url) => !url.endsWith('/chat/completions'),
      'must be the base address; /chat/completions is appended',
    )
    .optional()
    .describe(
      'The base address of an OpenAI-compatible endpoint, such as `http://localhost:11434/v1`; `/chat/completions` is appended. Without it questions are answered without a language model.',
    ),
  PERCH_MODEL: maybeText(
    /^[\x21-\x7e](?:[\x20-\x7e]{0,198}[\x21-\x7e])?$/,
    'must be 1 to 200 printable ASCII characters, without a space at either end',
  ).describe('The name of the language model at `PERCH_MODEL_URL`; it needs both.'),
  PERCH_MODEL_KEY: maybeText(
    /^[\x21-\x7e]{1,4096}$/,
    'must have 1 to 4096 printable ASCII characters, no spaces',
  ).describe('The bearer token for `PERCH_MODEL_URL`, where it needs one.'),
  PERCH_MODEL_STALL_SECONDS: whole(1, 600, 15).describe(
    'Seconds without a word of the language model after which Perch answers without it.',
  ),
  PERCH_MODEL_CONTEXT_CHARACTERS: whole(4000, 1_000_000, 12_000).describe(
    'The most characters that the language model is given with a question: passages, rules and earlier turns.',
  ),
});

/**
 * Gives a line for each variable without which another one has no effect, so that nobody believes in
 * a model that is never asked.
 */
export function modelFaults(set: Record<string, string | undefined>): readonly string[] {
  const { PERCH_MODEL_URL: url, PERCH_MODEL: model, PERCH_MODEL_KEY: key } = set;
  const faults: string[] = [];
  if (url !== undefined && model === undefined) {
    faults.push('PERCH_MODEL: must be set, because PERCH_MODEL_URL is; it names the model there');
  }
  if (url === undefined && (model !== undefined || key !== undefined)) {
    const because = model === undefined ? 'PERCH_MODEL_KEY' : 'PERCH_MODEL';
    faults.push(`PERCH_MODEL_URL: must be set, because ${because} is; it says where the model is`);
  }
  return faults;
}
