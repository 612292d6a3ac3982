import type { UpsertCounts } from '../api/client.ts'
import { hasStatus } from '../api/errors.ts'
import { pause } from '../../base/waits.ts'
import { NOT_COMPARED, type NotedMessage } from '../state/session-states.ts'
import { SessionLost } from './same-log.ts'
import { listMessages } from './stored-messages.ts'
import type { Upload } from './upload.ts'

/** Other machines write to a trace all the time. */
export class TraceBusy extends Error {
  override readonly name = 'TraceBusy'
  constructor() {
    super('another machine is uploading this session: the next run continues')
  }
}

/** How often a write is repeated because others have written to the trace in between. */
const REPEATS = 5
const FIRST_PAUSE_MS = 50

/** Notes that the trace exists. */
export const noteStored = (upload: Upload): void => {
  upload.state = { ...upload.state, status: 'stored' }
  upload.destination.states.write(upload.state)
}

/**
 * Learns what others have written to a trace since the revision that is known, or, if none is, what the service has: these messages are compared
 * before they are sent. False if the namespace has no such trace. Throws RequestFailed, and SessionLost if the service has lost that revision.
 */
export const catchUp = async (upload: Upload): Promise<boolean> => {
  const {
    destination: { connection },
    unknown,
  } = upload
  const { revision: from, externalId } = upload.state
  const mark = (ids: readonly string[]) => {
    if (upload.state.status !== 'stored') noteStored(upload)
    setRevision(
      upload,
      from,
      ids.map((externalId) => ({ externalId, digest: NOT_COMPARED, isTheirs: true })),
    )
  }
  const listed = await listMessages(connection, externalId, from, mark)
  if (!listed) return false
  // As after a restored backup.
  if (from !== undefined && listed.revision < from) throw new SessionLost()
  unknown.unshift(listed)
  setRevision(upload, listed.revision)
  return true
}

/** Notes what the service has of messages, once its trace has got to a revision. */
export const setRevision = (upload: Upload, to: number | undefined, messages: readonly NotedMessage[] = []): void => {
  const { state, destination } = upload
  destination.states.note(state, messages, { from: state.revision, to })
  upload.state = { ...state, revision: to }
}

/**
 * The revision that a trace has got by a batch. If the batch has changed nothing, others may have changed other messages since the revision that
 * was known.
 */
export const revisionAfterBatch = (
  known: number | undefined,
  { created, updated, revision }: UpsertCounts,
): number | undefined => (known !== undefined && created + updated > 0 ? revision : known)

/** The same for a change of its fields. One that others have made already is none, and may come after other changes of theirs. */
export const revisionAfterPatch = (
  known: number | undefined,
  { revision }: { readonly revision?: number | undefined },
): number | undefined => (known !== undefined && revision === known + 1 ? revision : known)

const isChanged = (error: unknown): boolean => hasStatus(error, 409) && error.code === 'changed'

/**
 * Does `write`, which is refused if others have written to the trace since it was compared; then learns by `catchUp` what they have written, and
 * does it again. Throws TraceBusy if they go on, and what `write` and `catchUp` throw.
 */
export const whileOthersWrite = async <T>(write: () => Promise<T>, catchUp: () => Promise<void>): Promise<T> => {
  for (let repeats = 0; ; repeats++)
    try {
      return await write()
    } catch (error) {
      if (!isChanged(error)) throw error
      if (repeats === REPEATS) throw new TraceBusy()
      // Otherwise the slower one would never be the first.
      if (repeats > 0) await pause(FIRST_PAUSE_MS * 2 ** repeats * (0.5 + Math.random() / 2))
      await catchUp()
    }
}

/** The same for a write that expects the trace to be at `upload.state.revision`. */
export const expecting = <T>(upload: Upload, write: () => Promise<T>): Promise<T> =>
  whileOthersWrite(write, async () => {
    if (!(await catchUp(upload))) upload.state = { ...upload.state, revision: undefined }
  })
