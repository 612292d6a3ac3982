export type ImageType = 'image/png' | 'image/jpeg' | 'image/webp'

const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
const PNG_END = Buffer.from('IEND')

const isPng = (bytes: Buffer) =>
  bytes.length >= 45 &&
  bytes.subarray(0, 8).equals(PNG) &&
  bytes.toString('latin1', 12, 16) === 'IHDR' &&
  bytes.readUInt32BE(16) > 0 &&
  bytes.readUInt32BE(20) > 0 &&
  bytes.includes(PNG_END, 33)

/** Begins with a marker of a segment and holds a frame. */
const isJpeg = (bytes: Buffer) =>
  bytes.length >= 20 && bytes[0] === 0xff && bytes[1] === 0xd8 && bytes[2] === 0xff && hasFrame(bytes)

/** Walks the segments up to the first that begins a frame (SOF0 to SOF15, without DHT, JPG and DAC). */
const hasFrame = (bytes: Buffer): boolean => {
  for (let at = 2; at + 9 < bytes.length && bytes[at] === 0xff;) {
    const marker = bytes[at + 1]!
    if (marker === 0xff) at += 1
    else if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)) return true
    else at += 2 + Math.max(2, bytes.readUInt16BE(at + 2))
  }
  return false
}

const isWebp = (bytes: Buffer) =>
  bytes.length >= 30 &&
  bytes.toString('latin1', 0, 4) === 'RIFF' &&
  bytes.readUInt32LE(4) + 8 <= bytes.length &&
  /^WEBPVP8[ LX]$/.test(bytes.toString('latin1', 8, 16))

/** What a picture is by its content, whatever its sender says; undefined for anything that is no avatar. */
export const imageTypeOf = (bytes: Buffer): ImageType | undefined => {
  if (isPng(bytes)) return 'image/png'
  if (isJpeg(bytes)) return 'image/jpeg'
  return isWebp(bytes) ? 'image/webp' : undefined
}
