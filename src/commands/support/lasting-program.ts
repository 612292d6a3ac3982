import { io } from '../../cli/io.ts'
import type { HookProgram } from '../../sync/hooks/hook.ts'
import { lastingCommand, lastingEnvironment } from '../../sync/watch/service/program.ts'

/** How another program calls this one later: by absolute paths, with the folders of its settings and state. */
export const programFor = (server: string): HookProgram => {
  const ours = Object.entries(lastingEnvironment(io().env)).filter(([name]) => name.startsWith('TRACEBOOK_'))
  return {
    command: lastingCommand(process.execPath, io().script),
    environment: Object.fromEntries(ours),
    server,
  }
}
