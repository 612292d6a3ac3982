import { io } from '../../cli/io.ts'
import { groups as allGroups } from '../../../projections/index.ts'
import { errorMessage, exitCodes, UsageError } from '../../cli/exit.ts'
import { readConfig } from '../../config.ts'
import { newCodec } from '../../engine/codec.ts'
import type { Group } from '../../engine/group.ts'
import { rebuild } from '../../engine/rebuild.ts'
import { isOutage } from '../../engine/retryable-errors.ts'
import { formats } from '../../events.ts'
import { openLog } from '../../log/open-log.ts'
import { percentDone } from '../../base/for-people.ts'
import { findDatabaseUrl } from '../database-url.ts'

const namesOf = (groups: readonly Group[]): string => groups.map(({ name }) => name).join(', ')

/** The group with this name, or all without a name. @throws UsageError for an unknown name */
export const selectGroups = (groups: readonly Group[], name: string | undefined): readonly Group[] => {
  if (name === undefined) return groups
  const group = groups.find((candidate) => candidate.name === name)
  if (group) return [group]
  throw new UsageError(`no group of read models is called ${name}; there are: ${namesOf(groups)}`)
}

const PROGRESS_INTERVAL_MS = 1_000

/** Prints the progress on stderr every second. */
const newProgressPrinter = () => {
  let printedAt = 0
  return (position: bigint, goal: bigint) => {
    if (performance.now() - printedAt < PROGRESS_INTERVAL_MS) return
    printedAt = performance.now()
    console.error(`${percentDone(0n, position, goal)} %`)
  }
}

/** A lost database session shows as an error of its socket, such as `write EPIPE`, which tells an operator nothing. */
const explain = (error: unknown): unknown =>
  isOutage(error)
    ? new Error(
        `the rebuild was broken off, because the database or the log went away (${errorMessage(error)}): ` +
          'the read models go on serving, run it again',
      )
    : error

/** Rebuilds the group with this name, or all without a name. Returns the exit code. @throws UsageError for an unknown name */
export const rebuildGroups = async (
  name: string | undefined,
  groups: readonly Group[] = allGroups,
): Promise<number> => {
  const chosen = selectGroups(groups, name)
  const config = readConfig(io().env)
  const url = await findDatabaseUrl(config)
  const log = await openLog({ databaseUrl: url, eventStoreUrl: config.EVENTSTORE_URL })
  const progress = newProgressPrinter()
  try {
    for (const group of chosen) {
      const started = performance.now()
      await rebuild({ url, group, log, codec: newCodec(formats), progress }).catch((error: unknown) => {
        throw explain(error)
      })
      console.log(`read models ${group.name} rebuilt in ${((performance.now() - started) / 1_000).toFixed(1)} s`)
    }
    return exitCodes.ok
  } finally {
    await log.close()
  }
}
