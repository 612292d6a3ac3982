import { Command } from 'commander'
import { commandName } from '../cli/command-name.ts'
import { exitCodes } from '../cli/exit.ts'
import { printDocument, printLines, say } from '../cli/output.ts'
import { newHistoryClient } from '../sync/api/history.ts'
import { traceLink } from '../sync/api/trace-link.ts'
import { confirmPublic } from '../sync/rules/confirm-public.ts'
import { type Access, noticedTiming } from './support/access.ts'
import { type ClientOptions, clientCommand } from './support/client-command.ts'
import { type Found, explainRefusal, findWritable, idHelp } from './support/find-trace.ts'
import type { Help } from './support/help.ts'
import type { Message } from './support/messages-of.ts'

const help: Help = {
  about: `
Makes a trace public, and prints the link to it: everyone who reaches the server can read it then, also
without a login, and finds it in the public feed. What will be seen is shown first, and you are asked;
without a terminal nobody can be asked, and --yes is needed. "tracebook unshare" takes it back.

${idHelp}`,
  examples: [
    ['tracebook share 0192f0c1'],
    ['tracebook share 0192f0c1 --yes --json', 'in a script that has looked at it'],
  ],
  documents: [['{"type":"share","externalId","namespace","visibility","url"}', 'visibility: public']],
}

type Options = ClientOptions & { readonly yes?: boolean }

/** So many messages are looked through for the first prompt. */
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

const preview = async (found: Found) => {
  const { externalId, title, ai_title: made, projectName, messageCount = 0 } = found.trace
  return {
    source: `trace ${externalId}`,
    title: title ?? made,
    project: projectName,
    messages: messageCount,
    firstPrompt: await firstPromptOf(found),
    isRedacted: undefined,
    because: `${commandName} share`,
  }
}

const share = async (given: Access, options: Options, name: string): Promise<number> => {
  const found = await findWritable(given, options, name)
  const { access, trace, traces } = found
  const { externalId, namespace } = trace
  const { server } = access
  if (trace.visibility !== 'public') {
    if (!options.yes) await confirmPublic([await preview(found)], { yes: false, server })
    await traces.setVisibility(externalId, 'public').catch(explainRefusal(trace))
  } else if (!options.json) say('It was public already.')
  const url = traceLink(server, namespace.slug, externalId)
  if (options.json)
    await printDocument({ type: 'share', externalId, namespace: namespace.slug, visibility: 'public', url })
  else await printLines([url])
  return exitCodes.ok
}

/** `tracebook share`: makes a trace public, after a yes. Output and exit codes in its help. */
export const shareCommand = (): Command =>
  clientCommand<Options, [string]>(
    new Command('share')
      .argument('<id>', 'the trace: its id, the beginning of one, or a link')
      .option('-y, --yes', 'agree without being asked'),
    { help, namespace: 'the namespace that the trace is in', run: share },
  )
