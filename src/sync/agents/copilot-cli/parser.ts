import type { SessionMessage } from '../agent.ts'
import { acceptedId } from '../support/external-ids.ts'
import { type LineParser, noMessages, type Start } from '../support/line-parser.ts'
import type { ObjectLine } from '../support/lines.ts'
import { newOutline, type Outline, type SavedOutline, traceFieldsOf } from '../support/trace-fields.ts'
import { newReading, readLine, type SavedReading, saveReading } from './messages.ts'
import { type Details, idInPath, isEvent, noteDetails, workspaceName } from './session.ts'

/** What later lines need of the lines before them. */
type Saved = { readonly details: Details; readonly outline: SavedOutline; readonly reading: SavedReading }

type State = {
  readonly details: Details
  readonly outline: Outline
  readonly reading: ReturnType<typeof newReading>
}

const start = ({ saved, ahead }: Start<State, Saved>): State => ({
  details: { ...saved?.details },
  outline: newOutline(saved?.outline),
  reading: newReading(saved?.reading, ahead !== undefined),
})

const step = ({ details, outline, reading }: State, line: ObjectLine): readonly SessionMessage[] => {
  noteDetails(details, line.json)
  const message = readLine(reading, line)
  if (!message) return noMessages
  outline.note(message)
  return [message]
}

/** Reads the events of a session (README). Raise the number in `version` when `Saved` changes. */
export const parserOf = (agentId: string, version: number): LineParser<State, Saved> => ({
  version: `${agentId}/${version}/1`,
  understands: isEvent,
  start,
  step,
  describe: ({ details, outline }, path) => ({
    externalId: acceptedId(details.sessionId ?? idInPath(path), 'session'),
    trace: traceFieldsOf(agentId, {
      title: workspaceName(path) ?? outline.title(),
      projectPath: details.cwd,
      model: outline.model() ?? details.model,
      gitBranch: details.branch,
      gitRef: details.commit,
      gitRemoteUrl: details.remote,
    }),
  }),
  save: ({ details, outline, reading }) => ({
    details: { ...details },
    outline: outline.save(),
    reading: saveReading(reading),
  }),
})
