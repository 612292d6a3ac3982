import { UsageError, exitCodes } from '../../../cli/exit.ts'
import { startScavenge } from '../../../log/eventstoredb/scavenge.ts'

export const scavenge = async (url: string | undefined): Promise<number> => {
  if (!url) throw new UsageError('EVENTSTORE_URL is not set, and --url is not given')
  console.log(`Scavenge ${await startScavenge(url)} has started.`)
  return exitCodes.ok
}
