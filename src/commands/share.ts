import { io } from '../cli/io.ts'
import { commandName } from '../cli/command-name.ts'
import { exitCodes } from '../cli/exit.ts'
import { printDocument, printLines, say } from '../cli/output.ts'
import { newHistoryClient } from '../client/api/history.ts'
import { traceLink } from '../client/api/trace-link.ts'
import { stateDir } from '../client/config.ts'
import { confirmPublic } from '../client/rules/confirm-public.ts'
import { openSyncState } from '../client/state/sync-state.ts'
import { wasRedacted } from '../client/upload/read-session.ts'
import { type Access, noticedTiming } from './support/access.ts'
import { type Found, explainRefusal, findWritable } from './support/find-trace.ts'
import type { Message } from './support/pages.ts'
import type { ClientOptions } from './support/access.ts'

export type Options = ClientOptions & { readonly yes?: boolean }

/** The first prompt is searched in this many messages. */
const FIRST_MESSAGES = 20

const textOf = ({ parts = [], textContent }: Message): string => {
  const texts = parts.flatMap((part) => (part.type === 'text' && part.content ? [part.content.text] : []))
  return texts.join('\n').trim() || (textContent ?? '').trim()
}

const firstPromptOf = async ({ access, trace }: Found): Promise<string | undefined> => {
  const history = newHistoryClient(access.server, await access.token(), noticedTiming)
  const query = { namespace: trace.namespace.slug, includeParts: true, limit: FIRST_MESSAGES }
  const { messages } = await history.messages(trace.externalId, query)
  return messages
    .filter(({ role }) => role === 'user')
    .map(textOf)
    .find((text) => text !== '')
}

/** Whether secrets were removed before the upload; undefined if another machine has uploaded the session. */
const isRedacted = async ({ access: { config, server }, trace }: Found): Promise<boolean | undefined> => {
  const state = openSyncState({ folder: stateDir(io().env), config, readOnly: true })
  try {
    const states = await state.of({ server, namespaceId: trace.namespace.id })
    return wasRedacted(states, { agentId: trace.agentId, sessionId: trace.externalId })
  } finally {
    state.close()
  }
}

const preview = async (found: Found) => {
  const { externalId, title, ai_title: made, projectPath, projectName, gitBranch, messageCount = 0 } = found.trace
  return {
    source: `trace ${externalId}`,
    title: title ?? made,
    project: projectPath ?? projectName,
    branch: gitBranch,
    messages: messageCount,
    firstPrompt: await firstPromptOf(found),
    isRedacted: await isRedacted(found),
    because: `${commandName} share`,
  }
}

export const share = async (given: Access, options: Options, name: string): Promise<number> => {
  const found = await findWritable(given, options, name)
  const { access, trace, traces } = found
  const { externalId, namespace } = trace
  const { server } = access
  if (trace.visibility !== 'public') {
    if (!options.yes) await confirmPublic([await preview(found)], { yes: false, server })
    await traces.setVisibility(externalId, 'public').catch(explainRefusal(trace))
  } else if (!options.json) say('The trace is public already.')
  const url = traceLink(server, namespace.slug, externalId)
  if (options.json)
    await printDocument({ type: 'share', externalId, namespace: namespace.slug, visibility: 'public', url })
  else await printLines([url])
  return exitCodes.ok
}

export const unshare = async (given: Access, options: ClientOptions, name: string): Promise<number> => {
  const { trace, traces } = await findWritable(given, options, name)
  const { externalId, namespace } = trace
  if (trace.visibility !== 'private') await traces.setVisibility(externalId, 'private').catch(explainRefusal(trace))
  if (options.json)
    await printDocument({ type: 'unshare', externalId, namespace: namespace.slug, visibility: 'private' })
  else await printLines([`${externalId} is private: only members of the namespace "${namespace.slug}" can read it.`])
  return exitCodes.ok
}
