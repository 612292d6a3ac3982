import { icon } from '../../transcript/html/icons.ts'
import { type Html, markup, none } from '../../transcript/html/markup.ts'
import { visibleLine } from '../../transcript/visible.ts'

/** What of a query was left out, why, and what may be meant. */
export type LeftOut = {
  readonly text: string
  readonly why: string
  readonly instead?: { readonly label: string; readonly href: string } | undefined
}

export const leftOutHtml = (leftOut: readonly LeftOut[]): Html =>
  markup`${leftOut.map(({ text, why, instead }) => {
    const meant = instead
      ? markup` Do you mean <a href="${instead.href}"><bdi>${visibleLine(instead.label)}</bdi></a>?`
      : none
    return markup`<p class="note warn" role="status">${icon('warning')}<span><b dir="auto">${visibleLine(text)}</b> was left out: ${visibleLine(why)}.${meant}</span></p>
`
  })}`

const DAY = /(?:^|\s)(?:from|since|to):\S/

/** Whether a query has times, which depend on the zone of the reader. */
export const hasDays = (q: string): boolean => DAY.test(q)

/** Whose days a query means. The script of the page replaces UTC by the zone of the reader. */
export const zoneHtml = (zone: string | undefined): Html =>
  zone === undefined
    ? none
    : markup`<p class="soft" data-zone="${zone}">Days are those of ${zone === 'UTC' ? 'UTC' : markup`<bdi>${zone}</bdi>`}.</p>
`
