const UNITS = [
  { name: 'd', ms: 86_400_000 },
  { name: 'h', ms: 3_600_000 },
  { name: 'min', ms: 60_000 },
  { name: 's', ms: 1_000 },
] as const

let grouped: Intl.NumberFormat | undefined

/** A count as `1,104`. A formatter is made only for numbers that it changes: making one takes longer than writing a line. */
export const countText = (count: number): string =>
  count < 1_000 ? String(count) : (grouped ??= new Intl.NumberFormat('en')).format(count)

const BYTE_UNITS = ['bytes', 'kB', 'MB', 'GB', 'TB', 'PB'] as const

/** Bytes in the largest unit of which there is one, with a decimal place below ten: `1.4 GB`. */
export const bytesText = (bytes: number): string => {
  const step = Math.min(Math.floor(Math.log10(Math.max(1, bytes)) / 3), BYTE_UNITS.length - 1)
  const count = bytes / 1_000 ** step
  return `${step > 0 && count < 10 ? count.toFixed(1) : countText(Math.round(count))} ${BYTE_UNITS[step]}`
}

/** How long something took, in its two largest units: `2 h 5 min` or `12 s`. */
export const elapsedText = (ms: number): string => {
  if (ms < 1_000) return 'less than 1 s'
  const largest = UNITS.findIndex((unit) => ms >= unit.ms)
  const [first, second] = [UNITS[largest]!, UNITS[largest + 1]]
  const count = Math.floor(ms / first.ms)
  const rest = second ? Math.floor((ms % first.ms) / second.ms) : 0
  return `${countText(count)} ${first.name}${rest > 0 ? ` ${rest} ${second!.name}` : ''}`
}

const HALF_DAY_MS = 12 * 3_600_000

/**
 * How long a session took, from its first to its last message: `2 h 5 min`. Of one over which a night went by, or several, the work is not known:
 * it says over which time it is spread, `over 15 h` or `over 3 d`.
 * @param short writes a time of less than half a day
 */
export const sessionLengthText = (ms: number, short = elapsedText): string => {
  if (ms < HALF_DAY_MS) return short(ms)
  const unit = UNITS.find((one) => ms >= one.ms)!
  return `over ${countText(Math.floor(ms / unit.ms))} ${unit.name}`
}

/**
 * The progress from one position of a log to another, in whole percent, for messages. Positions themselves say little to
 * people: in EventStoreDB they are offsets in bytes, which count other applications' events, too.
 */
export const percentDone = (from: bigint, position: bigint, to: bigint): number => {
  if (position >= to) return 100
  return position <= from ? 0 : Number(((position - from) * 100n) / (to - from))
}
