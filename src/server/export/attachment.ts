import { graphemeBefore, trimEndMatching } from '../../base/texts.ts'
import { visible } from '../../transcript/visible.ts'

const MOST_BYTES = 120
const FALLBACK = 'session'

/** Characters that separate paths, or have a meaning for a shell, a browser or a file system. */
const UNSAFE = /[\\/:*?"<>|%;$`'~\p{C}\p{Zl}\p{Zp}]/gu
/** Names that Windows reserves for devices, with any extension. */
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i

/** The longest beginning of a text in at most `MOST_BYTES` bytes, and never inside a grapheme. */
const cut = (text: string): string => {
  let bytes = 0
  let end = 0
  for (const character of text.slice(0, MOST_BYTES)) {
    bytes += Buffer.byteLength(character)
    if (bytes > MOST_BYTES) break
    end += character.length
  }
  return text.slice(0, graphemeBefore(text, end))
}

/** A file name made from a title: without path separators, control and invisible characters, or a dot at its start. */
export const fileNameOf = (title: string): string => {
  const plain = visible(title.normalize('NFC')).replace(UNSAFE, ' ').replace(/\s+/g, ' ').trim()
  const name = trimEndMatching(cut(plain.replace(/^[.\s-]+/, '')), /[.\s]/)
  if (name === '') return FALLBACK
  return DEVICE.test(name) ? `_${name}` : name
}

/** The name in ASCII, for clients that do not read `filename*`. */
const asciiOf = (name: string): string => {
  const plain = name.normalize('NFKD').replace(/\p{M}/gu, '')
  const ascii = plain.replace(/[^\w .,()[\]{}@#&+=!^-]/g, '_')
  return /[a-z0-9]/i.test(ascii) ? ascii : FALLBACK
}

const encode = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)

/** The value of the header `Content-Disposition` for a file that is named after a title (RFC 6266, RFC 8187). */
export const attachment = (title: string, extension: string): string => {
  const name = fileNameOf(title)
  return `attachment; filename="${asciiOf(name)}.${extension}"; filename*=UTF-8''${encode(`${name}.${extension}`)}`
}
