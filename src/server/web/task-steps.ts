import { inSteps } from '../../base/json/steps.ts'
import { type ChangesPage, restOfChanges } from '../pages/changes.ts'
import { newChanges } from '../../transcript/changes.ts'
import { type Range, newRowRenderer } from '../../transcript/html/row-renderer.ts'
import { readMessage } from '../../transcript/message.ts'
import { isAbout } from '../../transcript/turns.ts'
import {
  type SessionValues,
  type RowSteps,
  type RowsTask,
  newRowSteps,
  showingOf,
  stepsOfMessages,
} from './row-steps.ts'
import { type ChangedRowsTask, newChangedRowSteps } from './trace-changed-rows.ts'

/** Makes the row of one message, with nothing folded. */
type MessageTask = SessionValues & { readonly is: 'message'; readonly id: string; readonly range: Range }

/** Makes the page of changes after its title: what the calls of a session changed, file by file. */
type ChangesTask = { readonly is: 'changes'; readonly page: ChangesPage }

/** What the thread is to make of the messages of a session. All values can be sent to a thread. */
export type RowTask = RowsTask | ChangedRowsTask | MessageTask | ChangesTask

const newMessageSteps = (task: MessageTask): RowSteps => {
  const { id, range } = task
  const isWanted = (turn: Parameters<typeof isAbout>[0]) => isAbout(turn, id)
  const session = newRowRenderer({ ...showingOf(task).showing, isWhole: true }, range, undefined, isWanted)
  return stepsOfMessages(function* ({ texts }) {
    for (const text of texts) yield* session.add(text)
  }, session.end)
}

const newChangesSteps = ({ page }: ChangesTask): RowSteps => {
  const changes = newChanges()
  return stepsOfMessages(
    function* ({ texts }) {
      for (const text of texts) {
        const message = yield* inSteps(readMessage(text), '')
        yield* inSteps(changes.add(message), '')
      }
    },
    function* () {
      for (const { source } of restOfChanges(changes.end(), page)) yield source
    },
  )
}

export const newSteps = (task: RowTask): RowSteps => {
  switch (task.is) {
    case 'rows':
      return newRowSteps(task)
    case 'changedRows':
      return newChangedRowSteps(task)
    case 'message':
      return newMessageSteps(task)
    case 'changes':
      return newChangesSteps(task)
  }
}
