import { goneRow } from '../pages/trace.ts'
import type { ChangedMessage } from '../trace/messages/changed.ts'
import type { View } from '../../transcript/html/links.ts'
import { type Range, newRowRenderer } from '../../transcript/html/row-renderer.ts'
import { MOST_WAITING, type Turn } from '../../transcript/turns.ts'
import { type SessionValues, type RowSteps, showingOf, stepsOfMessages } from './row-steps.ts'
import { AROUND } from './trace-messages.ts'

/** A changed message with its place in the list. */
type PlacedChange = ChangedMessage & { readonly place: number }

/** The most places, far from each other, whose changes one answer shows: each costs a read. */
const MOST_RUNS = 12

/** The changes that one answer shows: the earliest ones, at no more than `MOST_RUNS` places far from each other. */
export const earliestChanges = (changes: readonly PlacedChange[]): readonly PlacedChange[] => {
  const starts: number[] = []
  const sorted = changes.toSorted((a, b) => (a.revision < b.revision ? -1 : 1))
  const end = sorted.findIndex(({ place }) => {
    if (!starts.some((start) => Math.abs(start - place) <= AROUND)) starts.push(place)
    return starts.length > MOST_RUNS
  })
  return end < 0 ? sorted : sorted.slice(0, end)
}

/** A message that has changed: its externalId, its place in the list, and whether it has been added. */
type Change = { readonly id: string; readonly place: number; readonly isNew: boolean }

export const changeOf = ({ external_id: id, place, revision, added }: PlacedChange): Change => ({
  id,
  place,
  isNew: revision === added,
})

/** The messages whose results a turn shows under its calls. */
const answersIn = ({ shown }: Turn): string[] =>
  shown.flatMap((one) => ('is' in one && typeof one.result === 'object' ? [one.result.messageId] : []))

/**
 * Whether a turn may have lost a result or a call when the message at a place changed: results stand in later messages than their calls, so a turn
 * before the place may show a call without its result, and a turn behind it a result without its call.
 */
const mayHaveLost = ({ ordinal, shown }: Turn, place: number): boolean => {
  if (place === ordinal || Math.abs(place - ordinal) > MOST_WAITING) return false
  return place > ordinal
    ? shown.some((one) => 'is' in one && typeof one.result !== 'object')
    : shown.some((one) => !('is' in one) && one.type === 'tool_result')
}

/** Makes the rows that changes have added, changed or removed, of messages near each other. */
export type ChangedRowsTask = SessionValues & {
  readonly is: 'changedRows'
  readonly view: View
  readonly range: Range
  readonly changes: readonly Change[]
}

export const newChangedRowSteps = (task: ChangedRowsTask): RowSteps => {
  const { range, changes, view } = task
  const changed = new Map(changes.map((change) => [change.id, change]))
  const updated = changes.filter(({ isNew }) => !isNew).map(({ place }) => place)
  /** The messages that exist, those that have a row, and those whose results stand under calls of other messages; by externalId. */
  const [existing, withRow, answers] = [new Set<string>(), new Set<string>(), new Set<string>()]
  /** The places of the messages that were read, by externalId. */
  const places = new Map<string, number>()

  const isWanted = (turn: Turn): boolean => {
    existing.add(turn.id)
    return (
      changed.has(turn.id) ||
      answersIn(turn).some((id) => changed.has(id)) ||
      updated.some((place) => mayHaveLost(turn, place))
    )
  }
  const session = newRowRenderer(
    { ...showingOf(task).showing, view },
    range,
    ({ turn, isShown }): undefined => {
      if (isShown) withRow.add(turn.id)
      for (const id of isShown ? answersIn(turn) : []) answers.add(id)
    },
    isWanted,
  )

  /** Whether a row that a page may show no longer exists. A new message had no row before. */
  const isGone = (id: string): boolean => {
    const change = changed.get(id)
    if (change) return !change.isNew && !withRow.has(id)
    return answers.has(id) && !existing.has(id)
  }

  return stepsOfMessages(
    function* ({ texts, ids }) {
      for (const [i, text] of texts.entries()) {
        places.set(ids[i]!, range.first.ordinal + places.size)
        yield* session.add(text)
      }
    },
    function* () {
      yield* session.end()
      for (const [id, place] of places)
        if (place >= range.from && place < range.to && isGone(id)) yield goneRow(id, place).source
    },
  )
}
