import { requireAgreement } from '../cli/ask.ts'
import { commandName, shellWord } from '../cli/command-name.ts'
import { escapeControls } from '../cli/escape.ts'
import { UsageError, errorMessage, exitCodes } from '../cli/exit.ts'
import { printDocument, printLines } from '../cli/output.ts'
import { readRedactionOptions } from '../sync/redaction/options.ts'
import type { Redaction } from '../sync/redaction/session.ts'
import { countOf } from '../sync/report/text.ts'
import { findText, searchTrace } from '../sync/transfer/redact-trace.ts'
import type { ClientOptions } from './declared/command.ts'
import type { Access } from './support/access.ts'
import { type Found, explainRefusal, findWritable } from './support/find-trace.ts'

type Options = ClientOptions & { readonly yes?: boolean; readonly text?: string }

const optionsFor = async ({ config }: Access, { text }: Options) => {
  if (text === undefined) return readRedactionOptions(config)
  if (text === '') throw new UsageError('--text is empty: give the text that is to be replaced.')
  return { find: findText(text), isAllowed: () => false }
}

const placeOf = ({ externalId, where }: Redaction): string =>
  externalId === undefined ? where : `${where} of message ${externalId}`

const MOST_SHOWN = 20

const describe = ({ trace }: Found, redactions: readonly Redaction[]): string => {
  const shown = redactions.slice(0, MOST_SHOWN)
  const lines = shown.map((one) => escapeControls(`  ${one.rule} (${one.hash.slice(0, 12)}) in ${placeOf(one)}`))
  const more = redactions.length > shown.length ? [`  and ${redactions.length - shown.length} more`] : []
  const what = `${countOf(redactions.length, 'place')} of ${escapeControls(trace.externalId)} will be replaced, and its past erased for good:`
  return [what, ...lines, ...more].join('\n')
}

/** What was replaced is in the past now: to run the command again would not find it. */
const explainLeft =
  (externalId: string) =>
  (error: unknown): never => {
    throw new Error(
      `The secrets were replaced, but the past of the trace, which has them, was not erased: ${errorMessage(error)}. ` +
        `Run: ${commandName} rm --history ${shellWord(externalId)}`,
      { cause: error },
    )
  }

export const redact = async (given: Access, options: Options, name: string): Promise<number> => {
  const found = await findWritable(given, options, name)
  const { trace, traces, access } = found
  const { externalId, namespace } = trace
  const connection = await access.connect({ readOnly: false })
  const { redactions, replace } = await searchTrace(connection, trace, await optionsFor(access, options))
  if (options.json) for (const one of redactions) await printDocument({ type: 'redaction', ...one })
  if (redactions.length === 0) {
    const nothing = { type: 'redacted', externalId, namespace: namespace.slug, messages: 0, fields: 0, erased: 0 }
    if (options.json) await printDocument(nothing)
    else
      await printLines([
        `nothing to replace in ${externalId}; "${commandName} rm --history ${shellWord(externalId)}" erases what it was before`,
      ])
    return exitCodes.ok
  }
  await requireAgreement(describe(found, redactions), options.yes ?? false)
  const { messages, fields } = await replace().catch(explainRefusal(trace))
  const erased = await traces.eraseHistory(externalId).catch(explainLeft(externalId))
  if (options.json)
    await printDocument({ type: 'redacted', externalId, namespace: namespace.slug, messages, fields, erased })
  else
    await printLines([
      `replaced secrets in ${countOf(messages, 'message')} and ${countOf(fields, 'field')} of ${externalId}, and erased its past, ${countOf(erased, 'event')}`,
    ])
  return exitCodes.ok
}
