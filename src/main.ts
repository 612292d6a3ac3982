#!/usr/bin/env node
import { readFileSync } from 'node:fs'
import { Command } from 'commander'
import { exitOnUsage } from './cli/exit.ts'

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }

/** Each command is imported only when it is called, so that `sync` does not load the server's modules. */
const commands: Readonly<Record<string, () => Promise<Command>>> = {
  serve: async () => (await import('./commands/serve.ts')).serveCommand(),
  login: async () => (await import('./commands/login.ts')).loginCommand(),
  sync: async () => (await import('./commands/sync.ts')).syncCommand(),
  agents: async () => (await import('./commands/agents.ts')).agentsCommand(),
  tail: async () => (await import('./commands/tail.ts')).tailCommand(),
  export: async () => (await import('./commands/export.ts')).exportCommand(),
  import: async () => (await import('./commands/import.ts')).importCommand(),
  models: async () => (await import('./commands/models.ts')).modelsCommand(),
  rebuild: async () => (await import('./commands/rebuild.ts')).rebuildCommand(),
  log: async () => (await import('./commands/log.ts')).logCommand(),
  audit: async () => (await import('./commands/audit.ts')).auditCommand(),
  openapi: async () => (await import('./commands/openapi.ts')).openapiCommand(),
}

const program = new Command('tracebook')
  .description('Store, share and follow the recorded sessions of AI coding agents.')
  .version(version)
  .exitOverride(exitOnUsage)

const [, , name = ''] = process.argv
// Without a command, or with an unknown one, commander lists all of them.
const needed = Object.hasOwn(commands, name) ? [commands[name]!] : Object.values(commands)
for (const load of needed) program.addCommand(await load())
await program.parseAsync()
