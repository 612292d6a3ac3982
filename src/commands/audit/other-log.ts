import type { TrustedKeys } from '../../proof/verify/verify-log.ts'
import { serverKey } from '../../sync/server-key.ts'
import { type Kept, readAllKept } from './kept-checkpoint.ts'

/** A log as it shows itself: its id, and the origin and key of its newest checkpoint. */
export type ShownLog = {
  readonly log: string
  readonly origin: string
  readonly key: string
  /** Where a service answers for it; undefined for one that is read from its database. */
  readonly address?: string
}

type Accepted = {
  /** Ids of logs that may stand beside others, or in their place. */
  readonly acceptLog: readonly string[]
  /** What is known of the log's keys from elsewhere. */
  readonly keys: TrustedKeys | undefined
}

/** Said with each refusal. */
export const KEPT_STAYS = 'What was kept stays as it is.'

type Problem = { readonly what: string; readonly accept: string }

const isOther = (kept: readonly Kept[], log: string) => kept.length > 0 && !kept.some((one) => one.log === log)

const idProblem = (place: string, kept: readonly Kept[], log: string): Problem => ({
  what: `the log ${place} was ${kept.map((one) => one.log).join(' or ')}, and this one is ${log}`,
  accept: `--accept-log ${log}`,
})

const keyProblem = (key: string): Problem => ({
  what: `its key is not one that is known there: ${key}`,
  accept: `--accept-key ${key}`,
})

/**
 * Why a log is not taken for the one that was seen at its address or of its origin; undefined when it is that one, or none was
 * seen there. Whoever owns a database can give its log another id, so a new id says nothing.
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
  return `${problems.map(({ what }) => what).join('; ')}. ${KEPT_STAYS} If you know that it is right: ${[...accept].join(' ')}`
}
