/** The rows of a session's messages: all are in the page, or they are fetched as they are needed. */
export type Rows = {
  /** The rows after a row (`step` 1), or before it (-1); without a row all, from the first or the last one on. */
  next(from: HTMLElement | undefined, step: 1 | -1): AsyncIterable<HTMLElement>
  /** The row that shows a message, by its ordinal: its own, or that of an earlier message, such as the call of a result. */
  of(ordinal: number): Promise<HTMLElement | undefined>
  /** Brings a row into the page. Returns the row that is in the page. */
  show(row: HTMLElement): Promise<HTMLElement>
}

export const ROW = '.msg[data-ordinal]'
/** The elements at which `j` and `k` stop: messages, and runs of calls, which hold some. */
export const STOP = `${ROW}, details.run`

export const ordinalOf = (row: HTMLElement): number => Number(row.dataset['ordinal'] ?? row.id.slice('m-'.length))

/** Rows that are all in the page. */
export const rowsInPage = (messages: HTMLElement): Rows => {
  const all = () =>
    [...messages.querySelectorAll<HTMLElement>(STOP)].filter((one) => !one.parentElement?.closest('.run:not([open])'))
  return {
    async *next(from, step) {
      const rows = all()
      const edge = step > 0 ? 0 : rows.length - 1
      for (let i = from ? rows.indexOf(from) + step : edge; i >= 0 && i < rows.length; i += step) yield rows[i]!
    },
    of: async (ordinal) =>
      [...messages.querySelectorAll<HTMLElement>(ROW)].findLast((row) => ordinalOf(row) <= ordinal),
    show: async (row) => row,
  }
}
