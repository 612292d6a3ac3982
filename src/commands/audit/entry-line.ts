import stringWidth from 'string-width'
import { escapeControls } from '../../cli/escape.ts'
import { localTime, shortTime } from '../../cli/time-text.ts'
import type { TimelineEntry } from '../../sync/api/history.ts'
import { fitToColumns } from '../../cli/fit-to-columns.ts'

const [SHORT_TIME, TIME, REVISION, WHO, TRACE] = [19, 29, 6, 16, 36]
/** The actor of entries that no user caused. */
const SERVICE = 'Tracebook'

const padded = (text: string, width: number) => text + ' '.repeat(Math.max(0, width - stringWidth(text)))

/** On a terminal up to this width times and ids are short, and only the sentence names the actor. */
const NARROW = 110
const SHORT_ID = 8

const narrowCells = ({ at, revision, trace, text }: TimelineEntry, namesTrace: boolean): readonly string[] => [
  padded(shortTime(at), SHORT_TIME),
  `@${revision}`,
  ...(namesTrace ? [padded(fitToColumns(trace?.externalId.slice(0, SHORT_ID) ?? '-', SHORT_ID), SHORT_ID)] : []),
  escapeControls(text),
]

/**
 * An entry on one line: time, revision, actor, in a namespace's timeline the trace, and the sentence. The line is cut to `columns`, the
 * width of the terminal; undefined for a pipe or a file.
 */
export const entryLine = (entry: TimelineEntry, namesTrace: boolean, columns: number | undefined): string => {
  if (columns !== undefined && columns <= NARROW)
    return fitToColumns(narrowCells(entry, namesTrace).join('  '), columns)
  const { at, revision, actor, trace, text } = entry
  const cell = (value: string, width: number) =>
    padded(columns === undefined ? escapeControls(value) : fitToColumns(value, width), width)
  const cells = [
    columns === undefined ? padded(localTime(at), TIME) : padded(shortTime(at), SHORT_TIME),
    `@${revision}`.padStart(REVISION),
    cell(actor === undefined ? SERVICE : (actor.displayName ?? actor.userId), WHO),
    ...(namesTrace ? [cell(trace?.externalId ?? '-', TRACE)] : []),
    escapeControls(text),
  ]
  const line = cells.join('  ')
  return columns === undefined ? line : fitToColumns(line, columns)
}
