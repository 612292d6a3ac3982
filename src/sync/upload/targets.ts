import { digest } from '../agents/keys.ts'
import type { Upserted } from '../api/client.ts'
import type { Connection } from '../login/connect.ts'
import { hasStatus, RequestFailed } from '../api/errors.ts'
import type { Outgoing } from './encode.ts'
import { otherId, placeTrace, updateTrace, type Visibility } from './upsert-trace.ts'
import type { Report } from '../report/events.ts'
import type { FileState, States } from './file-states.ts'
import type { Target } from './upload-session.ts'

/** The counts of one file, kept while it is uploaded. */
export type Counter = { messages: number; new: number; updated: number; leftOut: number; skippedLines: number }

export const newCounter = (): Counter => ({ messages: 0, new: 0, updated: 0, leftOut: 0, skippedLines: 0 })

export type Destination = {
  readonly connection: Connection
  readonly states: States
  readonly visibility?: Visibility | undefined
  readonly report: Report
}

const leftOut =
  (report: Report, state: FileState, counter: Counter): Target['leftOut'] =>
  ({ externalId, line }, why) => {
    counter.leftOut++
    const message = `message ${externalId}: ${why}`
    report({ type: 'problem', kind: 'message_left_out', file: state.path, line, externalId, message })
  }

const cut =
  (report: Report, { path, externalId }: FileState): Target['cut'] =>
  (message) =>
    report({ type: 'notice', file: path, externalId, message })

/** Counts what would be sent. */
export const rehearsal = ({ report }: Destination, state: FileState, counter: Counter): Target => ({
  place: async () => true,
  send: async (batch) => {
    counter.messages += batch.length
    const known = batch.filter(({ externalId }) => state.messages.has(externalId)).length
    counter.new += batch.length - known
    counter.updated += known
    report({ type: 'progress', messages: batch.length })
  },
  cut: cut(report, state),
  leftOut: leftOut(report, state, counter),
})

const place = async (
  { connection, visibility, report }: Destination,
  state: FileState,
  news: ReadonlyMap<string, string>,
) => {
  const wanted = { fields: Object.fromEntries(news), visibility }
  if (state.stored) return updateTrace(connection, state.externalId, wanted)
  const externalId = await placeTrace(connection, state.sessionId, wanted)
  if (externalId === undefined) {
    const ids = `${state.sessionId} and ${otherId(state.sessionId, connection)}`
    throw new RequestFailed(`somebody else holds the ids ${ids}`, { status: 409 })
  }
  if (externalId !== state.sessionId) {
    const message = `somebody else holds the id ${state.sessionId}: stored as ${externalId}`
    report({ type: 'notice', file: state.path, externalId, message })
  }
  state.externalId = externalId
  state.stored = true
  return true
}

/** The upload of one file. */
type Upload = Destination & {
  readonly state: FileState
  readonly counter: Counter
  readonly reject: Target['leftOut']
}

const acknowledge = async (upload: Upload, batch: readonly Outgoing[], answer: Upserted): Promise<void> => {
  const { state, counter, states, report } = upload
  const { created, updated, unchanged } = answer
  counter.messages += created + updated + unchanged
  counter.new += created
  counter.updated += updated
  for (const message of batch) state.messages.set(message.externalId, message.digest)
  await states.write(state)
  report({ type: 'progress', messages: batch.length })
}

// A batch is all or nothing: one message that the server refuses must not keep the others out.
const send = async (upload: Upload, batch: readonly Outgoing[]): Promise<void> => {
  const { connection, state, reject } = upload
  const texts = batch.map(({ json }) => json)
  const answer = await connection.api.upsertMessages(state.externalId, texts).catch((error: unknown) => {
    if (!hasStatus(error, 400, 413)) throw error
    return error
  })
  if (!(answer instanceof RequestFailed)) return acknowledge(upload, batch, answer)
  const half = Math.ceil(batch.length / 2)
  if (batch.length === 1) return reject(batch[0]!, `the server refused it (${answer.message}): left out`)
  await send(upload, batch.slice(0, half))
  await send(upload, batch.slice(half))
}

/** Uploads to the server, and writes down what it acknowledged after each request. */
export const server = (destination: Destination, state: FileState, counter: Counter): Target => {
  const reject = leftOut(destination.report, state, counter)
  const upload: Upload = { ...destination, state, counter, reject }
  return {
    place: async (news) => {
      if (!(await place(destination, state, news))) return false
      for (const [name, value] of news) state.fields.set(name, digest(value))
      await destination.states.write(state)
      return true
    },
    send: (batch) => send(upload, batch),
    cut: cut(destination.report, state),
    leftOut: reject,
  }
}
