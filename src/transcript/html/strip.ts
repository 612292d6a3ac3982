import { type Html, markup } from './markup.ts'

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

/**
 * A session as a line of ticks: high ones are prompts, the others calls of tools, those that changed files and those that failed in
 * colours of their own. It shows about sixty at most; in longer sessions a tick is for several calls and is higher. Words beside
 * it have to say the same.
 */
export const strip = (segments: readonly CallCounts[]): Html => {
  let end = 0
  const shown = allTicks(fewer(segments)).map(({ kind, calls }, i) => {
    const isPrompt = kind === 'p'
    const height = isPrompt ? HEIGHT : Math.min(HEIGHT - 4, TICK + TICK * Math.sqrt(calls))
    const at = i === 0 ? 0 : end + (isPrompt ? BEFORE_PROMPT : BETWEEN)
    end = at + TICK
    return markup`<rect class="${kind}" x="${at}" y="${round(HEIGHT - height)}" width="${TICK}" height="${round(height)}" rx="1"/>`
  })
  return markup`<svg class="strip" viewBox="0 0 ${end} ${HEIGHT}" width="${end}" height="${HEIGHT}" preserveAspectRatio="xMinYMax meet" aria-hidden="true">${shown}</svg>`
}
