import { inSteps } from '../base/json/steps.ts'
import { type ChangesPage, restOfChanges } from '../pages/changes.ts'
import { newChanges } from '../transcript/changes.ts'
import { type Range, newRowRenderer } from '../transcript/html/row-renderer.ts'
import { readMessage } from '../transcript/message.ts'
import { isAbout } from '../transcript/turns.ts'
import { type OfSession, type RowSteps, type WantedRows, newRowSteps, showingOf, stepsOfMessages } from './row-steps.ts'
import { type WantedChangedRows, newChangedRowSteps } from './trace-changed-rows.ts'

/** The row of one message, with nothing folded. */
type WantedMessage = OfSession & { readonly is: 'message'; readonly id: string; readonly range: Range }

/** What a session changed, file by file: the page after its title. */
type WantedChanges = { readonly is: 'changes'; readonly page: ChangesPage }

/** What is made of the messages of a session, by values that can be sent to a thread. */
export type Wanted = WantedRows | WantedChangedRows | WantedMessage | WantedChanges

const newMessageSteps = (wanted: WantedMessage): RowSteps => {
  const { id, range } = wanted
  const isWanted = (turn: Parameters<typeof isAbout>[0]) => isAbout(turn, id)
  const session = newRowRenderer({ ...showingOf(wanted).showing, isWhole: true }, range, undefined, isWanted)
  return stepsOfMessages(function* ({ texts }) {
    for (const text of texts) yield* session.add(text)
  }, session.end)
}

const newChangesSteps = ({ page }: WantedChanges): RowSteps => {
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

export const newSteps = (wanted: Wanted): RowSteps => {
  switch (wanted.is) {
    case 'rows':
      return newRowSteps(wanted)
    case 'changedRows':
      return newChangedRowSteps(wanted)
    case 'message':
      return newMessageSteps(wanted)
    case 'changes':
      return newChangesSteps(wanted)
  }
}
