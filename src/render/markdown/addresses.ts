import { isSpace } from './characters.ts';
import type { Run } from './hazards.ts';

/** A line of characters, and where in it links are. */
interface LinkedLine {
  readonly characters: readonly string[];
  readonly isLinked: (offset: number) => boolean;
}

/**
 * Returns whether a run of characters has to be escaped so that no renderer takes the text around it for
 * an address. Renderers of GitHub's Markdown make links of `www.`, `http://` and e-mail addresses
 * (GFM 0.29 §6.9), so of handles such as `@user@host.example`; some make links of bare domains. In the
 * text of a link they look for addresses with `://` alone.
 */
export function breaksAddress(run: Run, { characters, isLinked }: LinkedLine): boolean {
  const { character, start, end, after } = run;
  if (character === '/') return end - start > 1 && startsHost(after);
  if (isLinked(start)) return false;
  if (character === '.' && endsInWww(characters, start)) return true;
  if (end - start > 1) return false;
  if (character === '.') return startsDomain(characters, end);
  return character === '@' && isShown(after) && endsLocalPart(characters[start - 1]);
}

function startsHost(character: string | undefined): boolean {
  return isShown(character) && !/^[.,:;!?]$/.test(character ?? '');
}

function isShown(character: string | undefined): boolean {
  return character !== undefined && !isSpace(character);
}

/** Some renderers allow in the name of a mailbox what RFC 5322 §3.2.3 does. */
function endsLocalPart(character: string | undefined): boolean {
  return /^[!-~]$/.test(character ?? '') && !/^[()<>[\]\\@]$/.test(character ?? '');
}

function endsInWww(characters: readonly string[], end: number): boolean {
  return end >= 3 && /^www$/i.test(characters.slice(end - 3, end).join(''));
}

/** The top-level domains by which renderers know bare domains. */
const topLevelDomain =
  /^(?:a[c-gil-oq-uwxz]|b[abd-jm-orstvwyz]|c[acdf-ik-oruvwxyz]|d[ejkmoz]|e[cegrstu]|f[ijkmor]|g[abd-ilmnp-uwy]|h[kmnrtu]|i[del-oq-t]|j[emop]|k[eghimnprwyz]|l[abcikr-vy]|m[acdeghk-z]|n[acefgilopruz]|om|p[ae-hk-nrstwy]|qa|r[eosuw]|s[a-eg-ortuvxyz]|t[cdf-hj-ortvwz]|u[agksyz]|v[aceginu]|w[fs]|y[et]|z[amw]|biz|com|edu|gov|net|org|pro|web|xxx|aero|asia|coop|info|museum|name|shop|рф|xn--[a-z\d-]+)(?![\p{L}\p{N}])/iu;

const longestDomain = 'museum'.length;

function startsDomain(characters: readonly string[], start: number): boolean {
  return topLevelDomain.test(characters.slice(start, start + longestDomain + 1).join(''));
}
