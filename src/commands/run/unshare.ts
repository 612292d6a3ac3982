import { exitCodes } from '../../cli/exit.ts'
import { printDocument, printLines } from '../../cli/output.ts'
import type { Access } from '../support/access.ts'
import { type ClientOptions } from '../support/client-command.ts'
import { explainRefusal, findWritable } from '../support/find-trace.ts'

export const unshare = async (given: Access, options: ClientOptions, name: string): Promise<number> => {
  const { trace, traces } = await findWritable(given, options, name)
  const { externalId, namespace } = trace
  if (trace.visibility !== 'private') await traces.setVisibility(externalId, 'private').catch(explainRefusal(trace))
  if (options.json)
    await printDocument({ type: 'unshare', externalId, namespace: namespace.slug, visibility: 'private' })
  else await printLines([`${externalId} is private: only members of the namespace "${namespace.slug}" can read it.`])
  return exitCodes.ok
}
