import { commandName } from '../cli/command-name.ts'
import { exitCodes, UsageError } from '../cli/exit.ts'
import { printDocument, printLines } from '../cli/output.ts'
import { hasStatus } from '../client/api/errors.ts'
import { traceLink } from '../client/api/trace-link.ts'
import type { Access, ClientOptions } from './support/access.ts'
import { explainRefusal, findWritable } from './support/find-trace.ts'

/** Moves a trace to the namespace with this slug, and prints its new link. */
export const move = async (given: Access, options: ClientOptions, name: string, to: string): Promise<number> => {
  const { access, trace, traces } = await findWritable(given, options, name)
  const { externalId, namespace } = trace
  const slug = to.trim().toLowerCase().replace(/^@/, '')
  const moved = await traces.move(externalId, slug).catch((error: unknown) => {
    if (hasStatus(error, 404))
      throw new UsageError(
        `You are not a member of a namespace "${slug}": to see yours, run: ${commandName} namespaces`,
      )
    return explainRefusal(trace)(error)
  })
  const url = traceLink(access.server, moved.namespace.slug, externalId)
  if (options.json)
    await printDocument({ type: 'moved', externalId, from: namespace.slug, namespace: moved.namespace.slug, url })
  else await printLines([url])
  return exitCodes.ok
}
