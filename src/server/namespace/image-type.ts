export type ImageType = 'image/png' | 'image/jpeg' | 'image/webp'

/** In pixels. A picture of this size takes 64 MB in a browser's memory, however small the file is. */
const MAX_SIDE = 4_096

type Size = { readonly width: number; readonly height: number }

const isAcceptedSize = ({ width, height }: Size) => width > 0 && height > 0 && width <= MAX_SIDE && height <= MAX_SIDE

const PNG_SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
const PNG_END_CHUNK = Buffer.from('IEND')

const pngSize = (bytes: Buffer): Size | undefined =>
  bytes.length >= 45 &&
  bytes.subarray(0, 8).equals(PNG_SIGNATURE) &&
  bytes.toString('latin1', 12, 16) === 'IHDR' &&
  bytes.includes(PNG_END_CHUNK, 33)
    ? { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) }
    : undefined

/** The size in the first frame header (SOF0 to SOF15, without DHT, JPG and DAC). */
const frameSize = (bytes: Buffer): Size | undefined => {
  for (let at = 2; at + 9 < bytes.length && bytes[at] === 0xff;) {
    const marker = bytes[at + 1]!
    if (marker === 0xff) at += 1
    else if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker))
      return { height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) }
    else at += 2 + Math.max(2, bytes.readUInt16BE(at + 2))
  }
  return undefined
}

const jpegSize = (bytes: Buffer): Size | undefined =>
  bytes.length >= 20 && bytes[0] === 0xff && bytes[1] === 0xd8 && bytes[2] === 0xff ? frameSize(bytes) : undefined

/** The size of the canvas (VP8X), or of the only picture, which is lossy (VP8) or lossless (VP8L). */
const webpSize = (bytes: Buffer): Size | undefined => {
  if (bytes.length < 30 || bytes.toString('latin1', 0, 4) !== 'RIFF' || bytes.readUInt32LE(4) + 8 > bytes.length)
    return undefined
  switch (bytes.toString('latin1', 8, 16)) {
    case 'WEBPVP8X':
      return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 }
    case 'WEBPVP8 ':
      return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff }
    case 'WEBPVP8L': {
      const bits = bytes.readUInt32LE(21)
      return { width: (bits & 0x3fff) + 1, height: ((bits >> 14) & 0x3fff) + 1 }
    }
    default:
      return undefined
  }
}

const sizes: Readonly<Record<ImageType, (bytes: Buffer) => Size | undefined>> = {
  'image/png': pngSize,
  'image/jpeg': jpegSize,
  'image/webp': webpSize,
}

/**
 * The type of a picture by its content. Undefined for anything but PNG, JPEG and WebP, and for a picture of more than 4,096
 * pixels a side.
 */
export const detectImageType = (bytes: Buffer): ImageType | undefined => {
  for (const type of Object.keys(sizes) as ImageType[]) {
    const size = sizes[type](bytes)
    if (size) return isAcceptedSize(size) ? type : undefined
  }
  return undefined
}
