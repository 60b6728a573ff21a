import { z } from 'zod';

/** A message of a conversation, as chat endpoints take it. */
export interface ChatMessage {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

/** Some endpoints send a text in parts, and what the model thinks among them. */
const content = z
  .union([
    z.string(),
    z
      .array(z.looseObject({ type: z.string(), text: z.string().optional() }))
      .transform((parts) =>
        parts.map(({ type, text }) => (type === 'text' ? (text ?? '') : '')).join(''),
      ),
  ])
  .nullish()
  .transform((text) => text ?? '');

const count = z.int().min(0).nullish();

const choice = z.object({
  delta: z.object({ content }).nullish(),
  message: z.object({ content }).nullish(),
  finish_reason: z.string().nullish(),
});

/** What an OpenAI-compatible endpoint sends: a chunk of a stream, or the whole completion. */
const chatPayload = z.object({
  error: z.unknown().optional(),
  choices: z.array(choice).nullish(),
  usage: z.object({ prompt_tokens: count, completion_tokens: count }).nullish(),
});

/** What a payload says. */
export interface ChatNews {
  readonly isError: boolean;
  readonly text: string;
  /** Why the model has ended, in its endpoint's words; null while it has not. */
  readonly finishReason: string | null;
  readonly usage: Readonly<Record<string, number>> | undefined;
}

/** Reads a payload; null where it is none. */
export function readChatPayload(json: string): ChatNews | null {
  const parsed = chatPayload.safeParse(parseJson(json));
  if (!parsed.success) return null;
  const { error, choices, usage } = parsed.data;
  const [first] = choices ?? [];
  return {
    isError: error !== undefined && error !== null,
    text: (first?.delta ?? first?.message)?.content ?? '',
    finishReason: first?.finish_reason ?? null,
    usage: toUsage(usage?.prompt_tokens, usage?.completion_tokens),
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // the schema refuses it
  }
}

function toUsage(input: number | null | undefined, output: number | null | undefined) {
  if (typeof input !== 'number' || typeof output !== 'number') return undefined;
  return { inputTokens: input, outputTokens: output };
}
