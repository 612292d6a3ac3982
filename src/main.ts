#!/usr/bin/env node
import { readFileSync } from 'node:fs'
import { Command, CommanderError } from 'commander'
import { loginCommand } from './commands/login.ts'
import { serveCommand } from './commands/serve.ts'
import { syncCommand } from './commands/sync.ts'

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }

const program = new Command('tracebook')
  .description('Store, share and search the recorded sessions of AI coding agents.')
  .version(version)
  .addCommand(serveCommand())
  .addCommand(loginCommand())
  .addCommand(syncCommand())

try {
  await program.parseAsync()
} catch (error) {
  if (error instanceof CommanderError) process.exit(error.exitCode)
  console.error(`tracebook: ${error instanceof Error ? error.message : String(error)}`)
  process.exit(1)
}
