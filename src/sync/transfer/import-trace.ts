import { UsageError } from '../../cli/exit.ts'
import type { TraceDetail, TraceUpsert } from '../../contract/trace.ts'
import { RequestFailed } from '../api/errors.ts'
import type { Connection } from '../login/connect.ts'
import type { Reporter } from '../report/events.ts'
import { noStates } from '../state/session-states.ts'
import { toBatches } from '../upload/batches.ts'
import type { EncodedMessage } from '../upload/encode.ts'
import { sendBatch } from '../upload/server-target.ts'
import { type FileCounts, newFileCounts, type Upload } from '../upload/upload.ts'
import { type Visibility, findOwnTrace, upsertTrace } from '../upload/upsert-trace.ts'
import type { ExportFile, ExportedTrace } from './export-file.ts'

/** What an import has done. */
export type Imported = FileCounts & {
  readonly externalId: string
  readonly namespace: string
  readonly visibility: Visibility
  /** How many messages of the trace are not in the file. */
  readonly others: number
}

type Import = {
  readonly connection: Connection
  /** The path of the file, for reports. */
  readonly file: string
  /** Undefined leaves it to `visibilityFor`. */
  readonly visibility: Visibility | undefined
  readonly report: Reporter
}

/** Whether an import sends a field of the file; the others are the service's own, or the import decides them. */
const isSent = {
  agentId: true,
  title: true,
  projectPath: true,
  projectName: true,
  model: true,
  gitRemoteUrl: true,
  gitBranch: true,
  gitRef: true,
  parentExternalId: true,
  parentCallId: true,
  id: false,
  externalId: false,
  visibility: false,
  namespace: false,
  createdAt: false,
  createdBy: false,
  updatedAt: false,
  startedAt: false,
  endedAt: false,
  modelName: false,
  messageCount: false,
  messageTypeCounts: false,
  toolTypeCounts: false,
  shape: false,
  ai_title: false,
  ai_summary: false,
  summaryMessageCount: false,
} as const satisfies { readonly [Name in keyof TraceDetail]-?: Name extends keyof TraceUpsert ? boolean : false }

/** The fields to send: also those that a newer version has written, which only the service may know. */
export const fieldsOf = (trace: ExportedTrace | TraceDetail): Record<string, string> =>
  Object.fromEntries(
    Object.entries(trace).flatMap(([name, value]): [string, string][] =>
      typeof value === 'string' && (!Object.hasOwn(isSent, name) || isSent[name as keyof typeof isSent])
        ? [[name, value]]
        : [],
    ),
  )

/**
 * The visibility that is asked for; otherwise that of the existing trace; otherwise that of the file, but never public: a file alone does not
 * publish anything. @throws UsageError if messages would be added to a public trace and the user has not said so
 */
const visibilityFor = (
  asked: Visibility | undefined,
  found: { readonly visibility: Visibility } | undefined,
  exported: Visibility,
): Visibility => {
  if (asked !== undefined) return asked
  if (found?.visibility === 'public')
    throw new UsageError('The trace exists and is public: say with --visibility who may read what is imported.')
  return found?.visibility ?? (exported === 'public' ? 'private' : exported)
}

/**
 * Writes an exported trace and its messages. An existing trace keeps its other messages. A repetition changes nothing, so an interrupted
 * import is simply run again. @throws RequestFailed, Damaged, UsageError
 */
export const importTrace = async (opened: ExportFile, wanted: Import): Promise<Imported> => {
  const { connection, file, report } = wanted
  const { trace } = opened
  const found = await findOwnTrace(connection, trace.externalId)
  const visibility = visibilityFor(wanted.visibility, found, trace.visibility)
  const upserted = await upsertTrace(connection, trace.externalId, { fields: fieldsOf(trace), visibility })
  if (!upserted) throw new RequestFailed(`another user has the id ${trace.externalId}`, { status: 409 })
  const { externalId } = upserted
  const notice = (message: string) => report({ type: 'notice', file, externalId, message })
  if (externalId !== trace.externalId) notice(`another user has the id ${trace.externalId}: stored as ${externalId}`)
  if (wanted.visibility === undefined && !found && visibility !== trace.visibility)
    notice(`it was ${trace.visibility}: stored as ${visibility}; --visibility ${trace.visibility} publishes it`)
  const counts = await sendMessages(opened.read(), { ...wanted, visibility }, externalId)
  const { messageCount = opened.messages } = await connection.api.trace(externalId)
  const others = Math.max(0, messageCount - (opened.messages - counts.leftOut))
  return { ...counts, externalId, namespace: connection.namespaceSlug, visibility, others }
}

const sendMessages = async (
  messages: AsyncIterable<EncodedMessage>,
  { connection, file, visibility, report }: Import,
  externalId: string,
): Promise<FileCounts> => {
  const counts = newFileCounts()
  const upload: Upload = {
    // A repetition sends everything again, and changes nothing.
    destination: { connection, states: noStates, visibility },
    state: { source: file, agentId: 'import', sessionId: externalId, externalId, status: 'stored', fields: new Map() },
    ...{
      messageDigest: () => undefined,
      isFirstContact: false,
      unlessDeleted: false,
      shorter: 0,
      traceExisted: false,
      isCountChecked: true,
      hasWritten: false,
    },
    counts,
    report,
  }
  // One after the other: messages without an order of their own keep that of their arrival.
  for await (const batch of toBatches(messages)) await sendBatch(upload, batch)
  return counts
}
