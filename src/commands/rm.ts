import { requireAgreement } from '../cli/ask.ts'
import { escapeControls } from '../base/escape.ts'
import { LISTED_TITLE, truncateLine } from '../base/texts.ts'
import { exitCodes } from '../cli/exit.ts'
import { printDocument, printLines } from '../cli/output.ts'
import { countOf } from '../client/report/text.ts'
import type { Access } from './support/access.ts'
import { type Found, explainRefusal, findWritable } from './support/find-trace.ts'
import type { ClientOptions } from './support/access.ts'

type Options = ClientOptions & { readonly yes?: boolean; readonly history?: boolean }

const describe = (found: readonly Found[], history: boolean): string => {
  const lines = found.map(({ trace }) => {
    const { externalId, title, ai_title: made, namespace, messageCount = 0 } = trace
    const details = [externalId, countOf(messageCount, 'message'), `namespace ${namespace.slug}`].join(', ')
    const name = truncateLine(escapeControls(title ?? made ?? 'untitled'), LISTED_TITLE)
    return `  ${name} (${escapeControls(details)})`
  })
  const what = history ? `The past of ${countOf(found.length, 'trace')}` : countOf(found.length, 'trace')
  return `${what} will be erased for good:\n${lines.join('\n')}`
}

const findAll = async (access: Access, options: Options, names: readonly string[]): Promise<Found[]> => {
  const found = new Map<string, Found>()
  for (const name of names) {
    const one = await findWritable(access, options, name)
    found.set(one.trace.id, one)
  }
  return [...found.values()]
}

/** Erases what traces were before; what they are stays. */
const eraseHistories = async (found: readonly Found[], options: Options): Promise<number> => {
  for (const { trace, traces } of found) {
    const { externalId, namespace } = trace
    const events = await traces.eraseHistory(externalId).catch(explainRefusal(trace))
    if (options.json) await printDocument({ type: 'erased', externalId, namespace: namespace.slug, events })
    else if (events === 0) await printLines([`${externalId} has no past`])
    else await printLines([`erased the past of ${externalId}, ${countOf(events, 'event')}`])
  }
  return exitCodes.ok
}

export const rm = async (access: Access, options: Options, names: readonly string[]): Promise<number> => {
  const found = await findAll(access, options, names)
  await requireAgreement(describe(found, options.history ?? false), options.yes ?? false)
  if (options.history) return eraseHistories(found, options)
  for (const { trace, traces } of found) {
    const { externalId, namespace, messageCount: messages = 0 } = trace
    await traces.remove(externalId).catch(explainRefusal(trace))
    if (options.json) await printDocument({ type: 'removed', externalId, namespace: namespace.slug, messages })
    else await printLines([`deleted ${externalId} with ${countOf(messages, 'message')}`])
  }
  return exitCodes.ok
}
