import { countText } from '../../base/for-people.ts'
import { type Html, markup, none } from '../../transcript/html/markup.ts'

/** Drawings of numbers: SVG with classes and attributes only, because pages have no styles in themselves. Beside each, a table has the same numbers. */

/** The ends of an axis, as digits before zeros; whole numbers have half of each as well. */
const ENDS = [1, 2, 4, 6, 8, 10]

/** The least round number that is not below any of these. */
const endOfAxis = (most: number, isWhole: boolean): number => {
  if (most <= 0) return isWhole ? 2 : 1
  const unit = 10 ** Math.floor(Math.log10(most))
  const end = ENDS.find((one) => one * unit >= most * (1 - 1e-9))! * unit
  return isWhole ? Math.max(2, end) : end
}

const HEIGHT = 100
const WIDTH = 0.76
const LABELS = 4

const round = (value: number): number => Math.round(value * 100) / 100

export type Bars = {
  readonly title: string
  /** The number of each day. */
  readonly values: readonly number[]
  readonly isWhole: boolean
  readonly text: (value: number) => string
  /** The name of a day. */
  readonly dayText: (i: number) => string
}

/** A bar for each day, with the highest one in words. */
export const barsByDay = ({ title, values, isWhole, text, dayText }: Bars): Html => {
  const most = values.reduce((highest, value) => Math.max(highest, value), 0)
  const end = endOfAxis(most, isWhole)
  const bars = values
    .map((value, i) => {
      const height = round((value / end) * HEIGHT)
      return height === 0 ? '' : `M${round(i + (1 - WIDTH) / 2)} ${HEIGHT}v${-height}h${WIDTH}v${height}z`
    })
    .join('')
  const count = Math.min(LABELS, values.length)
  const labels = Array.from(
    { length: count },
    (_, i) => markup`<span>${dayText(Math.floor((i * values.length) / count))}</span>`,
  )
  const label = most === 0 ? `${title}: none` : `${title}: at most ${text(most)}, on ${dayText(values.indexOf(most))}`
  return markup`<figure class="chart"><figcaption>${title}</figcaption><div class="plot"><div class="y" aria-hidden="true"><span>${text(end)}</span><span>${text(end / 2)}</span><span>0</span></div>
<svg viewBox="0 0 ${values.length} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${label}"><path class="axis" d="M0 0H${values.length}M0 ${HEIGHT / 2}H${values.length}M0 ${HEIGHT}H${values.length}"/><path class="m1" d="${bars}"/></svg>
<div class="x" aria-hidden="true">${labels}</div></div></figure>
`
}

/** A bar beside words, as long as a part of its place. */
export const shareBar = (share: number): Html =>
  markup`<svg class="share" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true"><path class="h0" d="M0 0h100v8H0z"/>${
    share > 0 ? markup`<path class="m1" d="M0 0h${round(Math.max(0.5, 100 * share))}v8H0z"/>` : none
  }</svg>`

const LEVELS = 4

/** The shade of a number: 0 for none, then by its root, so that a few high numbers leave the others visible. */
const levelOf = (value: number, most: number): number => (value <= 0 ? 0 : Math.ceil(LEVELS * Math.sqrt(value / most)))

const CELL = 11
const STEP = 13
const LEFT = 32
const TOP = 18

export type Heat = {
  readonly label: string
  readonly columns: number
  /** The number in a row of a column; undefined for a place that is empty. */
  readonly at: (column: number, row: number) => number | undefined
  readonly most: number
  readonly rowNames: readonly string[]
  /** Words above columns. */
  readonly columnNames: readonly { readonly column: number; readonly text: string }[]
}

/** A grid of days or hours, darker where the number is higher. */
export const heatMap = ({ label, columns, at, most, rowNames, columnNames }: Heat): Html => {
  const width = LEFT + columns * STEP
  const height = TOP + rowNames.length * STEP
  const cells = Array.from({ length: LEVELS + 1 }, () => '')
  for (let column = 0; column < columns; column++)
    for (let row = 0; row < rowNames.length; row++) {
      const value = at(column, row)
      if (value === undefined) continue
      cells[levelOf(value, most)] += `M${LEFT + column * STEP} ${TOP + row * STEP}h${CELL}v${CELL}h-${CELL}z`
    }
  const rows = rowNames.map((name, i) =>
    name === '' ? none : markup`<text x="${LEFT - 6}" y="${TOP + i * STEP + 9}" text-anchor="end">${name}</text>`,
  )
  const heads = columnNames.map(({ column, text }) => markup`<text x="${LEFT + column * STEP}" y="10">${text}</text>`)
  const shades = cells.map((d, level) => (d === '' ? none : markup`<path class="h${level}" d="${d}"/>`))
  return markup`<svg class="heat" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${label}">${rows}${heads}${shades}</svg>
`
}

/** What the shades of a heat map mean. */
export const heatKey: Html = markup`<span class="key">fewer ${Array.from(
  { length: LEVELS + 1 },
  (_, level) => markup`<svg viewBox="0 0 10 10" aria-hidden="true"><path class="h${level}" d="M0 0h10v10H0z"/></svg>`,
)} more</span>`

/** A number in a table; none is faint, because tables of days have many. */
export const numberCell = (count: number): Html =>
  count === 0 ? markup`<td class="n faint">0</td>` : markup`<td class="n">${countText(count)}</td>`

/** A text of a number in a table; a dash where it is not known. */
export const knownCell = (text: string | undefined): Html =>
  markup`<td class="n">${text === undefined ? markup`<span class="faint">–</span>` : text}</td>`
