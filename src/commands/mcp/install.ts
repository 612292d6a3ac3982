import { commandName } from '../../cli/command-name.ts'
import { UsageError, exitCodes } from '../../cli/exit.ts'
import { io } from '../../cli/io.ts'
import { printDocument, printLines, say } from '../../cli/output.ts'
import { stateDir } from '../../client/config.ts'
import { ownProgram } from '../../client/hooks/hook.ts'
import { notLoggedInError } from '../../client/login/connect.ts'
import { readCredentials } from '../../client/login/credentials.ts'
import { type AgentName, agentNames, type InAgent, inAgent, type ServerEntry } from '../../client/mcp/agents.ts'
import type { ClientOptions } from '../support/access.ts'
import type { Access } from '../support/access.ts'

type Options = ClientOptions & { readonly remove?: boolean }

const entryFor = (server: string): ServerEntry => {
  const { command: [command = '', ...args], environment: env } = ownProgram(server) // prettier-ignore
  return { command, args: [...args, 'mcp', '--server', server], env }
}

const settingsOf = (name: AgentName): InAgent => inAgent(name, io().env, io().home, stateDir(io().env))

type Found = { readonly name: AgentName; readonly agent: InAgent }

/** The agent that was named, else all that `isMeant` holds for. */
const chosen = (named: AgentName | undefined, isMeant: (agent: InAgent) => boolean): readonly Found[] =>
  (named === undefined ? agentNames : [named])
    .map((name) => ({ name, agent: settingsOf(name) }))
    .filter(({ agent }) => named !== undefined || isMeant(agent))

const report = async ({ name, agent }: Found, said: string, json: boolean | undefined) => {
  const { file, isInstalled } = agent
  if (json) await printDocument({ type: 'mcp', agent: name, installed: await isInstalled(), file })
  else await printLines([`${name}: ${said} (${file})`])
}

const reportFailure = async ({ name, agent: { file } }: Found, why: string, json: boolean | undefined) => {
  if (json) await printDocument({ type: 'mcp', agent: name, installed: false, file, why })
  else say(`${name}: left as it is: ${why}`)
}

/** Edits the settings of each agent, and reports it. Settings that cannot be edited are left as they are and named; those of the others are edited. */
const editEach = async (
  found: readonly Found[],
  json: boolean | undefined,
  edit: (agent: InAgent) => Promise<string>,
): Promise<number> => {
  let exitCode: number = exitCodes.ok
  for (const one of found)
    try {
      await report(one, await edit(one.agent), json)
    } catch (error) {
      if (!(error instanceof UsageError)) throw error
      exitCode = exitCodes.failed
      await reportFailure(one, error.message, json)
    }
  return exitCode
}

/** Writes the server into the settings of an agent, or of all that are on this machine, or takes it out of them. @throws UsageError */
export const install = async (
  { server, config }: Access,
  { json, remove }: Options,
  named: AgentName | undefined,
): Promise<number> => {
  if (remove) {
    const agents = chosen(named, ({ isRemembered }) => isRemembered)
    if (agents.length === 0 && !json) await printLines(['Nothing to remove.'])
    return editEach(agents, json, async ({ uninstall }) => ((await uninstall()) ? 'removed' : 'nothing to remove'))
  }
  if (!(await readCredentials(config, server))?.login) throw notLoggedInError(config, server)
  const agents = chosen(named, ({ isHere }) => isHere)
  if (agents.length === 0)
    throw new UsageError(`No agent was found on this machine. Name one: ${commandName} mcp install claude-code`)
  const entry = entryFor(server)
  return editEach(agents, json, async (agent) => ((await agent.install(entry)) ? 'installed' : 'installed already'))
}
