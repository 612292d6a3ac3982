import { UsageError } from '../../cli/exit.ts'
import type { TraceDetail, TraceUpsert } from '../../contract/trace.ts'
import type { Connection } from '../login/connect.ts'
import type { Reporter } from '../report/events.ts'
import { countOf } from '../report/text.ts'
import type { Duties } from '../state/duties.ts'
import { noStates, type SessionState } from '../state/session-states.ts'
import { toBatches } from '../upload/batches.ts'
import { eraseExposed } from '../upload/owed-erasures.ts'
import { serverTarget } from '../upload/server-target.ts'
import { type FileCounts, newFileCounts } from '../upload/session-report.ts'
import { newUpload, notice } from '../upload/upload.ts'
import { type Visibility, findOwnTrace } from '../upload/upsert-trace.ts'
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
  /** The path of the file, for reports and duties. */
  readonly file: string
  /** Undefined leaves it to `visibilityFor`. */
  readonly visibility: Visibility | undefined
  readonly report: Reporter
  /** What is left to do at the service. */
  readonly duties: Duties
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
  parentKind: true,
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
  childCount: false,
  usage: false,
  cost: false,
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

const stateOf = ({ file }: Import, { externalId }: ExportedTrace): SessionState => ({
  source: file,
  agentId: 'import',
  sessionId: externalId,
  externalId,
  status: 'new',
  fields: new Map(),
  files: new Map(),
})

const shorterNotice = (messages: number): string =>
  `the service has more of ${countOf(messages, 'message')} than the file: left as it is there`

/**
 * Writes an exported trace and its messages, as a first contact does. An existing trace keeps its other messages, and those that it has more of. A
 * repetition changes nothing, so an interrupted import is simply run again. @throws RequestFailed, Damaged, UsageError
 */
export const importTrace = async (opened: ExportFile, wanted: Import): Promise<Imported> => {
  const { connection } = wanted
  const { trace } = opened
  const found = await findOwnTrace(connection, trace.externalId)
  const visibility = visibilityFor(wanted.visibility, found, trace.visibility)
  const counts = newFileCounts()
  const upload = newUpload(
    { counts, report: wanted.report, newLosses: (losses) => losses, about: {} },
    { connection, states: noStates(wanted.duties), visibility },
    stateOf(wanted, trace),
    { force: false, overrules: true, replacesTitle: () => true, dryRun: false },
  )
  let isComplete = false
  try {
    await serverTarget.upsertTrace(upload, new Map(Object.entries(fieldsOf(trace))))
    // One batch after the other: messages without an order of their own keep that of their arrival.
    for await (const batch of toBatches(opened.read())) await serverTarget.send(upload, batch)
    isComplete = true
  } finally {
    await eraseExposed(upload, isComplete)
  }
  if (wanted.visibility === undefined && !found && visibility !== trace.visibility)
    notice(upload, `it was ${trace.visibility}: stored as ${visibility}; --visibility ${trace.visibility} publishes it`)
  if (upload.shorter > 0) notice(upload, shorterNotice(upload.shorter))
  const { externalId } = upload.state
  const { messageCount = opened.messages } = await connection.api.trace(externalId)
  const messages = opened.messages - counts.leftOut
  const others = Math.max(0, messageCount - messages)
  return { ...counts, messages, externalId, namespace: connection.namespaceSlug, visibility, others }
}
