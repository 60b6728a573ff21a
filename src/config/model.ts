import { z } from 'zod';
import { flag, httpUrl, integer, secret, text } from './schemas.ts';
import type { SettingFault } from './sources.ts';

export const modelVariables = z.object({
  // Some services put a key into the path of the URL.
  PERCH_MODEL_URL: secret(
    httpUrl
      .refine(
        (url) => !url.endsWith('/chat/completions'),
        'must be the base URL, because Perch appends /chat/completions to it',
      )
      .optional()
      .describe(
        'Base URL of an OpenAI-compatible API, such as `http://localhost:11434/v1`. Perch appends `/chat/completions` to this URL. If this variable is not set, Perch answers questions without a language model.',
      ),
  ),
  PERCH_MODEL: text(
    /^[\x21-\x7e](?:[\x20-\x7e]{0,198}[\x21-\x7e])?$/,
    'must have 1 to 200 printable ASCII characters, without a space at either end',
  ).describe('Name of the language model. Required if `PERCH_MODEL_URL` is set.'),
  PERCH_MODEL_KEY: secret(
    text(
      /^[\x21-\x7e]{1,4096}$/,
      'must have 1 to 4096 printable ASCII characters, without spaces',
    ).describe('Bearer token for the API at `PERCH_MODEL_URL`, if this API requires a token.'),
  ),
  PERCH_MODEL_STALL_SECONDS: integer(1, 600, 15).describe(
    'Seconds without output from the language model after which Perch answers the question without the model.',
  ),
  PERCH_MODEL_CONTEXT_CHARACTERS: integer(4000, 1_000_000, 12_000).describe(
    'Maximum number of characters that Perch sends to the language model for one question, including instructions, passages of the documents, and earlier questions and answers.',
  ),
  PERCH_MODEL_RERANK: flag(false).describe(
    'Whether the language model first sorts up to 16 passages by how well they answer the question. This costs a second request for each question, which may take up to five seconds.',
  ),
});

/** Returns an error for each missing variable of the language model, if any other one is set. */
export function modelFaults(set: Record<string, string | undefined>): readonly SettingFault[] {
  const { PERCH_MODEL_URL: url, PERCH_MODEL: model, PERCH_MODEL_KEY: key } = set;
  const names = ['PERCH_MODEL_URL', 'PERCH_MODEL', 'PERCH_MODEL_KEY'];
  const faults: SettingFault[] = [];
  if (url !== undefined && model === undefined) {
    const message =
      'PERCH_MODEL must be set to the name of a model, because PERCH_MODEL_URL is set.';
    faults.push({ names, message });
  }
  if (url === undefined && (model !== undefined || key !== undefined)) {
    const because = model === undefined ? 'PERCH_MODEL_KEY' : 'PERCH_MODEL';
    const message = `PERCH_MODEL_URL must be set to the API of the model, because ${because} is set.`;
    faults.push({ names, message });
  }
  return faults;
}
