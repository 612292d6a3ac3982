import { normalForm } from './normal-form.ts'

/** Letters whose simple case folding is not their lower case, each with its case folding. */
const unusual = [
  ['\u017f', 's'],
  ['\u00b5', '\u03bc'],
  ['\u0345', '\u03b9'],
  ['\u1fbe', '\u03b9'],
  ['\u03d0', '\u03b2'],
  ['\u03f5', '\u03b5'],
  ['\u03d1', '\u03b8'],
  ['\u03f0', '\u03ba'],
  ['\u03d6', '\u03c0'],
  ['\u03f1', '\u03c1'],
  ['\u03c2', '\u03c3'],
  ['\u03d5', '\u03c6'],
  ['\u1c80', '\u0432'],
  ['\u1c81', '\u0434'],
  ['\u1c82', '\u043e'],
  ['\u1c83', '\u0441'],
  ['\u1c84', '\u0442'],
  ['\u1c85', '\u0442'],
  ['\u1c86', '\u044a'],
  ['\u1c87', '\u0463'],
  ['\u1c88', '\ua64b'],
  ['\u1e9b', '\u1e61'],
  ['\u1fd3', '\u0390'],
  ['\u1fe3', '\u03b0'],
  ['\ufb05', '\ufb06'],
] as const

const usual = new Map<string, string>(unusual)
const UNUSUAL =
  /[\u017f\u00b5\u0345\u1fbe\u03d0\u03f5\u03d1\u03f0\u03d6\u03f1\u03c2\u03d5\u1c80-\u1c88\u1e9b\u1fd3\u1fe3\ufb05]/g

/** The only letter whose lower case is longer than itself. In simple case folding it is unchanged. */
const DOTTED = '\u0130'

const lowered = (text: string): string =>
  text.includes(DOTTED)
    ? text
        .split(DOTTED)
        .map((piece) => piece.toLowerCase())
        .join(DOTTED)
    : text.toLowerCase()

/**
 * The simple case folding of a text by Unicode: equal for texts that differ only in case. It has the length of the text, and each
 * character stays at its index.
 */
export const folded = (text: string): string => lowered(text).replace(UNUSUAL, (letter) => usual.get(letter)!)

/** The form of a text that is equal for all that differ only in case or form (`normalForm`). Its characters may stand elsewhere. */
export const comparable = (text: string): string => folded(normalForm(text))
