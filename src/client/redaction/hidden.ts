/** What is written otherwise than it is shown: a pattern, and what is shown for a match with its groups. */
export type Layer = {
  readonly pattern: RegExp
  readonly show: (match: string, groups: readonly (string | undefined)[]) => string
}

const ESCAPE = '\u001b'
const characterOf = (code: number): string => (code <= 0x10ffff ? String.fromCodePoint(code) : '')
const ofHex = (hex: string): string => characterOf(parseInt(hex, 16))
const ofBytes = (hex: string): string => Buffer.from(hex, 'hex').toString()

/** The named characters of HTML that occur in or around names and values, or are not shown. */
const entities: ReadonlyMap<string, string> = new Map(
  (
    'amp& lt< gt> quot" apos\' equals= colon: semi; comma, period. lowbar_ UnderBar_ hyphen- dash- num# dollar$ percnt% excl! quest? ast* ' +
    'plus+ commat@ grave` sol/ bsol\\ lpar( rpar) lsqb[ lbrack[ rsqb] rbrack] lcub{ lbrace{ rcub} rbrace} vert| verbar| ldquo" rdquo" ' +
    "lsquo' rsquo' Tab\t NewLine\n nbsp\u00a0 ensp\u00a0 emsp\u00a0 thinsp\u00a0 shy\u00ad zwnj\u200c zwj\u200d lrm\u200e rlm\u200f " +
    'ZeroWidthSpace\u200b NoBreak\u2060'
  )
    .split(' ')
    .map((entity) => [entity.slice(0, -1), entity.slice(-1)]),
)

/** Marks in the text for the layer that overwrites; a text has none of its own there, because such characters are not shown. */
export const ERASE_REST = '\u0001'
export const ERASE_LINE = '\u0002'

/** From so many columns on a cursor that moves to the left is taken to move to the beginning of the line. */
const FAR = 16

/** What a sequence that moves the cursor, or erases, does to the text around it. Colours and all others do nothing. */
const showMove = (end: string, count: string): string => {
  switch (end) {
    case 'C':
      return ' '
    case 'D':
      return Number(count || 1) < FAR ? '\b'.repeat(Number(count || 1)) : '\r'
    case 'G':
      return Number(count || 1) <= 1 ? '\r' : ' '
    case 'K':
      return { '': ERASE_REST, '0': ERASE_REST, '2': ERASE_LINE }[count] ?? ''
    default:
      return /[ABEFHJLMSTdf]/.test(end) ? '\n' : ''
  }
}

/** ASCII that is compatible with a character: `A` for `Ａ`, `𝐀` and `Ⓐ`. Others stay as they are. */
const compatible = (character: string): string => {
  const text = character.normalize('NFKC')
  return /^[\x20-\x7e]+$/.test(text) ? text : character
}

/** Other characters that look like ASCII. */
const alike: ReadonlyMap<string, string> = new Map(
  [
    ...['-\u2010', '-\u2011', '-\u2212', '/\u2215', ':\u2236', ':\ua789', "'\u2018", "'\u2019", "'\u201b"],
    ...['"\u201c', '"\u201d', '"\u201f', ' \u2800', ' \u1680', '\n\u2028', '\n\u2029'],
  ].map(([like, character]) => [character!, like!] as const),
)

/** What is written with other printable characters than it is shown. */
export const encodings: readonly (Layer & {
  /** Each match has this text. */
  readonly sign: string
})[] = [
  // In addresses: %3D, and the bytes of a character, as in %E2%80%8B; all of this also encoded again.
  {
    sign: '%',
    pattern: /%(?:25){0,3}(?:([0-7][0-9A-Fa-f])|[c-fC-F][0-9A-Fa-f](?:%(?:25){0,3}[89abAB][0-9A-Fa-f]){1,3})/g,
    show: (match, [hex]) => ofBytes(hex ?? match.replaceAll(/%(?:25)*/g, '')),
  },
  // In JSON, code and shells: \u001b, \u{1b}, \U0001f511, \x1b, \033, \e[, and bytes, as in \xe2\x80\x8b. In Markdown: \_
  {
    sign: '\\',
    pattern:
      /(?<!\u001b)\\{1,8}(?:u([0-9A-Fa-f]{4})|u\{([0-9A-Fa-f]{1,6})\}|U([0-9A-Fa-f]{8})|(x[c-fC-F][0-9A-Fa-f](?:\\{1,8}x[89abAB][0-9A-Fa-f]){1,3})|x([0-9A-Fa-f]{2})|([0-3][0-7]{2})|([eE])(?=[[\]]))|(?<!\u001b)\\(?=[_*])/g,
    show: (_, [four, braced, eight, bytes, two, octal, escape]) => {
      const hex = four ?? braced ?? eight ?? two
      if (hex !== undefined) return ofHex(hex)
      if (bytes !== undefined) return ofBytes(bytes.replaceAll(/[\\x]/g, ''))
      return octal === undefined ? (escape ? ESCAPE : '') : String.fromCharCode(parseInt(octal, 8))
    },
  },
  // As cat -v writes control characters: ^[ ^G ^H ^M
  {
    sign: '^',
    pattern: /\^(?:\[(?=[[\]()])|G|(?<=_\^)H|M(?=\n|$))/g,
    show: (match) => ({ '^G': '\u0007', '^H': '\b', '^M': '\r' })[match] ?? ESCAPE,
  },
  // HTML.
  {
    sign: '&',
    pattern: /&(?:amp;){0,3}(?:#[xX]([0-9A-Fa-f]{1,6});?|#([0-9]{1,7});?|([A-Za-z]{2,14});)/g,
    show: (match, [hex, decimal, name]) => {
      if (name !== undefined) return entities.get(name) ?? match
      return hex === undefined ? characterOf(Number(decimal)) : ofHex(hex)
    },
  },
  {
    sign: '<',
    pattern:
      /<\/?(?:span|b|i|u|s|a|em|strong|font|mark|code|kbd|samp|var|tt|small|big|sub|sup|ins|del|wbr|bdi|bdo|cite|q)(?:\s[^<>]{0,400}["'])?\s?\/?>|<!--[^<>]{0,400}-->/gi,
    show: () => '',
  },
  // Bold within a word of Markdown.
  { sign: '**', pattern: /(?<=\w)\*\*(?=\w)/g, show: () => '' },
]

/** Characters that belong to the layers of `controls`, with the picture of an escape. A carriage return may only end a line. */
export const controlCharacters = /[\0-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u241b]/g

/** Control characters, in the order in which they are taken off. */
export const controls: readonly Layer[] = [
  { pattern: /\u241b(?=[[\]()])/g, show: () => ESCAPE },
  // Strings for the terminal, such as titles and addresses of links. Any escape ends one.
  {
    pattern:
      /(?:\u001b[\]PX^_]|[\u0090\u0098\u009d-\u009f])[^\u0007\u001b\u0090\u0098\u009c-\u009f\n]*(?:\u0007|\u009c|\u001b\\{1,8}|(?=\u001b))/g,
    show: () => '',
  },
  // Characters without a meaning. None is left that could be taken for one of the marks.
  {
    pattern: /[\u0001-\u0007\u000b\u000c\u000e-\u001a\u001c-\u001f\u007f-\u009a\u009c-\u009f]/g,
    show: (match) => ('\v\f\u0085'.includes(match) ? '\n' : ''),
  },
  // UTF-16 has a zero beside each letter, while files below /proc have one between values.
  { pattern: /\0(?=[^\0]\0)|(?<=\0[^\0])\0|(\0)/g, show: (_, [zero]) => (zero ? '\n' : '') },
  // Colours, and moves of the cursor.
  {
    pattern: /(?:\u001b\[|\u009b)([0-?]{0,64})[ -/]{0,4}([@-~])/g,
    show: (_, [count, end]) => showMove(end!, count!),
  },
  { pattern: /\u001b(?:([DEM])|[ -/]{1,4}[0-~]|[0-~])?/g, show: (_, [line]) => (line ? '\n' : '') },
  // A character that is written over with itself or an underscore, as manuals make it bold or underlined.
  {
    pattern: /[^\n\u0008](?:\u0008[^\n\u0008]){1,8}/g,
    show: (match) => match.split('\b').findLast((character) => character !== '_') ?? '_',
  },
]

/** Characters without a width of their own, and those that look like ASCII. */
export const characters: Layer = {
  pattern:
    /[\u00a0\u00aa\u00ad\u00b2\u00b3\u00b9\u00ba\u017f\u02b0-\u02b8\u02e0-\u02e4\u0300-\u036f\u037e\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u1d2c-\u1d6a\u2000-\u2011\u2018\u2019\u201b-\u201d\u201f\u2024\u2028-\u202f\u205f-\u209c\u20d0-\u20f0\u2100-\u2121\u2123-\u217f\u2212\u2215\u2236\u2460-\u24ea\u2800\u2a74-\u2a76\u3000\u3164\ua789\ufb00-\ufb06\ufe00-\ufe0f\ufe13-\ufe19\ufe30-\ufe6b\ufeff\uff01-\uff5e\uffa0\ufff0-\ufffb]|[\ud82f\ud834\ud835\ud83c\ud83e\udb40-\udb43][\udc00-\udfff]/g,
  show: (match) =>
    /^[\p{Default_Ignorable_Code_Point}\p{M}\ufff9-\ufffb]/u.test(match) ? '' : (alike.get(match) ?? compatible(match)),
}
