import { Command } from 'commander'
import { requireAgreement } from '../cli/ask.ts'
import { escapeControls } from '../cli/escape.ts'
import { exitCodes } from '../cli/exit.ts'
import { printDocument, printLines } from '../cli/output.ts'
import { countOf } from '../sync/report/text.ts'
import type { Access } from './support/access.ts'
import { type ClientOptions, clientCommand } from './support/client-command.ts'
import { type Found, explainRefusal, findWritable, idHelp } from './support/find-trace.ts'
import type { Help } from './support/help.ts'

const help: Help = {
  about: `
Deletes traces with all their messages. What they held is erased on the server for good: nobody can bring
it back. You are asked first; without a terminal nobody can be asked, and --yes is needed. All are looked
up before the first is deleted.

The sessions on this machine stay, and "tracebook sync" does not upload them again without --force.

${idHelp}`,
  examples: [
    ['tracebook rm 0192f0c1'],
    ['tracebook rm 0192f0c1 0192f0c7', 'two of them'],
    ['tracebook rm 0192f0c1 --yes --json', 'in a script'],
  ],
  documents: [['{"type":"removed","externalId","namespace","messages"}', 'for each that was deleted']],
}

type Options = ClientOptions & { readonly yes?: boolean }

const describe = (found: readonly Found[]): string => {
  const lines = found.map(({ trace }) => {
    const { externalId, title, ai_title: made, namespace, messageCount = 0 } = trace
    const details = [externalId, countOf(messageCount, 'message'), `namespace ${namespace.slug}`].join(', ')
    return `  ${escapeControls(`${title ?? made ?? 'without a title'} (${details})`)}`
  })
  return `${countOf(found.length, 'trace')} will be erased for good:\n${lines.join('\n')}`
}

const findAll = async (access: Access, options: Options, names: readonly string[]): Promise<Found[]> => {
  const found = new Map<string, Found>()
  for (const name of names) {
    const one = await findWritable(access, options, name)
    found.set(one.trace.id, one)
  }
  return [...found.values()]
}

const rm = async (access: Access, options: Options, names: readonly string[]): Promise<number> => {
  const found = await findAll(access, options, names)
  await requireAgreement(describe(found), options.yes ?? false)
  for (const { trace, traces } of found) {
    const { externalId, namespace, messageCount: messages = 0 } = trace
    await traces.remove(externalId).catch(explainRefusal(trace))
    if (options.json) await printDocument({ type: 'removed', externalId, namespace: namespace.slug, messages })
    else await printLines([`deleted ${externalId} with ${countOf(messages, 'message')}`])
  }
  return exitCodes.ok
}

/** `tracebook rm`: deletes traces, after a yes. Output and exit codes in its help. */
export const rmCommand = (): Command =>
  clientCommand<Options, [readonly string[]]>(
    new Command('rm')
      .argument('<id...>', 'the traces: their ids, the beginnings of ids, or links')
      .option('-y, --yes', 'agree without being asked'),
    { help, namespace: 'the namespace that the traces are in', run: rm },
  )
