/** Calls, edits and failed calls between a prompt and the next one. Edits and failed calls are also counted as calls. */
export type CallCounts = readonly [calls: number, edits: number, failed: number]

const MOST_TICKS = 60
const MOST_PROMPTS = 24
const HEIGHT = 18
const TICK = 3
const BETWEEN = 1
const BEFORE_PROMPT = 4

const round = (size: number): number => Math.round(size * 10) / 10

type Tick = { readonly kind: 'p' | 'w' | 'e' | 'x'; readonly calls: number }

/** Neighbours put together until there are at most `MOST_PROMPTS`. */
const fewer = (segments: readonly CallCounts[]): readonly CallCounts[] => {
  if (segments.length <= MOST_PROMPTS) return segments
  return Array.from({ length: MOST_PROMPTS }, (_, i) =>
    segments
      .slice(Math.round((i * segments.length) / MOST_PROMPTS), Math.round(((i + 1) * segments.length) / MOST_PROMPTS))
      .reduce<CallCounts>((sum, one) => [sum[0] + one[0], sum[1] + one[1], sum[2] + one[2]], [0, 0, 0]),
  )
}

/** The ticks of a segment: its prompt, then calls, edits and failed calls, with `perTick` of them in each tick. */
const ticksOf = ([calls, edits, failed]: CallCounts, perTick: number): Tick[] => {
  const work = Math.max(0, calls - edits - failed)
  const ticks = (kind: Tick['kind'], count: number): Tick[] =>
    Array.from({ length: Math.ceil(count / perTick) }, (_, i) => ({
      kind,
      calls: Math.min(perTick, count - i * perTick),
    }))
  return [{ kind: 'p', calls: 0 }, ...ticks('w', work), ...ticks('e', edits), ...ticks('x', failed)]
}

/** As few calls to a tick as leaves about `MOST_TICKS`. */
const allTicks = (segments: readonly CallCounts[]): Tick[] => {
  const calls = segments.reduce((sum, segment) => sum + segment[0], 0)
  let perTick = Math.max(1, Math.floor(calls / MOST_TICKS))
  for (;;) {
    const ticks = segments.flatMap((segment) => ticksOf(segment, perTick))
    // Each segment has at most four ticks that are not full.
    if (ticks.length <= MOST_TICKS || perTick >= calls) return ticks
    perTick = Math.ceil(perTick * 1.2)
  }
}

/** A tick as a rectangle, in pixels. */
type Rectangle = {
  readonly kind: Tick['kind']
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

/** The ticks of a session from left to right, and the size of all. */
export const stripTicks = (
  segments: readonly CallCounts[],
): { readonly ticks: readonly Rectangle[]; readonly width: number; readonly height: number } => {
  let end = 0
  const ticks = allTicks(fewer(segments)).map(({ kind, calls }, i) => {
    const isPrompt = kind === 'p'
    const height = isPrompt ? HEIGHT : Math.min(HEIGHT - 4, TICK + TICK * Math.sqrt(calls))
    const x = i === 0 ? 0 : end + (isPrompt ? BEFORE_PROMPT : BETWEEN)
    end = x + TICK
    return { kind, x, y: round(HEIGHT - height), width: TICK, height: round(height) }
  })
  return { ticks, width: end, height: HEIGHT }
}
