const UNITS = [
  { name: 'd', ms: 86_400_000 },
  { name: 'h', ms: 3_600_000 },
  { name: 'min', ms: 60_000 },
  { name: 's', ms: 1_000 },
] as const

/** A count as `1,104`. A formatter is made only for numbers that it changes: making one takes longer than writing a line. */
export const countText = (count: number): string => (count < 1_000 ? String(count) : count.toLocaleString('en'))

/** How long something took, in its two largest units: `2 h 5 min` or `12 s`. For a time that counts down use `clockText`. */
export const elapsedText = (ms: number): string => {
  if (ms < 1_000) return 'less than 1 s'
  const largest = UNITS.findIndex((unit) => ms >= unit.ms)
  const [first, second] = [UNITS[largest]!, UNITS[largest + 1]]
  const count = Math.floor(ms / first.ms)
  const rest = second ? Math.floor((ms % first.ms) / second.ms) : 0
  return `${countText(count)} ${first.name}${rest > 0 ? ` ${rest} ${second!.name}` : ''}`
}

/**
 * The progress from one position of a log to another, in whole percent, for messages. Positions themselves say little to
 * people: in EventStoreDB they are offsets in bytes, which count other applications' events, too.
 */
export const percentDone = (from: bigint, position: bigint, to: bigint): number => {
  if (position >= to) return 100
  return position <= from ? 0 : Number(((position - from) * 100n) / (to - from))
}
