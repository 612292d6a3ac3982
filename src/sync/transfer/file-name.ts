import { createHash } from 'node:crypto'

/** With the ending, and with the one of a file that is being written, below the 255 bytes of a file system. */
const MOST = 100

/** Names that Windows keeps for devices, whatever their ending. */
const RESERVED = /^(?:con|prn|aux|nul|com\d|lpt\d)$/

/**
 * A name for the file of a trace, without an ending: the same each time for one id, and for no two ids the same, also where a file system
 * does not tell capitals. An id of small letters, digits, hyphens, underscores and dots stays as it is; of any other the beginning is left,
 * and a hash follows.
 */
export const fileNameOf = (externalId: string): string => {
  const isPlain = externalId.length <= MOST && /^[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?$/.test(externalId)
  // What the name of another id may end with is not plain.
  if (isPlain && !RESERVED.test(externalId.split('.')[0]!) && !/-[0-9a-f]{16}$/.test(externalId)) return externalId
  const readable = externalId.slice(0, MOST).replace(/^-|[^A-Za-z0-9_-]+/g, '_')
  return `${readable}-${createHash('sha256').update(externalId).digest('hex').slice(0, 16)}`
}
