import { toIsoSeconds } from '../core/clock.ts';
import type { DiscoveryFacts } from './discovery-facts.ts';
import { discoveryPaths } from './discovery-links.ts';

const dayMs = 86_400_000;

/** Days that the document can be relied on; RFC 9116 §2.5.5 recommends less than a year. */
const validDays = 90;

/** Gives the document of `/.well-known/security.txt` (RFC 9116) as it is on the day of an instant. */
export function writeSecurityText({ baseUrl, contacts }: DiscoveryFacts, nowMs: number): string {
  const today = nowMs - (nowMs % dayMs);
  const lines = [
    `Contact: ${contacts.security}`,
    `Expires: ${toIsoSeconds(today + validDays * dayMs)}`,
    'Preferred-Languages: en',
    `Canonical: ${baseUrl}${discoveryPaths.security}`,
    `Policy: ${baseUrl}${discoveryPaths.docs}/security`,
  ];
  return `${lines.join('\n')}\n`;
}

/** Gives the next instant at which the document changes: the end of the day in UTC. */
export function nextSecurityText(nowMs: number): number {
  return nowMs - (nowMs % dayMs) + dayMs;
}
