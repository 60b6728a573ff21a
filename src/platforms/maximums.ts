/** Maximum sizes of parts of a response, against hostile servers. Larger parts are cut; see `left_out`. */
export const maximums = {
  /** Posts or accounts in a list: rows of a page, ancestors, replies, nodes of a thread. */
  rows: 500,
  media: 64,
  variants: 32,
  facets: 1000,
  choices: 64,
  tags: 200,
  reactions: 100,
  /** Labels of a post or an account. Some labels hide it, so a longer list makes it unreadable. */
  labels: 1000,
  languages: 32,
  /** Fields of a profile, authors of a link preview, or links in a WebFinger document. */
  fields: 32,
  /** Blocks of an article, its entities, or its media. */
  blocks: 2000,
  quotes: 3,
  /** UTF-16 code units of a text in the payload, including markup. */
  rawText: 30_000,
  /** Maximum length in UTF-16 code units of the name or value of a profile field, including markup. */
  rawLine: 4000,
  /** UTF-16 code units of an identifier, a type, a time or a language. */
  token: 256,
  /** UTF-16 code units of a URL. A longer URL is omitted. */
  url: 4096,
} as const;

/** Maximum lengths of texts in replies, in UTF-16 code units, by the kind of member. */
export interface TextMaximums {
  readonly text: number;
  readonly name: number;
  readonly description: number;
  /** Title, poll choice, content warning or location. */
  readonly line: number;
  /** Description of an image, preview of an article, or community note. */
  readonly note: number;
}

export const shownTexts: TextMaximums = {
  text: 25_000,
  name: 500,
  description: 20_000,
  line: 2000,
  note: 10_000,
};

/** Maximum lengths of texts in a post that exceeds the remaining budget of the answer (`maxAnswerText`). */
export const shortTexts: TextMaximums = {
  text: 300,
  name: 100,
  description: 100,
  line: 100,
  note: 100,
};

/** Budget of an answer: UTF-16 code units of all texts before further posts are shortened. */
export const maxAnswerText = 75_000;

/** Weight of a line break in the budget, because a line takes as much work as this many characters. */
export const lineWeight = 25;
