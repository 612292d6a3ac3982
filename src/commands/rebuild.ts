import { Command } from 'commander'
import { readModels } from '../../projections/index.ts'
import { readConfig } from '../config.ts'
import { readRunning } from '../embedded/lock.ts'
import { newCodec } from '../engine/codec.ts'
import { rebuild } from '../engine/rebuild.ts'
import { formats } from '../events.ts'
import { openLog } from '../log/open-log.ts'
import { percentDone } from '../percent.ts'

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

const run = async () => {
  const config = readConfig(process.env)
  const url = await databaseOf(config)
  const log = await openLog({ databaseUrl: url, eventStoreUrl: config.EVENTSTORE_URL })
  const started = performance.now()
  let last = 0
  const progress = (position: bigint, goal: bigint) => {
    if (performance.now() - last < 1_000) return
    last = performance.now()
    console.error(`${percentDone(0n, position, goal)} %`)
  }
  try {
    await rebuild({ url, group: readModels, log, codec: newCodec(formats), progress })
    console.log(`read models rebuilt in ${((performance.now() - started) / 1_000).toFixed(1)} s`)
  } finally {
    await log.close()
  }
}

/** `tracebook rebuild`: replays the log into new read models beside those that serve, then swaps them. */
export const rebuildCommand = (): Command =>
  new Command('rebuild')
    .description('Build the read models anew from the log, beside those that serve, and swap them')
    .addHelpText('after', '\nUses DATABASE_URL, or the service that runs on DATA_DIR. Nothing stops meanwhile.')
    .action(run)
