import { commandName } from '../../cli/command-name.ts'
import { UsageError, exitCodes } from '../../cli/exit.ts'
import { io } from '../../cli/io.ts'
import { printDocument, printLines } from '../../cli/output.ts'
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

/** The agent that was named, else all that `isMeant` holds for. */
const chosen = async (named: AgentName | undefined, isMeant: (agent: InAgent) => boolean | Promise<boolean>) => {
  const found: { name: AgentName; agent: InAgent }[] = []
  for (const name of named === undefined ? agentNames : [named]) {
    const agent = settingsOf(name)
    if (named !== undefined || (await isMeant(agent))) found.push({ name, agent })
  }
  return found
}

const report = async (name: AgentName, { file, isInstalled }: InAgent, said: string, json: boolean | undefined) => {
  if (json) await printDocument({ type: 'mcp', agent: name, installed: await isInstalled(), file })
  else await printLines([`${name}: ${said} (${file})`])
}

const remove = async (named: AgentName | undefined, json: boolean | undefined): Promise<number> => {
  const agents = await chosen(named, ({ isInstalled }) => isInstalled())
  for (const { name, agent } of agents)
    await report(name, agent, (await agent.uninstall()) ? 'removed' : 'nothing to remove', json)
  if (agents.length === 0 && !json) await printLines(['Nothing to remove.'])
  return exitCodes.ok
}

/** Writes the server into the settings of an agent, or of all that are on this machine, or takes it out of them. @throws UsageError */
export const install = async (
  { server, config }: Access,
  options: Options,
  named: AgentName | undefined,
): Promise<number> => {
  const { json } = options
  if (options.remove) return remove(named, json)
  if (!(await readCredentials(config, server))?.login) throw notLoggedInError(config, server)
  const agents = await chosen(named, ({ isHere }) => isHere)
  if (agents.length === 0)
    throw new UsageError(`No agent was found on this machine. Name one: ${commandName} mcp install claude-code`)
  const entry = entryFor(server)
  for (const { name, agent } of agents)
    await report(name, agent, (await agent.install(entry)) ? 'installed' : 'installed already', json)
  return exitCodes.ok
}
