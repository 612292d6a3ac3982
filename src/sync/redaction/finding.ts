/** Where a text holds a secret, by UTF-16 offsets, and the rule that found it. */
export type Finding = { readonly rule: string; readonly start: number; readonly end: number }

/** Finds the secrets of a text, in any order; they may overlap. */
export type Finder = (text: string) => readonly Finding[]
