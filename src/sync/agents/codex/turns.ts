import type { SessionMessage } from '../agent.ts'
import type { Json } from '../support/json.ts'
import { NeedsWhole } from '../support/line-parser.ts'
import { titleOfPrompt } from '../support/trace-fields.ts'

/** What is kept of turns, as plain JSON: the title that the first one gives. */
export type SavedTurns = { readonly title?: string | undefined }

/** How many turns an event takes back; 0 for other events. */
const takenBack = ({ type, num_turns: count }: Json): number =>
  type === 'thread_rolled_back' && typeof count === 'number' && count > 0 ? Math.floor(count) : 0

/** The turns of a session, each of which begins with a prompt, and the lines that were taken back (README, rule 12). */
export const newTurns = (saved?: SavedTurns) => {
  const starts: number[] = []
  const undone: { readonly from: number; readonly to: number }[] = []
  let title = saved?.title
  let changes = 0
  return {
    notePrompt: (message: SessionMessage): void => {
      if (message.role !== 'user' || !message.parts.some(({ type }) => type === 'text')) return
      changes++
      starts.push(message.order)
      title ??= titleOfPrompt(message)
    },
    /** Throws NeedsWhole if turns are taken back that come before the saved state. */
    noteEvent: (payload: Json, line: number): void => {
      const count = takenBack(payload)
      if (count === 0) return
      changes++
      if (saved && count > starts.length) throw new NeedsWhole()
      const [from] = starts.splice(Math.max(0, starts.length - count))
      if (from !== undefined) undone.push({ from, to: line })
      if (starts.length === 0) title = saved?.title
    },
    isUndone: (line: number): boolean => undone.some(({ from, to }) => from <= line && line < to),
    /** A number that grows with each prompt, and each time that turns are taken back. */
    changes: () => changes,
    /** The first prompt, shortened. */
    title: () => title,
    save: (): SavedTurns => ({ title }),
  }
}
export type Turns = ReturnType<typeof newTurns>
