import type { Tombstone } from '../model/post.ts';

const kinds = {
  deleted: ['deleted', 'This post was deleted.'],
  suspended: ['suspended', 'This post is from a suspended account.'],
  protected: ['private', 'This post is from an account that is not public.'],
  blocked: ['blocked', 'This post is hidden, because its author limits who can see it.'],
  age_restricted: [
    'unavailable',
    'This post is age-restricted. The platform shows it only to adults who are logged in.',
  ],
  withheld: [
    'unavailable',
    'This post is withheld: the platform hides it in some countries, because of a legal demand.',
  ],
  pending: ['unavailable', 'The author of the quoted post has not approved this quote yet.'],
  unknown: ['unavailable', 'This post is not available to the public.'],
} as const satisfies Readonly<Record<string, readonly [Tombstone['reason'], string]>>;

export type UnavailableReason = keyof typeof kinds;

/** Value of `unavailable.reason` in responses, and a sentence for readers. */
export interface Unavailability {
  readonly reason: UnavailableReason;
  readonly detail: string;
}

export const toUnavailability = (
  reason: UnavailableReason,
  detail: string = kinds[reason][1],
): Unavailability => ({ reason, detail });

type Reference = Pick<Tombstone, 'platform'> & Partial<Pick<Tombstone, 'id' | 'url' | 'author'>>;

export function toTombstone({ reason, detail }: Unavailability, reference: Reference): Tombstone {
  return {
    type: 'tombstone',
    id: null,
    url: null,
    text: detail,
    reason: kinds[reason][0],
    unavailable: { reason, detail },
    author: null,
    context: null,
    ...reference,
  };
}

/** Returns the reason of a placeholder. Those of earlier versions lack `unavailable`. */
export function unavailabilityOf({ reason, text, unavailable }: Tombstone): Unavailability {
  const known = unavailable?.reason ?? reason;
  const [named = 'unknown' as const] = Object.keys(kinds).filter(
    (kind): kind is UnavailableReason => kind === known,
  );
  return { reason: known === 'private' ? 'protected' : named, detail: text };
}
