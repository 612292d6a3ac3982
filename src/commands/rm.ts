import { requireAgreement } from '../cli/ask.ts'
import { escapeControls } from '../cli/escape.ts'
import { exitCodes } from '../cli/exit.ts'
import { printDocument, printLines } from '../cli/output.ts'
import { countOf } from '../sync/report/text.ts'
import type { Access } from './support/access.ts'
import { type Found, explainRefusal, findWritable } from './support/find-trace.ts'
import type { ClientOptions } from './declared/command.ts'

type Options = ClientOptions & { readonly yes?: boolean }

const describe = (found: readonly Found[]): string => {
  const lines = found.map(({ trace }) => {
    const { externalId, title, ai_title: made, namespace, messageCount = 0 } = trace
    const details = [externalId, countOf(messageCount, 'message'), `namespace ${namespace.slug}`].join(', ')
    return `  ${escapeControls(`${title ?? made ?? 'untitled'} (${details})`)}`
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

export const rm = async (access: Access, options: Options, names: readonly string[]): Promise<number> => {
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
