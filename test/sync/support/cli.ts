import { Command } from 'commander'
import { loginCommand } from '../../../src/commands/login.ts'
import { syncCommand } from '../../../src/commands/sync.ts'

await new Command('tracebook').addCommand(loginCommand()).addCommand(syncCommand()).parseAsync()
