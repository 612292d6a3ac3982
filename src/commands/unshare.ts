import { Command } from 'commander'
import { exitCodes } from '../cli/exit.ts'
import { printDocument, printLines } from '../cli/output.ts'
import type { Access } from './support/access.ts'
import { type ClientOptions, clientCommand } from './support/client-command.ts'
import { explainRefusal, findWritable, idHelp } from './support/find-trace.ts'
import type { Help } from './support/help.ts'

const help: Help = {
  about: `
Makes a trace private again: only members of its namespace can read it then, its link leads nowhere for
anybody else, and it is gone from the public feed. Copies that were made meanwhile cannot be taken back.

${idHelp}`,
  examples: [['tracebook unshare 0192f0c1'], ['tracebook unshare 0192f0c1 --json', 'for scripts']],
  documents: [['{"type":"unshare","externalId","namespace","visibility"}', 'visibility: private']],
}

const unshare = async (given: Access, options: ClientOptions, name: string): Promise<number> => {
  const { trace, traces } = await findWritable(given, options, name)
  const { externalId, namespace } = trace
  if (trace.visibility !== 'private') await traces.setVisibility(externalId, 'private').catch(explainRefusal(trace))
  if (options.json)
    await printDocument({ type: 'unshare', externalId, namespace: namespace.slug, visibility: 'private' })
  else await printLines([`${externalId} is private: only members of the namespace "${namespace.slug}" can read it.`])
  return exitCodes.ok
}

/** `tracebook unshare`: makes a trace private. Output and exit codes in its help. */
export const unshareCommand = (): Command =>
  clientCommand<ClientOptions, [string]>(
    new Command('unshare').argument('<id>', 'the trace: its id, the beginning of one, or a link'),
    { help, namespace: 'the namespace that the trace is in', run: unshare },
  )
