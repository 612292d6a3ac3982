/** The type of the events that hold a stream's metadata. */
export const METADATA = '$metadata'

const TRUNCATE_BEFORE = '$tb'

export type Metadata = Readonly<Record<string, unknown>>

export const metadataStream = (stream: string): string => `$$${stream}`

/** The metadata that such an event holds. */
export const parseMetadata = (data: string): Metadata => {
  const value: unknown = data === '' ? {} : JSON.parse(data)
  return typeof value === 'object' && value !== null ? (value as Metadata) : {}
}

/** The revision below which a stream with this metadata is erased. */
export const truncationPoint = ({ [TRUNCATE_BEFORE]: before }: Metadata): bigint =>
  typeof before === 'number' ? BigInt(before) : 0n

/** The same metadata with another truncation point. A deletion writes a number that JSON has rounded: so may this. */
export const withTruncationPoint = (metadata: Metadata, before: bigint): Metadata => ({
  ...metadata,
  [TRUNCATE_BEFORE]: Number(before),
})
