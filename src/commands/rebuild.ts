import { io } from '../cli/io.ts'
import { groups as allGroups } from '../../projections/index.ts'
import { errorMessage, exitCodes, UsageError } from '../cli/exit.ts'
import { printLines, say } from '../cli/output.ts'
import { readConfig } from '../server/config.ts'
import { newCodec } from '../eventstore/engine/codec.ts'
import type { Group } from '../eventstore/engine/group.ts'
import { rebuild } from '../eventstore/engine/rebuild.ts'
import { isOutage } from '../eventstore/engine/retryable-errors.ts'
import { formats } from '../server/events.ts'
import { openLog } from '../eventstore/log/open-log.ts'
import { percentDone } from '../base/for-people.ts'
import { findDatabaseUrl } from './support/database.ts'

const namesOf = (groups: readonly Group[]): string => groups.map(({ name }) => name).join(', ')

/** The group with this name, or all groups. @throws UsageError for an unknown name */
export const selectGroups = (groups: readonly Group[], name: string | undefined): readonly Group[] => {
  if (name === undefined) return groups
  const group = groups.find((candidate) => candidate.name === name)
  if (group) return [group]
  throw new UsageError(`There are no read models "${name}"; use one of: ${namesOf(groups)}`)
}

const PROGRESS_INTERVAL_MS = 1_000

/** Prints the progress on stderr every second. */
const newProgressPrinter = () => {
  let printedAt = 0
  return (position: bigint, goal: bigint) => {
    if (performance.now() - printedAt < PROGRESS_INTERVAL_MS) return
    printedAt = performance.now()
    say(`${percentDone(0n, position, goal)} %`)
  }
}

/** A lost database session fails with an error of its socket, such as `write EPIPE`, which does not help an operator. */
const explain = (error: unknown): unknown =>
  isOutage(error)
    ? new Error(
        `The rebuild stopped because the connection to the database or the log was lost (${errorMessage(error)}). ` +
          'The old read models keep serving. Run it again.',
      )
    : error

/** Rebuilds the group with this name, or all groups. @throws UsageError for an unknown name */
export const rebuildGroups = async (
  _options: object,
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
      const seconds = ((performance.now() - started) / 1_000).toFixed(1)
      await printLines([`Rebuilt the read models ${group.name} in ${seconds} s.`])
    }
    return exitCodes.ok
  } finally {
    await log.close()
  }
}
