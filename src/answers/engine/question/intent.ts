/** What kind of section a question hints at. */
export type Intent = 'howTo' | 'meaning' | 'default' | 'trouble' | 'definition' | 'none';

const hints: readonly (readonly [Intent, RegExp])[] = [
  [
    'default',
    /\b(?:defaults?|by default|how (?:many|much|long|often|big|large)|maximum|minimum|limit)\b/i,
  ],
  ['trouble', /\b(?:errors?|fails?|failed|failing|broken?|crash\w*|slow)\b/i],
  ['trouble', /\b(?:why (?:do|does|is|are|did)|cannot|can'?t|not working|doesn'?t)\b/i],
  [
    'definition',
    /\b(?:which (?:file|module|function|class)|where is \S+ (?:defined|declared|implemented)|defines?|signature)\b/i,
  ],
  ['meaning', /^\s*(?:what(?:'s| is| are| does)|explain|describe|meaning of)\b/i],
  ['howTo', /\b(?:how (?:do|can|to|should)|example|sample|way to)\b/i],
  [
    'howTo',
    /^\s*(?:make|use|set|add|create|run|turn|send|read|write|let|put|get|enable|disable)\b/i,
  ],
];

/** Finds out what kind of section a question hints at. */
export function toIntent(question: string): Intent {
  return hints.find(([, pattern]) => pattern.test(question))?.[0] ?? 'none';
}
