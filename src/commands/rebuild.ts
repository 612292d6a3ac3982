import { Command } from 'commander'
import { groups } from '../../projections/index.ts'
import { readConfig } from '../config.ts'
import { readRunning } from '../embedded/lock.ts'
import { newCodec } from '../engine/codec.ts'
import type { Group } from '../engine/group.ts'
import { rebuild } from '../engine/rebuild.ts'
import { formats } from '../events.ts'
import { openLog } from '../log/open-log.ts'
import { percentDone } from '../percent.ts'
import { runCommand, exitOnUsage, UsageError, exitCodes } from '../cli/exit.ts'

/** The database of DATABASE_URL, or of the service that runs on DATA_DIR. @throws Error when there is neither */
export const databaseOf = async ({
  DATABASE_URL,
  DATA_DIR,
}: {
  DATABASE_URL?: string | undefined
  DATA_DIR: string
}) => {
  if (DATABASE_URL) return DATABASE_URL
  const running = await readRunning(DATA_DIR)
  if (!running) throw new Error(`no service runs on ${DATA_DIR}: start it, or set DATABASE_URL`)
  return running.databaseUrl
}

/** One group by its name, or all. @throws UsageError */
const chosen = (known: readonly Group[], name: string | undefined): readonly Group[] => {
  if (name === undefined) return known
  const group = known.find((one) => one.name === name)
  if (group) return [group]
  throw new UsageError(
    `no group of read models is called ${name}; there are: ${known.map(({ name }) => name).join(', ')}`,
  )
}

const run = async (wanted: readonly Group[]): Promise<number> => {
  const config = readConfig(process.env)
  const url = await databaseOf(config)
  const log = await openLog({ databaseUrl: url, eventStoreUrl: config.EVENTSTORE_URL })
  let last = 0
  const progress = (position: bigint, goal: bigint) => {
    if (performance.now() - last < 1_000) return
    last = performance.now()
    console.error(`${percentDone(0n, position, goal)} %`)
  }
  try {
    for (const group of wanted) {
      const started = performance.now()
      await rebuild({ url, group, log, codec: newCodec(formats), progress })
      console.log(`read models ${group.name} rebuilt in ${((performance.now() - started) / 1_000).toFixed(1)} s`)
    }
    return exitCodes.ok
  } finally {
    await log.close()
  }
}

/** `tracebook rebuild`: replays the log into new read models beside those that serve, then swaps them. */
export const rebuildCommand = (known: readonly Group[] = groups): Command =>
  new Command('rebuild')
    .description('Build the read models anew from the log, beside those that serve, and swap them')
    .argument(
      '[group]',
      `which read models: ${known.map(({ name }) => name).join(', ')} (default: all, one after the other)`,
    )
    .addHelpText('after', '\nUses DATABASE_URL, or the service that runs on DATA_DIR. Nothing stops meanwhile.')
    .exitOverride(exitOnUsage)
    .action((name?: string) => runCommand(() => run(chosen(known, name))))
