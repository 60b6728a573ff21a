import type { Clock } from '../../core/clock.ts';
import type { ActorPayload } from './payload.ts';

/** Remembers which DID a handle stands for, so that a walk stays with one account. */
export interface KnownAccounts {
  /** Notes that an account was read under a name, which is a handle in any case, or its DID. */
  note(name: string, actor: Pick<ActorPayload, 'did'>): void;
  /** Gives the DID of an account where it is remembered, else the name as it is. */
  actorFor(name: string): string;
}

/** The most handles that are remembered; the one noted longest ago goes first. */
const maxAccounts = 5000;

/** How long a handle is taken for the same account. Handles change hands, if seldom. */
const freshMs = 600_000;

/** Creates a memory that knows no account yet. */
export function createKnownAccounts(clock: Clock): KnownAccounts {
  const known = new Map<string, { readonly did: string; readonly untilMs: number }>();
  return {
    note: (name, { did }) => {
      const handle = name.toLowerCase();
      if (handle === did) return;
      const kept = known.get(handle);
      if (kept?.did === did && clock.now() < kept.untilMs) return;
      known.delete(handle);
      known.set(handle, { did, untilMs: clock.now() + freshMs });
      const [oldest] = known.keys();
      if (known.size > maxAccounts && oldest !== undefined) known.delete(oldest);
    },
    actorFor: (name) => {
      const handle = name.toLowerCase();
      const kept = known.get(handle);
      return kept !== undefined && clock.now() < kept.untilMs ? kept.did : handle;
    },
  };
}
