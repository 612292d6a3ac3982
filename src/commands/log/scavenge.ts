import { io } from '../../cli/io.ts'
import { UsageError, exitCodes } from '../../cli/exit.ts'
import { printLines } from '../../cli/output.ts'
import { startScavenge } from '../../log/eventstoredb/scavenge.ts'

export const scavenge = async ({ url = io().env.EVENTSTORE_URL }: { readonly url?: string }): Promise<number> => {
  if (!url) throw new UsageError('No server was given: set EVENTSTORE_URL, or use --url.')
  await printLines([`Started the scavenge ${await startScavenge(url)}.`])
  return exitCodes.ok
}
