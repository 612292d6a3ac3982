import { io } from '../../cli/io.ts'
import { stateDir } from '../../client/config.ts'
import type { AgentOverview, Changes, Ruled, Sent } from '../../client/overview.ts'
import { readRedactionOptions } from '../../client/redaction/options.ts'
import { countOf } from '../../client/report/text.ts'
import { openOutlook } from '../../client/rules/outlook.ts'
import { openSyncState } from '../../client/state/sync-state.ts'

/** The sums over several agents on this machine. `changes` is undefined if it is unknown what was sent. */
export type Total = Pick<AgentOverview, 'files' | 'sessions' | 'changes' | 'ruled' | 'expiring' | 'linked'>

const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0)

const sumOf = (changes: readonly Changes[]): Changes => ({
  new: sum(changes.map((one) => one.new)),
  changed: sum(changes.map((one) => one.changed)),
  unchanged: sum(changes.map((one) => one.unchanged)),
})

/** `isKnown`: whether it is known what was sent. */
export const totalOf = (overviews: readonly AgentOverview[], isKnown: boolean): Total => ({
  files: sum(overviews.map(({ files }) => files)),
  sessions: sum(overviews.map(({ sessions }) => sessions)),
  changes: isKnown ? sumOf(overviews.flatMap(({ changes }) => changes ?? [])) : undefined,
  ruled: overviews.flatMap(({ ruled }) => ruled),
  linked: overviews.flatMap(({ linked }) => linked),
  expiring: {
    sessions: sum(overviews.map(({ expiring }) => expiring.sessions)),
    unsent: isKnown ? sum(overviews.map(({ expiring }) => expiring.unsent ?? 0)) : undefined,
  },
})

/** How many sessions have one of these statuses by rules. */
export const countRuled = (ruled: readonly Ruled[], ...statuses: readonly Ruled['status'][]): number =>
  sum(ruled.filter(({ status }) => statuses.includes(status)).map(({ sessions }) => sessions))

const ruledNames: Readonly<Record<Ruled['status'], string>> = {
  excluded: 'excluded',
  held: 'held until you confirm',
  elsewhere: 'to other namespaces',
  failed: 'with unusable rules',
}

/** Such as `1 new, 2 excluded`; zeros are left out. */
export const kindsText = (counts: readonly (readonly [name: string, count: number])[], ruled: readonly Ruled[]) =>
  [
    ...counts,
    ...(Object.keys(ruledNames) as Ruled['status'][]).map(
      (status) => [ruledNames[status], countRuled(ruled, status)] as const,
    ),
  ]
    .filter(([, count]) => count > 0)
    .map(([name, count]) => `${count} ${name}`)
    .join(', ')

/** Such as `3 sessions that Claude Code deletes within a week, 2 of them not sent`; undefined for none. */
export const expiringText = (agent: string, { sessions, unsent }: Total['expiring']): string | undefined => {
  if (sessions === 0) return undefined
  const text = `${countOf(sessions, 'session')} that ${agent} deletes within a week`
  if (unsent === undefined) return text
  return `${text}, ${unsent === 0 ? 'all of them sent' : `${unsent} of them not sent`}`
}

/** The record of what was sent to a namespace, and how many parts of each unknown kind were left out. */
export const sentTo = async (
  config: string,
  server: string,
  { namespaceId, namespaceSlug }: { readonly namespaceId: string; readonly namespaceSlug: string },
): Promise<Sent & { readonly leftOut: ReadonlyMap<string, number> }> => {
  const state = openSyncState({ folder: stateDir(io().env), config, readOnly: true })
  const where = { env: io().env, home: io().home, config, server }
  return {
    leftOut: state.unknownKinds(),
    states: await state.of({ server, namespaceId }),
    redaction: await readRedactionOptions(config),
    ruleFor: await openOutlook({ ...where, loginNamespace: namespaceSlug, origins: state }),
  }
}
