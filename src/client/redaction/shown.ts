import { characters, controlCharacters, controls, encodings, type Layer } from './hidden.ts'
import { showOverwritten } from './overwritten.ts'
import { newPieces, type Pieces, type Shown } from './pieces.ts'

/** The signs with which something begins that is shown otherwise, and how. */
const signs = '\\%&<^*\r'
const beginning =
  /\\[uUxeE0-3_*]|%[0-7c-fC-F][0-9A-Fa-f]|&(?:#|[A-Za-z]{2,14};)|<(?:\/?(?:span|b|i|u|s|a|em|strong|font|mark|code|kbd|samp|var|tt|small|big|sub|sup|ins|del|wbr|bdi|bdo|cite|q)[\s>/]|!--)|\^[[GHM]|(?<=\w)\*\*(?=\w)|\r(?!\n)/iy

/** For each code of UTF-16 whether it may be shown otherwise whatever comes next. */
const codes = new Uint8Array(2 ** 16)
/** All codes, each with the second half of a character after it. */
const everyCode = Buffer.from(Uint16Array.from({ length: 2 ** 17 }, (_, i) => (i % 2 ? 0xdc00 : i / 2)).buffer)
for (const pattern of [controlCharacters, characters.pattern])
  for (const [match] of everyCode.toString('utf16le').matchAll(pattern)) codes[match.charCodeAt(0)] = 1

/** Whether the ASCII character of a code may be shown otherwise, or may begin what is. */
export const isUnsure = (code: number): boolean => codes[code] === 1 || signs.includes(String.fromCharCode(code))

/** Whether something that is shown otherwise may begin at a place of a text. */
export const mayHide = (text: string, at: number): boolean => {
  const code = text.charCodeAt(at)
  if (codes[code] === 1) return true
  if (code >= 128) return false
  beginning.lastIndex = at
  return beginning.test(text)
}

/** A text with the matches of a layer as they are shown; undefined if it has none. */
const withoutLayer = (text: string, { pattern, show }: Layer): Shown | undefined => {
  let pieces: Pieces | undefined
  let done = 0
  for (const match of text.matchAll(pattern)) {
    const [whole, ...groups] = match
    const shown = show(whole, groups)
    if (shown === whole) continue
    pieces ??= newPieces(text)
    pieces.keep(done, match.index)
    pieces.put(shown, match.index, (done = match.index + whole.length))
  }
  pieces?.keep(done, text.length)
  return pieces?.shown()
}

/** What is seen of a text on a terminal or a page; undefined if that is the text as it is written. */
export const showText = (text: string): Shown | undefined => {
  let all: Shown | undefined
  let now = text
  const take = (next: Shown | undefined) => {
    if (!next) return
    const before = all
    all = before ? { text: next.text, originOf: (range) => before.originOf(next.originOf(range)) } : next
    now = next.text
  }
  for (const layer of encodings) if (now.includes(layer.sign)) take(withoutLayer(now, layer))
  if (!/[^\t\n -~]/.test(now)) return all
  if (/[\0-\u0008\u000b-\u001f\u007f-\u009f\u241b]/.test(now)) {
    for (const layer of controls) take(withoutLayer(now, layer))
    take(showOverwritten(now))
  }
  take(withoutLayer(now, characters))
  return all
}

/** The text that is seen. */
export const textShown = (text: string): string => showText(text)?.text ?? text
