import { mkdir, stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { commandName } from '../cli/command-name.ts'
import { UsageError, errorMessage, exitCodes } from '../cli/exit.ts'
import { printDocument, printLines, say } from '../cli/output.ts'
import { type RequestFailed, hasStatus, isTemporaryFailure } from '../client/api/errors.ts'
import { type ListedTrace, newTracesClient } from '../client/api/traces.ts'
import { sessionHasEnded } from '../client/login/connect.ts'
import { countOf } from '../client/report/text.ts'
import { BROKE_OFF, download } from '../client/transfer/download.ts'
import { fileNameOf } from '../client/transfer/output-file.ts'
import { writeWhole } from '../client/transfer/output-file.ts'
import { type Access, connectLogin, explainNamespace, noticedTiming, patientTiming } from './support/access.ts'
import { openAccount } from './support/account.ts'
import { tracePages } from './support/pages.ts'
import { type Format, type Options, pathOf } from './support/export-path.ts'

type AllOptions = Options & { readonly folder: string }

/** The namespace, and which of its traces are exported: all for its admins, else the user's own. */
type Place = { readonly slug: string; readonly isMine: (trace: ListedTrace) => boolean }

const placeOf = async (access: Access): Promise<Place> => {
  const { account, asLogin } = await openAccount(access)
  const { namespaceSlug } = await connectLogin(access)
  const { user } = await asLogin(account.session())
  const slug = access.namespace?.trim().toLowerCase() ?? namespaceSlug
  const namespace = (await asLogin(account.namespaces())).find((one) => one.slug === slug)
  if (!namespace)
    throw new UsageError(
      `You are a member of no namespace "${slug}". To list your namespaces, run: ${commandName} namespaces`,
    )
  // Older services do not say in lists who created a trace.
  const isMine = ({ createdBy = user.id }: ListedTrace) => namespace.role === 'admin' || createdBy === user.id
  return { slug: namespace.slug, isMine }
}

const writtenAt = ({ updatedAt, createdAt }: ListedTrace): number => updatedAt ?? createdAt

/** Whether the file of a trace is up to date: it has the time of the trace's last change. */
const isWritten = async (file: string, trace: ListedTrace): Promise<boolean> => {
  const found = await stat(file).catch(() => undefined)
  return found?.isFile() === true && Math.round(found.mtimeMs) === writtenAt(trace)
}

const CONTINUE = 'Run the same command again to continue.'

/** After this many temporary failures in a row the service is considered away. */
const MOST_IN_A_ROW = 3

/** Stops the export when all other traces would fail, too: the session has ended, the service is away, or the disk cannot be written. */
const newStop = (server: string) => {
  let inARow = 0
  return {
    worked: () => void (inARow = 0),
    failed: (error: unknown): void => {
      if (hasStatus(error, 401)) throw sessionHasEnded(server)
      const { code = '' } = error as { readonly code?: string }
      const isTemporary = isTemporaryFailure(error) && code !== BROKE_OFF
      inARow = isTemporary ? inARow + 1 : 0
      const isAway = isTemporary && ((error as RequestFailed).status === undefined || inARow === MOST_IN_A_ROW)
      if (isAway || ['ENOSPC', 'EDQUOT', 'EROFS', 'EACCES'].includes(code))
        throw new Error(`${errorMessage(error).replace(/[^.?!]$/, '$&.')} ${CONTINUE}`, { cause: error })
    },
  }
}

type Counts = { exported: number; skipped: number; failed: number; others: number }

const summaryText = ({ exported, skipped, failed, others }: Counts, { folder }: AllOptions): string =>
  [
    `exported ${countOf(exported, 'session')} to ${folder}`,
    skipped > 0 && `skipped ${countOf(skipped, 'session')}, unchanged since the last export`,
    failed > 0 && `${countOf(failed, 'session')} failed`,
    others > 0 && `left out ${countOf(others, 'session')} of other members`,
  ]
    .filter(Boolean)
    .join(', ')

/** Writes a trace, and gives its file the time of the trace's last change. */
const write = async (access: Access, file: string, trace: ListedTrace, path: string): Promise<number> => {
  const token = await access.token()
  const bytes = await writeWhole(file, download({ server: access.server, path, token, timing: noticedTiming }))
  const at = new Date(writtenAt(trace))
  await utimes(file, at, at)
  return bytes
}

export const exportAll = async (access: Access, options: AllOptions): Promise<number> => {
  const { folder, json = false } = options
  const { server } = access
  const format: Format = options.format ?? 'md'
  const { slug, isMine } = await placeOf(access)
  await mkdir(folder, { recursive: true, mode: 0o700 }).catch((error: unknown) => {
    throw new UsageError(`The folder ${folder} cannot be created: ${errorMessage(error)}`, { cause: error })
  })
  const stop = newStop(server)
  const counts: Counts = { exported: 0, skipped: 0, failed: 0, others: 0 }

  const exportOne = async (trace: ListedTrace): Promise<void> => {
    const { externalId } = trace
    const file = join(folder, `${fileNameOf(externalId)}.${format}`)
    if (!isMine(trace)) return void counts.others++
    if (await isWritten(file, trace)) return void counts.skipped++
    try {
      const bytes = await write(access, file, trace, pathOf(externalId, slug, { format }))
      stop.worked()
      counts.exported++
      if (json) await printDocument({ type: 'export', externalId, format, file, bytes })
      else await printLines([file])
    } catch (error) {
      stop.failed(error)
      counts.failed++
      const message = errorMessage(error)
      if (json) await printDocument({ type: 'failed', externalId, file, message })
      else say(`${externalId} was not exported: ${message}`)
    }
  }

  const traces = newTracesClient(server, await access.token(), patientTiming)
  const read = (page: Parameters<typeof traces.list>[1]) =>
    traces.list(slug, page).catch(explainNamespace(slug, server))
  for await (const page of tracePages(read, 100)) for (const trace of page) await exportOne(trace)
  const exitCode = counts.failed > 0 ? exitCodes.failed : exitCodes.ok
  if (json) await printDocument({ type: 'summary', ...counts, exitCode })
  else await printLines([summaryText(counts, options)])
  return exitCode
}
