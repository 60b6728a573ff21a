import { z } from 'zod';
import { secret, text } from './schemas.ts';

export const watchVariables = z.object({
  PERCH_WEBHOOK_SECRET: secret(
    text(
      /^whsec_(?:[A-Za-z0-9+/]{4}){8,21}(?:[A-Za-z0-9+/]{2}(?:[A-Za-z0-9+/]{2}|[A-Za-z0-9+/]=|==))?$/,
      'must be whsec_ followed by 24 to 64 bytes in base64',
    ).describe(
      'Secret that signs the messages of `perch watch --webhook`, in the format of Standard Webhooks: `whsec_` followed by 24 to 64 random bytes in base64. The receiver needs the same secret to check the messages.',
    ),
  ),
});
