import { isObject } from './json.ts'

/** The text that replaces binary content. `base64Length` is that of its base64 text, if the agent has stored it. */
export const mediaText = (kind: string, mediaType: string | undefined, base64Length: number | undefined): string => {
  const size = base64Length && `${Math.max(1, Math.round(base64Length / 1_000))} kB`
  return `[${[kind, mediaType, size].filter(Boolean).join(' ')}]`
}

/** `image`, `audio` or `video` for media types of these, `document` for all others. */
export const kindOf = (mediaType: string | undefined): string =>
  /^(?:image|audio|video)(?=\/)/.exec(mediaType ?? '')?.[0] ?? 'document'

/** The text that replaces a `data:` URL with base64 content; undefined for any other text. */
export const dataUrlText = (text: string): string | undefined => {
  const head = text.slice(0, 300)
  const end = head.indexOf(';base64,')
  if (end === -1 || !/^data:/i.test(head)) return undefined
  const mediaType = head.slice('data:'.length, end).split(';')[0] || undefined
  return mediaText(kindOf(mediaType), mediaType, text.length - end - ';base64,'.length)
}

const mediaTypeOf = (value: Readonly<Record<string, unknown>>): string | undefined =>
  ['mimeType', 'mime_type', 'media_type', 'mediaType', 'mime']
    .map((name) => value[name])
    .find((type) => typeof type === 'string')

const isRaw = (value: unknown): boolean =>
  (JSON as unknown as { readonly isRawJSON: (value: unknown) => boolean }).isRawJSON(value)

/** Deeper than the service accepts, so that what is not looked at here is not uploaded either. */
const MAX_DEPTH = 501

/**
 * A JSON value with the text of `mediaText` instead of binary content: of base64 `data` beside a media type, and of `data:`
 * URLs. Numbers stay exact. What is nested too deeply to be uploaded is replaced as a whole.
 */
export const withoutBinary = (value: unknown, depth = 0): unknown => {
  if (typeof value === 'string') return dataUrlText(value) ?? value
  if (typeof value !== 'object' || value === null || isRaw(value)) return value
  if (depth > MAX_DEPTH) return '[nested too deeply]'
  if (Array.isArray(value)) return value.map((item) => withoutBinary(item, depth + 1))
  if (!isObject(value)) return value
  const { data } = value
  const mediaType = mediaTypeOf(value)
  if (mediaType !== undefined && typeof data === 'string') return mediaText(kindOf(mediaType), mediaType, data.length)
  // Not an object literal, so that a key named `__proto__` is kept.
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withoutBinary(item, depth + 1)]))
}
