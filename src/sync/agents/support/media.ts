/**
 * The text that replaces binary content: `[image image/png 415 kB]`, as far as the parts are known. `length` is that of the
 * base64 text in the file.
 */
export const mediaPlaceholder = (kind: unknown, mediaType?: string, length?: number): string => {
  const size = length && `${Math.max(1, Math.round(length / 1_000))} kB`
  return `[${[kind, mediaType, size].filter(Boolean).join(' ')}]`
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
