/** Tells whether a text has the form of a session id: `ses_` and a ULID. */
export function isSessionId(text: string): boolean {
  return /^ses_[0-9A-HJKMNP-TV-Z]{26}$/.test(text);
}
