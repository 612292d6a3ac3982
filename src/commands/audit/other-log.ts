import type { TrustedKeys } from '../../server/proof/verify/verify-log.ts'
import { serverKey } from '../../client/server-key.ts'
import { type Kept, readAllKept } from './kept-checkpoint.ts'

/** A log as it presents itself: its id, and the origin and key of its newest checkpoint. */
type ShownLog = {
  readonly log: string
  readonly origin: string
  readonly key: string
  /** The address of its service; undefined if it is read from the database. */
  readonly address?: string
}

type Accepted = {
  /** Ids of logs that may share an address or origin with others. */
  readonly acceptLog: readonly string[]
  /** The keys of the log that are known from another source. */
  readonly keys: TrustedKeys | undefined
}

/** Part of each refusal. */
export const KEPT_STAYS = 'The kept checkpoint was not replaced.'

type Problem = { readonly what: string; readonly accept: string }

const isOther = (kept: readonly Kept[], log: string) => kept.length > 0 && !kept.some((one) => one.log === log)

const idProblem = (place: string, kept: readonly Kept[], log: string): Problem => ({
  what: `the log ${place} was ${kept.map((one) => one.log).join(' or ')}, but is now ${log}`,
  accept: `--accept-log ${log}`,
})

const keyProblem = (key: string): Problem => ({
  what: `its key is unknown there: ${key}`,
  accept: `--accept-key ${key}`,
})

/**
 * Why a log is refused: another log was seen at its address, or with its origin. Undefined if none was, or the log was accepted.
 * An owner of the database can give the log another id, so a new id alone does not make it a new log.
 */
export const otherLogProblem = async (shown: ShownLog, { acceptLog, keys }: Accepted): Promise<string | undefined> => {
  const { log, origin, key, address } = shown
  const all = await readAllKept()
  const places = new Map([
    [`at ${address}`, all.filter(({ addresses }) => address !== undefined && addresses.includes(serverKey(address)))],
    [`of the origin ${origin}`, all.filter((one) => one.origin === origin)],
  ])
  const others = [...places].filter(([, kept]) => isOther(kept, log))
  const problems = acceptLog.includes(log) ? [] : others.map(([place, kept]) => idProblem(place, kept, log))
  const known = others.flatMap(([, kept]) => kept)
  const isKnownKey = keys?.isCurrent(key) || known.some((one) => one.key === key || one.keys.includes(key))
  if (isOther(known, log) && !isKnownKey) problems.push(keyProblem(key))
  if (problems.length === 0) return undefined
  const accept = new Set(problems.map((problem) => problem.accept))
  return `${problems.map(({ what }) => what).join('; ')}. ${KEPT_STAYS} If you trust this log, add: ${[...accept].join(' ')}`
}
