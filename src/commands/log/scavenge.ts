import { io } from '../../cli/io.ts'
import { UsageError, exitCodes } from '../../cli/exit.ts'
import { printLines, say } from '../../cli/output.ts'
import { type NodeScavenge, scavengeAll } from '../../eventstore/log/eventstoredb/scavenge.ts'

const describe = (scavenge: NodeScavenge): string => {
  const { node } = scavenge
  if (scavenge.is === 'started') return `${node}: started the scavenge ${scavenge.id}`
  if (scavenge.is === 'failed') return `${node}: not scavenged: ${scavenge.why}`
  return `${node}: the scavenge ${scavenge.id} was running already, and leaves what was erased since it began`
}

export const scavenge = async ({ url = io().env.EVENTSTORE_URL }: { readonly url?: string }): Promise<number> => {
  if (!url) throw new UsageError('No server was given: set EVENTSTORE_URL, or use --url.')
  const scavenges = await scavengeAll(url)
  await printLines(scavenges.map(describe))
  const left = scavenges.filter(({ is }) => is !== 'started').length
  if (left === 0) return exitCodes.ok
  say(`Erased events stay on the disks of ${left} of ${scavenges.length} nodes. Run it again when all of them answer.`)
  return exitCodes.failed
}
