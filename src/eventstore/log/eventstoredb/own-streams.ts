import { metadataStream } from './stream-metadata.ts'

/** Which streams of a server are those of one log. A server may hold those of other applications, and of other logs with other prefixes. */
export type OwnStreams = {
  /** The beginnings of the names of all of its streams, and of those with their metadata: what a server can filter by. */
  readonly prefixes: readonly string[]
  /** The name that a stream has in the log, by its full name; undefined for a stream of others. */
  nameOf(fullName: string): string | undefined
  /** Whether a stream, or the stream that it has the metadata of, is of this log. */
  isOwn(fullName: string): boolean
}

/** What separates a prefix from a name. A hyphen does not, because it occurs in names. */
const SEPARATOR = /[^\p{L}\p{N}_-]$/u

/** Of a log with the prefix `a.` a stream `a.b.x` is none: it is of the log with the prefix `a.b.`. */
export const newOwnStreams = (prefix: string): OwnStreams => {
  const [separator] = SEPARATOR.exec(prefix) ?? []
  const ofMetadata = metadataStream('')

  const nameOf = (fullName: string) => {
    if (!fullName.startsWith(prefix)) return undefined
    const name = fullName.slice(prefix.length)
    return separator !== undefined && name.includes(separator) ? undefined : name
  }

  const isOwn = (fullName: string) =>
    nameOf(fullName.startsWith(ofMetadata) ? fullName.slice(ofMetadata.length) : fullName) !== undefined

  return { prefixes: [prefix, metadataStream(prefix)], nameOf, isOwn }
}
