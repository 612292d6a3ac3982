import { once } from 'node:events'
import type { JSONRPCMessage } from '@modelcontextprotocol/server'
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio'
import { exitCodes } from '../../cli/exit.ts'
import { stoppable } from '../../cli/interrupt.ts'
import { io } from '../../cli/io.ts'
import { say } from '../../cli/output.ts'
import { meantMessage } from '../../server/mcp/meant.ts'
import { newMcpServer } from '../../server/mcp/server.ts'
import { notLoggedInError } from '../../client/login/connect.ts'
import type { Access } from '../support/access.ts'
import { apiSessions } from './api-sessions.ts'

/** A transport that takes messages as clients mean them. */
const lenientTransport = (transport: StdioServerTransport): StdioServerTransport => {
  let receive: StdioServerTransport['onmessage']
  return Object.defineProperty(transport, 'onmessage', {
    get: () => receive && ((message: JSONRPCMessage) => receive?.(meantMessage(message))),
    set: (given: typeof receive) => (receive = given),
  })
}

/** Answers on standard input and output until the agent closes them, or until a signal. @throws UsageError without a login */
export const serve = async (access: Access): Promise<number> => {
  if ((await access.token()) === undefined) throw notLoggedInError(access.config, access.server)
  const { stdin, stdout } = io()
  const sessions = apiSessions(access)
  await stoppable(async (signal) => {
    const over = Promise.race([once(stdin, 'end'), once(stdin, 'close'), once(signal, 'abort')])
    const transport = lenientTransport(new StdioServerTransport(stdin, stdout))
    const handle = serveStdio(() => newMcpServer(sessions), { transport, onerror: ({ message }) => say(message) })
    await over
    await handle.close()
  })
  return exitCodes.ok
}
