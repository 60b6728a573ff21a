import {
  toUnavailability,
  type Unavailability,
  type UnavailableReason,
} from '../../normalize/unavailable.ts';
import { readNotice } from '../../normalize/x.ts';
import type { TombstonePayload } from './wire.ts';

const reasons: Readonly<Record<TombstonePayload['reason'], UnavailableReason>> = {
  deleted: 'deleted',
  suspended: 'suspended',
  private: 'protected',
  blocked: 'blocked',
  unavailable: 'unknown',
};

/** Returns why a post is unavailable. X's notice may state more than FxTwitter's `reason`. */
export function unavailabilityOf({ reason, message }: TombstonePayload): Unavailability {
  const noticed = reason === 'unavailable' ? readNotice(message ?? '') : null;
  return noticed ?? toUnavailability(reasons[reason]);
}

/** Creates the tombstone of a post that FxTwitter does not send. */
export const toPlaceholder = (
  reason: TombstonePayload['reason'],
  known: Partial<TombstonePayload> = {},
): TombstonePayload => ({
  type: 'tombstone',
  id: null,
  reason,
  message: null,
  author: null,
  ...known,
});
