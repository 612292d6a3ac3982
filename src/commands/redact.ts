import { requireAgreement } from '../cli/ask.ts'
import { commandName } from '../cli/command-name.ts'
import { io } from '../cli/io.ts'
import { escapeControls, shellWord } from '../base/escape.ts'
import { UsageError, errorMessage, exitCodes } from '../cli/exit.ts'
import { printDocument, printLines } from '../cli/output.ts'
import { stateDir } from '../client/config.ts'
import type { Connection } from '../client/login/connect.ts'
import { readRedactionOptions } from '../client/redaction/options.ts'
import type { Redaction } from '../client/redaction/session.ts'
import { jsonReporter, lineReporter, ownOutput } from '../client/report/reporters.ts'
import { countOf } from '../client/report/text.ts'
import { openDuties } from '../client/state/duties.ts'
import { newUploader } from '../client/state/uploader.ts'
import { findText, searchTrace } from '../client/transfer/redact-trace.ts'
import { doDuties, erasePast } from '../client/upload/owed-erasures.ts'
import { type Access, type ClientOptions, sayWaiting } from './support/access.ts'
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
        `The next "${commandName} sync" or "redact" tries again, and "${commandName} rm --history ${shellWord(externalId)}" does it now.`,
      { cause: error },
    )
  }

/** A trace, and what was found in it. */
type Search = Awaited<ReturnType<typeof searchTrace>> & { readonly found: Found; readonly connection: Connection }

/** Replaces what was found, and erases the past, which has it; stores before that the past has to be erased. */
const replaceAndErase = async ({ found, connection, redactions, replace }: Search) => {
  const { externalId, namespace } = found.trace
  const duties = openDuties(found.access.config, found.access.server)
  const exposed = { namespace: namespace.slug, externalId, source: `trace ${externalId}` }
  await duties.add({ ...exposed, hashes: [...new Set(redactions.map(({ hash }) => hash))] })
  const replaced = await replace().catch(explainRefusal(found.trace))
  return { ...replaced, erased: await erasePast(connection, duties, exposed).catch(explainLeft(externalId)) }
}

export const redact = async (given: Access, options: Options, name: string): Promise<number> => {
  const found = await findWritable(given, options, name)
  const { trace, access } = found
  const { externalId, namespace } = trace
  const connection = await access.connect({ readOnly: false })
  const report = options.json ? jsonReporter(ownOutput()) : lineReporter(ownOutput(), false)
  const asUploader = newUploader({ stateFolder: stateDir(io().env), ...access }, { onWait: sayWaiting })
  const duties = openDuties(access.config, access.server)
  const { failed } = await asUploader(() => doDuties({ connection, duties }, report))
  const exitCode = failed > 0 ? exitCodes.failed : exitCodes.ok
  const searched = await searchTrace(connection, trace, await optionsFor(access, options))
  const { redactions } = searched
  if (options.json) for (const one of redactions) await printDocument({ type: 'redaction', ...one })
  if (redactions.length === 0) {
    const nothing = { type: 'redacted', externalId, namespace: namespace.slug, messages: 0, fields: 0, erased: 0 }
    if (options.json) await printDocument(nothing)
    else
      await printLines([
        `nothing to replace in ${externalId}; "${commandName} rm --history ${shellWord(externalId)}" erases what it was before`,
      ])
    return exitCode
  }
  await requireAgreement(describe(found, redactions), options.yes ?? false)
  const { messages, fields, erased } = await asUploader(() => replaceAndErase({ ...searched, found, connection }))
  if (options.json)
    await printDocument({ type: 'redacted', externalId, namespace: namespace.slug, messages, fields, erased })
  else
    await printLines([
      `replaced secrets in ${countOf(messages, 'message')} and ${countOf(fields, 'field')} of ${externalId}, and erased its past, ${countOf(erased, 'event')}`,
    ])
  return exitCode
}
