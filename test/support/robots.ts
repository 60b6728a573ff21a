interface Rule {
  readonly agent: string;
  readonly pattern: string;
  readonly allows: boolean;
}

/**
 * Returns whether a crawler with the user agent `agent` may fetch a path (RFC 9309 §2.2.2). The longest
 * matching rule applies; of two rules with the same length, `Allow` applies.
 */
export function mayFetch(robots: string, path: string, agent = '*'): boolean {
  const [rule] = readRules(robots)
    .filter((one) => one.agent === agent && fits(one.pattern, path))
    .sort((a, b) => b.pattern.length - a.pattern.length || Number(b.allows) - Number(a.allows));
  return rule?.allows ?? true;
}

function fits(pattern: string, path: string): boolean {
  return pattern.endsWith('$') ? path === pattern.slice(0, -1) : path.startsWith(pattern);
}

/** Parses the groups of a `robots.txt`: user agents, then rules. Groups are separated by an empty line. */
function readRules(robots: string): readonly Rule[] {
  return robots.split('\n\n').flatMap((group) => {
    const lines = group.split('\n').map((line) => line.split(/: ?(.*)/, 2) as [string, string?]);
    const agents = lines.filter(([name]) => name === 'User-agent').map(([, value = '']) => value);
    const rules = lines.filter(([name]) => name === 'Allow' || name === 'Disallow');
    return agents.flatMap((agent) =>
      rules.map(([name, pattern = '']) => ({ agent, pattern, allows: name === 'Allow' })),
    );
  });
}
