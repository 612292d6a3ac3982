import stringWidth from 'string-width'
import { escapeControls } from '../base/escape.ts'
import { fitToColumns } from './fit-to-columns.ts'
import { io, widthOf } from './io.ts'
import { type Line, printLines } from './output.ts'

export type Column<Row> = {
  readonly head: string
  readonly cell: (row: Row) => string
  readonly align?: 'right'
  /** On a narrow terminal the column may shrink to this width; without it, it keeps its width. */
  readonly min?: number
  /** If the table is still too wide, columns are left out, those with the highest number first. */
  readonly drop?: number
}

const GAP = 2

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0)

/** The widest column that may still shrink; undefined if none may. */
const widestShrinkable = (widths: readonly number[], mins: readonly number[]): number | undefined => {
  let widest: number | undefined
  for (const [i, width] of widths.entries())
    if (width > mins[i]! && (widest === undefined || width > widths[widest]!)) widest = i
  return widest
}

/** Shrinks columns, the widest first, until they fit; undefined if they cannot. */
const fitted = (widths: readonly number[], mins: readonly number[], room: number): number[] | undefined => {
  const fit = [...widths]
  for (let over = sum(fit) - room; over > 0; over--) {
    const widest = widestShrinkable(fit, mins)
    if (widest === undefined) return undefined
    fit[widest]! -= 1
  }
  return fit
}

type Layout<Row> = { readonly columns: readonly Column<Row>[]; readonly widths: readonly number[] }

const layoutOf = <Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  terminalWidth: number | undefined,
): Layout<Row> => {
  const natural = columns.map(({ head, cell }) =>
    Math.max(
      stringWidth(head),
      ...rows.map((row) => Math.min(stringWidth(escapeControls(cell(row))), terminalWidth ?? Infinity)),
    ),
  )
  if (terminalWidth === undefined) return { columns, widths: natural }
  const mins = columns.map(({ min }, i) => Math.min(min ?? natural[i]!, natural[i]!))
  const widths = fitted(natural, mins, terminalWidth - GAP * (columns.length - 1))
  const highest = Math.max(0, ...columns.map(({ drop = 0 }) => drop))
  if (widths || highest === 0) return { columns, widths: widths ?? mins }
  const fewer = columns.filter(({ drop }) => drop !== highest)
  return layoutOf(fewer, rows, terminalWidth)
}

const padded = (text: string, width: number, align: 'right' | undefined): string => {
  const padding = ' '.repeat(Math.max(0, width - stringWidth(text)))
  return align === 'right' ? padding + text : text + padding
}

/**
 * A table as lines: a heading, and a line for each row. Columns are fitted to `terminalWidth`; undefined for a pipe or a file, where
 * nothing is cut.
 */
export const tableLines = <Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  terminalWidth: number | undefined,
): Line[] => {
  const { columns: kept, widths } = layoutOf(columns, rows, terminalWidth)
  const line = (cells: readonly string[]) =>
    cells
      .map((text, i) => {
        const cell = terminalWidth === undefined ? escapeControls(text) : fitToColumns(text, widths[i]!)
        return padded(cell, widths[i]!, kept[i]!.align)
      })
      .join(' '.repeat(GAP))
      .trimEnd()
  return [
    { text: line(kept.map(({ head }) => head)), style: 'head' as const },
    ...rows.map((row) => ({ text: line(kept.map(({ cell }) => cell(row))) })),
  ]
}

/** Prints a table on stdout, fitted to the terminal. */
export const printTable = <Row>(columns: readonly Column<Row>[], rows: readonly Row[]): Promise<void> =>
  printLines(tableLines(columns, rows, widthOf(io().stdout)))
