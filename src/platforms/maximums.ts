/**
 * Maximum sizes of the parts of a payload, far above what platforms allow their users. What is beyond is
 * left out, and named in `left_out` and the warnings, so that a hostile server cannot keep Perch busy.
 */
export const maximums = {
  /** Posts or accounts in a list: rows of a page, ancestors, replies, nodes of a thread. */
  rows: 500,
  media: 64,
  variants: 32,
  facets: 1000,
  choices: 64,
  tags: 200,
  reactions: 100,
  /** Labels of a post or an account. Some of them hide it, so a longer list makes it unreadable. */
  labels: 1000,
  languages: 32,
  /** Links in a profile's fields, or in a WebFinger document. */
  fields: 32,
  /** Blocks of an article, and what they refer to. */
  blocks: 2000,
  quotes: 3,
  /** UTF-16 code units of a text as it is sent, with its markup. */
  rawText: 30_000,
  /** UTF-16 code units of the name or the value of a field of a profile, with its markup. */
  rawLine: 4000,
  /** UTF-16 code units of an identifier, a type, a time or a language. */
  token: 256,
  /** UTF-16 code units of a URL. A longer one is left out. */
  url: 4096,
} as const;

/** Maximum lengths of shown texts in UTF-16 code units, by the member that has the text. */
export interface TextMaximums {
  readonly text: number;
  readonly name: number;
  readonly description: number;
  /** A title, a label, a warning or a place. */
  readonly line: number;
  /** The description of a picture, the preview of an article, a community note. */
  readonly note: number;
}

export const shownTexts: TextMaximums = {
  text: 25_000,
  name: 500,
  description: 20_000,
  line: 2000,
  note: 10_000,
};

/** Maximum lengths of texts once the posts before them have used up the budget of the answer. */
export const shortTexts: TextMaximums = {
  text: 300,
  name: 100,
  description: 100,
  line: 100,
  note: 100,
};

/** Maximum UTF-16 code units of all texts of an answer, beyond which its texts are short. */
export const maxAnswerText = 75_000;

/** Weight of a line break in it, because each line costs as much work as many characters. */
export const lineWeight = 25;
