/** Repeats a text until it has at least `length` characters. */
export function fill(text: string, length: number): string {
  return text.repeat(Math.ceil(length / text.length));
}
