import { type Html, markup } from './markup.ts'
import { type CallCounts, stripTicks } from './ticks.ts'

/**
 * A session as a line of ticks: high ones are prompts, the others calls of tools, those that changed files and those that failed in
 * colours of their own. It shows about sixty at most; in longer sessions a tick is for several calls and is higher. Words beside
 * it have to say the same.
 */
export const strip = (segments: readonly CallCounts[]): Html => {
  const { ticks, width, height } = stripTicks(segments)
  const shown = ticks.map(
    (one) =>
      markup`<rect class="${one.kind}" x="${one.x}" y="${one.y}" width="${one.width}" height="${one.height}" rx="1"/>`,
  )
  return markup`<svg class="strip" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" preserveAspectRatio="xMinYMax meet" aria-hidden="true">${shown}</svg>`
}
