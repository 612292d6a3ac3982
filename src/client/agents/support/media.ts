import { isObject, type Json } from './json.ts'

/**
 * The text that replaces binary content: `[image image/png 415 kB]`, without what is unknown. `base64Length` is the length of the
 * base64 text that the agent has stored.
 */
export const mediaPlaceholder = (kind: unknown, mediaType?: string, base64Length?: number): string => {
  const size = base64Length && `${Math.max(1, Math.round(base64Length / 1_000))} kB`
  return `[${[kind, mediaType, size].filter(Boolean).join(' ')}]`
}

/** `image`, `audio` or `video` for such media types, `document` for all others. */
export const kindOf = (mediaType: string | undefined): string =>
  /^(?:image|audio|video)(?=\/)/.exec(mediaType ?? '')?.[0] ?? 'document'

/** The placeholder for a `data:` URL with base64 content; undefined for other texts. `kind` is by default that of the media type. */
export const dataUrlPlaceholder = (text: string, kind?: string): string | undefined => {
  const head = text.slice(0, 300)
  const end = head.indexOf(';base64,')
  if (end === -1 || !/^data:/i.test(head)) return undefined
  const mediaType = head.slice('data:'.length, end).split(';')[0] || undefined
  return mediaPlaceholder(kind ?? kindOf(mediaType), mediaType, text.length - end - ';base64,'.length)
}

const mediaTypeOf = (value: Json): string | undefined =>
  ['mimeType', 'mime_type', 'media_type', 'mediaType', 'mime']
    .map((name) => value[name])
    .find((type) => typeof type === 'string')

const isRaw = (value: unknown): boolean =>
  (JSON as unknown as { readonly isRawJSON: (value: unknown) => boolean }).isRawJSON(value)

/** Deeper than the service accepts, so that nothing is uploaded that was not looked through here. */
const MAX_DEPTH = 501

/**
 * A JSON value with placeholders instead of binary content: base64 `data` beside a media type, and `data:` URLs. Numbers stay exact.
 * Values that are nested too deeply to be uploaded are replaced, too.
 */
export const withoutBinary = (value: unknown, depth = 0): unknown => {
  if (typeof value === 'string') return dataUrlPlaceholder(value) ?? value
  if (typeof value !== 'object' || value === null || isRaw(value)) return value
  if (depth > MAX_DEPTH) return '[nested too deeply]'
  if (Array.isArray(value)) return value.map((item) => withoutBinary(item, depth + 1))
  if (!isObject(value)) return value
  const { data } = value
  const mediaType = mediaTypeOf(value)
  if (mediaType !== undefined && typeof data === 'string')
    return mediaPlaceholder(kindOf(mediaType), mediaType, data.length)
  // Not an object literal, so that a key named `__proto__` is kept.
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withoutBinary(item, depth + 1)]))
}

const dataUrl = /data:([\w.+-]+\/[\w.+-]+);base64,([A-Za-z0-9+/=]{64,})/g

/** The data of an image or a sound in the result of an MCP tool, which may be JSON inside JSON. */
const mcpData = /("data\\*":\s*\\*")([A-Za-z0-9+/=]{256,})/g

/** A tool's output in which a placeholder takes the place of binary content that was written into the text as base64. */
export const withoutBase64 = (output: string): string => {
  if (!output.includes('base64,') && !output.includes('"data')) return output
  return output
    .replace(dataUrl, (_match, mediaType: string, data: string) => mediaPlaceholder('data', mediaType, data.length))
    .replace(
      mcpData,
      (_match, key: string, data: string) => `${key}${mediaPlaceholder('data', undefined, data.length)}`,
    )
}
