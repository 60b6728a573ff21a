/** Maximum sizes of upstream response parts. They protect Perch against hostile servers. */
export const maximums = {
  /** Maximum number of posts or accounts in a list, such as a page of search results. */
  rows: 500,
  media: 64,
  variants: 32,
  facets: 1000,
  choices: 64,
  tags: 200,
  reactions: 100,
  /** Length at which a list of labels is rejected: a cut could remove a label such as `!hide`. */
  labels: 1000,
  languages: 32,
  /** Maximum number of profile fields, link preview authors, or links in a WebFinger document. */
  fields: 32,
  /** Maximum number of text blocks, media items or entities in an article. */
  blocks: 2000,
  quotes: 3,
  /** Maximum number of earlier versions of an edited post. X allows five edits. */
  versions: 10,
  /** Maximum length in UTF-16 code units of a text in an upstream response, with markup. */
  rawText: 30_000,
  /** Maximum UTF-16 length of the name or value of a profile field, with markup. */
  rawLine: 4000,
  /** Maximum length in UTF-16 code units of an identifier, a type, a time or a language code. */
  token: 256,
  /** Maximum length in UTF-16 code units of a URL. A longer URL is omitted. */
  url: 4096,
} as const;

/** Maximum lengths, in UTF-16 code units, of the texts in Perch's responses. */
export interface TextMaximums {
  readonly text: number;
  readonly name: number;
  readonly description: number;
  /** Maximum length of a title, poll choice, content warning or location. */
  readonly line: number;
  /** Maximum length of an image description, an article preview, or a community note. */
  readonly note: number;
}

export const shownTexts: TextMaximums = {
  text: 25_000,
  name: 500,
  description: 20_000,
  line: 2000,
  note: 10_000,
};

/** Lengths to which the texts of a post are cut if the response exceeds `maxAnswerText`. */
export const shortTexts: TextMaximums = {
  text: 300,
  name: 100,
  description: 100,
  line: 100,
  note: 100,
};

/** Maximum total length of a response's texts in UTF-16 units. Posts beyond it are shortened. */
export const maxAnswerText = 75_000;

/** Number of UTF-16 code units that each line break counts for in `maxAnswerText`. */
export const lineWeight = 25;
