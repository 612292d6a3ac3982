/**
 * The text that replaces binary content: `[image image/png 415 kB]`, as far as the parts are known. `length` is that of the
 * base64 text in the file.
 */
export const mediaPlaceholder = (kind: unknown, mediaType?: string, length?: number): string => {
  const size = length && `${Math.max(1, Math.round(length / 1_000))} kB`
  return `[${[kind, mediaType, size].filter(Boolean).join(' ')}]`
}
