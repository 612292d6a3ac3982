import { Command } from 'commander'
import { agentsCommand } from '../../../src/commands/agents.ts'
import { hooksCommand } from '../../../src/commands/hooks.ts'
import { loginCommand } from '../../../src/commands/login.ts'
import { statusCommand } from '../../../src/commands/status.ts'
import { syncCommand } from '../../../src/commands/sync.ts'
import { watchCommand } from '../../../src/commands/watch.ts'

const commands = [loginCommand(), syncCommand(), agentsCommand(), watchCommand(), hooksCommand(), statusCommand()]
await commands.reduce((program, command) => program.addCommand(command), new Command('tracebook')).parseAsync()
