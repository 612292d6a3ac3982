import { io } from '../cli/io.ts'
import { UsageError, exitCodes } from '../cli/exit.ts'
import { printDocument } from '../cli/output.ts'
import { printTable } from '../cli/table.ts'
import { readConfig } from '../server/config.ts'
import { findDatabaseUrl } from './support/database.ts'
import { withLog } from './support/with-log.ts'
import { type NamespaceOfService, readNamespaces } from './support/service-lists.ts'
import type { ClientOptions } from './support/access.ts'

/** How much of a quota is used, in percent, rounded up. */
const percentOf = (used: number, quota: number): number => Math.ceil((used / quota) * 100)

type Use = { readonly used: number; readonly quota?: number; readonly percent?: number }

const useOf = (used: number, quota: number | undefined): Use =>
  quota === undefined ? { used } : { used, quota, percent: percentOf(used, quota) }

/** Lists all namespaces of a service with their sizes, from its database. @throws UsageError with --server */
export const listAll = async ({ server, json = false }: ClientOptions): Promise<number> => {
  if (server !== undefined)
    throw new UsageError('--all reads the database of a service, not a server: leave out --server.')
  const config = readConfig(io().env)
  const { QUOTA_TRACES, QUOTA_BYTES } = config
  await findDatabaseUrl(config).catch((error: Error) => {
    throw new UsageError(`--all is for operators and reads the database of a service. ${error.message}`)
  })
  return withLog(async ({ url }) => {
    const namespaces = await readNamespaces(url)
    const traces = ({ traces: used }: NamespaceOfService) => useOf(used, QUOTA_TRACES)
    const bytes = ({ bytes: used }: NamespaceOfService) => useOf(used, QUOTA_BYTES)
    const column = (head: string, use: (namespace: NamespaceOfService) => Use) => {
      const isLimited = namespaces.some((one) => use(one).percent !== undefined)
      const right = { align: 'right' as const }
      return [
        { head, cell: (one: NamespaceOfService) => `${use(one).used}`, ...right },
        ...(isLimited ? [{ head: '%', cell: (one: NamespaceOfService) => `${use(one).percent}`, ...right }] : []),
      ]
    }
    if (json)
      for (const one of namespaces) {
        const { id, slug, displayName, type, members } = one
        const namespace = { id, slug, displayName, type }
        await printDocument({ type: 'usage', namespace, members, traces: traces(one), bytes: bytes(one) })
      }
    else {
      const columns = [
        { head: 'slug', cell: ({ slug }: NamespaceOfService) => slug },
        { head: 'name', cell: ({ displayName }: NamespaceOfService) => displayName, min: 8, drop: 2 },
        { head: 'type', cell: ({ type }: NamespaceOfService) => type, drop: 1 },
        { head: 'members', cell: ({ members }: NamespaceOfService) => `${members}`, align: 'right' as const },
        ...column('traces', traces),
        ...column('bytes', bytes),
      ]
      await printTable(columns, namespaces)
    }
    return exitCodes.ok
  })
}
