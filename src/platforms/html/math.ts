/** Formula in MathML: the texts of its presentation, and of its annotation in TeX if it has one. */
export interface OpenMath {
  readonly shown: string[];
  readonly tex: string[];
  isTex: boolean;
}

/** Returns whether an annotation of a formula is in TeX. Source: https://www.w3.org/TR/mathml-core/#semantics */
export const isTexEncoding = (encoding: string): boolean => /(?:^|[/-])(?:la)?tex$/i.test(encoding);

/** Returns the TeX of a formula, otherwise the parts of its presentation, separated by spaces. */
export function toMathText({ shown, tex }: OpenMath): string {
  const parts = shown.map((part) => part.trim()).filter((part) => part !== '');
  return tex.join('').trim() || parts.join(' ');
}
